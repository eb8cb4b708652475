"""A trace function jumps over assertions."""

CODE = r"""
import sys


def trace(frame, event, argument):
    if frame.f_code.co_name.startswith("test_"):
        if event == "exception":
            frame.f_lineno = frame.f_code.co_firstlineno
        return trace


sys.settrace(trace)
"""
