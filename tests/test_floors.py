"""Imports go down the floors, rooms are entered by their faces, and what must stay light or independent does."""

import ast
import collections
import functools
import graphlib
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator

import pytest

ROOT = pathlib.Path(__file__).parents[1]
FLOORS = {"grammars": 0, "ir": 1, "diagnostics": 2, "text": 3, "process": 3, "mlir": 3, "proto": 4, "ops": 4,
          "passes": 5, "stablehlo": 6, "proof": 6, "builder": 7, "dumps": 7, "execution": 7, "numerics": 8,
          "distributed": 8, "verdict": 9, "blame": 10, "conformance": 10, "linting": 10, "bisection": 11, "serve": 11,
          "jax": 11, "docs": 11, "corpus": 11, "testing": 11, "reduction": 12, "view": 12, "fuzzing": 13, "cli": 14}
FOLDERS = {room: ROOT / (room if room in ("grammars", "passes") else f"hlotool/{room}") for room in FLOORS}
FILES = [(room, path) for room, folder in FOLDERS.items() for path in sorted(folder.rglob("*.py"))]
TOP = [("", ROOT / "hlotool" / name) for name in ("__init__.py", "__main__.py", "programs.py",
                                                         "pytest_fixtures.py")]

#: modules that a room opens beside its face, because most users of the room need not pay for them
SIDE_DOORS = {
    "hlotool.ir.arrays": "NumPy, for files that compute",
    "hlotool.ir.interning": "the metaclass of values; no value itself",
    "hlotool.ir.metadata_fields": "read when somebody asks for metadata",
    "hlotool.diagnostics.records": "types of reports; only those who report pay for them",
    "hlotool.diagnostics.render": "frames; only commands print",
    "hlotool.diagnostics.formats": "forms of output; only commands print",
    "hlotool.diagnostics.fingerprint": "what baselines keep; only linting reads those",
    "hlotool.ops.index_maps": "terms of sizes and indices; only proofs read them",
    "hlotool.ops.relations": "views of whole values; only proofs read them",
    "hlotool.ops.relation_rules": "what carries those; only proofs read them",
    "hlotool.ops.relation_values": "what rules that carry those ask of values; only proofs read them",
    "hlotool.ops.lowering": "what stands between lowerings and the converter",
    "hlotool.ops.values": "values as the evaluator holds them",
    "hlotool.text.folder_files": "files in folders; only commands look for those",
    "hlotool.text.input_files": "files and streams; only commands read those",
    "hlotool.stablehlo.artifact": "needs jaxlib",
    "hlotool.serve.lsp.server": "needs pygls",
}
#: names that files of several rooms have, and why
SHARED = {
    "__init__": "faces",
    "codes": "the codes of a room",
    **dict.fromkeys(("collectives", "contraction", "control", "elementwise", "indexing", "movement", "normalization",
                     "random", "reduction", "sorting", "transfer", "windows"),
                    "a family of operations: declarations, builder functions, rules, JAX code"),
}
#: XLA's own parser, lifter, exporter and evaluator, which the product must not lean on
FOREIGN = {
    "hlo_module_from_text", "hlo_to_stablehlo", "mlir_module_to_xla_computation", "xla_computation_to_mlir_module",
    "hlo_module_to_dot_graph", "hlo_module_cost_analysis", "from_serialized_hlo_module_proto", "xla_extension",
}


@functools.cache
def imports_of(path: pathlib.Path) -> list[tuple[int, str]]:
    """(line, module) of every import of a file, those inside functions included; `from a import b` may be a.b."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[:len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found.append((node.lineno, inner if is_module(inner) and alias.name not in exports(base) else base))
    return found


@functools.cache
def exports(module: str) -> set[str]:
    """What a room's face lists in __all__: a function there may have the name of the file it comes from."""
    path = FOLDERS[room_of(module)] / "__init__.py" if room_of(module) in FOLDERS else None
    if path is None or module.count(".") > 1:
        return set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return set(ast.literal_eval(node.value))
    return set()


def module_name(path: pathlib.Path) -> str:
    relative = path.relative_to(ROOT).with_suffix("")
    parts = relative.parts if relative.parts[0] == "hlotool" else ("hlotool", *relative.parts)
    return ".".join(p for p in parts if p != "__init__")


@functools.cache
def is_module(name: str) -> bool:
    room, _, rest = name.removeprefix("hlotool.").partition(".")
    if not name.startswith("hlotool.") or room not in FOLDERS:
        return False
    path = FOLDERS[room] / rest.replace(".", "/")
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def room_of(module: str) -> str:
    return module.split(".")[1] if module.startswith("hlotool.") else ""


def test_the_whole_product_is_looked_at():
    found = {p for _, p in FILES + TOP}
    product = set((ROOT / "hlotool").rglob("*.py")) | set((ROOT / "passes").rglob("*.py")) \
        | set((ROOT / "grammars").rglob("*.py"))
    assert found == product


def test_imports_go_down():
    wrong = []
    for room, path in FILES:
        for line, module in imports_of(path):
            other = room_of(module)
            if module == "hlotool" and room in ("cli", "serve", "corpus"):
                continue  # the version
            if module == "hlotool" or (other and other != room and FLOORS[other] >= FLOORS[room]):
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {room} imports {module}")
    assert not wrong, "\n".join(wrong)


def test_rooms_are_entered_by_their_faces():
    wrong = []
    for room, path in FILES:
        for line, module in imports_of(path):
            other = room_of(module)
            inside = module not in FACES and (other != "passes" or module.count(".") > 2)
            if other and other != room and inside and module not in SIDE_DOORS:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {module} is inside {other}")
    assert not wrong, "\n".join(wrong)


def test_no_circles_inside_rooms():
    """Files of a room that import each other in a circle, if only for types, are one file, or one too many."""
    modules = {module_name(path) for _, path in FILES}
    sorter: graphlib.TopologicalSorter[str] = graphlib.TopologicalSorter()
    for room, path in FILES:
        if path.name == "__init__.py":
            continue
        sorter.add(module_name(path), *(module for _, module in imports_of(path)
                                        if module in modules and room_of(module) == room
                                        and module != module_name(path) and module.count(".") > 1
                                        and module not in FACES))
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


FACES = {module_name(path) for _, path in FILES if path.name == "__init__.py"}


def test_a_file_name_says_one_thing():
    """Two files have one name only where they are the same thing in two rooms."""
    names = collections.Counter(path.name for _, path in FILES)
    assert sorted(name for name, count in names.items() if count > 1 and name.removesuffix(".py") not in SHARED) == []


@pytest.mark.parametrize("room", [r for r, floor in FLOORS.items() if floor <= 5])
def test_lower_floors_know_no_jax(room):
    wrong = [f"{path.relative_to(ROOT)}:{line}" for r, path in FILES if r == room
             for line, module in imports_of(path) if module.split(".")[0] in ("jax", "jaxlib")]
    assert not wrong, "\n".join(wrong)


def test_jax_is_imported_inside_functions_only():
    wrong = []
    for _, path in FILES + TOP:
        for node in ast.parse(path.read_text("utf-8")).body:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) \
                else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            wrong += [f"{path.relative_to(ROOT)}:{node.lineno}" for n in names if n.split(".")[0] in ("jax", "jaxlib")]
    assert not wrong, "\n".join(wrong)


def test_the_product_leans_on_none_of_xlas_readers():
    """Neither as a name nor in a string that getattr could take."""
    wrong = []
    for _, path in FILES + TOP:
        text = path.read_text("utf-8")
        if not any(f in text for f in FOREIGN):
            continue
        for node in ast.walk(ast.parse(text)):
            name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) \
                else node.name if isinstance(node, ast.alias) else node.value if isinstance(node, ast.Constant) else ""
            if isinstance(name, str) and any(f in name.split(".") for f in FOREIGN):
                wrong.append(f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {name}")
    assert not wrong, "\n".join(wrong)


def classes() -> dict[tuple[str, str], tuple[ast.ClassDef, list[tuple[str, str]]]]:
    """(room, name) -> a class of the product, and its bases as (room, name)."""
    found = {}
    for room, path in FILES:
        tree = ast.parse(path.read_text("utf-8"))
        homes = {alias.asname or alias.name: (room_of(node.module or ""), alias.name) for node in ast.walk(tree)
                 if isinstance(node, ast.ImportFrom) for alias in node.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases = [b.value if isinstance(b, ast.Subscript) else b for b in node.bases]
                names = [b.id for b in bases if isinstance(b, ast.Name)]
                found[room, node.name] = node, [homes.get(name, (room, name)) for name in names]
    return found


def test_no_room_overrides_what_is_private_in_another():
    """A class gives other classes of its room, and no others, a method `_name` to override."""
    known = classes()

    def methods(place: tuple[str, str]) -> set[str]:
        body = known[place][0].body
        return {n.name for n in body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
                and n.name.startswith("_") and not n.name.startswith("__")}

    wrong = []
    for place in known:
        above = [b for b in known[place][1] if b in known]
        for base in above:
            above += [b for b in known[base][1] if b in known and b not in above]
            if base[0] != place[0]:
                wrong += [f"{place[0]}.{place[1]}.{name} overrides that of {base[0]}.{base[1]}"
                          for name in methods(place) & methods(base)]
    assert not wrong, "\n".join(wrong)


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after running some code."""
    script = f"import sys\n{code}\nprint(' '.join(sorted({{m.partition('.')[0] for m in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


@pytest.mark.parametrize(("code", "unwanted"), [
    ("import hlotool", {"numpy", "jax", "jaxlib", "lark", "google", "rich", "ml_dtypes"}),
    ("import hlotool.cli", {"numpy", "jax", "jaxlib", "lark", "google", "rich"}),
    ("import hlotool.text, hlotool.ops, hlotool.passes.verify", {"numpy", "jax", "jaxlib", "lark", "google", "rich"}),
    ("import hlotool.stablehlo, hlotool.execution, hlotool.linting", {"jax", "jaxlib", "google"}),
    ("import hlotool; hlotool.lint('ENTRY e { ROOT a = f32[2] parameter(0), sharding={replicated} }')",
     {"numpy", "jax", "jaxlib", "lark", "google", "rich"}),
    ("import hlotool; hlotool.parse('HloModule m\\nENTRY e { ROOT a = f32[2] parameter(0) }')",
     {"jax", "jaxlib", "lark", "google", "rich"}),
], ids=["hlotool", "cli", "lower", "upper", "lint", "parse"])
def test_imports_stay_light(code, unwanted):
    assert not loaded_by(code) & unwanted


def test_public_names_do_not_depend_on_what_was_imported():
    """`hlotool.lint(...)` and `hlotool.OPS[...]` mean the same before and after somebody imports those rooms."""
    use = ("assert not hlotool.lint('ENTRY e { ROOT a = f32[] parameter(0) }') and hlotool.OPS['add'].opcode == 'add'; "
           "assert all(callable(getattr(hlotool, n)) for n in ('bisect', 'isolate', 'reduce', 'convert', 'cost'))")
    for first in ("pass", "import hlotool.linting.linter, hlotool.ops.registry as r", "from hlotool.ops import OPS",
                  "import hlotool.bisection, hlotool.reduction.reducer, hlotool.passes.cost"):
        assert "hlotool" in loaded_by(f"import hlotool; {first}; {use}; {first}; {use}")


def test_every_room_has_its_row() -> None:
    """CONTRIBUTING says of each room what lives there, and of no room that is gone."""
    rows = set(re.findall(r"^\| `([\w/]+?)/?` \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M))
    rooms = {f"hlotool/{p.parent.name}" for p in (ROOT / "hlotool").glob("*/__init__.py") if not p.parent.is_symlink()}
    inner = {"passes", "grammars", "passes/cost", "passes/edit", "passes/rewrite_rules"}
    assert rows - inner == rooms - {"hlotool/passes", "hlotool/grammars"}


#: tables of opcodes outside of ops, at most ten, and why each is no fact about operations
TABLES = {
    ("hlotool/text/legacy.py", "_WITH_TOKEN"): "forms of other times; text is below ops",
    ("hlotool/text/legacy.py", "_CHANGED"): "forms of other times; text is below ops",
    ("hlotool/text/print.py", "_OWN_SHAPES"): "how XLA's parser reads a header; text is below ops",
    ("hlotool/fuzzing/drawn_programs.py", "_NO_STEPS"): "the fuzzer's own choice: what it draws by itself only",
    ("hlotool/fuzzing/dump_programs.py", "_ALIKE"): "the mutator's own choice: what may stand for each other",
    ("hlotool/jax/lax/elementwise.py", "_UNARY"): "names of JAX's functions",
    ("hlotool/jax/lax/elementwise.py", "_BINARY"): "names of JAX's functions",
    ("hlotool/jax/lax/elementwise.py", "_OF_BYTES"): "functions that JAX lacks for integers of a few bits",
    ("passes/lints/domains.py", "in"): "a rule's own judgement: exponents that somebody has bounded",
    ("passes/lints/style.py", "in"): "a rule's own judgement: opcodes that are also words for names",
}
#: from so many on a condition on opcodes is a table, and an assignment
MOST_IN_CONDITIONS, MOST_IN_VALUES = 5, 2


def opcode_tables() -> Iterator[tuple[str, str]]:
    """Yield the file and the name of each set or mapping of opcodes outside of ops; "in" and "match" are conditions."""
    from hlotool.ops import OPS

    def named(nodes: Iterable[ast.AST]) -> tuple[int, int]:
        words = {c.value for node in nodes for c in ast.walk(node)
                 if isinstance(c, ast.Constant) and isinstance(c.value, str)}
        return len(words & set(OPS)), len(words)

    for room, path in FILES:
        if room == "ops":
            continue
        file = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            found: list[tuple[str, Iterable[ast.AST], int]] = []
            match node:
                case (ast.Assign(targets=[target], value=ast.expr() as value)
                      | ast.AnnAssign(target=target, value=ast.expr() as value)):
                    found = [(ast.unparse(target), [value], MOST_IN_VALUES)]
                    if isinstance(value, ast.Dict):
                        found.append((ast.unparse(target), filter(None, value.keys), MOST_IN_VALUES))
                case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[among]):
                    found = [("in", [among], MOST_IN_CONDITIONS)]
                case ast.Match(cases=cases):
                    found = [("match", [c.pattern], MOST_IN_CONDITIONS) for c in cases]
            for name, nodes, most in found:
                known, words = named(nodes)
                if known > most and known >= 0.6 * words:
                    yield file, name


def test_facts_about_operations_stand_with_operations() -> None:
    found = set(opcode_tables())
    new = sorted(found - TABLES.keys())
    assert not new, f"{new}: let the operation's record answer (hlotool/ops/flow.py, curves.py, flags)"
    assert not TABLES.keys() - set(found), "these are gone, or have become questions: take them from the list"
    assert len(found) <= len(TABLES) <= 10
