"""Shows a folder of pages to browsers on this machine, and to nobody else."""

from __future__ import annotations

import contextlib
import functools
import os
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from hlotool.process import open_beneath

#: names that this machine has for itself; a page from elsewhere may have a name that leads here (DNS rebinding)
_OWN_NAMES = ("127.0.0.1", "localhost")


def page_server(folder: Path, port: int) -> ThreadingHTTPServer:
    """Return a server of the files below a folder on 127.0.0.1; port 0 is any that is free.

    It gives regular files, follows no link below the folder, lists no folder, and refuses requests for other hosts.
    """
    return ThreadingHTTPServer(("127.0.0.1", port), functools.partial(_Pages, folder.resolve()))


class _Pages(SimpleHTTPRequestHandler):
    #: seconds that a client has to say what it wants
    timeout = 30
    #: more types than Python knows of itself
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".webp": "image/webp", ".wasm": "application/wasm", ".mjs": "text/javascript"}

    def __init__(self, root: Path, *given: Any) -> None:
        self.root = root
        super().__init__(*given, directory=str(root))

    def send_head(self) -> BinaryIO | None:
        """Send the headers of a file and return the file; None where there is none, which is said."""
        if not self._is_asked_of_us():
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "this is no page of that host")
            return None
        path = unquote(urlsplit(self.path).path).lstrip("/")
        try:
            file, _ = open_beneath(self.root, f"{path}index.html" if path.endswith("/") or not path else path)
        except (OSError, ValueError):  # ValueError: a zero byte
            self.send_error(HTTPStatus.NOT_FOUND, "there is no such page")
            return None
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", self.guess_type(path or "index.html"))
        self.send_header("Content-Length", str(os.fstat(file.fileno()).st_size))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        return file

    def _is_asked_of_us(self) -> bool:
        with contextlib.suppress(ValueError):
            return urlsplit(f"//{self.headers.get('Host', '')}").hostname in _OWN_NAMES
        return False
