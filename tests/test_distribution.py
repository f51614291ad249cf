"""How hlotool is built and handed out: recipes name what pyproject.toml does, and the adapter makes graphs."""

from __future__ import annotations

import dataclasses
import importlib
import json
import pathlib
import re
import subprocess
import sys
import tomllib
import types
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
yaml = pytest.importorskip("yaml")
ACTIONS = sorted((ROOT / ".github").rglob("*.yml"))


def test_the_conda_recipe_needs_what_the_project_needs() -> None:
    recipe = yaml.safe_load((ROOT / ".conda" / "recipe.yaml").read_text())
    assert recipe["package"]["version"] == PROJECT["version"]
    assert [r.replace(" ", "") for r in recipe["requirements"]["run"][1:]] == PROJECT["dependencies"]


def test_what_editors_install_has_the_projects_version() -> None:
    folder = ROOT / "hlotool" / "serve" / "lsp"
    for name in ("vscode/package.json", "vscode/package-lock.json", "tree_sitter/package.json"):
        assert json.loads((folder / name).read_text("utf-8"))["version"] == PROJECT["version"], name
    written = re.findall(r'^version = "(.*)"', (folder / "configs" / "zed.sh").read_text("utf-8"), re.M)
    assert set(written) == {PROJECT["version"]}


def test_the_changelog_begins_with_the_projects_version() -> None:
    found = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert found[0] in (PROJECT["version"], "Unreleased") and PROJECT["version"] in found


def test_the_container_has_extras_that_there_are() -> None:
    named = re.findall(r"/source\[([\w,]+)\]", (ROOT / ".container" / "Containerfile").read_text())
    assert named and set(named[0].split(",")) <= set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("path", ACTIONS, ids=lambda p: "/".join(p.parts[-2:]))
def test_actions_hand_inputs_to_shells_as_variables(path: pathlib.Path) -> None:
    """A value that stands in the text of a script is code."""
    steps = [step for job in yaml.safe_load(path.read_text()).get("jobs", {}).values() for step in job["steps"]]
    steps += yaml.safe_load(path.read_text()).get("runs", {}).get("steps", [])
    assert steps and not [s["run"] for s in steps if "${{" in s.get("run", "")]
    for step in steps:
        if "run" in step and step.get("shell") == "bash":
            assert subprocess.run(["bash", "-n"], input=step["run"], text=True, check=False).returncode == 0


def test_options_of_actions_are_options_of_commands() -> None:
    from hlotool.cli.parsers import parser_of

    text = (ROOT / ".github" / "actions" / "hlo-lint" / "action.yml").read_text()
    given = re.findall(r"hlo-lint ((?:--.*))-- \$PATHS", text)
    assert given and set(re.findall(r"--[\w-]+", given[0])) <= set(parser_of("lint", "hlo-lint")._option_string_actions)


def _graph_builder() -> Any:
    """Return the classes of Model Explorer's graphs that the adapter makes: a graph there is what is given here."""
    fields = {"Graph": ("id", "nodes"), "GraphCollection": ("label", "graphs"), "KeyValue": ("key", "value"),
              "MetadataItem": ("id", "attrs"),
              "IncomingEdge": ("sourceNodeId", "sourceNodeOutputId", "targetNodeInputId"),
              "GraphNode": ("id", "label", "namespace", "subgraphIds", "attrs", "incomingEdges", "outputsMetadata")}
    return types.SimpleNamespace(**{name: dataclasses.make_dataclass(name, names) for name, names in fields.items()})


def test_the_adapter_of_model_explorer_makes_its_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        importlib.import_module("model_explorer")
    except ImportError:
        stand_in: Any = types.ModuleType("model_explorer")
        stand_in.Adapter, stand_in.graph_builder = object, _graph_builder()
        stand_in.AdapterMetadata = types.SimpleNamespace
        monkeypatch.setitem(sys.modules, "model_explorer", stand_in)
    monkeypatch.syspath_prepend(str(ROOT / "samples" / "model_explorer"))
    adapter = importlib.import_module("hlotool_model_explorer.main").HloAdapter()
    model = ROOT / "samples" / "models" / "rnn_scan.hlo"
    [collection] = adapter.convert(str(model), {})["graphCollections"]
    shown = dataclasses.asdict(collection)
    nodes = [node for graph in shown["graphs"] for node in graph["nodes"]]
    assert {"while", "dot", "parameter"} <= {node["label"] for node in nodes}
    named = {node["id"] for node in nodes}
    assert all(edge["sourceNodeId"] in named for node in nodes for edge in node["incomingEdges"])
    assert "hlo" in adapter.metadata.fileExts
    monkeypatch.delitem(sys.modules, "hlotool_model_explorer.main")
