"""`python -m hlotool` is `hlotool`."""

import sys

# Python puts the current folder in front of the path of `-m`: what lies there is data, and no module of ours.
if not sys.flags.safe_path and sys.path and not sys.flags.isolated:
    sys.path.pop(0)

from hlotool.programs import hlotool

raise SystemExit(hlotool())
