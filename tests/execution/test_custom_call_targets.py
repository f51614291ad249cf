"""A module calls native code of libraries that compute, and other code only where the user says so."""

from __future__ import annotations

import pathlib

import pytest

from hlotool.cli.main import main
from hlotool.execution.custom_calls import is_allowed

TEXT = """HloModule m
ENTRY e { x = f32[2] parameter(0)
  ROOT y = f32[2] custom-call(x), custom_call_target="TARGET", api_version=API_VERSION_TYPED_FFI }
"""


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HLOTOOL_ALLOW_CUSTOM_CALLS", "")


def test_known_targets() -> None:
    assert all(map(is_allowed, ("TopK", "lapack_spotrf_ffi", "__cublas$gemm", "Sharding", "__cudnn$convForward")))
    assert not any(map(is_allowed, ("", "evil", "TopK2", "xla_ffi_python_cpu_callback", "__triton", "lapack_x y")))


@pytest.mark.parametrize("command", [["run"]])
def test_other_targets_are_refused(command: list[str], tmp_path: pathlib.Path,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(TEXT.replace("TARGET", "evil"))
    assert main([*command, str(file)]) in (1, 2)
    shown = capsys.readouterr()
    assert "E120" in shown.err and "'evil'" in shown.err
    assert main([command[0], "--allow-custom-calls", "evil", *command[1:], str(file)]) in (1, 2)
    shown = capsys.readouterr()
    assert "E120" not in shown.err  # the runtime has no such function, and says so
