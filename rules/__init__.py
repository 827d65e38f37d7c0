"""The rules, one module each, with its documentation beside it. Installed as ``auditor.rules``.

Rule modules are leaves: they import ``auditor.*``, and nobody imports one by name.
"""
