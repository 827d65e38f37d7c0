"""Our own CUDA and C++ headers, as clang's in-memory files.

The texts are package data under ``headers/``, each at the path by which sources include it. Standard headers share a
few texts, which live in ``headers/bw/``; ``_INCLUDED_AS`` says which names stand for which text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from auditor.frontend.atoms import atom_headers
from auditor.source import SHIM_ROOT

_FOLDER = Path(__file__).parent / "headers"

# Text that we ship -> names that include it.
_INCLUDED_AS = {
    "bw/types.h": "stdint.h inttypes.h stddef.h stdbool.h limits.h float.h sys/types.h cstdint cinttypes cstddef "
    "climits cfloat",
    "bw/libc.h": "assert.h stdio.h stdlib.h string.h strings.h math.h time.h signal.h unistd.h errno.h ctype.h "
    "stdarg.h memory.h sys/time.h sys/stat.h sys/wait.h getopt.h cassert cstdio cstdlib cstring cmath ctime csignal "
    "cerrno cctype cstdarg",
    "bw/std_core.h": "type_traits utility limits initializer_list concepts bit compare ratio",
    "bw/std_containers.h": "array tuple vector string string_view algorithm numeric functional memory optional variant "
    "map set unordered_map unordered_set deque list queue stack span iterator new typeinfo typeindex any bitset ranges",
    "bw/cuda_std.h": " ".join(
        f"{folder}cuda/std/{name}"
        for folder in ("", "cccl/")
        for name in "array algorithm atomic bit cassert cmath concepts cstddef cstdint functional initializer_list "
        "limits optional span tuple type_traits utility variant barrier complex numeric expected inplace_vector".split()
    ),
    "bw/std_host.h": "iostream ostream istream sstream fstream iomanip ios stdexcept exception chrono random thread "
    "mutex atomic condition_variable future filesystem complex regex cfenv system_error format numbers source_location "
    "shared_mutex iosfwd locale cwchar charconv",
    "cute/config.hpp": "cute/arch/config.hpp cutlass/arch/config.h cutlass/detail/helper_macros.hpp cutlass/version.h "
    "cutlass/arch/synclog.hpp",
    "cute/numeric/integral_constant.hpp": "cute/container/tuple.hpp cute/container/type_list.hpp cute/int_tuple.hpp "
    "cute/numeric/integer_sequence.hpp cute/numeric/integral_ratio.hpp cute/numeric/math.hpp "
    "cute/util/type_traits.hpp",
    "cute/algorithm/copy.hpp": "cute/algorithm/gemm.hpp cute/algorithm/cooperative_copy.hpp "
    "cute/algorithm/cooperative_gemm.hpp",
    "cute/container/array.hpp": "cute/container/alignment.hpp cute/container/array_aligned.hpp",
    "cutlass/numeric_types.h": "cutlass/half.h cutlass/bfloat16.h cutlass/tfloat32.h cutlass/float8.h "
    "cutlass/float_subbyte.h cutlass/integer_subbyte.h cutlass/numeric_size.h cute/numeric/numeric_types.hpp "
    "cute/numeric/int.hpp cute/numeric/real.hpp",
    "cute/arch/cluster_sm90.hpp": "cute/arch/cluster_sm100.hpp",
    "cute/arch/copy_sm90_tma.hpp": "cute/arch/copy_sm90.hpp cute/arch/copy.hpp",
    "cute/arch/mma_sm90_gmma.hpp": "cute/arch/mma_sm90_gmma_ext.hpp",
    "cute/arch/tmem_allocator_sm100.hpp": "cute/arch/tmem_capacity_sm100.hpp",
    "cute/layout.hpp": "cute/layout_composed.hpp cute/swizzle.hpp cute/swizzle_layout.hpp cute/stride.hpp "
    "cute/pointer.hpp cute/underscore.hpp cute/algorithm/tuple_algorithms.hpp cute/algorithm/functional.hpp "
    "cute/algorithm/clear.hpp cute/algorithm/fill.hpp cute/util/print.hpp cute/util/debug.hpp",
    "cute/tensor.hpp": "cute/tensor_impl.hpp cute/atom/copy_atom.hpp cute/atom/mma_atom.hpp "
    "cute/atom/copy_traits_sm90_tma.hpp cute/atom/copy_traits_sm100_tma.hpp cute/atom/copy_traits_sm100.hpp "
    "cute/atom/mma_traits_sm90_gmma.hpp cute/atom/mma_traits_sm100.hpp",
}

# The headers of CuTe and CUTLASS, which a user may have: all of them are ours, or none.
LIBRARY_FOLDERS = ("cute/", "cutlass/")
BESIDE_A_TOOLKIT = "toolkit/"  # what stands in beside real headers, and is no header of ours otherwise

# String literals, or names of one capital letter: those are template parameters of ours, and macros of many sources.
# Written such that it begins with a set of letters, for which ``re`` looks much faster than for alternatives.
_CAPITAL = re.compile(r'["A-Z](?:(?<=")(?:\\.|[^"\\\n])*"|(?<=\b[A-Z])\b)')


def _reserved_names(text: str) -> str:
    """The text with each one-letter template parameter as a name that no source may define as a macro."""
    return _CAPITAL.sub(lambda match: match[0] if match[0][0] == '"' else f"__bw_{match[0]}", text)


@cache
def shim_files(*, libraries: bool = True) -> tuple[tuple[str, str], ...]:
    """(path, text) of each in-memory header, in the form in which libclang takes unsaved files.

    Without ``libraries``, those of CuTe and CUTLASS are left out.
    """
    texts = {}
    for path in _FOLDER.rglob("*"):
        name = path.relative_to(_FOLDER).as_posix()
        if path.is_file() and not name.startswith(BESIDE_A_TOOLKIT):
            text = path.read_text("utf-8")
            # CuTe's own interface has names of one letter.
            texts[name] = text if name.startswith(LIBRARY_FOLDERS) else _reserved_names(text)
    for source, names in _INCLUDED_AS.items():
        for name in names.split():
            texts[name] = f"#include <{source}>\n"
    return tuple(
        (f"{SHIM_ROOT}/{name}", text)
        for name, text in sorted(texts.items())
        if libraries or not name.startswith(LIBRARY_FOLDERS)
    )


@cache
def encoded_shims(*, libraries: bool = True) -> tuple[tuple[str, bytes], ...]:
    """The in-memory headers with their texts as the bytes that clang is given with each parse."""
    return tuple((path, text.encode()) for path, text in shim_files(libraries=libraries))


@cache
def shim_names(*, libraries: bool = True) -> frozenset[str]:
    """The names by which sources include the in-memory headers."""
    return frozenset(path[len(SHIM_ROOT) + 1 :] for path, _ in shim_files(libraries=libraries))


def header_text(name: str) -> str:
    """The text of one of our headers."""
    return (_FOLDER / name).read_text("utf-8")


_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)


# Macro that our cuda/ptx tests -> a word without which no source uses what it guards.
_FEATURES = {
    "BW_PTX_REDUCE": "cp_reduce_async_bulk",
    "BW_PTX_TCGEN05": "tcgen05_",
    "BW_PTX_SCALED": "_block_scale",
    "BW_PTX_WS": "tcgen05_mma_ws",
    "BW_PTX_TMEM_LD": "tcgen05_ld_",
    "BW_PTX_TMEM_PACK": "_pack_16b",
    "BW_PTX_TMEM_ST": "tcgen05_st_",
    "BW_PTX_TMEM_UNPACK": "_unpack_16b",
    "BW_PTX_TMEM_HALVES": "_16x32bx2",
}


def feature_macros(text: str, *, libraries: bool = True) -> list[str]:
    """Preprocessor options that leave out the slow parts of our headers when a source cannot use them.

    Some functions of cuda::ptx cost more to parse than a whole kernel. A source that includes a file which
    is not ours gets everything, since that file may use it.
    """
    ours = shim_names(libraries=libraries)
    everything = any(name not in ours for name in _INCLUDE.findall(text))
    return [f"-D{macro}" for macro, word in _FEATURES.items() if everything or word in text]


def made_files(text: str, *, libraries: bool = True) -> list[tuple[str, str]]:
    """(path, text) of the in-memory headers that depend on what a source names."""
    if not libraries:
        return []
    return [(f"{SHIM_ROOT}/{name}", content) for name, content in atom_headers(text)]


# Headers that other headers often bring in, so that sources use what they declare without naming them.
_OFTEN_IMPLIED = {
    "": ("cuda_bf16.h", "cuda_fp16.h", "cuda_fp8.h", "cuda_fp4.h", "cuda.h", "math_constants.h", "bw/libc.h"),
    "std": ("bw/std_core.h", "bw/std_containers.h", "bw/std_host.h"),
}


def provider(name: str, scope: str) -> str | None:
    """The header of ours that declares a name, for a source that does not include it."""
    texts = dict(shim_files())
    word = re.compile(rf"\b{name}\b")
    for header in _OFTEN_IMPLIED.get(scope, ()):
        if word.search(texts.get(f"{SHIM_ROOT}/{header}", "")):
            return header
    return None


WIDE_LONG_LONG, OWN_TENSOR_MAP = "-DBW_LONG_LONG_64", "-DBW_OWN_TENSOR_MAP"
_CLASHES = (
    (WIDE_LONG_LONG, re.compile(r"redefinition.*'(?:unsigned )?long long' vs '(?:unsigned )?long'")),
    (OWN_TENSOR_MAP, re.compile(r"redefinition.*CUtensorMap")),
)


def clash_macros(messages: Iterable[str], known: Iterable[str] = ()) -> list[str]:
    """Preprocessor options that make our headers give way to a source that defines such types itself: those that were
    ``known`` to be needed, and those that clang's messages ask for.

    Sources for NVRTC define them, since it has no headers.
    """
    listed, given = list(messages), set(known)
    return [
        macro for macro, pattern in _CLASHES if macro in given or any(pattern.search(message) for message in listed)
    ]


def is_shim(path: str) -> bool:
    """Whether a file that clang names is one of ours."""
    return path.startswith(SHIM_ROOT + "/")
