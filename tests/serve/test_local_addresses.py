"""Servers listen on this machine's own address, and pages of other hosts get nothing from it."""

from __future__ import annotations

import ast
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from waiting import wait_until

import hlotool
from hlotool.docs import page_server

PRODUCT = pathlib.Path(hlotool.__file__).parent


@pytest.fixture
def port(tmp_path: pathlib.Path) -> Iterator[int]:
    """A server of a folder with pages, and with what is none of its."""
    pages = tmp_path / "pages"
    (pages / "inner").mkdir(parents=True)
    for file in (pages / "index.html", pages / "inner" / "a page.html"):
        file.write_text(f"<p>{file.name}</p>")
    (tmp_path / "secret.html").write_text("secret")
    (pages / "link.html").symlink_to("../secret.html")
    (pages / "up").symlink_to("..")
    os.mkfifo(pages / "pipe.html")
    (pages / "zero.html").symlink_to("/dev/zero")
    with page_server(pages, 0) as server:
        assert server.server_address[0] == "127.0.0.1"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield int(server.server_address[1])
        server.shutdown()


def get(port: int, path: str, host: str | None = None, method: str = "GET") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest(method, path, skip_host=True)
    if host != "":
        connection.putheader("Host", host or f"127.0.0.1:{port}")
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


@pytest.mark.parametrize("path", ["/", "/index.html", "/index.html?q=1#x", "/inner/a%20page.html"])
def test_pages_are_given(port: int, path: str) -> None:
    for host in (None, f"localhost:{port}"):
        status, text = get(port, path, host)
        assert status == 200 and text.startswith("<p>")
    assert get(port, path, method="HEAD") == (200, "")


@pytest.mark.parametrize("path", ["/link.html", "/up/secret.html", "/../secret.html", "/%2e%2e/secret.html", "/inner",
                                  "/inner/", "/pipe.html", "/zero.html", "/a%00b", "//etc/passwd", "/..%2fsecret.html",
                                  "/\\..\\secret.html"])
def test_nothing_else_is_given(port: int, path: str) -> None:
    status, text = get(port, path)
    assert status == 404 and "secret" not in text and "a page" not in text


@pytest.mark.parametrize("host", ["", "evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil",
                                  "127.0.0.1@evil.example", "[::1", "0.0.0.0"])
def test_other_hosts_get_nothing(port: int, host: str) -> None:
    status, text = get(port, "/", host)
    assert status == 421 and "index.html" not in text


def test_only_pages_are_asked_for(port: int) -> None:
    assert get(port, "/", method="POST")[0] == 501


def _listening(*words: str) -> tuple[subprocess.Popen[bytes], str]:
    process = subprocess.Popen([sys.executable, "-m", "hlotool", *words], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    assert process.stdout is not None
    return process, process.stdout.readline().decode()


def _addresses(process: int) -> set[str]:
    """The addresses on which a process and its children listen, as the system has them."""
    children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
    numbers = set()
    for one in (str(process), *children):
        for link in pathlib.Path(f"/proc/{one}/fd").iterdir():
            numbers |= set(re.findall(r"socket:\[(\d+)\]", os.readlink(link)))
    rows = [row.split() for kind in ("tcp", "tcp6") if os.path.exists(f"/proc/net/{kind}")
            for row in pathlib.Path(f"/proc/net/{kind}").read_text().splitlines()]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and row[9] in numbers}


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize("command", ["lsp --tcp --port 0", "docs PAGES --serve 0"])
def test_commands_that_listen_do_it_on_this_machine(command: str, tmp_path: pathlib.Path) -> None:
    process, _ = _listening(*command.replace("PAGES", str(tmp_path / "pages")).split())
    try:
        wait_until(lambda: bool(_addresses(process.pid)))
        assert _addresses(process.pid) == {socket.inet_aton("127.0.0.1")[::-1].hex().upper()}
    finally:
        process.terminate()
        process.wait()


def test_a_browser_cannot_send_messages_to_the_language_server() -> None:
    pytest.importorskip("pygls")
    process, said = _listening("lsp", "--tcp", "--port", "0")
    try:
        port = int(said.strip().rpartition(":")[2])
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                           "params": {"processId": None, "rootUri": None, "capabilities": {}}})
        message = f"Content-Length: {len(body)}\r\n\r\n{body}"
        for before, is_answered in (("", True), ("POST / HTTP/1.1\r\nHost: x\r\n", False),
                                    ("x\r\nPOST / HTTP/1.1\r\n", False)):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as editor:
                editor.sendall(f"{before}{message}".encode())
                editor.shutdown(socket.SHUT_WR)
                heard = b"".join(iter(lambda editor=editor: editor.recv(1 << 16), b""))
            assert (b"capabilities" in heard) == is_answered, before
    finally:
        process.terminate()
        process.wait()


def test_nothing_else_listens() -> None:
    found = {str(file.relative_to(PRODUCT)) for file in PRODUCT.rglob("*.py") for node in ast.walk(ast.parse(
        file.read_text("utf-8"))) if isinstance(node, (ast.Name, ast.Attribute, ast.alias))
        and re.search(r"\bstart_server|^(start|create)_(unix_)?server$|HTTPServer|^socket$|^LocalCluster$",
                      ast.unparse(node).rpartition(".")[2])}
    assert found == {"docs/page_server.py", "serve/lsp/transport.py"}
