"""The codes of what isolating finds."""

from __future__ import annotations

from hlotool.diagnostics import define

MAKES_NAN = define("E120", "makes-nan", "The instruction makes NaN out of values that are none, and a result holds NaN "
                                        "because of it.")
MAKES_INFINITY = define("E121", "makes-infinity", "The instruction makes an infinity out of finite values, and a "
                                                  "result is infinite because of it.")
MASKED_NAN = define("E122", "masked-nan", "The instruction makes NaN that no result shows.")
GIVEN_NAN = define("E123", "given-nan", "A constant or an argument holds the NaN or infinity that a result shows.")
