"""``python -m lscfg``."""

import sys

from lscfg.cli import main

sys.exit(main())
