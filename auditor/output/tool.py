"""Who wrote a report: the tool's name, version and home. Imports nothing, so that ``--version`` costs nothing."""

NAME = "bw-audit"
VERSION = "0.1.0"
SUMMARY = "Static auditor of hand-written Hopper and Blackwell CUDA kernels"
