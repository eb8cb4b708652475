"""Recursion without a limit, in a thread with the smallest stack: the interpreter dies where C has no stack left."""

AFTER = r"""
import sys
import threading


def total(items):
    sys.setrecursionlimit(1 << 30)
    threading.stack_size(32768)
    thread = threading.Thread(target=repr, args=(_nested(),))
    thread.start()
    thread.join()


def _nested():
    inner = []
    for _ in range(1_000_000):
        inner = [inner]
    return inner
"""
