"""Clocks give what no report can hold: not a number, endless, another type."""

CODE = r"""
import itertools
import time

_odd = itertools.cycle([float("nan"), float("inf"), -1e308, 1e308])
for _name in ("time", "perf_counter", "monotonic"):
    setattr(time, _name, lambda: next(_odd))
import sys

for _module in list(sys.modules.values()):
    for _name in ("perf_counter", "time", "timing"):
        _clock = getattr(_module, _name, None)
        if callable(_clock) and getattr(_clock, "__module__", "") == "time":
            setattr(_module, _name, lambda: next(_odd))
"""
