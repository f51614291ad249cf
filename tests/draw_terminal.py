"""Draws the terminal picture of README: `python tests/draw_terminal.py`."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from rich.console import Console
from rich.text import Text

ROOT = pathlib.Path(__file__).parents[1]


def main() -> None:
    shown = re.search(r"<!-- file: broken.hlo -->\n```\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    assert shown
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "broken.hlo").write_text(shown[1], "utf-8")
        done = subprocess.run([sys.executable, "-m", "hlotool", "lint", "--color", "always", "broken.hlo"], cwd=folder,
                              capture_output=True, text=True, check=False, env=dict(os.environ, COLUMNS="100"))
    console = Console(record=True, width=106, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    console.print(Text.from_ansi("$ hlo-lint broken.hlo\n" + done.stdout + done.stderr))
    (ROOT / "hlotool/docs/lint.svg").write_text(console.export_svg(title="hlo-lint"), "utf-8")


if __name__ == "__main__":
    main()
