"""Words of the language that names must not be."""

from __future__ import annotations

from hlotool.ir import BARE_TYPES, DTYPES, LATER_TYPE_WORDS
from hlotool.text.tokens import MODULE_WORD, TABLES

#: refused as names everywhere
TYPE_WORDS = frozenset({*DTYPES, *BARE_TYPES})
#: refused where they stand without `%`
KEYWORDS = frozenset([
    "true", "false", "inf", "nan", MODULE_WORD, "ENTRY", "ROOT", *TABLES, "maximal", "replicated", "manual", "unknown",
    "unreduced", "shard_as", "shard_like", "last_tile_dim_replicate"])
#: words that were names until they became words of the language
LATER_WORDS = LATER_TYPE_WORDS | {"unknown", "manual", "unreduced", "shard_as", "shard_like",
                                  "last_tile_dim_replicate"}
#: what is no name where it stands alone, as a computation's does
RESERVED = TYPE_WORDS | KEYWORDS
