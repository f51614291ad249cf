"""Writes the manual as HTML, or shows it in a browser.

    hlotool docs manual/       pages for the guide, and one for each command, rule, code and operation
    hlotool docs --serve       the same on http://127.0.0.1:8000, until Ctrl-C
"""

from __future__ import annotations

import argparse
import functools
import pathlib
import tempfile

from hlotool.cli.console import complain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="where the pages go")
    parser.add_argument("--serve", nargs="?", type=int, const=8000, metavar="PORT",
                        help="serve the pages on this machine alone (default port: 8000)")
    parser.add_argument("--update", action="store_true", help="write the reference pages of the package itself anew")


def run(args: argparse.Namespace) -> int:
    if args.update:
        return _update()
    if args.folder:
        folder = pathlib.Path(args.folder)
        print(f"{len(_write(folder))} pages: {folder / 'index.html'}")
    elif args.serve is None:
        complain("hlotool docs: name a folder, or --serve")
        return 2
    if args.serve is not None:
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(args.folder or made)
            if not args.folder:
                _write(folder)
            _serve(folder, args.serve)
    return 0


def _write(folder: pathlib.Path) -> list[pathlib.Path]:
    from hlotool.cli.reference_pages import reference_pages, single_pages
    from hlotool.docs import manual_pages, write_site

    written = {page.place: page for page in (*manual_pages(), *reference_pages(), *single_pages())}
    return write_site(folder, list(written.values()))


def _update() -> int:
    import hlotool.docs
    from hlotool.cli.reference_pages import reference_pages

    folder = pathlib.Path(hlotool.docs.__file__).parent
    for page in reference_pages():
        (folder / f"{page.place}.md").write_text(page.text, "utf-8")
        print(folder / f"{page.place}.md")
    return 0


def _serve(folder: pathlib.Path, port: int) -> None:
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
        server.serve_forever()
