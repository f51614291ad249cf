"""XlaBuilder: every function built, verified and run; errors at the call; contexts; versions' names."""

from __future__ import annotations

import inspect
import json
import operator
import pathlib
import warnings
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

import builder_programs as programs
import numpy as np
import pytest

import hlotool
from hlotool.builder import FUNCTIONS, SemanticsWarning, XlaBuilder, XlaOp
from hlotool.execution import Program, leaves, run_program
from hlotool.execution.devices import Queues
from hlotool.execution.evaluate import evaluate_program
from hlotool.ops import OPS
from hlotool.ops.registry import op, require

SPEC = pathlib.Path(__file__).parents[3] / "shared" / "spec"
RUN = {**programs.GROUPS, **programs.COLLECTIVES}


def errors(*codes: str) -> Any:
    """The call is refused, with those codes."""
    return pytest.raises(hlotool.HloError, match="".join(rf".*\[{c}\]" for c in codes))


# Every function, on PJRT and on the reference


@pytest.mark.parametrize("name", RUN)
def test_group_runs_alike(name: str) -> None:
    module, names, given = programs.build(name, RUN[name])
    assert hlotool.verify(module) == []
    program = Program(module)
    arguments = [given] * program.devices
    expected, found = (run_program(program, arguments, e) for e in ("reference", "pjrt:cpu"))
    labels = [n for n, s in zip(names, module.entry.root.shape.elements, strict=True) for _ in leaves(s)]
    for wanted, got in zip(expected, found, strict=True):
        for label, a, b in zip(labels, wanted, got, strict=True):
            assert_close(a, b, label)


def assert_close(expected: Any, found: Any, label: str) -> None:
    expected, found = np.asarray(expected), np.asarray(found)
    if expected.dtype.kind in "fc":
        np.testing.assert_allclose(found, expected, 2e-5, 1e-6, err_msg=label)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=label)


@pytest.mark.parametrize("name", programs.REFERENCE_ONLY)
def test_group_runs_on_the_reference(name: str) -> None:
    module, _, given = programs.build(name, programs.REFERENCE_ONLY[name])
    assert hlotool.verify(module) == []
    program = Program(module)
    found = run_program(program, [given] * program.devices, "reference")
    assert all(np.isfinite(np.asarray(a)).all() for row in found for a in row)


@pytest.mark.parametrize("name", programs.VERIFIED_ONLY)
def test_group_verifies_and_prints(name: str) -> None:
    module, _, _ = programs.build(name, programs.VERIFIED_ONLY[name])
    assert hlotool.verify(module) == []
    assert str(hlotool.parse(str(module))) == str(module)


def test_transfers_run_on_the_reference() -> None:
    """Through declared queues: PJRT's CPU client has no host beside it."""
    one = np.array([1, 2], np.float32)
    b = XlaBuilder("transfers")
    fed = b.Infeed("f32[2]", "config")
    b.Outfeed(fed * 2.0, "f32[2]", "config")
    b.Send(fed, 3)
    sent = b.Recv("f32[2]", 3)
    token = b.SendToHost(fed + 5.0, b.CreateToken(), None, 7)
    received = b.GetTupleElement(b.RecvFromHost(token, "f32[2]", 8), 0)
    start = b.SendStart(fed, b.CreateToken(), 5)
    b.SendDone(start)
    started = b.GetTupleElement(b.RecvDone(b.RecvStart(b.CreateToken(), "f32[2]", 5)), 0)
    state = b.RngGetAndUpdateState(delta=1, shape="u64[2]")
    module = b.build([sent, received, started, state])
    assert hlotool.verify(module) == []
    queues = Queues(deque([one]), from_host=defaultdict(deque, {8: deque([one * 10])}))
    ((first, second, third, last),) = evaluate_program(Program(module), [[]], queues=[queues])
    assert [a.tolist() for a in (first, second, third)] == [[1, 2], [10, 20], [1, 2]] and last.shape == (2,)
    assert queues.outfeed[0].tolist() == [2, 4] and queues.to_host[7][0].tolist() == [6, 7]


def test_random_numbers_have_their_distribution() -> None:
    b = XlaBuilder()
    module = b.build([b.RngUniform(2.0, 3.0, "f32[4000]"), b.RngNormal(1.0, 2.0, "f32[4000]")])
    for executor in ("reference", "pjrt:cpu"):
        uniform, normal = hlotool.execute(module, [], executor)
        assert uniform.min() >= 2 and uniform.max() < 3 and abs(uniform.mean() - 2.5) < 0.05
        assert abs(normal.mean() - 1) < 0.2 and abs(normal.std() - 2) < 0.2


def called_names() -> set[str]:
    """The functions that the groups call."""
    source = inspect.getsource(programs)
    return {f.name for n, f in FUNCTIONS.items() if f"b.{n}(" in source or f" {n}" in source or f'"{n}' in source
            or f"\n{n}" in source}


def documented() -> list[str]:
    """The names in the documents that a builder has today."""
    rows = json.loads((SPEC / "history.json").read_text()) + json.loads((SPEC / "operations.json").read_text())
    removed = {"LogicalAnd", "LogicalOr", "LogicalNot", "RngBernoulli"}
    return sorted({r["name"].split(" ")[0] for r in rows} - removed)


@pytest.mark.skipif(not SPEC.exists(), reason="the specification's records are not here")
def test_every_documented_function_is_there_and_called() -> None:
    assert [n for n in documented() if n not in FUNCTIONS] == []
    called = called_names()
    assert [n for n in documented() if FUNCTIONS[n].name not in called] == []


def test_every_opcode_has_a_function() -> None:
    b = XlaBuilder()
    assert [o for o in OPS if b.resolve("".join(p.capitalize() for p in o.split("-"))) is None] == []


def test_a_new_operation_appears_by_itself() -> None:
    def shape(a: Any, b: Any) -> Any:
        require(a.compatible(b), "builder-sum-c1", f"a is {a}, b is {b}")
        return a

    @op(shape, element_types=("float",))
    def builder_sum(a: Any, b: Any, *, epsilon: float = 0.5) -> Any:
        """A sum.

        C1  a and b have one shape.
        """
        return a + b + epsilon

    try:
        b = XlaBuilder(metadata=False)
        x = b.Parameter(0, "f32[2]", "x")
        b.builder_sum(x, x)
        b.BuilderSum(x, np.ones(2, np.float32), epsilon=0.25)
        assert "builder-sum(%x, %constant), epsilon=0.25" in str(b.build())
        with errors("builder-sum-c1"):
            b.BuilderSum(x, 1.0)
    finally:
        dict.pop(OPS, "builder-sum")
        for name in ("BuilderSum", "builder_sum"):
            FUNCTIONS.pop(name)


# Calls


def test_free_functions_find_their_builder() -> None:
    from hlotool.builder import Add, Iota, add

    b = XlaBuilder(metadata=False)
    x = Iota(b, "f32[3]", 0)
    assert Add(1.0, x).builder is b and add([x][0], x).shape.text() == "f32[3]"
    with b:
        assert Iota("s32[2]", 0).builder is b
    with errors("B010"):
        Iota("s32[2]", 0)


_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": operator.mod,
              "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
              "!=": operator.ne}


def test_operators() -> None:
    a, c = np.array([5, -3, 4], np.int32), np.array([2, 2, -3], np.int32)
    b = XlaBuilder()
    x, y = b.Parameter(0, a), b.Parameter(1, c)
    found = {k: f(x, y) for k, f in _OPERATORS.items()}
    found |= {"r-": 7 - x, "r+": a + y, "neg": -x, "abs": abs(x), "~": ~x, "&": x & y, "|": x | 1, "^": x ^ y,
              "<<": x << 1, ">>": x >> 1, "r<": np.int32(1) < x, "len": x * len(x)}
    results = dict(zip(found, hlotool.execute(b.build(list(found.values())), [a, c], "reference"), strict=True))
    for k, f in _OPERATORS.items():
        if k not in "/%":  # those truncate in HLO
            np.testing.assert_array_equal(results[k], f(a, c), err_msg=k)
    np.testing.assert_array_equal(results["/"], [2, -1, -1])
    np.testing.assert_array_equal(results["%"], [1, -1, 1])
    for k, wanted in {"r-": 7 - a, "r+": a + c, "neg": -a, "abs": abs(a), "~": ~a, "&": a & c, "|": a | 1, "^": a ^ c,
                      "<<": a << 1, ">>": a >> 1, "r<": a > 1, "len": 3 * a}.items():
        np.testing.assert_array_equal(results[k], wanted, err_msg=k)


@pytest.mark.parametrize("key", [0, -1, slice(1, 3), (slice(None), 1), (Ellipsis, 0), (1, slice(None, None, -1)),
                                 (slice(0, 0),), (None, 2), (slice(None, None, 2), slice(3, 0, -2)), (1, 2)], ids=str)
def test_indexing_is_that_of_numpy(key: Any) -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    b = XlaBuilder()
    [found] = hlotool.execute(b.build(b.Parameter(0, array)[key]), [array], "reference")
    np.testing.assert_array_equal(found, array[key])


def test_tuples_are_unpacked() -> None:
    b = XlaBuilder()
    first, second = b.Tuple(b.Constant(1), b.Constant(2.0))
    assert (first.element_type, second.element_type) == ("s32", "f32")


def test_python_values_take_the_type_they_meet() -> None:
    b = XlaBuilder()
    x = b.Parameter(0, "bf16[2]")
    assert (x + 1).element_type == (2.5 * x).element_type == "bf16"
    assert b.Add(b.Parameter(1, "u8[2]"), [1, 255]).shape.text() == "u8[2]"
    for wrong in (lambda: b.Parameter(2, "s32[]") + 1.5, lambda: b.Parameter(3, "u8[]") + 256,
                  lambda: b.Parameter(4, "f32[]") + 1j, lambda: b.Parameter(5, "f32[]") + "text",
                  lambda: b.Parameter(6, "f32[]") + object()):
        with errors("B003"):
            wrong()


def test_computations_come_from_everywhere() -> None:
    other = XlaBuilder("other")
    p = other.Parameter(0, "f32[]", "p")
    inner = other.Call(lambda v: v * 2.0, p)
    module = other.build(inner + 1.0)
    b = XlaBuilder()
    x = b.Parameter(0, "f32[3]")
    with b.computation("plus_one") as plus_one:
        b.Parameter(0, "f32[]", "v") + 1.0
    found = [b.Map([x], module), b.Map([x], module), b.Map([x], other), b.Map([x], plus_one),
             b.Map(x, lambda v: v + 1.0), b.Reduce(x, 0.0, operator.add)]
    made = b.build(found)
    assert [c.name for c in made.computations].count("main") == 1
    assert len({c.name for c in made.computations}) == len(made.computations)
    results = hlotool.execute(made, [np.array([1, 2, 3], np.float32)], "reference")
    for got, wanted in zip(results, [[3, 5, 7], [3, 5, 7], [3, 5, 7], [2, 3, 4], [2, 3, 4], 6], strict=True):
        np.testing.assert_array_equal(got, wanted)


# Errors


def test_an_error_names_code_shapes_and_line() -> None:
    b = XlaBuilder()
    x = b.Parameter(0, "f32[2,3]", "x")
    line = inspect.currentframe().f_lineno + 2  # type: ignore[union-attr]
    with pytest.raises(hlotool.HloError) as caught:
        b.Transpose(x, [1, 1])
    [found] = caught.value.diagnostics
    assert (found.code, found.line, found.filename) == ("transpose-c2", line, __file__)
    assert (found.column, found.end_column) == (9, 31)
    assert "x is f32[2,3]" in found.notes[0].message


def test_errors_in_traced_functions_name_the_line_inside() -> None:
    b = XlaBuilder()
    x = b.Parameter(0, "f32[2]", "x")
    line = inspect.currentframe().f_lineno + 3  # type: ignore[union-attr]

    def wrong(a: Any, c: Any) -> Any:
        return a + np.ones(3, np.float32)[:2] + b.Not(c)

    with pytest.raises(hlotool.HloError) as caught:
        b.Reduce(x, 0.0, wrong)
    assert caught.value.diagnostics[0].line == line
    assert [i.opcode for i in b.body.instructions] == ["parameter"]
    b.Reduce(x, 0.0, lambda a, c: a + c)
    assert len(b.build().computations) == 2


def test_check_gives_all() -> None:
    b = XlaBuilder(errors="collect")
    x = b.Parameter(0, "f32[2,3]", "x")
    y = b.Add(x, np.ones(4, np.float32))
    z = b.Exp(y)  # follows from the refused one, and is not reported
    assert not y.is_valid and not z.is_valid
    b.Reshape(x, [7])
    assert [d.code for d in b.check()] == ["B102", "reshape-c2"]
    with errors("B102"):
        b.build()


def test_build_verifies_at_the_lines_of_the_calls() -> None:
    b = XlaBuilder()
    b.set_module_attribute("replica_count", 2)
    x = b.Parameter(0, "f32[2]", "x")
    line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
    b.CollectivePermute(x, [(0, 5)])
    with pytest.raises(hlotool.HloError) as caught:
        b.build()
    assert [(d.code, d.line) for d in caught.value.diagnostics] == [("V221", line)]
    assert [d.code for d in b.check()] == ["V221"]


_WRONG: dict[str, tuple[str, Any]] = {
    "unknown function": ("B005", lambda b, x: b.Addd(x, x)),
    "too many": ("B001", lambda b, x: b.Exp(x, x, x)),
    "unknown keyword": ("B001", lambda b, x: b.Add(x, x, broadcast=[0])),
    "no shape": ("B006", lambda b, x: b.Parameter(1, "f32[")),
    "no element type": ("B006", lambda b, x: b.ConvertElementType(x, "f31")),
    "no attribute": ("B007", lambda b, x: b.Transpose(x, ["a"])),
    "no computation": ("B004", lambda b, x: b.Reduce(x, 0.0, "add")),
    "wrong arity": ("B004", lambda b, x: b.Reduce(x, 0.0, lambda a: a)),
    "nothing": ("B004", lambda b, x: b.Reduce(x, 0.0, lambda a, c: None)),
    "bool": ("B009", lambda b, x: bool(x == 1)),
    "index": ("B009", lambda b, x: [1, 2][x]),
    "no padding": ("B001", lambda b, x: b.Pad(x, 0.0, [(1,)])),
    "no numbers": ("B007", lambda b, x: b.DotGeneral(x, x, 5)),
    "no name": ("B001", lambda b, x: b.Exp(x, name=3)),
    "no sharding": ("B007", lambda b, x: b.Exp(x, sharding=3)),
    "no operands": ("B001", lambda b, x: b.Sort([])),
    "twice": ("B008", lambda b, x: b.Parameter(0, "f32[]")),
    "index of a tuple": ("B001", lambda b, x: b.Tuple(x, x)["a"]),
    "out of range": ("B001", lambda b, x: x[7]),
    "other builder": ("B002", lambda b, x: b.Add(x, XlaBuilder().Constant(1.0))),
    "captured": ("B002", lambda b, x: b.Map([x], lambda v: v + x)),
    "semantics": ("B001", lambda b, x: XlaBuilder(semantics="1999")),
    "raw attribute": ("V102", lambda b, x: b.hlo.negate(x, dimensions=[0])),
    "raw opcode": ("V101", lambda b, x: b.hlo.negated(x)),
    "raw shape": ("V103", lambda b, x: b.hlo.negate(x, shape="f32[7]")),
    "no shape said": ("V104", lambda b, x: b.Bitcast(x)),
}


@pytest.mark.parametrize("name", _WRONG)
def test_what_is_wrong_is_refused(name: str) -> None:
    code, call = _WRONG[name]
    b = XlaBuilder()
    with errors(code) as caught:
        call(b, b.Parameter(0, "f32[2,3]", "x"))
    assert all(d.filename == __file__ and d.line for d in caught.value.diagnostics)


# What stands around calls


def test_metadata_is_the_callers() -> None:
    b = XlaBuilder()
    line = inspect.currentframe().f_lineno + 2  # type: ignore[union-attr]
    with b.scope("layer"):
        b.Parameter(0, "f32[2]", "x") + 1.0
    with b.metadata(op_type="mine", op_name="named"):
        b.Exp(b.Constant(1.0))
    b.Neg(b.Constant(1.0), metadata={"op_name": "own"})
    module = b.build()
    root = next(i for i in module.entry.instructions if i.opcode == "add")
    assert root.metadata is not None
    assert root.metadata.fields == {"op_name": "layer/add", "source_file": __file__, "source_line": str(line)}
    exp = next(i for i in module.entry.instructions if i.opcode == "exponential")
    assert exp.metadata is not None and exp.metadata.fields["op_type"] == "mine"
    assert module.entry.root.metadata is not None and module.entry.root.metadata.fields == {"op_name": "own"}
    assert str(hlotool.parse(str(module))) == str(module)


def test_contexts_names_and_tables() -> None:
    b = XlaBuilder("m", metadata=False)
    b.set_module_attribute("num_partitions", 2)
    with b.sharding("{devices=[2]<=[2]}"):
        x = b.Parameter(0, "f32[4]", "x")
        with b.frontend_attributes(key="a value"):
            y = b.Add(x, 1.0, name="y", backend_config={"k": 1})
    t = b.Tuple(y, y, sharding="{{replicated}, {replicated}}")
    b.alias((0,), 0)
    module = b.build(t)
    text = str(module)
    assert 'frontend_attributes={key="a value"}' in text and 'backend_config={"k":1}' in text
    assert "input_output_alias={ {0}: (0, {}, may-alias) }" in text
    assert text.count("sharding={devices=[2]<=[2]}") == 3  # parameter, broadcast number, sum: not the scalar
    assert "%y = f32[4] add" in text
    assert hlotool.verify(module) == []


def test_dynamic_parameters() -> None:
    b = XlaBuilder(metadata=False)
    x = b.Parameter(0, "f32[<=4]", "x")
    assert b.build(b.Reduce(x + 1.0, 0.0, operator.add)).entry.instructions[0].shape.text() == "f32[<=4]"
    c = XlaBuilder(metadata=False)
    data, size = c.Parameter(0, "f32[5]", "data"), c.Parameter(1, "s32[]", "size")
    total = c.Reduce(c.SetDynamicBinding(size, data, 0), 0.0, operator.add)
    [found] = hlotool.execute(c.build(total), [np.arange(1, 6, dtype=np.float32), np.int32(3)], "reference")
    assert found == 6


def test_reshape_carries_dynamic_dimensions() -> None:
    b = XlaBuilder()
    x = b.Parameter(0, "f32[<=8,3]")
    assert b.Reshape(x, [2, 4, 3]).shape.text() == "f32[<=2,4,3]"
    assert b.Reshape(x, [24]).shape.text() == "f32[<=24]"
    assert b.Add(x, 1.0).shape.text() == "f32[<=8,3]"


def test_layouts_and_conversion() -> None:
    b = XlaBuilder(layouts=True)
    module = b.build(b.Exp(b.Parameter(0, "f32[2,3]")) * 2.0)
    assert module.entry.root.shape.text() == "f32[2,3]{1,0}"
    assert "stablehlo.exponential" in str(hlotool.to_stablehlo(module))


def test_sub_builders_keep_the_settings() -> None:
    b = XlaBuilder(semantics="2018", metadata=False)
    inner = b.CreateSubBuilder("inner")
    assert (inner.semantics.year, inner.has_metadata) == ("2018", False)


# Versions


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SemanticsWarning)
        yield


def ran(b: XlaBuilder, root: Any, *arguments: Any) -> Any:
    return hlotool.execute(b.build(root), arguments, "reference")[0]


def test_out_of_bounds_slices_wrap_in_2017_and_clamp_today() -> None:
    operand, start = np.arange(5, dtype=np.float32), np.array([4], np.int32)
    found = {}
    for year in ("2017", "2018", "2022"):
        b = XlaBuilder(semantics=year)
        x, i = b.Parameter(0, operand), b.Parameter(1, start)
        found[year] = ran(b, b.DynamicSlice(x, i if year < "2022" else [i[0]], [2]), operand, start).tolist()
        assert any(d.code == "B201" for d in b.check()) == (year == "2017")
    assert found == {"2017": [4, 0], "2018": [3, 4], "2022": [3, 4]}


def test_out_of_bounds_updates_wrap_in_2017() -> None:
    operand, update, start = np.zeros((3, 3), np.float32), np.ones((2, 1), np.float32), np.array([2, 1], np.int32)
    b = XlaBuilder(semantics="2017")
    found = b.DynamicUpdateSlice(b.Parameter(0, operand), b.Parameter(1, update), b.Parameter(2, start))
    np.testing.assert_array_equal(ran(b, found, operand, update, start), [[0, 1, 0], [0, 0, 0], [0, 1, 0]])


_OLD: dict[str, tuple[str, Any, Any]] = {
    "ReducePrecision": ("2018", lambda b, x: b.ReducePrecision(x, 4, 5), lambda b, x: b.ReducePrecision(x, 5, 4)),
    "Clamp": ("2017", lambda b, x: b.Clamp(x, 0.0, 0.5), lambda b, x: b.Clamp(0.0, x, 0.5)),
    "Reshape": ("2022", lambda b, x: b.Reshape(x, [1, 0], [6]),
                lambda b, x: b.Reshape(b.Transpose(x, [1, 0]), [6])),
    "Gather": ("2018", lambda b, x: b.Gather(x, np.array([1], np.int32), [0], [0], [1, 3], [0]),
               lambda b, x: b.Gather(x, np.array([1], np.int32), {
                   "offset_dims": [0], "collapsed_slice_dims": [0], "start_index_map": [0]}, [1, 3])),
    "LogicalNot": ("2017", lambda b, x: b.LogicalNot(x > 0), lambda b, x: b.Not(x > 0)),
    "Sort": ("2018", lambda b, x: b.Sort(x), lambda b, x: b.Sort([x])),
    "Slice": ("2017", lambda b, x: b.Slice(x, [0, 1], [2, 3]), lambda b, x: b.Slice(x, [0, 1], [2, 3])),
}


@pytest.mark.parametrize("name", _OLD)
def test_old_forms_mean_what_they_meant(name: str) -> None:
    year, old, new = _OLD[name]
    b, c = XlaBuilder(semantics=year), XlaBuilder()
    given = programs.FLOATS
    np.testing.assert_array_equal(ran(b, old(b, b.Parameter(0, given)), given),
                                  ran(c, new(c, c.Parameter(0, given)), given))


def test_bernoulli_of_2017() -> None:
    b = XlaBuilder(semantics="2017")
    found = ran(b, b.RngBernoulli(0.25, "u32[4000]"))
    assert found.dtype == np.uint32 and set(found.tolist()) == {0, 1} and abs(found.mean() - 0.25) < 0.05
    with errors("B005"):
        XlaBuilder().RngBernoulli(0.5, "u32[2]")


def test_gradients_of_2017_have_formulas_of_their_own() -> None:
    """They multiply by the deviation, leave out the means over the batch, and give the offset before the scale."""
    x = np.linspace(-2, 3, 24, dtype=np.float32).reshape(2, 3, 4)
    scale, mean, variance = (np.float32(v) for v in ([1, 2, 3], [0.5, -1, 0], [0.25, 1, 4]))
    b = XlaBuilder(semantics="2017")
    given = [b.Parameter(i, v) for i, v in enumerate((x, scale, mean, variance))]
    module = b.build(b.BatchNormGrad(*given, given[0] * 3.0, 0.01, 1))
    assert "batch-norm-grad" not in str(module)
    deviation = np.sqrt(variance + np.float32(0.01))[:, None]
    expected = (3 * x * scale[:, None] * deviation, (3 * x).sum((0, 2)),
                (3 * x * (x - mean[:, None]) * deviation).sum((0, 2)))
    for executor in ("reference", "pjrt:cpu"):
        for found, wanted in zip(hlotool.execute(module, [x, scale, mean, variance], executor), expected, strict=True):
            np.testing.assert_allclose(found, wanted, 1e-5, 1e-5)
    with errors("batch-norm-grad-c2"):
        b.BatchNormGrad(*given, given[0], 0.01, 3)


@pytest.mark.parametrize(("year", "call"), [
    ("2018", lambda b, x: b.BitcastConvertType(x, "f64")),
    ("2018", lambda b, x: b.Slice(x, [0, 0], [0, 3])),
    ("2018", lambda b, x: b.DotGeneral(x, x, {"lhs_contracting_dims": [0, 1], "rhs_contracting_dims": [0, 1]})),
    ("2017", lambda b, x: b.While(lambda v: v < 1, lambda v: b.While(lambda w: w < 1, lambda w: w + 1, v), 0)),
])
def test_what_older_documents_refuse(year: str, call: Any) -> None:
    b = XlaBuilder(semantics=year)
    with errors("B203"):
        call(b, b.Parameter(0, "f32[2,3]", "x"))


def test_meanings_warn_at_the_line() -> None:
    b = XlaBuilder(semantics="2017")
    x = b.Parameter(0, "f32[2]", "x")
    with pytest.warns(SemanticsWarning, match=r"\[B201\]") as caught:
        b.Clamp(x, 0.0, 1.0)
    assert caught[0].filename == __file__
    with pytest.warns(SemanticsWarning, match=r"Xor is not in the document of 2017.*\[B202\]"):
        b.Xor(x > 0, x >= 1)
    assert [d.severity for d in b.check()] == ["warning"] * 2
    assert b.build()


@pytest.mark.skipif(not SPEC.exists(), reason="the specification's records are not here")
@pytest.mark.parametrize("place", range(5))
def test_the_functions_of_each_document(place: int) -> None:
    """Each function that a document has is found without a warning, each that it has not with one."""
    rows = json.loads((SPEC / "history.json").read_text())
    names = ("2017-apachecn", "2017-zh", "2018-en", "2022-ko", "2025-ru")
    wrong = []
    for row in rows:
        name = row["name"].split(" ")[0]
        b = XlaBuilder(semantics=names[place])
        there = bool(row["in"].get(names[place])) or any(
            bool(r["in"].get(names[place])) for r in rows if r["name"].split(" ")[0] == name)
        try:
            b.resolve(name)
            found = b.check() == []
        except hlotool.HloError:
            found = False
        if found != there and name not in ("GeTotalOrder", "Copy", "Bitcast"):
            wrong.append(name)
    assert wrong == []


def test_handles_say_what_they_are() -> None:
    b = XlaBuilder()
    x = b.Parameter(0, "f32[2,3]", "x")
    assert repr(x) == "<XlaOp x: f32[2,3]>" and (x.rank, x.dims, x.name) == (2, (2, 3), "x")
    assert isinstance(x.named("first"), XlaOp) and x.name == "first"
    assert len({x, x}) == 1
    assert "DynamicSlice" in dir(b) and "dynamic_slice" in dir(b)
    assert "start_indices" in str(inspect.signature(XlaBuilder.DynamicSlice))


def test_signatures_are_real_at_run_time() -> None:
    b = XlaBuilder()
    shown = "(lhs: 'Operand', rhs: 'Operand', broadcast_dimensions: 'Iterable[int]' = (), **common: 'Unpack[Common]')"
    for call in (b.Add, b.add, hlotool.builder.Add):
        assert str(inspect.signature(call)) == f"{shown} -> 'XlaOp'"
        assert (call.__doc__ or "").startswith("Sum; integers wrap")
    assert list(inspect.signature(XlaBuilder.Add).parameters)[:2] == ["self", "lhs"]
    reduce = inspect.signature(b.hlo.reduce).parameters
    assert reduce["dimensions"].kind is inspect.Parameter.KEYWORD_ONLY and "to_apply" in reduce
    for name, function in FUNCTIONS.items():
        found = inspect.signature(getattr(hlotool.builder, name)).parameters
        assert list(found) == [*function.signature.parameters, "common"], name


def test_stubs_are_up_to_date() -> None:
    from hlotool.builder.stubs import STUB, stub

    assert STUB.read_text() == stub(), "run python -m hlotool.builder.stubs"


def test_exceptions_of_traced_functions_stay_what_they_are() -> None:
    b = XlaBuilder()
    x = b.Parameter(0, "f32[2]", "x")
    with pytest.raises(ZeroDivisionError):
        b.Map([x], lambda v: 1 / 0)
    assert [i.opcode for i in b.body.instructions] == ["parameter"]
