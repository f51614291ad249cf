"""The codes that builders report, apart from the operations' own constraints (`clamp-c1`)."""

from __future__ import annotations

from hlotool.diagnostics import define

DOCUMENT = "XLA Operation Semantics"
BROADCASTING = "XLA Operation Semantics, Broadcasting; XLA, ShapeInference::InferInDimBroadcastShape"
SHAPES = "XLA, shape_inference.cc"

ARGUMENTS = define("B001", "wrong-arguments", "a builder function is called with arguments that it does not take",
                   DOCUMENT)
FOREIGN = define("B002", "foreign-value", "an operand belongs to another builder, or to another computation")
NO_OPERAND = define("B003", "no-operand", "a Python value that no operand can be made of")
NO_COMPUTATION = define("B004", "no-computation", "a Python value that no computation can be made of, or a function "
                        "that does not take the parameters of its place")
NO_FUNCTION = define("B005", "no-such-function", "a builder function that no document and no operation has")
NO_SHAPE = define("B006", "no-shape", "a Python value that names no shape or element type")
NO_ATTRIBUTE = define("B007", "no-attribute-value", "a Python value that no attribute of that name can have")
NO_ROOT = define("B008", "no-root", "a computation is built of nothing, or has a parameter number twice")
NOT_PYTHON = define("B009", "not-a-python-value", "a value of the program is used where Python needs one now")
NO_BUILDER = define("B010", "no-builder", "a free function has no operand that says which builder it belongs to")
UNWRITABLE = define("B011", "no-builder-code", "a module that builder code cannot rebuild")

SAME_RANK = define("B101", "broadcast-same-rank", "operands of one rank take no broadcast_dimensions, or the identity",
                   BROADCASTING)
IMPLICIT = define("B102", "broadcast-unspecified", "operands of different ranks need broadcast_dimensions, unless one "
                  "is a scalar", BROADCASTING)
COUNT = define("B103", "broadcast-count", "broadcast_dimensions name one dimension for each of the smaller operand",
               BROADCASTING)
RANGE = define("B104", "broadcast-range", "a broadcast dimension is none of the larger operand", BROADCASTING)
SIZES = define("B105", "broadcast-sizes", "dimensions that are paired by broadcasting have one size, or the size 1",
               BROADCASTING)
DYNAMIC = define("B106", "broadcast-dynamic", "dimensions that are paired by broadcasting are both dynamic, or neither",
                 BROADCASTING)
ORDER = define("B107", "broadcast-order", "broadcast dimensions strictly increase", BROADCASTING)
DEGENERATE = define("B108", "broadcast-degenerate", "operands of one rank differ only where one size is 1",
                    BROADCASTING)

NEW_SIZES = define("B111", "broadcast-new-sizes", "sizes that Broadcast puts in front are not negative and are known",
                   SHAPES)
IN_DIM = define("B112", "broadcast-in-dim", "BroadcastInDim maps each dimension of the operand to one of the result, "
                "in ascending order, of the same size or from 1", SHAPES)
UNBOUNDED_RESHAPE = define("B113", "reshape-unbounded", "Reshape gives known sizes, of an operand that is not bounded "
                           "in one dimension and unbounded in another", SHAPES)
SPLIT_AND_MERGED = define("B114", "reshape-dynamic", "a reshape may not both split and merge a dynamic dimension",
                          SHAPES)
ONE_IN_THE_MIDDLE = define("B115", "reshape-dynamic-one", "a dynamic dimension of size 1 stands first or last", SHAPES)
BOUNDS = define("B116", "dynamic-reshape-bounds", "DynamicReshape takes a size, a bound and a flag for each dimension",
                SHAPES)
WINDOW_PARTS = define("B117", "window-parts", "strides, padding, dilations and reversal of a window are absent or as "
                      "long as the window", SHAPES)
COLLAPSED = define("B118", "collapse-dimensions", "Collapse takes consecutive dimensions of its operand, in order",
                   DOCUMENT)
SPLIT = define("B119", "split-count", "a dimension is cut into equal parts, one for each member of a group", DOCUMENT)

NOT_ALLOWED = define("B120", "documented-constraint", "what the documents do not allow, and HLO does not say", DOCUMENT)

MEANING = define("B201", "meaning-changed", "an older document means something else by this call than today's",
                 DOCUMENT)
NOT_THERE_YET = define("B202", "not-in-document", "a function that the chosen document does not have; today's meaning "
                       "is taken", DOCUMENT)
STRICTER = define("B203", "document-refuses", "an older document does not allow what today's does", DOCUMENT)

NOT_ITS_CODE = define("B301", "not-builder-code", "Python code of a module that is more than calls of the builder, or "
                      "that cannot be read")
