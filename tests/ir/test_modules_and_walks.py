"""Modules made by hand: what they answer about themselves, and the orders of their parts."""

from __future__ import annotations

import pickle

import pytest
from handmade import caller, made, names

from hlotool.ir import Attributes, HloComputation, HloModule, Literal, Source
from hlotool.ir import module as module_of_ir
from hlotool.ir.free_names import sanitized_name, unique_name
from hlotool.ir.source import Position, moved_starts
from hlotool.ir.walk import (
    called_by,
    callees_before_callers,
    callees_first,
    cycles,
    post_order,
    reachable,
)


def test_orders_of_instructions() -> None:
    a, b = made("a"), made("b")
    c = made("c", b, a)
    d = made("d", c, control_predecessors=(b,))
    assert names(post_order(HloComputation("t", [a, b, c, d]))) == "a b c d"
    assert names(post_order(HloComputation("t", [d, c, b, a], d))) == "b a c d"
    assert names(post_order(HloComputation("t", [c, a, d, b], d))) == "b a c d"
    e = made("e", control_predecessors=(c,))
    assert names(post_order(HloComputation("t", [e, a, b, c]))) == "b a c e"
    assert names(post_order(HloComputation("t", [a, b, a]))) == "a b"
    assert cycles(HloComputation("t", [d, c, b, a], d)) == []


def test_circles_of_instructions() -> None:
    a = made("a")
    b, c = made("b", a), made("c")
    c.operands = (b,)
    b.operands = (a, c)
    computation = HloComputation("t", [a, b, c])
    assert sorted(names(post_order(computation)).split()) == ["a", "b", "c"] and len(cycles(computation)) == 1
    own = made("own")
    own.operands = (own,)
    assert names(cycles(HloComputation("t", [own]))) == "own"
    waiting = made("waiting")
    waiting.attributes = Attributes({"control-predecessors": (waiting,)})
    assert names(cycles(HloComputation("t", [waiting]))) == "waiting"
    assert cycles(HloComputation("t", [made("x", b)])) == []  # of another computation


def test_orders_of_computations() -> None:
    leaf, other = caller("leaf"), caller("other")
    middle = caller("middle", leaf, other, leaf)
    top = caller("top", middle, leaf)
    assert names(called_by(middle)) == "leaf other" and called_by(leaf) == []
    module = HloModule("m", [top, middle, other, leaf], top)
    assert names(callees_first(module)) == "leaf other middle top"
    assert names(callees_first(HloModule("m", [leaf, other, middle, top], top))) == "leaf other middle top"
    assert names(callees_before_callers([top])) == "leaf other middle top"
    assert reachable([middle]) == {middle, leaf, other} and reachable([]) == set()
    branches = HloComputation("b", [made("c", opcode="conditional", branch_computations=(other, leaf))])
    assert names(called_by(branches)) == "other leaf"


def test_circles_of_computations() -> None:
    a = caller("a")
    b = caller("b", a)
    a.instructions = [made("again", opcode="call", to_apply=b)]
    own = caller("own")
    own.instructions = [made("self", opcode="call", to_apply=own)]
    module = HloModule("m", [a, b, own], a)
    assert sorted(names(callees_first(module)).split()) == ["a", "b", "own"]
    circles: list[tuple[HloComputation, HloComputation]] = []
    callees_before_callers(module.computations, circles)
    assert [(c.name, d.name) for c, d in circles] == [("b", "a"), ("own", "own")]


def test_what_a_module_answers() -> None:
    one, zero = made("p1", opcode="parameter", parameter_number=1), made("p0", opcode="parameter", parameter_number=0)
    total = made("sum", one, zero, one, opcode="add", offset=4)
    entry, leaf = HloComputation("e", [one, zero, total]), caller("leaf")
    top = caller("top", leaf, entry, leaf)
    module = HloModule("m", [leaf, entry, top], top, source=Source("ab\ncd\n", "f", 5))
    assert names(entry.parameters()) == "p0 p1" and entry.root is total and entry["p0"] is zero
    assert names(entry) == "p1 p0 sum" and names(entry.find_all("add", "parameter")) == "p1 p0 sum"
    assert {i.name: names(u) for i, u in entry.users().items()} == {"p1": "sum sum", "p0": "sum"}
    assert module["e"] is entry and names(module) == "leaf e top"
    assert names(module.find_all("call")) == "top.0 top.1 top.2"
    assert names(module.instructions()) == "leaf.leaf p1 p0 sum top.0 top.1 top.2"
    assert module.parents()[total] is entry and len(module.parents()) == 7
    assert {c.name: names(i) for c, i in module.callers().items()} == {"leaf": "top.0 top.2", "e": "top.1", "top": ""}
    assert module.position(total) == Position(6, 2) and module.position(entry) == Position(0, 0)
    assert HloModule("n").position(total) == Position(0, 0)
    for missing in (entry, module):
        with pytest.raises(KeyError, match="nowhere"):
            missing["nowhere"]
    assert repr(total) == "<sum = f32[] add(p1, p0, p1)>" and repr(one) == "<p1 = f32[] parameter(1)>"
    assert repr(made("p", opcode="parameter")) == "<p = f32[] parameter(?)>"
    assert repr(made("k", opcode="constant", literal=Literal.of(1.5))) == "<k = f32[] constant(1.5)>"
    assert repr(entry) == "<computation e, 3 instructions>"
    assert repr(module) == "<HloModule m: 3 computations, 7 instructions>"
    assert HloComputation("empty").root is None and HloComputation("r", [one, zero], one).root is one
    assert total.called_computations() == () and top.instructions[0].called_computations() == (leaf,)
    assert made("b", opcode="conditional", branch_computations=(leaf, entry)).called_computations() == (leaf, entry)


def test_a_deep_module_is_pickled() -> None:
    chain = [made("i0")]
    for n in range(1, 5000):
        chain.append(made(f"i{n}", chain[-1]))
    entry = HloComputation("e", chain)
    found = pickle.loads(pickle.dumps(HloModule("m", [entry], entry)))
    assert names(found.entry) == names(chain) and found.entry.root.operands == (found.entry.instructions[-2],)


def test_names() -> None:
    assert [sanitized_name(n) for n in ("a.b-c_1", "a b", "1a", "é", "", "f32", "_x", "token", "-x")] == [
        "a.b-c_1", "a_b", "_a", "_", "", "f32_", "_x", "token_", "_x"]
    assert unique_name("a", ()) == "a" and unique_name("a", {"a"}) == "a.1" and unique_name("s8", ()) == "s8_"
    assert unique_name("s8", ["s8_"]) == "s8_.1"
    for count in (2, 15, 16, 17, 100):
        assert unique_name("a", {"a", *(f"a.{n}" for n in range(1, count))}) == f"a.{count}"


def test_places_in_a_text() -> None:
    source = Source("ab\n\ncd\r\nend", "f", 3)
    assert source.line_starts() == [0, 3, 4, 8]
    for offset, place in {0: (3, 1), 1: (3, 2), 2: (3, 3), 3: (4, 1), 4: (5, 1), 7: (5, 4), 8: (6, 1), 11: (6, 4),
                          99: (6, 4), -1: (3, 1)}.items():
        assert source.position(offset) == Position(*place)
    for place, offset in {(3, 1): 0, (3, 9): 2, (4, 1): 3, (4, 5): 3, (6, 3): 10, (6, 9): 11, (3, 0): 0,
                          (2, 1): None, (7, 1): None}.items():
        assert source.offset(Position(*place)) == offset
    assert [source.line(n) for n in (2, 3, 3, 4, 5, 6, 7)] == ["", "ab", "ab", "", "cd", "end", ""]


@pytest.mark.parametrize(("start", "end", "text"), [
    (0, 0, "x"), (0, 0, "\n"), (2, 3, ""), (2, 4, "\n\n"), (5, 5, "y\nz"), (0, 11, "a\nb"), (11, 11, "\n"),
    (3, 3, "\nq"), (1, 2, "z")])
def test_a_changed_text_knows_its_lines(start: int, end: int, text: str) -> None:
    source = Source("ab\n\ncd\r\nend", "f", 3)
    changed = source.changed(start, end, text)
    assert changed.text == source.text[:start] + text + source.text[end:]
    assert changed.line_starts() == Source(changed.text).line_starts() and changed.first_line == 3
    assert moved_starts(source.line_starts(), start, end, text) == changed.line_starts()


def test_whoever_is_asked_to_draws_and_prints_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_of_ir, "_printer", [])
    monkeypatch.setattr(module_of_ir, "_html_printer", [])
    module = HloModule("m")
    assert module._repr_html_() is None
    with pytest.raises(RuntimeError, match=r"import hlotool\.text"):
        str(module)
    for first, second in (("a", "b"), ("c", "d")):
        module_of_ir.set_printer(lambda m, first=first: first)
        module_of_ir.set_html_printer(lambda m, first=first: first)
        assert str(module) == module._repr_html_() == first
        module_of_ir.set_html_printer(lambda m, second=second: second, is_plain=True)
        assert module._repr_html_() == first
    module_of_ir._html_printer.clear()
    module_of_ir.set_html_printer(lambda m: "plain", is_plain=True)
    assert module._repr_html_() == "plain"
