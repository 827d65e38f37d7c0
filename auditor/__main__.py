"""``python -m auditor`` is ``bw-audit``."""

import sys

from auditor.cli import command

sys.exit(command())
