"""Lowering: the clang AST of device and host functions becomes Python source for the machine."""
