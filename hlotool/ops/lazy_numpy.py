"""NumPy as the families of operations ask for it."""

from hlotool.ir.arrays import np, ufunc

__all__ = ["np", "ufunc"]
