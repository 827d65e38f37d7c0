"""``python -m auditor`` is ``bw-audit``."""

import sys

from auditor.cli import main

sys.exit(main())
