"""Programs of any size, each with many of one thing: what takes more than linear time shows in one of them."""

from __future__ import annotations

from collections.abc import Callable

_SUM = "sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n\n"


def _entry(rows: list[str], root: str, before: str = "") -> str:
    body = "\n".join(f"  {row}" for row in rows)
    return f"HloModule m\n\n{before}ENTRY e {{\n{body}\n  ROOT {root}\n}}\n"


def _chain(n: int, row: str = "v{i} = f32[8] add(v{p}, v{p})", root: str = "r = f32[8] negate(v{n})",
           before: str = "", first: str = "v0 = f32[8] parameter(0)") -> str:
    return _entry([first, *(row.format(i=i, p=i - 1) for i in range(1, n + 1))], root.format(n=n), before)


def instructions(n: int) -> str:
    return _chain(n)


def computations(n: int) -> str:
    before = "".join(f"g{i} {{ a = f32[8] parameter(0)  ROOT s = f32[8] negate(a) }}\n\n" for i in range(1, n + 1))
    return _chain(n, "v{i} = f32[8] call(v{p}), to_apply=g{i}", before=before)


def parameters(n: int) -> str:
    rows = [f"p{i} = f32[8] parameter({i})" for i in range(n)]
    return _entry(rows, f"r = ({', '.join(['f32[8]'] * n)}) tuple({', '.join(f'p{i}' for i in range(n))})")


def operands(n: int) -> str:
    return _entry(["x = f32[8] parameter(0)"],
                  f"r = f32[{8 * n}] concatenate({', '.join(['x'] * n)}), dimensions={{0}}")


def names(n: int) -> str:
    """Names that differ at their ends only."""
    long = "a_name_that_goes_on_for_a_while"
    return _chain(n, f"{long}.{{i}} = f32[8] negate({long}.{{p}})", f"r = f32[8] negate({long}.{{n}})",
                  first=f"{long}.0 = f32[8] parameter(0)")


def undefined_names(n: int) -> str:
    return _chain(n, "v{i} = f32[8] add(v0, undefined_{i})")


def one_undefined_name(n: int) -> str:
    return _chain(n, "v{i} = f32[8] add(v0, undefined)")


def errors(n: int) -> str:
    return _chain(n, "v{i} = f32[8 add(v0, v0)", "r = f32[8] negate(v0)")


def statements_without_sense(n: int) -> str:
    return _chain(n, "v{i} is no statement", "r = f32[8] negate(v0)")


def unknown_attributes(n: int) -> str:
    return _chain(n, "v{i} = f32[8] negate(v0), dimenson={i}", "r = f32[8] negate(v0)")


def comments(n: int) -> str:
    return _chain(n, "// a comment of line {i}\n  v{i} = f32[8] negate(v{p})  /* and another */")


def suppressions(n: int) -> str:
    return _chain(n, "v{i} = f32[8] negate(v{p})  // hlolint: disable=W101 reason=it is so")


def suppressions_between(n: int) -> str:
    return _chain(n, "// hlolint: disable=identity-operation\n  v{i} = f32[8] add(v{p}, v0)")


def double_negations(n: int) -> str:
    return _chain(n, "v{i} = f32[8] negate(v{p})")


def while_loops(n: int) -> str:
    before = ("more { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0\n"
              "  k = s32[] constant(5)  ROOT c = pred[] compare(i, k), direction=LT }\n\n" + "".join(
                  f"body{i} {{ s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0\n"
                  "  x = f32[8] get-tuple-element(s), index=1  o = s32[] constant(1)  j = s32[] add(i, o)\n"
                  "  y = f32[8] negate(x)  ROOT t = (s32[], f32[8]) tuple(j, y) }\n\n" for i in range(1, n + 1)))
    return _chain(n, "v{i} = (s32[], f32[8]) while(v{p}), condition=more, body=body{i}",
                  "r = f32[8] get-tuple-element(v{n}), index=1", before, "v0 = (s32[], f32[8]) parameter(0)")


def nested_loops(n: int) -> str:
    """Loops side by side that share their computations."""
    before = ("more { s = s32[] parameter(0)  k = s32[] constant(5)  ROOT c = pred[] compare(s, k), direction=LT }\n\n"
              "body { s = s32[] parameter(0)  o = s32[] constant(1)  ROOT t = s32[] add(s, o) }\n\n")
    return _chain(n, "v{i} = s32[] while(v{p}), condition=more, body=body", "r = s32[] negate(v{n})", before,
                  "v0 = s32[] parameter(0)")


def loop_states(n: int) -> str:
    """One loop of many values, each computed from itself, which nobody reads."""
    state, numbers = f"({', '.join(['f32[8]'] * n)})", range(n)
    rows = [f"s = {state} parameter(0)", *(f"x{i} = f32[8] get-tuple-element(s), index={i}" for i in numbers),
            *(f"y{i} = f32[8] negate(x{i})" for i in numbers),
            f"ROOT t = {state} tuple({', '.join(f'y{i}' for i in numbers)})"]
    before = (f"more {{ s = {state} parameter(0)  ROOT c = pred[] constant(false) }}\n\n"
              "body {\n" + "".join(f"  {row}\n" for row in rows) + "}\n\n")
    return _entry([f"a = {state} parameter(0)", f"w = {state} while(a), condition=more, body=body"],
                  "r = f32[8] get-tuple-element(w), index=0", before)


def call_chain(n: int) -> str:
    before = "g0 { ROOT a = f32[8] parameter(0) }\n\n" + "".join(
        f"g{i} {{ a = f32[8] parameter(0)  ROOT s = f32[8] call(a), to_apply=g{i - 1} }}\n\n" for i in range(1, n + 1))
    return _entry(["x = f32[8] parameter(0)"], f"r = f32[8] call(x), to_apply=g{n}", before)


def conditionals(n: int) -> str:
    before = "".join(f"{side} {{ a = f32[8] parameter(0)  ROOT s = f32[8] {op}(a) }}\n\n"
                     for side, op in (("yes", "negate"), ("no", "cosine")))
    rows = ["p = pred[] parameter(1)"]
    text = _chain(n, "v{i} = f32[8] conditional(p, v{p}, v{p}), true_computation=yes, false_computation=no",
                  before=before)
    return text.replace("parameter(0)\n  v1", f"parameter(0)\n  {rows[0]}\n  v1")


def fusions(n: int) -> str:
    before = "".join(f"g{i} {{ a = f32[8] parameter(0)  b = f32[8] negate(a)  ROOT s = f32[8] exponential(b) }}\n\n"
                     for i in range(1, n + 1))
    return _chain(n, "v{i} = f32[8] fusion(v{p}), kind=kLoop, calls=g{i}", before=before)


def reducers(n: int) -> str:
    rows = ["x = f32[8,4] parameter(0)", "z = f32[] constant(0)"]
    rows += [f"v{i} = f32[8] reduce(x, z), dimensions={{1}}, to_apply=sum" for i in range(n)]
    return _entry(rows, f"r = ({', '.join(['f32[8]'] * n)}) tuple({', '.join(f'v{i}' for i in range(n))})", _SUM)


def control_predecessors(n: int) -> str:
    return _chain(n, "v{i} = f32[8] negate(v0), control-predecessors={{v{p}}}")


def many_predecessors(n: int) -> str:
    rows = ["x = f32[8] parameter(0)", *(f"v{i} = f32[8] negate(x)" for i in range(n))]
    return _entry(rows, f"r = f32[8] cosine(x), control-predecessors={{{', '.join(f'v{i}' for i in range(n))}}}")


def tuples(n: int) -> str:
    shape = f"({', '.join(['f32[8]'] * n)})"
    rows = [f"t = {shape} parameter(0)", *(f"v{i} = f32[8] get-tuple-element(t), index={i}" for i in range(n))]
    return _entry(rows, f"r = {shape} tuple({', '.join(f'v{i}' for i in reversed(range(n)))})")


def literals(n: int) -> str:
    rows = [f"v{i} = f32[4] constant({{{i}, 1.5, -2, inf}})" for i in range(n)]
    return _entry(rows, f"r = ({', '.join(['f32[4]'] * n)}) tuple({', '.join(f'v{i}' for i in range(n))})")


def a_large_literal(n: int) -> str:
    return _entry([f"c = f32[{n}] constant({{{', '.join(f'{i}.25' for i in range(n))}}})"], f"r = f32[{n}] negate(c)")


def rows_of_literals(n: int) -> str:
    rows = ", ".join("{" + f"{i}, 2" + "}" for i in range(n))
    return _entry([f"c = s32[{n},2] constant({{ {rows} }})"], f"r = s32[{n},2] negate(c)")


def metadata(n: int) -> str:
    return _chain(n, 'v{i} = f32[8] negate(v{p}), metadata={{op_name="jit(f)/layer{i}/neg" source_file="f{i}.py" '
                     "source_line={i}}}")


def frontend_attributes(n: int) -> str:
    pairs = ",".join(f'k{i}="v{i}"' for i in range(n))
    return _entry(["x = f32[8] parameter(0)"], f"r = f32[8] negate(x), frontend_attributes={{{pairs}}}")


def a_long_config(n: int) -> str:
    pairs = ", ".join(f'"k{i}": {{"a": [{i}]}}' for i in range(n))
    return _entry(["x = f32[8] parameter(0)"],
                  f'r = f32[8] custom-call(x), custom_call_target="f", backend_config={{{pairs}}}')


def one_line(n: int) -> str:
    return instructions(n).replace("\n  ", " ")


def a_long_comment(n: int) -> str:
    return "/* " + "words and words " * n + "*/\n" + instructions(3)


def dead_chains(n: int) -> str:
    rows = ["x = f32[8] parameter(0)", "d0 = f32[8] negate(x)"]
    return _entry([*rows, *(f"d{i} = f32[8] cosine(d{i - 1})" for i in range(1, n))], "r = f32[8] exponential(x)")


def dead_computations(n: int) -> str:
    before = "".join(f"g{i} {{ a = f32[8] parameter(0)  ROOT s = f32[8] negate(a) }}\n\n" for i in range(1, n + 1))
    return _chain(1, before=before)


def missing_commas(n: int) -> str:
    return _chain(n, "v{i} = f32[8] transpose(v0)\n    dimensions={{0}}", "r = f32[8] negate(v0)")


def reshapes_in_pairs(n: int) -> str:
    return _chain(n, "t{i} = f32[8,1] reshape(v{p})\n  v{i} = f32[8] reshape(t{i}), metadata={{op_name=\"a\"}}")


def wrong_shapes(n: int) -> str:
    return _chain(n, "v{i} = f32[9] exponential(v0)", "r = f32[8] negate(v0)")


def wrong_shapes_used(n: int) -> str:
    return _chain(n, "v{i} = f32[9] exponential(v0)\n  w{i} = f32[9] negate(v{i})", "r = f32[8] negate(v0)")


def nested_operands(n: int) -> str:
    inside = ", ".join("f32[8] negate(f32[8] cosine(x))" for _ in range(n))
    return _entry(["x = f32[8] parameter(0)"], f"r = ({', '.join(['f32[8]'] * n)}) tuple({inside})")


def nested_statements(n: int) -> str:
    return _chain(n, "v{i} = f32[8] negate(f32[8] cosine(f32[8] sine(v{p})))")


def wide_collectives(n: int) -> str:
    groups = "{" + ",".join(map(str, range(n))) + "}"
    return _entry(["x = f32[8] parameter(0)"], f"r = f32[8] all-reduce(x), replica_groups={{{groups}}}, to_apply=sum",
                  _SUM)


def many_collectives(n: int) -> str:
    return _chain(n, "v{i} = f32[8] all-reduce(v{p}), channel_id={i}, replica_groups={{{{0,1}},{{2,3}}}}, "
                     "to_apply=sum", before=_SUM)


def asynchronous_pairs(n: int) -> str:
    return _chain(n, "start{i} = (f32[8], f32[8], u32[], u32[]) copy-start(v{p})\n  v{i} = f32[8] copy-done(start{i})")


def missing_shapes(n: int) -> str:
    return _chain(n, "v{i} = add(v{p}, v{p})")


def many_users(n: int) -> str:
    rows = ["x = f32[8] parameter(0)", *(f"v{i} = f32[8] negate(x)" for i in range(n))]
    return _entry(rows, f"r = ({', '.join(['f32[8]'] * n)}) tuple({', '.join(f'v{i}' for i in range(n))})")


def sharded(n: int) -> str:
    return _chain(n, "v{i} = f32[8] negate(v{p}), sharding={{devices=[2]0,1}}")


#: name -> program of size n
PROGRAMS: dict[str, Callable[[int], str]] = {
    made.__name__.replace("_", " "): made for made in (
        instructions, computations, parameters, operands, names, undefined_names, one_undefined_name, errors,
        statements_without_sense, unknown_attributes, comments, suppressions, suppressions_between, double_negations,
        while_loops, nested_loops, loop_states, call_chain, conditionals, fusions, reducers, control_predecessors,
        many_predecessors, tuples, literals, a_large_literal, rows_of_literals, metadata, frontend_attributes,
        a_long_config, one_line, a_long_comment, dead_chains, dead_computations, missing_commas,
        reshapes_in_pairs, wrong_shapes, wrong_shapes_used, nested_operands, nested_statements, wide_collectives,
        many_collectives, asynchronous_pairs, missing_shapes, many_users, sharded)}
