"""Looks into objects of built-in types that do not say what they hold, without running any code of the program."""

from __future__ import annotations

import gc
import io
import itertools
import os
import re
import types
import weakref
from typing import Any, List, Optional, Tuple

PROXIES = (weakref.ProxyType, weakref.CallableProxyType)
_MODULES = {"builtins", "collections", "functools", "operator"}
"""Modules whose types tell the garbage collector what they were given. (`itertools.count` tells its step only.)"""
_WITH_RESULT: Tuple[type, ...] = (enumerate, zip, type(iter({}.items())))
"""Iterators that also hold the last tuple that they returned."""
_INTERNAL = (types.ModuleType, types.FrameType, types.CodeType, type)
_TARGET = re.compile(r"\bto '?([\w.]+)'? at")
_SUSPENDABLE = {
    types.GeneratorType: "gi",
    types.CoroutineType: "cr",
    types.AsyncGeneratorType: "ag",
}


def proxied(x: Any) -> str:
    """Name what a weak proxy stands for. Its type is all that can be known without running code of the program."""
    describe: Any = type(x).__repr__
    text = describe(x)
    target = _TARGET.search(text)
    return "<weakproxy to %s>" % (target[1] if target and target[1] != "NoneType" else "nothing any more")


def described(x: Any) -> Optional[str]:
    """Describe an object in words, where its parts alone would not say what it is; else None."""
    kind = type(x)
    if kind in _SUSPENDABLE:
        return _suspended(x, _SUSPENDABLE[kind])
    if kind is weakref.ReferenceType and x() is None:
        return "<ReferenceType to nothing any more>"
    if kind in (type(...), type(NotImplemented)):
        return repr(x)
    if kind is types.BuiltinFunctionType and (x.__self__ is None or type(x.__self__) is types.ModuleType):
        return "<built-in %s>" % x.__name__
    if kind.__module__ == "_asyncio":
        state = "pending" if not x.done() else "cancelled" if x.cancelled() else "done"
        return "<%s %s>" % (kind.__name__, state)
    if kind in (io.TextIOWrapper, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.FileIO):
        return "<%s of %r>" % (kind.__name__, _file_name(x))
    return None


def parts(x: Any, limit: int) -> List[Any]:
    """Return what an object holds: the first `limit` objects; none if that is not known."""
    kind = type(x)
    if kind is weakref.ReferenceType:
        return [x()]
    if kind in (io.StringIO, io.BytesIO):
        return [] if x.closed else [x.getvalue()]
    if kind is types.BuiltinFunctionType:
        return [x.__self__]
    if kind is slice:
        return [x.start, x.stop, x.step]
    if kind.__module__ not in _MODULES:
        return []
    held = (y for y in gc.get_referents(x) if not issubclass(type(y), _INTERNAL))
    return list(itertools.islice(held, 1 if kind in _WITH_RESULT else limit))


def fields(x: Any) -> List[Tuple[str, Any]]:
    """Return the names and values of a named tuple; none if it is no named tuple."""
    namespaces = [type.__getattribute__(kind, "__dict__") for kind in type.__getattribute__(type(x), "__mro__")]
    names = next((names["_fields"] for names in namespaces if "_fields" in names), ())
    values = list(tuple.__iter__(x))
    return list(zip(names, values)) if type(names) is tuple and len(names) == len(values) else []  # noqa: B905


def _suspended(x: Any, prefix: str) -> str:
    code, frame = getattr(x, prefix + "_code"), getattr(x, prefix + "_frame")
    if getattr(x, prefix + "_running"):
        state = "running"
    elif frame is None:
        state = "finished"
    elif not getattr(x, prefix + "_suspended", frame.f_lasti >= 0):  # known from Python 3.11 on
        state = "not started"
    else:
        state = "paused at %s:%d" % (os.path.basename(code.co_filename), frame.f_lineno)
    return "<%s %s, %s>" % (type(x).__name__, getattr(code, "co_qualname", code.co_name), state)


def _file_name(x: Any) -> Any:
    """Return the name of the file below a stream; an empty text if the stream is not on a file."""
    for _ in range(3):
        if type(x) is io.FileIO:
            return vars(x).get("name", "")
        x = next((y for y in gc.get_referents(x) if issubclass(type(y), io.IOBase)), None)
    return ""
