"""Hostile input: the tool is run on damaged sources, configurations and command lines, and must end orderly."""
