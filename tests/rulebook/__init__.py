"""Which rule checks which requirement, and why some requirements are not reported.

``entries.txt`` holds the requirements, ``reasons.txt`` why one has no rule; a line is an identifier and a text.
``python -m tests.rulebook`` writes the table into the documentation.
"""
