"""A real VS Code in the browser: code-server, from npm. Tests skip where it cannot be made."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator

import pytest

_VERSION, _NODE = "4.96.4", "v20."
# Without these VS Code does not start; what else it has of machine code is not needed here.
_NATIVE = ("@vscode/spdlog", "node-pty", "native-watchdog")


def npm(folder: pathlib.Path, *words: str) -> str:
    """The output of npm in a folder. Skips the test where the registry cannot be reached."""
    command = shutil.which("npm")
    assert command is not None
    done = subprocess.run([command, *words], cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    said = done.stdout + done.stderr
    if done.returncode and any(word in said for word in ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT")):
        pytest.skip("the registry of npm cannot be reached")
    assert done.returncode == 0, said
    return said


def install(folder: pathlib.Path) -> pathlib.Path:
    """Install code-server in a folder; returns its program. Skips the test without its node or a compiler."""
    node, compiler = shutil.which("node"), shutil.which("g++")
    if node is None or compiler is None or shutil.which("make") is None:
        pytest.skip("node or a compiler is not installed")
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if not said.startswith(_NODE):
        pytest.skip(f"code-server {_VERSION} wants node {_NODE}x, and this is {said.strip()}")
    headers = pathlib.Path(node).resolve().parent.parent
    if not (headers / "include" / "node" / "node.h").is_file():
        pytest.skip("the headers of node are not installed")
    quick = ("--omit=dev", "--ignore-scripts", "--no-fund", "--no-audit")
    (folder / "package.json").write_text("{}", "utf-8")
    npm(folder, "install", *quick, f"code-server@{_VERSION}")
    package = folder / "node_modules" / "code-server"
    npm(package, "install", *quick)
    code = package / "lib" / "vscode"
    (code / "npm-shrinkwrap.json").unlink()  # it names a package by its place at GitHub, which the registry has as well
    npm(code, "install", *quick)
    for place, names in ((package, ("argon2",)), (code, _NATIVE)):
        npm(place, "rebuild", f"--nodedir={headers}", "--build-from-source", *names)
    (code / "node_modules.asar").symlink_to("node_modules")
    return package / "out" / "node" / "entry.js"


@contextlib.contextmanager
def running(program: pathlib.Path, extension: pathlib.Path, settings: str, folder: pathlib.Path) -> Iterator[str]:
    """Serve a folder with an extension (.vsix) and settings (JSON); gives the address."""
    with tempfile.TemporaryDirectory() as home, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        data = pathlib.Path(home) / "data"
        (data / "User").mkdir(parents=True)
        (data / "User" / "settings.json").write_text(settings, "utf-8")
        node = shutil.which("node")
        assert node is not None
        command = [node, str(program), "--config", f"{home}/config.yaml", "--user-data-dir", str(data),
                   "--extensions-dir", f"{home}/extensions"]
        own = {**os.environ, "HOME": home}
        subprocess.run([*command, "--install-extension", str(extension)], check=True, capture_output=True, timeout=120,
                       env=own)
        server = subprocess.Popen([*command, "--auth", "none", "--bind-addr", f"127.0.0.1:{port}",
                                   "--disable-telemetry", "--disable-update-check", str(folder)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=own)
        try:
            _wait_until_open(port, server)
            yield f"http://127.0.0.1:{port}/?folder={folder}"
        finally:
            server.terminate()
            server.wait(30)


def _wait_until_open(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert server.poll() is None, "code-server has ended"
        time.sleep(0.1)
    raise AssertionError("code-server does not answer")
