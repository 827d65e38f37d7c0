"""Mutation testing: realistic mistakes put into good kernels, and how many of them the auditor finds.

``python -m tests.mutation`` runs it and prints the score; see ``docs/mutation.md`` for the last result.
"""
