"""Import of what HLO has no words for: open dimensions, quantised types, CHLO, deep nesting, old operations."""

import io
import pathlib
import re

import numpy as np
import pytest
from xla_library import since

import hlotool
from hlotool.diagnostics import HloError
from hlotool.stablehlo import read_program

POLYMORPHIC = """
func.func @main(%x: tensor<?x4xf32>) -> (tensor<?xf32>, tensor<?x4xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %enough = stablehlo.compare GE, %n, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%enough, %n) {error_message = "too few rows: {0}", has_side_effect = true}
    : (tensor<i1>, tensor<i32>) -> ()
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
  %d = func.call @scaled(%n, %x) : (tensor<i32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %s, %d : tensor<?xf32>, tensor<?x4xf32>
}
func.func private @scaled(%n: tensor<i32>, %x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %dims = stablehlo.concatenate %rows, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %b = stablehlo.dynamic_broadcast_in_dim %f, %dims, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
  %p = stablehlo.multiply %x, %b : tensor<?x4xf32>
  return %p : tensor<?x4xf32>
}
"""

Q = "!quant.uniform<i8:f32, 0.5:3>"


def opcodes(module):
    return [i.opcode for i in module.entry.instructions]


@pytest.mark.parametrize("given", [["f32[3,4]"], ["[3,4]"], ["3x4"], [(3, 4)], [hlotool.parse(
    "ENTRY e { ROOT x = f32[3,4] parameter(0) }").entry.root.shape]])
def test_open_dimensions_take_the_arguments_shapes(given):
    module = hlotool.from_stablehlo(POLYMORPHIC, arg_shapes=given)
    assert not hlotool.verify(module)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    sums, scaled = hlotool.execute(module, [x], executor="reference")
    assert (sums == x.sum(1)).all() and (scaled == 3 * x).all()


@pytest.mark.parametrize("given, message", [
    ([], "takes 1 argument, 0 shapes"), (["f32[3,5]"], "f32[3,5] is given for f32[?,4]"),
    (["s32[3,4]"], "s32[3,4] is given"), (["nothing"], "is no shape"), (["f32[0,4]"], "too few rows: 0")])
def test_shapes_that_do_not_fit(given, message):
    with pytest.raises(HloError) as raised:
        hlotool.from_stablehlo(POLYMORPHIC, arg_shapes=given)
    assert message in str(raised.value)


def test_without_shapes_the_advice_is_to_give_them():
    with pytest.raises(HloError) as raised:
        hlotool.from_stablehlo(POLYMORPHIC)
    assert all("--arg-shapes" in d.help for d in raised.value.diagnostics)


def test_quantised_arithmetic_is_written_out():
    module = hlotool.from_stablehlo(f"""
    func.func @main(%a: tensor<4xf32>, %b: tensor<4x{Q}>) -> (tensor<4x{Q}>, tensor<4xf32>) {{
      %q = stablehlo.uniform_quantize %a : (tensor<4xf32>) -> tensor<4x{Q}>
      %s = stablehlo.add %q, %b : tensor<4x{Q}>
      %f = stablehlo.uniform_dequantize %s : (tensor<4x{Q}>) -> tensor<4xf32>
      return %s, %f : tensor<4x{Q}>, tensor<4xf32>
    }}""")
    assert not hlotool.verify(module) and [n.code for n in module.notes] == ["X205"]
    a, b = np.array([0.3, 10.25, -100.0, 1.0], np.float32), np.array([3, 13, 3, 127], np.int8)
    stored, expressed = hlotool.execute(module, [a, b], executor="reference")
    # (-100 and 1 + 62 are held at the ends of what i8 can hold)
    held = np.clip(np.round(a / 0.5 + 3), -128, 127) * 0.5 - 1.5 + (b.astype(int) - 3) * 0.5
    assert stored.dtype == np.int8 and (expressed == np.clip(held, -65.5, 62)).all()
    assert (expressed == (stored.astype(int) - 3) * 0.5).all()


def test_quantised_operations_without_a_form_are_refused():
    with pytest.raises(HloError) as raised:
        hlotool.from_stablehlo(f"""
        func.func @main(%a: tensor<4x{Q}>) -> tensor<4x{Q}> {{
          %s = "stablehlo.sort"(%a) <{{dimension = 0 : i64}}> ({{
          ^bb0(%x: tensor<{Q}>, %y: tensor<{Q}>):
            %c = stablehlo.compare LT, %x, %y : (tensor<{Q}>, tensor<{Q}>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          }}) : (tensor<4x{Q}>) -> tensor<4x{Q}>
          return %s : tensor<4x{Q}>
        }}""")
    assert {d.code for d in raised.value.diagnostics} <= {"X202", "X203", "X206"}


def test_chlo_operations_that_hlo_has_stay_beside_those_that_it_lacks():
    module = hlotool.from_stablehlo("""
    func.func @main(%x: tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi32>, tensor<8xf32>) {
      %e = chlo.erf %x : tensor<8xf32> -> tensor<8xf32>
      %g = chlo.lgamma %e : tensor<8xf32> -> tensor<8xf32>
      %v, %i = chlo.top_k(%e, k = 2) : tensor<8xf32> -> (tensor<2xf32>, tensor<2xi32>)
      return %v, %i, %g : tensor<2xf32>, tensor<2xi32>, tensor<8xf32>
    }""")
    found = opcodes(module)
    assert found.count("erf") == 1 and found.count("topk") == 1 and "log" in found
    assert not hlotool.verify(module)


@since((0, 10, 1), "StableHLO's scan")
def test_scan_and_the_high_half_of_products():
    module = hlotool.from_stablehlo("""
    func.func @main(%x: tensor<2x3xf32>, %c: tensor<3xf32>, %n: tensor<4xui32>) -> (tensor<2x3xf32>, tensor<4xui32>) {
      %0, %1 = chlo.scan (%x) inits (%c) dimension = 0 attributes { is_reverse = true } {
      ^bb0(%i: tensor<3xf32>, %s: tensor<3xf32>):
        %2 = stablehlo.add %i, %s : tensor<3xf32>
        stablehlo.return %2, %2 : tensor<3xf32>, tensor<3xf32>
      } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
      %h = chlo.mulhi %n, %n : tensor<4xui32>, tensor<4xui32> -> tensor<4xui32>
      return %0, %h : tensor<2x3xf32>, tensor<4xui32>
    }""")
    assert {"scan", "mulhi"} <= set(opcodes(module)) and not hlotool.verify(module)
    x, n = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 2**16, 2**31, 2**32 - 1], np.uint32)
    sums, high = hlotool.execute(module, [x, np.ones(3, np.float32), n], executor="reference")
    assert (sums == x[::-1].cumsum(0)[::-1] + 1).all() and high.tolist() == [0, 1, 2**30, 2**32 - 2]


@pytest.mark.parametrize("equation, lhs, rhs, result", [
    ("ij,jk->ik", "2x3", "3x4", "2x4"), ("bij,bkj->bki", "2x3x4", "2x5x4", "2x5x3"), ("i,j->ji", "2", "3", "3x2"),
    ("...ij,...jk->...ik", "5x2x3", "5x3x4", "5x2x4"), ("...i,i...->...", "2x3", "3x2", "2"),
    ("...ij,jk->i...k", "5x6x2x3", "3x4", "2x5x6x4"), ("ij,jk->i", "2x3", "3x4", "2"), ("hij,jk->", "2x3x4", "4x5", ""),
    ("i,j->i", "3", "0", "3")])
def test_einsum(equation, lhs, rhs, result):
    result, lhs, rhs = (f"{d}x" if d else "" for d in (result, lhs, rhs))
    module = hlotool.from_stablehlo(f"""
    func.func @main(%a: tensor<{lhs}f32>, %b: tensor<{rhs}f32>) -> tensor<{result}f32> {{
      %0 = "stablehlo.einsum"(%a, %b) <{{einsum_config = "{equation}"}}>
        : (tensor<{lhs}f32>, tensor<{rhs}f32>) -> tensor<{result}f32>
      return %0 : tensor<{result}f32>
    }}""")
    assert not hlotool.verify(module)
    a, b = (np.random.default_rng(0).integers(0, 9, tuple(map(int, d.split("x")[:-1]))).astype(np.float32)
            for d in (lhs, rhs))
    assert (hlotool.execute(module, [a, b], executor="reference")[0] == np.einsum(equation, a, b)).all()


@pytest.mark.parametrize("equation", [
    "ii,ij->j", "ij,jk->il", "ij->ji", "...ij...,jk->ik", "ijk,jk->ik", "ij,jk,kl->il"])
def test_einsums_that_are_no_dots_are_refused(equation):
    with pytest.raises(hlotool.HloError, match=r"the einsum .*\[X203\]"):
        hlotool.from_stablehlo(f"""
        func.func @main(%a: tensor<3x3xf32>, %b: tensor<3x3xf32>) -> tensor<3x3xf32> {{
          %0 = "stablehlo.einsum"(%a, %b) <{{einsum_config = "{equation}"}}>
            : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
          return %0 : tensor<3x3xf32>
        }}""")


def test_a_private_main_begins_no_program():
    for others in ("", "func.func @other() { return }"):
        with pytest.raises(hlotool.HloError, match=r"main is private.*\[X204\]"):
            hlotool.from_stablehlo("func.func private @main(%a: tensor<2xf32>) -> tensor<2xf32> "
                                   "{ return %a : tensor<2xf32> }" + others)


def test_a_domain_of_mhlo_has_the_shardings_that_it_serialises():
    """As XLA reads it: `OpSharding` of one device, and of a tuple without elements."""
    program = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %0 = "mhlo.domain"(%a) {kind = #mhlo<kind sharding>, entry_metadata = "\\08\\01\\1A\\01\\01\\22\\01\\01",
                               exit_metadata = "EXIT"} : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    module = hlotool.from_stablehlo(program.replace("EXIT", "\\08\\02"))
    assert 'domain={kind="sharding", entry={maximal device=1}, exit={}}' in str(module)
    assert not hlotool.verify(module)
    for broken, code in (("devices", "X203"), ("\\08", "X203")):
        with pytest.raises(hlotool.HloError, match=rf"exit_metadata is .* no sharding \[{code}\]"):
            hlotool.from_stablehlo(program.replace("EXIT", broken))
    with pytest.raises(hlotool.HloError, match=r"mhlo.domain cannot be imported: it has no entry_metadata \[X203\]"):
        hlotool.from_stablehlo(program.replace('entry_metadata', 'beginning'))


@since((0, 10, 0), "StableHLO's futures")
def test_asynchronous_operations():
    module = hlotool.from_stablehlo("""
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "stablehlo.async_start"(%x) ({
      ^bb0(%b: tensor<4xf32>):
        %1 = "stablehlo.collective_broadcast"(%b) {replica_groups = dense<[[0]]> : tensor<1x1xi64>}
          : (tensor<4xf32>) -> tensor<4xf32>
        stablehlo.return %1 : tensor<4xf32>
      }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
      %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
      return %2 : tensor<4xf32>
    }""")
    assert opcodes(module) == ["parameter", "async-start", "async-done"] and not hlotool.verify(module)


def nested(depth):
    """As many conditionals, one in the other."""
    rows = ["func.func @main(%p: tensor<i1>, %a: tensor<f32>) -> tensor<f32> {"]
    rows += [f'%r{i} = "stablehlo.if"(%p) ({{' for i in range(depth)]
    rows += ["%x = stablehlo.negate %a : tensor<f32>", "stablehlo.return %x : tensor<f32>"]
    for i in reversed(range(depth)):
        rows += ["}, {", "stablehlo.return %a : tensor<f32>", "}) : (tensor<i1>) -> tensor<f32>",
                 f"{'stablehlo.return' if i else 'return'} %r{i} : tensor<f32>"]
    return "\n".join([*rows, "}"])


def test_regions_may_be_nested_to_any_depth():
    module = hlotool.from_stablehlo(nested(400))
    assert len(module.computations) == 801
    assert len(hlotool.parse(str(module)).computations) == 801


def test_several_operands_in_one_all_to_all():
    module = hlotool.from_stablehlo("""
    func.func @main(%a: tensor<4x2xf32>, %b: tensor<4x3xi32>) -> (tensor<4x2xf32>, tensor<4x3xi32>) {
      %0:2 = "stablehlo.all_to_all"(%a, %b) {split_dimension = 0 : i64, concat_dimension = 0 : i64,
        split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
        : (tensor<4x2xf32>, tensor<4x3xi32>) -> (tensor<4x2xf32>, tensor<4x3xi32>)
      return %0#0, %0#1 : tensor<4x2xf32>, tensor<4x3xi32>
    }""")
    assert opcodes(module).count("all-to-all") == 2 and not hlotool.verify(module)


BAD = {
    "add": ('"stablehlo.add"(%a, %a)', "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x2xf32>"),
    "transpose": ('"stablehlo.transpose"(%a) {permutation = array<i64: 1, 1>}', "(tensor<2x3xf32>) -> tensor<3x2xf32>"),
    "reshape": ('"stablehlo.reshape"(%a)', "(tensor<2x3xf32>) -> tensor<3x3xf32>"),
    "slice": ('"stablehlo.slice"(%a) {start_indices = array<i64: 0, 2>, limit_indices = array<i64: 2, 1>, '
              'strides = array<i64: 1, 1>}', "(tensor<2x3xf32>) -> tensor<2x1xf32>"),
    "concatenate": ('"stablehlo.concatenate"(%a, %a) {dimension = 2 : i64}',
                    "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>"),
    "select": ('"stablehlo.select"(%a, %a, %a)',
               "(tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>"),
    "compare": ('"stablehlo.compare"(%a, %b) {comparison_direction = #stablehlo<comparison_direction EQ>}',
                "(tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>"),
    "iota": ('"stablehlo.iota"() {iota_dimension = 3 : i64}', "() -> tensor<2x3xf32>"),
}


@pytest.mark.parametrize("operation, types", BAD.values(), ids=BAD)
def test_what_stablehlo_refuses_our_verification_refuses(operation, types):
    result = types.split("-> ")[1]
    text = (f"func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> {result} {{\n"
            f"  %0 = {operation} : {types}\n  return %0 : {result}\n}}")
    with pytest.raises(HloError):
        hlotool.from_stablehlo(text)
    module = hlotool.from_stablehlo(text, isolate=False)
    assert any(d.severity == "error" for d in hlotool.verify(module))


GROUPED = ('"stablehlo.all_to_all"(%a) {{split_dimension = {} : i64, concat_dimension = {} : i64, '
           'split_count = {} : i64, replica_groups = dense<{}> : tensor<{}xi64>}}')
EXCHANGE = "(tensor<4x8xf32>) -> tensor<8x4xf32>"
DOT = ('"stablehlo.dot_general"(%a, %b) {{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], '
       'rhs_contracting_dimensions = [0]>{}}}')
PRODUCT = "(tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>"
PRECISION = ", precision_config = [{}]".format
DEFAULT, HIGHEST = "#stablehlo<precision DEFAULT>", "#stablehlo<precision HIGHEST>"
ALGORITHM = (", algorithm = #stablehlo.dot_algorithm<lhs_precision_type = {0}, rhs_precision_type = {0}, "
             "accumulation_type = f32, lhs_component_count = {1}, rhs_component_count = 1, "
             "num_primitive_operations = 1, allow_imprecise_accumulation = false>").format
SIZES = '%s = "stablehlo.constant"() {{value = dense<{0}> : tensor<{1}xi64>}} : () -> tensor<{1}xi64> '
FEED = "(!stablehlo.token) -> ({}, !stablehlo.token)".format
CALL = '"stablehlo.custom_call"({}) {{call_target_name = "t", {}}}'.format
ALIAS = ("output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [],\n operand_index = {},\n"
         " operand_tuple_indices = []>]").format

#: operation, its type, what the diagnostic says; %a is f32[4,8], %b f32[8,4], %c f32[], %i s32[4,1], %t a token
REFUSED = {
    "groups of three dimensions": (GROUPED.format(1, 0, 2, "[[[0], [1]]]", "1x2x1"), EXCHANGE, "3 dimensions"),
    "a negative device": (GROUPED.format(1, 0, 2, "[[0, -5]]", "1x2"), EXCHANGE, "negative device"),
    "a dimension to join": (GROUPED.format(1, 2, 2, "[[0, 1]]", "1x2"), EXCHANGE, "concat_dimension is 2"),
    "no blocks": (GROUPED.format(1, 0, 0, "[[0, 1]]", "1x2"), EXCHANGE, "split_count is 0"),
    "smaller groups": (GROUPED.format(1, 0, 2, "[[0], [1]]", "2x1"), EXCHANGE, "1,1 members"),
    "empty groups": (GROUPED.format(1, 0, 2, "", "0x2"), EXCHANGE, "no members"),
    "a negative channel": ('"stablehlo.all_gather"(%a) {all_gather_dim = 1 : i64, use_global_device_ids, '
                           'channel_handle = #stablehlo.channel_handle<handle = -1, type = 1>, '
                           'replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}',
                           "(tensor<4x8xf32>) -> tensor<4x16xf32>", "channel is -1"),
    "no channel": ('"stablehlo.all_gather"(%a) {all_gather_dim = 1 : i64, use_global_device_ids, '
                   'replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}', "(tensor<4x8xf32>) -> tensor<4x16xf32>",
                   "channel is 0"),
    "triples": ('"stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}',
                "(tensor<4x8xf32>) -> tensor<4x8xf32>", "rows of 3"),
    "sizes of a broadcast": ('"stablehlo.broadcast"(%a) {broadcast_sizes = array<i64: 2>}',
                             "(tensor<4x8xf32>) -> tensor<3x4x8xf32>", "{2}"),
    "a negative dimension": ('"stablehlo.broadcast_in_dim"(%a) {broadcast_dimensions = array<i64: -2, 1>}',
                             "(tensor<4x8xf32>) -> tensor<4x8xf32>", "{-2,1}"),
    "an open broadcast": ('"stablehlo.broadcast_in_dim"(%a) {broadcast_dimensions = array<i64: 1, 2>}',
                          "(tensor<4x8xf32>) -> tensor<?x4x8xf32>", "without a size"),
    "another constant": ('"stablehlo.constant"() {value = dense<0> : tensor<i32>}', "() -> tensor<3xi32>", "s32[3]"),
    "a constant of another type": ('"stablehlo.constant"() {value = dense<(0.0, 1.0)> : tensor<complex<f32>>}',
                                   "() -> tensor<complex<f64>>", "its value is c64[], its result c128[]"),
    "a third precision": (DOT.format(PRECISION(f"{DEFAULT}, {HIGHEST}, {DEFAULT}")), PRODUCT, "for each operand"),
    "no word of precision": (DOT.format(PRECISION('"FOO"')), PRODUCT, '"FOO"'),
    "components": (DOT.format(ALGORITHM("f32", 3)), PRODUCT, "dot_f32_f32_f32"),
    "an unknown algorithm": (DOT.format(ALGORITHM("i8", 1)), PRODUCT, "dot_f32_f32_f32"),
    "two precisions": (DOT.format(PRECISION(f"{HIGHEST}, {HIGHEST}") + ALGORITHM("f32", 1)), PRODUCT, "is DEFAULT"),
    "tolerances of a mode": ('"stablehlo.tanh"(%a) {result_accuracy = #stablehlo.result_accuracy<atol = 1.0, '
                             'rtol = 0.0, ulps = 4, mode = #stablehlo.result_accuracy_mode<HIGHEST>>}',
                             "(tensor<4x8xf32>) -> tensor<4x8xf32>", "TOLERANCE"),
    "a layout too few": ('"stablehlo.infeed"(%t) {layout = []}', FEED("tensor<4xf32>"), "layout is []"),
    "a layout of lists": ('"stablehlo.infeed"(%t) {layout = [[0, []]]}', FEED("tensor<4xf32>"), "lists of integers"),
    "a token too many": ('"stablehlo.infeed"(%t)', FEED("!stablehlo.token"), "a token at the end"),
    "the wrong channel": ('"stablehlo.send"(%a, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, '
                          'is_host_transfer = true}', "(tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token",
                          "the type is 2"),
    "a token's layout": (CALL("%t", "operand_layouts = [dense<[0]> : tensor<1xindex>], result_layouts = []"),
                         "(!stablehlo.token) -> ()", "token[]"),
    "typed and no dictionary": (CALL("", 'api_version = 4 : i32, backend_config = "x"'), "() -> ()", "a dictionary"),
    "a region too many": ('"stablehlo.async_start"(%a) ({}, {})',
                          "(tensor<4x8xf32>) -> !stablehlo.future<tensor<4x8xf32>>", "2 regions"),
    "nothing to wait for": ('"stablehlo.async_start"(%a) ({^bb0(%x: tensor<4x8xf32>):\n "stablehlo.return"(%x) : '
                            '(tensor<4x8xf32>) -> ()})', "(tensor<4x8xf32>) -> !stablehlo.future<tensor<4x8xf32>>",
                            "holds nothing"),
    "sizes of an iota": (SIZES.format("[5]", 1) + '"stablehlo.dynamic_iota"(%s) {iota_dimension = 0 : i64}',
                         "(tensor<1xi64>) -> tensor<4xf32>", "[5]"),
    "sizes of a reshape": (SIZES.format("[2, 4, 5]", 3) + '"stablehlo.dynamic_reshape"(%a, %s)',
                           "(tensor<4x8xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>", "[2, 4, 5]"),
    "fewer sizes": (SIZES.format("[4]", 1) + '"stablehlo.dynamic_reshape"(%a, %s)',
                    "(tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x8xf32>", "s64[1] [4]"),
    "padding in a row": ('"stablehlo.reduce_window"(%a, %c) ({^bb0(%x: tensor<f32>, %y: tensor<f32>):\n '
                         '"stablehlo.return"(%x) : (tensor<f32>) -> ()}) {window_dimensions = array<i64: 1, 1>, '
                         'padding = dense<0> : tensor<1x4xi64>}', "(tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>",
                         "each of 2 dimensions"),
    "two bounds": ('"stablehlo.reshape"(%a)',
                   "(tensor<4x8xf32>) -> tensor<?x?xf32, #stablehlo.bounds<4, 8>>", "several"),
    "a dimension twice": ('"stablehlo.scatter"(%a, %i, %b) ({^bb0(%x: tensor<f32>, %y: tensor<f32>):\n '
                          '"stablehlo.return"(%y) : (tensor<f32>) -> ()}) {scatter_dimension_numbers = '
                          '#stablehlo.scatter<update_window_dims = [1], input_batching_dims = [0], '
                          'scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0]>}',
                          "(tensor<4x8xf32>, tensor<4x1xi32>, tensor<8x4xf32>) -> tensor<4x8xf32>",
                          "dimension 0 stands"),
    "a bound too few": ('"stablehlo.abs"(%a)',
                        "(tensor<4x8xf32>) -> tensor<?x?xf32, #stablehlo.bounds<4>>", "1 bound"),
}


#: what gives a size for each dimension, those that it names: constants, open and bounded dimensions
SIZED = {
    "an iota": (SIZES.format("[4, 3]", 2) + '"stablehlo.dynamic_iota"(%s) {iota_dimension = 1 : i64}',
                "(tensor<2xi64>) -> tensor<4x3xf32>", "iota", (4, 3)),
    "a reshape": (SIZES.format("[8, 4]", 2) + '"stablehlo.dynamic_reshape"(%a, %s)',
                  "(tensor<4x8xf32>, tensor<2xi64>) -> tensor<8x4xf32>", "reshape", (8, 4)),
    "an open dimension": (SIZES.format("[2, 16]", 2) + '"stablehlo.dynamic_reshape"(%a, %s)',
                          "(tensor<4x8xf32>, tensor<2xi64>) -> tensor<2x?xf32>", "dynamic-reshape", (2, -1)),
}


@pytest.mark.parametrize("operation, types, opcode, dims", SIZED.values(), ids=SIZED)
def test_sizes_that_fit_come_in(operation, types, opcode, dims):
    module = hlotool.from_stablehlo(around(operation, types))
    (made,) = [i for i in module.entry.instructions if i.opcode == opcode and i.shape.rank == 2]
    assert tuple(made.shape.dims[:1]) == dims[:1] and made.shape.rank == len(dims)
    # One off, in either place, is refused; what is open or bounded takes any size.
    for place in range(2):
        sizes = re.search(r"dense<\[(\d+), (\d+)\]>", operation)
        given = [int(sizes[1]), int(sizes[2])]
        given[place] *= 2
        other = operation.replace(sizes[0], f"dense<{given}>")
        with pytest.raises(HloError) as refusal:
            hlotool.from_stablehlo(around(other, types), isolate=False)
        assert str(given) in refusal.value.diagnostics[0].message


def around(operation, types):
    return (f"func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<f32>, %i: tensor<4x1xi32>, "
            f"%t: !stablehlo.token) {{\n  {operation} : {types}\n  return\n}}")


@pytest.mark.parametrize("operation, types, said", REFUSED.values(), ids=REFUSED)
def test_what_stablehlo_refuses_import_refuses(operation, types, said):
    text = around(operation, types)
    with pytest.raises(HloError):
        hlotool.from_stablehlo(text)
    with pytest.raises(HloError) as refusal:
        hlotool.from_stablehlo(text, isolate=False)
    (diagnostic,) = refusal.value.diagnostics
    assert diagnostic.code in ("X203", "X206") and diagnostic.line == 2 and said in diagnostic.message


@pytest.mark.parametrize("alias, said", [(ALIAS(1), "operand 1"), (ALIAS(0), "f32[4,8]")])
def test_aliases_of_a_call_are_verified(alias, said):
    module = hlotool.from_stablehlo(around(CALL("%a", alias), "(tensor<4x8xf32>) -> tensor<2xf32>"), isolate=False)
    assert [d.code for d in hlotool.verify(module)] == ["custom-call-c4"]
    assert said in hlotool.verify(module)[0].message


def test_groups_without_rows_do_not_end_the_process():
    given = around(GROUPED.format(1, 0, 2, "", "0x2"), EXCHANGE)
    for text in (given, "#g = dense<> : tensor<0x2xi64>\n" + given.replace("dense<> : tensor<0x2xi64>", "#g")):
        with pytest.raises(HloError, match="no rows") as refusal:
            hlotool.from_stablehlo(text)
        assert refusal.value.diagnostics[0].line == text[:text.index("all_to_all")].count("\n") + 1


def test_layouts_of_what_is_fed():
    module = hlotool.from_stablehlo("""
    func.func @main(%t: !stablehlo.token) -> tensor<4x8xf32> {
      %0:2 = "stablehlo.infeed"(%t) {layout = [[0, 1]]} : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
      return %0#0 : tensor<4x8xf32>
    }""")
    assert "((f32[4,8]{0,1}), token[]) infeed" in str(module) and not hlotool.verify(module)


@pytest.mark.parametrize("number, kind", [
    ("0.0", "f32"), ("1.5", "bf16"), ("-3", "i4"), ("true", "i1"), ("1.0", "f8E4M3FN"), ("(1.0, -0.0)", "complex<f32>"),
])
def test_a_number_that_is_repeated_takes_no_room(number, kind):
    module = hlotool.from_stablehlo(f"""
    func.func @main() -> tensor<512x6400x6400x{kind}> {{
      %0 = stablehlo.constant dense<{number}> : tensor<512x6400x6400x{kind}>
      return %0 : tensor<512x6400x6400x{kind}>
    }}""")
    assert opcodes(module) == ["constant", "broadcast"]
    literal = module.entry.instructions[0].literal.array
    expected = complex(1, -0.0) if kind.startswith("complex") else True if number == "true" else float(number)
    assert literal.astype(type(expected)) == expected


FOLD = ('({{^bb0(%x: tensor<{0}>, %y: tensor<{0}>):\n "stablehlo.return"(%x) : (tensor<{0}>) -> ()}})').format
GROUPS = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
#: operations whose computation takes wider values than they are given; what is converted
PROMOTED = {
    "all_reduce": (f'"stablehlo.all_reduce"(%a) {FOLD("f64")} {{{GROUPS}}}', "(tensor<4x8xf32>) -> tensor<4x8xf64>", 1),
    "reduce_scatter": (f'"stablehlo.reduce_scatter"(%a) {FOLD("f64")} {{scatter_dimension = 0 : i64, {GROUPS}}}',
                       "(tensor<4x8xf32>) -> tensor<2x8xf64>", 1),
    "reduce": (f'"stablehlo.reduce"(%i, %z) {FOLD("i64")} {{dimensions = array<i64: 0>}}',
               "(tensor<4x1xi32>, tensor<i32>) -> tensor<1xi64>", 2),
    "reduce_window": (f'"stablehlo.reduce_window"(%i, %z) {FOLD("i64")} {{window_dimensions = array<i64: 1, 1>}}',
                      "(tensor<4x1xi32>, tensor<i32>) -> tensor<4x1xi64>", 2),
    "scatter": (f'"stablehlo.scatter"(%a, %i, %a) {FOLD("f64")} {{scatter_dimension_numbers = #stablehlo.scatter<'
                'update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], '
                'index_vector_dim = 1>}',
                "(tensor<4x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<4x8xf64>", 2),
    "select_and_scatter": ('"stablehlo.select_and_scatter"(%a, %a, %c) ({^bb0(%x: tensor<f32>, %y: tensor<f32>):\n'
                           '%p = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n'
                           f'stablehlo.return %p : tensor<i1>}}, {FOLD("f64")[1:]} '
                           '{window_dimensions = array<i64: 1, 1>}',
                           "(tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf64>", 3),
}


@pytest.mark.parametrize("operation, types, count", PROMOTED.values(), ids=PROMOTED)
def test_operands_are_converted_to_what_a_computation_takes(operation, types, count):
    result = types.split("-> ")[1]
    module = hlotool.from_stablehlo(f"""func.func @main(%a: tensor<4x8xf32>, %c: tensor<f32>, %i: tensor<4x1xi32>,
      %z: tensor<i32>) -> {result} {{
      %0 = {operation} : {types}
      return %0 : {result} }}""")
    assert opcodes(module).count("convert") == count and not hlotool.verify(module)


VERIFIED = pathlib.Path(__file__).parents[3] / "shared" / "corpus" / "stablehlo" / "verify"


def is_refused(text):
    """Whether reading, import or verification refuses a program where MLIR is not installed."""
    try:
        return any(d.severity == "error" for d in hlotool.verify(hlotool.from_stablehlo(text)))
    except HloError:
        return True


@pytest.mark.skipif(not VERIFIED.is_dir(), reason="without the corpus")
@pytest.mark.parametrize("start", range(5))
def test_programs_that_stablehlo_refuses_are_refused(start, monkeypatch):
    monkeypatch.setattr("hlotool.stablehlo.given_program.has_mlir", lambda: False)
    programs = [(path.name, i, text) for path in sorted(VERIFIED.glob("*.mlir"))
                for i, text in enumerate(re.split(r"^// -----.*$", path.read_text(), flags=re.M))
                if "expected-error" in text][start::5]
    found = {(name, i): is_refused(text) for name, i, text in programs}
    assert len(found) > 100
    assert [key for key, refused in found.items() if not refused] == []


def test_counts_of_devices_that_are_no_numbers() -> None:
    with pytest.raises(HloError, match=r"mhlo.num_replicas is \"two\", which is no number.*X203"):
        hlotool.from_stablehlo('module attributes {mhlo.num_replicas = "two"} { func.func @main() { return } }')


_WHILE = """func.func @main(%x: tensor<f32>, %n: tensor<i32>) -> tensor<i32> {{
  %one = stablehlo.constant dense<1> : tensor<i32>
  %sum = stablehlo.add %n, %one : tensor<i32>
  %r = stablehlo.while(%i = %one) : tensor<i32>
    cond {{ %c = stablehlo.compare LT, %i, {bound} : (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %c : tensor<i1> }}
    do {{ %k = "stablehlo.case"(%i) ({{
           %d = stablehlo.add %i, {step} : tensor<i32>
           stablehlo.return %d : tensor<i32> }}) : (tensor<i32>) -> tensor<i32>
         stablehlo.return %k : tensor<i32> }}
  return %r : tensor<i32>
}}"""


def test_constants_from_outside_are_copied_through_every_scope() -> None:
    """A condition takes a constant of the function, a branch in a loop's body one from two scopes out."""
    bound = _WHILE.replace("  %sum", "  %ten = stablehlo.constant dense<10> : tensor<i32>\n  %sum", 1)
    module = hlotool.from_stablehlo(bound.format(bound="%ten", step="%one"))
    assert not hlotool.verify(module)
    (result,) = hlotool.execute(module, [np.float32(0), np.int32(5)], executor="reference")
    assert result == 10


@pytest.mark.parametrize("value, result", [("%n", 5), ("%sum", 6)], ids=["an argument", "a result"])
def test_a_loop_counts_up_to_a_value_from_outside(value: str, result: int) -> None:
    module = hlotool.from_stablehlo(_WHILE.format(bound=value, step="%one"))
    assert hlotool.execute(module, [np.float32(0), np.int32(5)], executor="reference") == [result]


@pytest.mark.parametrize("value, line", [("%x", 1), ("%y", 2)], ids=["an argument", "a result"])
def test_what_is_reduced_with_a_value_from_outside_is_refused_where_that_is_made(value: str, line: int) -> None:
    with pytest.raises(HloError) as raised:
        hlotool.from_stablehlo(f"""func.func @main(%v: tensor<4xf32>, %x: tensor<f32>) -> tensor<f32> {{
  %y = stablehlo.negate %x : tensor<f32>
  %r = stablehlo.reduce(%v init: %x) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {{
      %s = stablehlo.add %a, {value} : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }}
  return %r : tensor<f32> }}""")
    (diagnostic,) = raised.value.diagnostics
    assert "uses this value of the program around it" in diagnostic.message
    assert diagnostic.line == line
    assert diagnostic.column and (diagnostic.end_line, diagnostic.end_column) == (line, diagnostic.column + 1)


def test_quantised_types_are_known_in_bytecode_too() -> None:
    """The same module from its text and from bytecode, each read with a context of its own."""
    text = f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x{Q}>
  %r = stablehlo.uniform_dequantize %q : (tensor<4x{Q}>) -> tensor<4xf32>
  return %r : tensor<4xf32> }}"""
    out = io.BytesIO()
    read_program(text).operation.write_bytecode(out)
    assert str(hlotool.from_stablehlo(out.getvalue())) == str(hlotool.from_stablehlo(text))


_COUNTING = """HloModule m
c {{ {parameter} parameter(0)
  {value}
  k = s32[] constant(5)
  ROOT lt = pred[] compare(x, k), direction=LT }}
b {{ {parameter} parameter(0)
  {value}
  k = s32[] constant(1)
  {root} }}
ENTRY e {{ p = s32[] parameter(0)
  {loop} }}
"""
_BARE = _COUNTING.format(parameter="x = s32[]", value="", root="ROOT y = s32[] add(x, k)",
                         loop="ROOT w = s32[] while(p), condition=c, body=b, sharding={replicated}")
_TUPLE = _COUNTING.format(
    parameter="s = (s32[])", value="x = s32[] get-tuple-element(s), index=0",
    root="y = s32[] add(x, k)\n  ROOT t = (s32[]) tuple(y)",
    loop="i = (s32[]) tuple(p)\n  w = (s32[]) while(i), condition=c, body=b, sharding={{replicated}}\n"
         "  ROOT r = s32[] get-tuple-element(w), index=0")


@pytest.mark.parametrize("text", [_BARE, _TUPLE])
def test_a_loop_of_one_value_keeps_the_form_of_its_state(text):
    module = hlotool.parse(text)
    back = hlotool.from_stablehlo(hlotool.to_stablehlo(module))
    assert hlotool.diff(module, back).is_equal
    assert not [d for d in hlotool.verify(back) if d.severity == "error"]


def test_a_single_captured_value_is_the_parameter_of_a_branch():
    module = hlotool.from_stablehlo('''func.func @main(%p: tensor<i1>, %a: tensor<i32>) -> tensor<i32> {
      %b = "stablehlo.if"(%p) ({ %n = stablehlo.negate %a : tensor<i32>
          stablehlo.return %n : tensor<i32> }, { stablehlo.return %a : tensor<i32> }) : (tensor<i1>) -> tensor<i32>
      return %b : tensor<i32> }''')
    branches = module.entry.root.called_computations()
    assert [str(b.parameters()[0].shape) for b in branches] == ["s32[]", "s32[]"]
    assert int(hlotool.execute(module, [np.bool_(True), np.int32(3)], executor="reference")[0]) == -3


_OVER_A_MESH = """module {
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) ({
   ^bb0(%x: tensor<f32>, %y: tensor<f32>):
     %s = stablehlo.add %x, %y : tensor<f32>
     stablehlo.return %s : tensor<f32>
  }) {replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}"""


@since((0, 10, 1), "groups that are axes")
def test_groups_may_be_axes_of_a_mesh():
    groups = hlotool.from_stablehlo(_OVER_A_MESH).entry.root.attributes["replica_groups"]
    assert groups.lists() == ((0, 2), (1, 3))
    with pytest.raises(HloError, match="name the axis z"):
        hlotool.from_stablehlo(_OVER_A_MESH.replace('axis_ref<name = "x"', 'axis_ref<name = "z"'))
    with pytest.raises(HloError, match="mesh symbol 'other'"):
        hlotool.from_stablehlo(_OVER_A_MESH.replace("mesh = @mesh", "mesh = @other"))


def test_a_call_named_as_an_mhlo_operation_keeps_its_target_until_it_is_read():
    module = hlotool.from_stablehlo("""func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.custom_call @mhlo.tan(%a) {mhlo.attributes = {}} : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32> }""")
    assert module.entry.root.opcode == "tan"


def test_what_a_shape_is_asked_for_is_written_out():
    module = hlotool.from_stablehlo("""func.func @main(%a: tensor<2x3xf32>, %b: tensor<6xf32>) -> tensor<2x3xf32> {
      %s = shape.shape_of %a : tensor<2x3xf32> -> tensor<2xindex>
      %0 = stablehlo.dynamic_reshape %b, %s : (tensor<6xf32>, tensor<2xindex>) -> tensor<2x3xf32>
      %1 = stablehlo.add %a, %0 : tensor<2x3xf32>
      return %1 : tensor<2x3xf32> }""")
    assert opcodes(module) == ["parameter", "parameter", "reshape", "add"]
