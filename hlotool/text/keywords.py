"""Words of the language that names must not be."""

from __future__ import annotations

from hlotool.ir import DTYPES

#: refused as names everywhere
TYPE_WORDS = frozenset({*DTYPES, "token", "opaque"})
#: refused where they stand without `%`
KEYWORDS = frozenset([
    "true", "false", "inf", "nan", "HloModule", "ENTRY", "ROOT", "FileNames", "FunctionNames", "FileLocations",
    "StackFrames", "maximal", "replicated", "manual", "unknown", "unreduced", "shard_as", "shard_like",
    "last_tile_dim_replicate"])
