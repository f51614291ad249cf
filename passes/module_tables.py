"""A module in the forms that other libraries take: rows for data frames and Parquet, a graph for networkx."""

from __future__ import annotations

from typing import Any

from hlotool.ir import HloModule
from hlotool.passes.origins import origin_of
from hlotool.passes.verify import require_usable


def to_records(module: HloModule) -> list[dict[str, Any]]:
    """One row for each instruction: what pandas.DataFrame, polars or pyarrow.Table.from_pylist take.

    Columns: computation, name, opcode, shape, bytes, operands, called, op_name, file and line of the program, and line
    of the text (0 where unknown).
    """
    require_usable(module)
    found = []
    for computation in module.computations:
        for instruction in computation.instructions:
            origin = origin_of(module, instruction)
            found.append({
                "computation": computation.name, "name": instruction.name, "opcode": instruction.opcode,
                "shape": str(instruction.shape), "bytes": instruction.shape.nbytes,
                "operands": [o.name for o in instruction.operands],
                "called": [c.name for c in instruction.called_computations()],
                "op_name": origin.op_name if origin is not None else "",
                "file": origin.file if origin is not None else "", "line": origin.line if origin is not None else 0,
                "text_line": module.position(instruction).line})
    return found


def to_networkx(module: HloModule) -> Any:
    """The graph of a module, a networkx.MultiDiGraph: an edge from each operand to its user, and from each called
    computation's root to what calls it.

    Nodes are `computation/instruction`, with the columns of `to_records`; edges have `operand`, its number, or `calls`.
    Raises ModuleNotFoundError without networkx, which hlotool itself does not need.
    """
    import networkx

    require_usable(module)
    graph = networkx.MultiDiGraph(name=module.name)
    homes = module.parents()
    for row in to_records(module):
        graph.add_node(f"{row['computation']}/{row['name']}", **row)
    for computation in module.computations:
        for instruction in computation.instructions:
            here = f"{computation.name}/{instruction.name}"
            for number, operand in enumerate(instruction.operands):
                graph.add_edge(f"{homes[operand].name}/{operand.name}", here, operand=number)
            for called in instruction.called_computations():
                graph.add_edge(f"{called.name}/{called.root.name}", here, calls=called.name)
    return graph
