"""Options of one parse and the clang command line that they stand for."""

from __future__ import annotations

import re

from auditor.frontend.clang_api import cindex
from auditor.quick_dataclass import dataclass
from auditor.source import SHIM_ROOT

PRELUDE = "bw/prelude.h"
ANNOTATIONS = "bw/annotations.h"
BUILT_IN_VARIABLES = "toolkit/built_in_variables.h"
COMPILER_BUILTINS = "toolkit/compiler_builtins.h"
MODEL = "bw_"  # how the functions of that header begin, before the name of the builtin

DEFAULT_ARCH = "sm_100a"


@dataclass(frozen=True)
class Options:
    """How to parse a file: the architecture and what a compiler command line would say."""

    arch: str = DEFAULT_ARCH
    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    std: str = "c++20"
    extra: tuple[str, ...] = ()
    cuda_path: str | None = None
    own_headers: bool = True
    instantiate: tuple[str, ...] = ()


@dataclass(frozen=True)
class Arch:
    """A GPU architecture: its number (100 for sm_100a) and suffix ("a", "f" or none)."""

    number: int
    suffix: str = ""
    known: bool = True  # False: the option could not be read and the default stands in for it

    @property
    def name(self) -> str:
        return f"sm_{self.number}{self.suffix}"

    @property
    def clang_name(self) -> str:
        """The architecture that clang is told.

        Only its builtins depend on it; the macros that source code tests are defined by us, so that an architecture
        newer than this clang (or a family target such as sm_100f) works like any other.
        """
        return "sm_90a" if self.number < 100 else "sm_100a"

    def macros(self) -> tuple[str, ...]:
        """Preprocessor options that make the source see this architecture."""
        value = self.number * 10
        out = ["-U__CUDA_ARCH__", f"-D__CUDA_ARCH__={value}", f"-D__CUDA_ARCH_LIST__={value}"]
        feature = Arch(int(self.clang_name[3:-1]), "a")._feature_macro()
        out.append(f"-U{feature}")
        if self.suffix == "a":
            out += [f"-U{self._feature_macro()}", f"-D{self._feature_macro()}=1"]
            out += ["-U__CUDA_ARCH_SPECIFIC__", f"-D__CUDA_ARCH_SPECIFIC__={value}"]
        if self.suffix:
            out += ["-U__CUDA_ARCH_FAMILY_SPECIFIC__", f"-D__CUDA_ARCH_FAMILY_SPECIFIC__={value}"]
        return tuple(out)

    def _feature_macro(self) -> str:
        return f"__CUDA_ARCH_FEAT_SM{self.number}_ALL"


def parse_arch(text: str) -> Arch:
    """Read "sm_100a", "compute_103f", "100a" or "10.0a". Anything else becomes the default, marked as not known."""
    match = re.fullmatch(r"(?:sm_|compute_|lto_)?(\d{1,2})\.?(\d)([af]?)", text.strip())
    if match is None:
        return Arch(100, "a", known=False)
    return Arch(int(match[1]) * 10 + int(match[2]), match[3])


# nvcc's macros. Undefining clang's own makes sources take the paths that they take under nvcc.
_NVCC_MACROS = (
    "-D__NVCC__=1",
    "-D__CUDACC_VER_MAJOR__=13",
    "-D__CUDACC_VER_MINOR__=0",
    "-D__CUDACC_VER_BUILD__=88",
    "-D__CUDACC_EXTENDED_LAMBDA__=1",
    "-D__CUDACC_RELAXED_CONSTEXPR__=1",
    "-D__BW_AUDIT__=1",
)
_OWN_HEADERS = (
    "-U__clang__",
    "-U__CUDA__",
    "-D__CUDACC__=1",
    "-fgnuc-version=13.2",
    # Named here so that the bindings do not append their own builtin headers.
    "-resource-dir",
    "/none",
    "-nostdinc",
    "-nostdinc++",
    "-nocudainc",
    "-nocudalib",
    "--cuda-path=/none",
)
_REAL_HEADERS = (
    "-nostdinc++",
    "-nocudainc",  # clang refuses a toolkit folder that holds headers only, so its wrapper is named below
    "-nocudalib",
    "--cuda-path=/none",
    "-D_ALLOW_UNSUPPORTED_LIBCPP",
    # Without it clang looks for an older launch function, and each <<<>>> vanishes from the tree.
    "-Xclang",
    "-target-sdk-version=12.9",
)
# clang's CUDA wrapper includes these, and a toolkit need not have them.
OPTIONAL_TOOLKIT_FILES = ("curand_mtgp32_kernel.h", "texture_fetch_functions.h")


def command_line(options: Options, arch: Arch) -> list[str]:
    """Arguments for ``TranslationUnit.from_source``, without the file name."""
    args = [
        "-x",
        "cuda",
        "--cuda-device-only",
        f"-std={options.std}",
        f"--cuda-gpu-arch={arch.clang_name}",
        "-ferror-limit=0",
        "-ftemplate-depth=1024",
        "-fno-spell-checking",  # a guess at what a name was meant to be would become part of the tree
        "-w",
        *arch.macros(),
        *_NVCC_MACROS,
    ]
    if options.own_headers:
        args += ["--target=x86_64-unknown-linux-gnu", *_OWN_HEADERS]  # the same type sizes on each host
        args += [f"-I{folder}" for folder in options.includes]
        args += ["-isystem", SHIM_ROOT, "-include", f"{SHIM_ROOT}/{PRELUDE}"]
    else:
        args += [*_REAL_HEADERS, *_real_folders(options)]
    args += [f"-D{define}" for define in options.defines]
    args += options.extra
    return args


def builtin_header(name: str) -> str:
    """The path of one of clang's own headers, as libclang's package brings them."""
    return f"{cindex.Config.resource_dir}/include/{name}"


def system_folders(options: Options) -> tuple[str, ...]:
    """Folders of headers that are not the user's, each with a slash at its end."""
    real = (cindex.Config.resource_dir, cindex.Config.libcxx_dir, "/usr/include")
    toolkit = (f"{options.cuda_path}/include",) if options.cuda_path else ()
    return tuple(f"{folder}/" for folder in (SHIM_ROOT, *(() if options.own_headers else (*real, *toolkit))))


def _real_folders(options: Options) -> list[str]:
    """A toolkit's include folders in the order of clang's driver, with libc++ from libclang's package."""
    builtin, libcxx = cindex.Config.resource_dir, cindex.Config.libcxx_dir
    args = [f"-I{folder}" for folder in options.includes]
    args += ["-resource-dir", str(builtin), "-isystem", f"{builtin}/include/cuda_wrappers", "-isystem", str(libcxx)]
    if options.cuda_path:
        include = f"{options.cuda_path}/include"
        args += ["-isystem", f"{include}/cccl", "-isystem", include]
    # Our folder serves OPTIONAL_TOOLKIT_FILES, after everything that might have them.
    args += ["-idirafter", SHIM_ROOT, "-include", "__clang_cuda_runtime_wrapper.h"]
    return [*args, "-include", f"{SHIM_ROOT}/{COMPILER_BUILTINS}", "-include", f"{SHIM_ROOT}/{ANNOTATIONS}"]
