"""The command line: arguments in, exit code out."""

from hlotool.cli.main import main, main_conform, main_convert, main_lint

__all__ = ["main", "main_conform", "main_convert", "main_lint"]
