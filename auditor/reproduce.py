"""The command line that audits one file in the same way again, alone."""

from __future__ import annotations

import shlex

from auditor.config import AuditOptions, Dim3, KernelOptions


def command(path: str, options: AuditOptions) -> str:
    """A shell command for one file, with what the configuration said written out. Settings of single kernels are left
    to the configuration when there are any."""
    words = ["bw-audit", "--jobs", "1", "--no-cache"]
    if not options.kernels and not options.levels:
        words.append("--isolated")
    for flag, values in (("--arch", options.arches), ("-I", options.includes), ("-D", options.defines)):
        words += [word for value in values for word in (flag, value)]
    words += [word for value in options.instantiate for word in ("--instantiate", value)]
    words += [word for name, value in options.values for word in ("--set", f"{name}={value}")]
    if options.std != AuditOptions.std:
        words += ["--std", options.std]
    if options.cuda_path:
        words += ["--cuda-path", options.cuda_path]
    words += _launch(options)
    if options.budget != AuditOptions.budget:
        words += ["--budget", f"{options.budget:g}"]
    if options.fixes:
        words.append("--diff")
    return shlex.join([*words, *options.extra, path])


def _launch(options: AuditOptions | KernelOptions) -> list[str]:
    words: list[str] = []
    dimensions: tuple[tuple[str, Dim3 | None], ...] = (
        ("--block", options.block),
        ("--grid", options.grid),
        ("--cluster", options.cluster),
    )
    for flag, value in dimensions:
        if value is not None:
            words += [flag, ",".join(map(str, value))]
    return words + (["--smem", str(options.smem)] if options.smem is not None else [])
