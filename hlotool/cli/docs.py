"""Writes the manual as HTML, or shows it in a browser.

    hlotool docs manual/                  pages for the guide, and one for each command, rule, code and operation
    hlotool docs --serve                  the same on http://127.0.0.1:8000, until Ctrl-C
    hlotool docs --serve --playground     with a page that checks, formats and draws pasted modules in the browser
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile
from collections.abc import Mapping

from hlotool.cli.console import complain, report
from hlotool.cli.option_values import whole_number
from hlotool.diagnostics import HloError, visible


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="where the pages go")
    parser.add_argument("--serve", nargs="?", type=whole_number(0, 65535), const=8000, metavar="PORT",
                        help="serve the pages on this machine alone (default port: 8000)")
    parser.add_argument("--playground", action="store_true",
                        help="put Python for the browser beside the playground: Pyodide, from npm, kept in the cache")
    parser.add_argument("--pyodide", metavar="PATH",
                        help="take Pyodide from here, the package as npm packs it or its folder; implies --playground")
    parser.add_argument("--update", action="store_true", help="write the reference pages of the package itself anew")


def run(args: argparse.Namespace) -> int:
    if args.update:
        return _update()
    try:
        pyodide = _pyodide(args)
        if args.folder:
            folder = pathlib.Path(args.folder)
            print(f"{_write(folder, pyodide)} pages: {visible(str(folder / 'index.html'))}")
    except HloError as error:
        return report(error.diagnostics, {})
    if not args.folder and args.serve is None:
        complain("hlotool docs: name a folder, or --serve")
        return 2
    if args.serve is not None:
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(args.folder or made)
            if not args.folder:
                _write(folder, pyodide)
            _serve(folder, args.serve)
    return 0


def _pyodide(args: argparse.Namespace) -> Mapping[str, bytes] | None:
    """The files of Pyodide where they are asked for. Raises HloError (R160)."""
    from hlotool.view.playground import pyodide_files

    if not (args.playground or args.pyodide):
        return None
    return pyodide_files(pathlib.Path(args.pyodide) if args.pyodide else None)


def _write(folder: pathlib.Path, pyodide: Mapping[str, bytes] | None) -> int:
    """Write the site, the playground with it; gives the number of the manual's pages. Raises HloError (R120, R160)."""
    from hlotool.cli.reference_pages import reference_pages, single_pages
    from hlotool.cli.whole_files import NOT_REWRITTEN
    from hlotool.docs import manual_pages, write_site
    from hlotool.process import OwnFiles
    from hlotool.view.playground import write_playground

    written = {page.place: page for page in (*manual_pages(), *reference_pages(), *single_pages())}
    files = OwnFiles(folder, NOT_REWRITTEN, "give a folder of its own")
    write_playground(files, pyodide)
    return write_site(files, list(written.values()))


def _update() -> int:
    import hlotool.docs
    from hlotool.cli.reference_pages import reference_pages

    folder = pathlib.Path(hlotool.docs.__file__).parent
    for page in reference_pages():
        (folder / f"{page.place}.md").write_text(page.text, "utf-8")
        print(folder / f"{page.place}.md")
    return 0


def _serve(folder: pathlib.Path, port: int) -> None:
    from hlotool.docs import page_server

    with page_server(folder, port) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
        server.serve_forever()
