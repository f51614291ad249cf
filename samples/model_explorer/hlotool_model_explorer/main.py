"""Opens whatever hlotool reads in Model Explorer: `model-explorer model.hlo --extensions=hlotool_model_explorer`."""

from __future__ import annotations

from typing import Any, ClassVar

from model_explorer import Adapter, AdapterMetadata, graph_builder

import hlotool
from hlotool.view import as_model_explorer


class HloAdapter(Adapter):
    """HLO and StableHLO, as text, bytecode, portable artifact or protobuf message."""

    metadata: ClassVar[Any] = AdapterMetadata(
        id="hlotool", name="hlotool", description="HLO and StableHLO, read by hlotool",
        fileExts=["hlo", "txt", "mlir", "mlirbc", "pb", "gz"])

    def convert(self, model_path: str, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the graphs of a file. Raises hlotool.HloError, whose text names each problem and its place."""
        found = as_model_explorer(hlotool.read(model_path))
        graphs = [graph_builder.Graph(id=g["id"], nodes=[_node(n) for n in g["nodes"]]) for g in found["graphs"]]
        return {"graphCollections": [graph_builder.GraphCollection(label=found["label"], graphs=graphs)]}


def _node(node: Any) -> Any:
    """Return the node of a record that `hlotool view --schema` describes."""
    return graph_builder.GraphNode(
        id=node["id"], label=node["label"], namespace=node["namespace"], subgraphIds=node.get("subgraphIds", []),
        attrs=_pairs(node["attrs"]),
        incomingEdges=[graph_builder.IncomingEdge(**edge) for edge in node["incomingEdges"]],
        outputsMetadata=[graph_builder.MetadataItem(id=item["id"], attrs=_pairs(item["attrs"]))
                         for item in node["outputsMetadata"]])


def _pairs(facts: list[Any]) -> list[Any]:
    return [graph_builder.KeyValue(**fact) for fact in facts]
