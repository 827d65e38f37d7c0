"""Checks on kernels that other projects ship: ``python -m tests.corpora --help``.

Their sources are downloaded or read from a checkout and never committed; what is committed is a record of counts.
"""
