"""PJRT clients by name: platforms, libraries of plugins, options."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hlotool
from hlotool.cli import main
from hlotool.conformance import executor_words
from hlotool.execution import describe_executor, executor_name, executor_named, is_ours
from hlotool.execution.executors import pjrt
from hlotool.execution.pjrt_clients import client_named

TEXT = "HloModule m\n\nENTRY e {\n  x = f32[3] parameter(0)\n  y = f32[3] negate(x)\n  ROOT z = f32[3] negate(y)\n}\n"


def refused(code: str, message: str) -> Any:
    return pytest.raises(hlotool.HloError, match=rf"(?s){message}.*\[{code}\]")


@pytest.mark.parametrize(("words", "place", "client", "compiler"), [
    ("cpu", "cpu", (), ()),
    ("cpu+xla_a=0+xla_b=True", "cpu", (), (("xla_a", "0"), ("xla_b", True))),
    ("cpu+xla_disable_hlo_passes=algsimp,dce", "cpu", (), (("xla_disable_hlo_passes", "algsimp,dce"),)),
    ("/opt/c++/p.so", "/opt/c++/p.so", (), ()),
    ("/p.so+n=3+f=0.5+s=bfc+t=false+xla_a=1", "/p.so", (("n", 3), ("f", 0.5), ("s", "bfc"), ("t", False)),
     (("xla_a", "1"),)),
    ("/p.so+path=/a=b", "/p.so", (("path", "/a=b"),), ()),
])
def test_options_stand_behind_the_place(words: str, place: str, client: Any, compiler: Any) -> None:
    found = client_named(words)
    assert (found.place, found.client_options, found.compiler_options) == (place, client, compiler)
    assert [type(v) for _, v in found.client_options] == [type(v) for _, v in client]
    assert found.is_library == ("/" in place)


@pytest.mark.parametrize(("words", "message"), [
    ("cpu+allocator=bfc", "allocator is none of XLA's options"),
    ("cpu+xla_a=1+xla_a=2", "xla_a is given twice"),
])
def test_options_that_cannot_be(words: str, message: str) -> None:
    with refused("E122", message):
        executor_named(f"pjrt:{words}")


@pytest.mark.parametrize(("option", "message"), [
    ("xla_nosuch=1", "No such compile option"), ("xla_backend_optimization_level=high", "not a valid int32"),
    ("xla_cpu_enable_fast_math=5", "not a valid bool")])
def test_options_that_the_compiler_refuses(option: str, message: str) -> None:
    with refused("E122", message):
        executor_named(f"pjrt:cpu+{option}").check()
    with refused("E122", message):
        hlotool.execute(TEXT, [[1.0, 2.0, 3.0]], f"pjrt:cpu+{option}")


def test_options_reach_the_compiler_and_the_report(tmp_path: Path) -> None:
    """Without the simplifier two negations stay two."""
    kept = []
    for passes in ("none-of-that-name", "algsimp,dce"):
        folder = tmp_path / passes
        name = f"pjrt:cpu+xla_disable_hlo_passes={passes}+xla_dump_to={folder}+xla_dump_hlo_as_text=true"
        executor_named(name).check()
        assert not list(folder.glob("*"))  # only what is asked for is dumped
        assert hlotool.execute(TEXT, [[1.0, 2.0, 3.0]], name)[0].tolist() == [1, 2, 3]
        written = next(folder.glob("*cpu_after_optimizations.txt")).read_text("utf-8")
        kept.append(sum(i.opcode == "negate" for i in hlotool.parse(written).instructions()))
        assert f"xla_disable_hlo_passes={passes}" in describe_executor(name)["options"]
    assert kept == [0, 2]


def test_what_is_only_for_a_compilation_has_no_child_of_its_own() -> None:
    plain, told = executor_named("pjrt:cpu"), executor_named("pjrt:cpu+xla_backend_optimization_level=0")
    hlotool.execute(TEXT, [[1.0, 2.0, 3.0]], "pjrt:cpu")
    assert told.name != plain.name and told.without_compile_options() == plain
    assert told._child(1) is plain._child(1) and not told._child(1).is_fresh


@pytest.mark.parametrize(("name", "message"), [
    ("pjrt:/nosuch/plugin.so", "there is no plugin"), ("pjrt:nosuch.so", "there is no plugin"),
    ("pjrt:nosuchplatform", "nosuchplatform"), ("pjrt:cuda12", "cuda12")])
def test_what_is_not_there(name: str, message: str) -> None:
    with refused("E121", message):
        executor_named(name).check()


@pytest.mark.parametrize(("name", "text", "message"), [
    ("plugin.so", "no library", "Failed to open"), ("plugin.json", "{", "no configuration"),
    ("plugin.json", "[]", "no configuration"), ("plugin.json", '{"library_path": "/nosuch.so"}', "/nosuch.so"),
    ("a:b,c.so", "no library", "Failed to open")])
def test_files_that_are_no_plugins(name: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with refused("E121", message):
        executor_named(f"pjrt:{path}").check()


def test_a_missing_executor_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.hlo").write_text(f"{TEXT}\n// -----\n{TEXT}", "utf-8")
    for command in ("run", "compare"):
        words = ["--executors", "pjrt:nosuchplatform"] if command == "run" else [
            "--executors", "pjrt:nosuchplatform", "reference"]
        assert main([command, str(tmp_path / "m.hlo"), *words]) == 2
        said = capsys.readouterr().err
        assert said.count("[E121]") == 1 and "--> --executors" in said


@pytest.mark.parametrize(("name", "is_harmless"), [
    ("pjrt:cpu", True), ("pjrt:cpu+xla_backend_optimization_level=0", True), ("pjrt:cpu+xla_cpu_x=True", True),
    ("pjrt:cpu+xla_dump_to=/tmp/x", False), ("pjrt:cpu+xla_dump_hlo_as_text=true", False),
    ("pjrt:cpu+xla_extra=../x", False), ("pjrt:cpu+xla_x=1/2", False), ("pjrt:/p.so", False), ("pjrt:p.so", False),
    ("pjrt:cpu+a=1", False), ("reference", True), ("stored:x.npz", False), ("nosuch", False)])
def test_names_that_a_bundle_may_run_unasked(name: str, is_harmless: bool) -> None:
    """Those that read and write no file; see hlotool.reduction.bundle_archive."""
    assert is_ours(name) is is_harmless


def test_a_relative_path_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Children work in another folder."""
    (tmp_path / "p.so").touch()
    monkeypatch.chdir(tmp_path)
    assert executor_name("pjrt:./p.so+a=1") == f"pjrt:{tmp_path}{os.sep}p.so+a=1"


def test_commas_in_options_part_no_executors() -> None:
    assert executor_words(["pjrt:cpu+xla_disable_hlo_passes=algsimp,dce,reference", "stablehlo,numpy"]) == (
        "pjrt:cpu+xla_disable_hlo_passes=algsimp,dce", "reference", "stablehlo", "numpy")
    assert executor_words(["pjrt:cpu,nosuch"]) == ("pjrt:cpu", "nosuch")


@pytest.fixture(scope="module")
def plugin() -> Path:
    spec = importlib.util.find_spec("xla_plugins") and importlib.util.find_spec("xla_plugins.xla_cpu_pjrt")
    if not spec or not spec.submodule_search_locations:
        pytest.skip("no library of a PJRT plugin is here: pip install xla-cpu-pjrt")
    return Path(spec.submodule_search_locations[0]) / "xla_cpu_pjrt.so"


def test_a_plugin_by_path_computes(plugin: Path, tmp_path: Path) -> None:
    configuration = tmp_path / "plugin.json"
    configuration.write_text(json.dumps({"library_path": str(plugin), "create_options": {"cpu_device_count": 2}}))
    for name in (f"pjrt:{plugin}", f"pjrt:{plugin}+cpu_device_count=2+xla_backend_optimization_level=0",
                 f"pjrt:{configuration}"):
        assert hlotool.execute(TEXT, [[1.0, 2.0, 3.0]], name)[0].tolist() == [1, 2, 3]
        facts = describe_executor(name)
        assert facts["platform"] == "cpu" and len(facts["library_sha256"]) == 64
    assert executor_named(f"pjrt:{plugin}").is_shareable


@pytest.mark.parametrize(("partitioning", "code", "is_shardy"), [
    ("automatic", b"sdy.mesh", True), ("automatic", b"mhlo.sharding", False), ("manual", b"sdy.mesh", False)])
def test_shardy_splits_what_is_written_in_its_words(monkeypatch: pytest.MonkeyPatch, partitioning: str, code: bytes,
                                                    is_shardy: bool) -> None:
    asked: list[Any] = []
    one = SimpleNamespace(local_devices=lambda: [None] * 2,
                          compile_and_load=lambda code, devices, options: asked.append(options))
    monkeypatch.setattr(pjrt, "client", lambda name: one)
    monkeypatch.setattr(pjrt, "_marked_manual", lambda code: code)
    monkeypatch.setattr("jaxlib.xla_client.DeviceList", list, raising=True)
    pjrt._compiled(pjrt.Job(client_named("cpu"), code, 1, 2, partitioning))
    build = asked[0].executable_build_options
    assert build.use_shardy_partitioner is is_shardy and build.use_spmd_partitioning
    assert (build.num_replicas, build.num_partitions) == (1, 2)
