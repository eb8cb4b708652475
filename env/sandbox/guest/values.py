"""Calls and local variables as short text, without running any code of the program."""

from __future__ import annotations

import reprlib
import types
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple

_PLAIN = (int, float, complex, bool, str, bytes, bytearray, type(None), range)


class _Safe(reprlib.Repr):
    """As reprlib, but an instance of a class of the program's is shown by its attributes, never by its __repr__."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 80
        self.maxlist = self.maxtuple = self.maxset = self.maxdict = 6
        self.maxlevel = 3

    def repr1(self, x: Any, level: int) -> str:
        kind = type(x)
        if kind in _PLAIN or kind in (list, tuple, dict, set, frozenset):
            return super().repr1(x, level)
        if isinstance(x, (types.FunctionType, types.ModuleType, type)):
            return (
                "<%s %s>" % (kind.__name__, types.ModuleType.__getattribute__(x, "__name__"))
                if isinstance(x, types.ModuleType)
                else "<%s %s>" % (kind.__name__, getattr(x, "__qualname__", "?"))
            )
        name = type.__getattribute__(kind, "__qualname__")
        try:
            attributes = object.__getattribute__(x, "__dict__")
        except AttributeError:
            return "<%s>" % name
        if level <= 0 or type(attributes) is not dict:
            return "<%s ...>" % name
        shown = ["%s=%s" % (key, self.repr1(value, level - 1)) for key, value in list(attributes.items())[:6]]
        return "<%s %s%s>" % (name, ", ".join(shown), ", ..." if len(attributes) > 6 else "")


_SAFE = _Safe()


def safe_locals(names: Mapping[str, Any], limit: int = 24) -> Dict[str, str]:
    """Local variables, name -> short text; at module level only what is neither code nor dunder."""
    shown: Dict[str, str] = {}
    for name, value in list(names.items()):
        if name.startswith(("__", "@")) or isinstance(value, (types.ModuleType, types.FunctionType, type)):
            continue
        if len(shown) >= limit:
            break
        try:
            shown[name] = _SAFE.repr(value)[:200]
        except Exception:
            shown[name] = "<%s>" % type(value).__name__
    return shown


def call_stack(
    stack: Sequence[Tuple[types.FrameType, int]], current: int, name_of: Callable[[str], str], most: int = 24
) -> List[Dict[str, Any]]:
    """The calls that led here, the outermost first; of a deep stack those around frame `current`."""
    first = max(min(current - most // 2, len(stack) - most), 0)
    return [
        {
            "file": name_of(frame.f_code.co_filename),
            "line": line,
            "function": getattr(frame.f_code, "co_qualname", frame.f_code.co_name),
            "current": first + position == current,
        }
        for position, (frame, line) in enumerate(stack[first : first + most])
    ]
