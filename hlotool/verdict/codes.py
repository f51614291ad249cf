"""The codes of what a comparison finds."""

from hlotool.diagnostics import define
from hlotool.execution import DIFFERENCE

VACUOUS = define("E136", "vacuous-agreement", "Agreement would mean nothing: all is NaN, nothing depends on the "
                                              "arguments, the results are the same whatever goes in, or the few "
                                              "instructions in which two modules differ reach no result.")
UNTAKEN = define("E137", "side-not-taken", "A side of a select, clamp, conditional or loop was taken by no arguments.")

__all__ = ["DIFFERENCE", "UNTAKEN", "VACUOUS"]
