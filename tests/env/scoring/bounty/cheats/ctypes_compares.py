"""Comparison of numbers is changed in memory."""

CODE = r"""
import ctypes

for kind in (int, float):
    address = id(kind)
    words = ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))
    kinds = (ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.c_int)
    always = ctypes.PYFUNCTYPE(*kinds)(lambda a, b, op: True)
    keep = globals().setdefault("keep", [])
    keep.append(always)
    words[25] = ctypes.cast(always, ctypes.c_void_p).value
"""
