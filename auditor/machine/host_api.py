"""The CUDA runtime and driver calls that tell something about launches. All others just succeed.

A handler gets the environment and the call's arguments; None as its result stands for success.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from auditor.machine.host_facts import Status
from auditor.machine.launch import TensorMap
from auditor.values import OPAQUE, Ref, copy_value

if TYPE_CHECKING:
    from auditor.machine.host import HostEnv

Handler = Callable[["HostEnv", list[Any]], Any]
HANDLERS: dict[str, Handler] = {}

SHARED_LIMIT = 232_448  # bytes of dynamic shared memory that a block can opt in to (sm_90, sm_100)
_UNKNOWN: tuple[Any, ...] = (OPAQUE, OPAQUE, OPAQUE)
MAX_RANK = 8  # dimensions that are read of an encode call; more than the 5 that are legal, to report them

# cudaDeviceAttr (CUdevice_attribute has the same numbers) of a data-centre Hopper or Blackwell GPU.
_DEVICE = {
    1: 1024,
    2: 1024,
    3: 1024,
    4: 64,
    5: 2**31 - 1,
    6: 65535,
    7: 65535,
    8: 49152,
    10: 32,
    12: 65536,
    39: 2048,
    81: 233_472,
    82: 65536,
    95: 1,
    97: SHARED_LIMIT,
    106: 32,
    111: 1024,
    120: 1,
}
_SM_COUNT, _MAJOR, _MINOR = 16, 75, 76

# Members of the shipped cudaDeviceProp; with another definition of it nothing is known.
_PROPERTIES = (
    "name totalGlobalMem sharedMemPerBlock sharedMemPerMultiprocessor sharedMemPerBlockOptin "
    "reservedSharedMemPerBlock regsPerBlock warpSize maxThreadsPerBlock clockRate major minor "
    "multiProcessorCount l2CacheSize memoryClockRate memoryBusWidth maxThreadsPerMultiProcessor "
    "cooperativeLaunch clusterLaunch maxThreadsDim maxGridSize regsPerMultiprocessor "
    "maxBlocksPerMultiProcessor"
).split()
_PROPERTY_VALUES = {
    "sharedMemPerBlock": 49152,
    "sharedMemPerMultiprocessor": 233_472,
    "sharedMemPerBlockOptin": SHARED_LIMIT,
    "reservedSharedMemPerBlock": 1024,
    "regsPerBlock": 65536,
    "warpSize": 32,
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerMultiProcessor": 2048,
    "cooperativeLaunch": 1,
    "clusterLaunch": 1,
    "regsPerMultiprocessor": 65536,
    "maxBlocksPerMultiProcessor": 32,
}

_EXITS = {
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "abort",
    "terminate",
    "__assert_fail",
    "__builtin_trap",
    "raise",
    "longjmp",
    "rethrow_exception",
}


def exits(name: str) -> bool:
    """Whether a function does not return."""
    return name in _EXITS or name.startswith("__throw_")


def is_cuda(name: str) -> bool:
    """Whether a name belongs to the CUDA runtime or driver."""
    return re.match(r"cuda[A-Z]|cu[A-Z]", name) is not None


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register a handler."""

    def register(handler: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = handler
        return handler

    return register


def transfer(env: HostEnv, name: str, args: Any) -> None:
    """memcpy and memset between local objects, as whole objects."""
    if len(args) < 3 or args[0].__class__ is not Ref:
        return
    to = args[0]
    if name in ("memcpy", "memmove", "__builtin_memcpy", "__builtin_memmove"):
        value = env.load(args[1])
        target = env.load(to)
        if target.__class__ is list and value.__class__ is list:
            target[:] = copy_value(value)
        elif value.__class__ is not list and target.__class__ is not list:
            env.store(to, "int", 64, value)
    elif name in ("memset", "__builtin_memset", "bzero"):
        _fill(to.box, to.key, 0 if args[1] == 0 and args[1].__class__ is int else OPAQUE)


def _fill(box: Any, key: Any, value: Any) -> None:
    """Fill the object at ``box[key]``: a class object or array, or the scalars from there to the end."""
    if not isinstance(key, int) or not 0 <= key < len(box):
        return
    if box[key].__class__ is list:
        for n in range(len(box[key])):
            _fill(box[key], n, value)
    else:
        for n in range(key, len(box)):
            if box[n].__class__ is not list:
                box[n] = value


# ---- devices and memory -----------------------------------------------------------------------------------------


def _attribute(env: HostEnv, number: Any) -> Any:
    if number == _SM_COUNT and isinstance(number, int):
        env.asked_sms = True
        return env.sms
    digits = re.sub(r"\D", "", env.program.arch) or "100"
    if number in (_MAJOR, _MINOR) and isinstance(number, int):
        return int(digits[:-1] or 10) if number == _MAJOR else int(digits[-1])
    return _DEVICE.get(number, OPAQUE) if isinstance(number, int) else OPAQUE


@handles("cudaDeviceGetAttribute", "cuDeviceGetAttribute")
def _device_attribute(env: HostEnv, args: list[Any]) -> None:
    env.put(args[0], _attribute(env, args[1]))


@handles("cudaGetDeviceProperties")
def _device_properties(env: HostEnv, args: list[Any]) -> None:
    record = env.load(args[0])
    if record.__class__ is not list or len(record) != len(_PROPERTIES):
        return
    known = _PROPERTY_VALUES | {"major": _attribute(env, _MAJOR), "minor": _attribute(env, _MINOR)}
    known["multiProcessorCount"] = _attribute(env, _SM_COUNT)
    for n, name in enumerate(_PROPERTIES):
        if name in known:
            record[n] = known[name]


@handles("cudaGetDevice", "cuDeviceGet", "cuCtxGetDevice")
def _device(env: HostEnv, args: list[Any]) -> None:
    env.put(args[0], 0)


@handles("cudaGetDeviceCount", "cuDeviceGetCount")
def _device_count(env: HostEnv, args: list[Any]) -> None:
    env.put(args[0], 1)


@handles("cudaMalloc", "cudaMallocAsync", "cudaMallocManaged", "cuMemAlloc")
def _allocate(env: HostEnv, args: list[Any]) -> None:
    env.put(args[0], env.allocate())


@handles("cudaMallocPitch")
def _allocate_rows(env: HostEnv, args: list[Any]) -> None:
    env.put(args[0], env.allocate())
    env.put(args[1], -(-args[2] // 512) * 512 if isinstance(args[2], int) else OPAQUE)


@handles("cudaMallocHost", "cudaHostAlloc")
def _allocate_host(env: HostEnv, args: list[Any]) -> None:
    env.put(args[0], OPAQUE)


@handles("cudaGetDriverEntryPoint", "cudaGetDriverEntryPointByVersion", "cuGetProcAddress")
def _entry_point(env: HostEnv, args: list[Any]) -> None:
    env.put(args[1], OPAQUE)
    if args[-1].__class__ is Ref:
        env.put(args[-1], 0)  # the symbol was found


@handles(
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
)
def _blocks_per_sm(env: HostEnv, args: list[Any]) -> None:
    env.put(args[0], 1)


@handles("cudaOccupancyMaxActiveClusters")
def _active_clusters(env: HostEnv, args: list[Any]) -> None:
    cluster = _config_attributes(env, args[2])["cluster"] or (1, 1, 1)
    env.asked_sms = True
    size = math.prod(n for n in cluster if isinstance(n, int) and n > 0)
    env.put(args[0], max(env.sms // size, 1))


@handles("cudaOccupancyMaxPotentialClusterSize")
def _cluster_size(env: HostEnv, args: list[Any]) -> None:
    env.put(args[0], 8)


@handles("cudaGetFuncBySymbol")
def _function(env: HostEnv, args: list[Any]) -> None:
    env.put(args[0], args[1])


# ---- launches ---------------------------------------------------------------------------------------------------


@handles("cudaFuncSetAttribute", "cuFuncSetAttribute")
def _function_attribute(env: HostEnv, args: list[Any]) -> None:
    kernel, number, value = args[:3]
    if not isinstance(number, int):
        return
    # Which kernel, or what value, is not known: assume the most, so that nobody is blamed for it.
    value = value if isinstance(value, int) else SHARED_LIMIT
    kernels = [kernel] if isinstance(kernel, str) else [k.entry for k in env.program.kernels]
    for entry in kernels:
        env.attributes[(entry, number)] = value


def _config_attributes(env: HostEnv, config: Any) -> dict[str, Any]:
    """Launch attributes of a cudaLaunchConfig_t or CUlaunchConfig, which both end with them and their number."""
    out: dict[str, Any] = {"cluster": None, "programmatic": False, "cooperative": False}
    record = env.load(config)
    if record.__class__ is not list or len(record) < 2 or not isinstance(record[-1], int):
        return out | {"cluster": _UNKNOWN}
    first, count = record[-2:]
    for n in range(min(count, 16)):
        entry = env.load(env.padd(first, n, 80))
        if entry.__class__ is not list or len(entry) < 2 or not isinstance(entry[0], int):
            out["cluster"] = out["cluster"] or _UNKNOWN
            continue
        number, value = entry[0], entry[-1]
        words = _UNKNOWN
        if isinstance(value, int):  # a union is one integer
            words = tuple(value >> 32 * k & 0xFFFF_FFFF for k in range(3))
        if number == 4:
            out["cluster"] = words
        elif number in (2, 6):
            allowed = words[0] != 0 if isinstance(words[0], int) else True
            out["cooperative" if number == 2 else "programmatic"] = allowed
    return out


def _pointed(env: HostEnv, table: Any, kernel: Any) -> list[Any]:
    """Arguments that are passed as an array of pointers to them."""
    found = [k for k in env.program.kernels if k.entry == kernel]
    count = len(found[0].params) if found else 0
    return [env.load(env.load(env.padd(table, n, 8))) for n in range(count)]


@handles("cudaLaunchKernelEx")
def _launch_ex(env: HostEnv, args: list[Any]) -> None:
    config = env.load(args[0])
    if config.__class__ is list and len(config) == 6:
        env.launch(args[1], config[0], config[1], config[2], config[3], args[2:], **_config_attributes(env, args[0]))
    else:
        env.launch(args[1], _UNKNOWN, _UNKNOWN, OPAQUE, OPAQUE, args[2:], cluster=_UNKNOWN)


@handles("cudaLaunchKernelExC")
def _launch_ex_c(env: HostEnv, args: list[Any]) -> None:
    _launch_ex(env, [args[0], args[1], *_pointed(env, args[2], args[1])])


@handles("cudaLaunchKernel", "cudaLaunchCooperativeKernel")
def _launch_kernel(env: HostEnv, args: list[Any]) -> None:
    kernel, grid, block, table, smem = [*args, 0][:5]
    env.launch(kernel, grid, block, smem, 0, _pointed(env, table, kernel))


@handles("cuLaunchKernel", "cuLaunchCooperativeKernel")
def _driver_launch(env: HostEnv, args: list[Any]) -> None:
    env.launch(args[0], args[1:4], args[4:7], args[7], args[8], _pointed(env, args[9], args[0]))


@handles("cuLaunchKernelEx")
def _driver_launch_ex(env: HostEnv, args: list[Any]) -> None:
    config = env.load(args[0])
    if config.__class__ is list and len(config) >= 9:
        env.launch(
            args[1],
            config[0:3],
            config[3:6],
            config[6],
            config[7],
            _pointed(env, args[2], args[1]),
            **_config_attributes(env, args[0]),
        )


# ---- tensor maps ------------------------------------------------------------------------------------------------


def _items(env: HostEnv, p: Any, count: int) -> tuple[Any, ...]:
    """``count`` elements of the array that a pointer points to."""
    if p.__class__ is Ref:
        whole = env.load(p)
        if whole.__class__ is list:  # a pointer to the array as a whole
            p = Ref(whole, 0)
    return tuple(env.load(env.padd(p, n, 1)) if p.__class__ is Ref else OPAQUE for n in range(count))


def _encode(env: HostEnv, target: Any, **members: Any) -> Status:
    rank = members["rank"]
    members["rank"] = rank if isinstance(rank, int) else 0
    tensor_map = TensorMap(name=env.name_of(target), where=env.where(), **members)
    status = Status(0)
    env.encoded.append((tensor_map, status))
    env.put(target, tensor_map)
    return status


def _rank(value: Any) -> int:
    return max(0, min(value, MAX_RANK)) if isinstance(value, int) else 0


@handles("cuTensorMapEncodeTiled")
def _encode_tiled(env: HostEnv, args: list[Any]) -> Status:
    target, data_type, rank, address, dims, strides, box, steps, interleave, swizzle, _, fill = args[:12]
    n = _rank(rank)
    return _encode(
        env, target, data_type=data_type, rank=rank, address=address, dims=_items(env, dims, n),
        strides=_items(env, strides, n - 1), box=_items(env, box, n) or (OPAQUE,),
        element_strides=_items(env, steps, n) or (OPAQUE,), interleave=interleave, swizzle=swizzle, oob_fill=fill,
    )  # fmt: skip


@handles("cuTensorMapEncodeIm2col")
def _encode_im2col(env: HostEnv, args: list[Any]) -> Status:
    target, data_type, rank, address, dims, strides, _, _, channels, pixels, steps, interleave, swizzle = args[:13]
    n = _rank(rank)
    return _encode(
        env, target, data_type=data_type, rank=rank, address=address, dims=_items(env, dims, n),
        strides=_items(env, strides, n - 1), box=(channels, *(1,) * (n - 2), pixels),
        element_strides=_items(env, steps, n) or (OPAQUE,), interleave=interleave, swizzle=swizzle, oob_fill=args[14],
        im2col=True,
    )  # fmt: skip
