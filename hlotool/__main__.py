"""`python -m hlotool` is `hlotool`."""

from hlotool.cli import main

raise SystemExit(main())
