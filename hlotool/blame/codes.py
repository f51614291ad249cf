"""The codes of what isolating finds."""

from __future__ import annotations

from hlotool.diagnostics import define

MAKES_NAN = define("E130", "makes-nan", "The instruction makes NaN out of values that are none, and a result holds NaN "
                                        "because of it.")
MAKES_INFINITY = define("E131", "makes-infinity", "The instruction makes an infinity out of finite values, and a "
                                                  "result is infinite because of it.")
MASKED_NAN = define("E132", "masked-nan", "The instruction makes NaN that no result shows.")
GIVEN_NAN = define("E133", "given-nan", "A constant or an argument holds the NaN or infinity that a result shows.")
PARTS_HERE = define("E134", "executors-part-here", "The instruction's value is wrong on an executor though what it is "
                                                   "given is right.")
PARTS_TOGETHER = define("E135", "executors-part-together", "The instruction's value is wrong on an executor where it "
                                                           "is compiled together with others: a fold or a fusion.")
MODULES_PART = define("E140", "modules-part-here", "On the first module's values of its operands, the second module's "
                                                   "instruction has another value than what stands for it in the "
                                                   "first, and the results differ because of it.")
MENDED_HERE = define("E141", "modules-part-by-edit", "With a small edit of the instruction the second module's results "
                                                     "are the first's on all arguments that were tried, and no other "
                                                     "instruction can be edited so.")
NOT_DECIDED = define("E142", "guilty-not-decided", "The results of two modules differ, and no instruction is proven "
                                                   "guilty; the place is one whose value differs.")
