"""Shows calls and local variables as short text, without running any code of the program."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import itertools
import os
import re
import reprlib
import types
import uuid
from pathlib import PosixPath, PurePosixPath
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Sequence, Tuple

from . import opaque

_PLAIN = (int, float, complex, bool, str, bytes, bytearray, type(None), range)
# Types of the standard library whose `repr` says everything and runs no code of the program.
_SAID_BY_REPR = {
    datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone, decimal.Decimal,
    fractions.Fraction, uuid.UUID, type(re.compile("")), type(re.match("", "")), PurePosixPath, PosixPath,
}  # fmt: skip
_BRACKETS: Dict[type, Tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    dict: ("{", "}"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}
_EXACT: Dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    bytes: lambda x: bytes.__getitem__(x, slice(None)),
}
"""How to get the plain value of an instance of a subclass, without running any code of the subclass."""
_SORTABLE = (int, float, str, bytes)
_MOST_BITS = 4000  # Python refuses to write integers of more than 4300 digits
_CONTAINERS = (dict, list, tuple, set, frozenset, collections.deque)
_HEAP_TYPE = 1 << 9  # the flag of types that were made by a class statement


class _Safe(reprlib.Repr):
    """Like reprlib, with three differences.

    An instance of one of the program's classes is shown by its attributes, never by its __repr__. Members are never
    compared: a dict keeps its order. A value that is cut says how large it is.
    """

    def __init__(self, max_items: int, max_length: int) -> None:
        super().__init__()
        self.most = max_items
        self.maxstring = self.maxlong = self.maxother = max_length
        self.maxlevel = 3

    def repr1(self, x: Any, level: int) -> str:
        # Never isinstance: it may ask the object for its __class__.
        kind = type(x)
        if kind in _BRACKETS:
            return self._members(x, level)
        if kind in _PLAIN:
            return super().repr1(x, level)
        if kind in opaque.PROXIES:
            return opaque.proxied(x)
        if issubclass(kind, types.ModuleType):
            return "<%s %s>" % (kind.__name__, types.ModuleType.__getattribute__(x, "__name__"))
        if kind is types.MethodType and type(x.__func__) is types.FunctionType:
            return "<method %s>" % _named(x.__func__)
        if kind is types.FunctionType:
            return "<function %s>" % _named(x)
        if issubclass(kind, type):
            return "<%s %s>" % (kind.__name__, getattr(x, "__qualname__", "?"))
        if kind in _SAID_BY_REPR:
            return self.repr_instance(x, level)
        if kind.__mro__[-2] is BaseException:
            return self._exception(x, level)
        name = type.__getattribute__(kind, "__qualname__")
        if issubclass(kind, enum.Enum):
            return "<%s.%s>" % (name, object.__getattribute__(x, "__dict__").get("_name_"))
        description = opaque.described(x)
        if description is not None:
            return description
        if level <= 0:
            return "<%s ...>" % name
        named_fields = opaque.fields(x) if issubclass(kind, tuple) else []
        members = []
        if not named_fields:
            members = [self._contents(x, level)] if issubclass(kind, _CONTAINERS) else self._plain_part(x, level)
        named_values = [*named_fields, *attributes(x)]
        if not named_values:
            if not members and (parts := opaque.parts(x, self.most)):
                members = ["of", ", ".join(self.repr1(part, level - 1) for part in parts)]
            return " ".join(["<" + name, *members]) + ">"
        members += ["%s=%s" % (key, self.repr1(value, level - 1)) for key, value in named_values[: self.most]]
        return "<%s %s%s>" % (name, ", ".join(members), ", ..." if len(named_values) > self.most else "")

    def repr_str(self, x: str, level: int) -> str:
        return self._middle_cut(x, "characters")

    def repr_bytes(self, x: bytes, level: int) -> str:
        return self._middle_cut(x, "bytes")

    repr_bytearray = repr_bytes

    def repr_int(self, x: int, level: int) -> str:
        return super().repr_int(x, level) if x.bit_length() <= _MOST_BITS else "<int of %d bits>" % x.bit_length()

    def _middle_cut(self, x: Any, unit: str) -> str:
        """Show a text or bytes; if it is long, its beginning and its end."""
        if len(x) <= self.maxstring:
            text = repr(x)
            if len(text) <= self.maxstring + 2:
                return text
        half = max((self.maxstring - 24) // 2, 6)  # leaves room for the quotes, the dots and the length
        while len(repr(x[:half] + x[-half:])) > self.maxstring + 2 and half > 1:  # escaped characters take more room
            half //= 2
        return "%r...%r (%d %s)" % (x[:half], x[-half:], len(x), unit)

    def _members(self, x: Any, level: int) -> str:
        """Show a container of a built-in type."""
        if not x:
            return repr(x)
        opening, closing = _BRACKETS[type(x)]
        texts: List[str] = []
        if level > 0 and type(x) is dict:
            texts = [
                "%s: %s" % (self.repr1(key, level - 1), self.repr1(value, level - 1))
                for key, value in itertools.islice(x.items(), self.most)
            ]
        elif level > 0:
            texts = [self.repr1(element, level - 1) for element in itertools.islice(_in_order(x), self.most)]
        if len(x) > len(texts):
            texts.append("... %d in all" % len(x))
        elif type(x) is tuple and len(x) == 1:
            closing = "," + closing
        return opening + ", ".join(texts) + closing

    def _plain_part(self, x: Any, level: int) -> List[str]:
        """Show what an instance of a subclass of int, str, datetime and the like holds; or a NumPy scalar or array."""
        for base in type.__getattribute__(type(x), "__mro__"):
            if base in _PLAIN:
                exact = _EXACT[base](x) if base in _EXACT else x
                return [self.repr1(exact, level) if type(exact) is base else base.__repr__(x)]
            if base in _SAID_BY_REPR:
                return [self._cut(base.__repr__(x))]
            if base.__module__ == "numpy" and not type.__getattribute__(base, "__flags__") & _HEAP_TYPE:
                has_objects = base.__name__ == "object_" or getattr(getattr(x, "dtype", None), "hasobject", True)
                return [] if has_objects else [self._cut(" ".join(base.__repr__(x).split()))]
        return []

    def _exception(self, x: BaseException, level: int) -> str:
        """Show an exception with its arguments and attributes."""
        described: Any = vars(BaseException)["args"]
        arguments = described.__get__(x) if level > 0 else ("...",)
        texts = [self.repr1(argument, level - 1) if level > 0 else "..." for argument in arguments[: self.most]]
        text = "%s(%s)" % (type.__getattribute__(type(x), "__qualname__"), ", ".join(texts))
        named_values = list(attributes(x))[: self.most] if level > 0 else []
        named = ["%s=%s" % (key, self.repr1(value, level - 1)) for key, value in named_values]
        return "<%s %s>" % (text, ", ".join(named)) if named else text

    def _cut(self, text: str) -> str:
        if len(text) <= self.maxother:
            return text
        half = max((self.maxother - 3) // 2, 6)
        return text[:half] + "..." + text[-half:]

    def _contents(self, x: Any, level: int) -> str:
        """Show what an instance of a container's subclass holds, whatever its own methods say."""
        if issubclass(type(x), dict):
            return self.repr1(dict(dict.items(x)), level)
        kind: Any = next(container for container in _CONTAINERS if issubclass(type(x), container))
        plain_kind = list if kind is collections.deque else kind
        return self.repr1(plain_kind(kind.__iter__(x)), level)


def _named(function: types.FunctionType) -> str:
    """Return a function's name, with its place if other functions may have the same name."""
    name, code = function.__qualname__, function.__code__
    if "<" not in name:
        return name
    return "%s at %s:%d" % (name, os.path.basename(code.co_filename), code.co_firstlineno)


def attributes(x: Any) -> Iterator[Tuple[str, Any]]:
    """Yield an instance's attributes, those in slots too, without running any code of the program."""
    for kind in reversed(type.__getattribute__(type(x), "__mro__")):
        if not type.__getattribute__(kind, "__flags__") & _HEAP_TYPE:
            continue
        for name, slot in list(type.__getattribute__(kind, "__dict__").items()):
            if type(slot) is types.MemberDescriptorType and not name.startswith("__"):
                try:
                    yield name, slot.__get__(x)
                except AttributeError:  # not set
                    continue
    try:
        instance_dict = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return
    if type(instance_dict) is dict:
        yield from list(instance_dict.items())


def _in_order(x: Any) -> Iterable[Any]:
    """Return the members; those of a set in an order that does not change from run to run, if there is one."""
    if type(x) in (set, frozenset) and len({type(element) for element in x}) == 1 and type(next(iter(x))) in _SORTABLE:
        return sorted(x)
    return x  # type: ignore[no-any-return]


_SIZES = (_Safe(12, 240), _Safe(6, 80), _Safe(3, 40), _Safe(2, 24), _Safe(1, 24))


def shown(value: Any, limit: int = 200) -> str:
    """Return a value as one line of at most about `limit` characters; a limit of more than 200 shows more of it."""
    if limit >= 40 and (type(value) in (float, bool, type(None)) or (type(value) is int and value.bit_length() <= 64)):
        return repr(value)  # directly: if the stack is nearly used up, what follows would fail
    text = ""
    for size in _SIZES[0 if limit > 200 else 1 :]:
        try:
            text = size.repr(value)
        except Exception:
            text = "<%s>" % type(value).__name__
        if len(text) <= limit:
            return text
    return text[: limit - 3] + "..."


def shallow(value: Any) -> str:
    """Return a value as text with its own attributes or items, but without what these contain."""
    try:
        return _SIZES[1].repr1(value, 1)
    except Exception:
        return "<%s>" % type(value).__name__


def safe_locals(names: Mapping[str, Any], limit: int = 24) -> Dict[str, str]:
    """Return name -> short text of local variables, without code, annotations and dunder names."""
    texts: Dict[str, str] = {}
    for name, value in list(names.items()):
        if name.startswith(("__", "@")) or issubclass(type(value), (types.ModuleType, types.FunctionType, type)):
            continue
        if type.__getattribute__(type(value), "__module__") in ("typing", "__future__"):
            continue
        if len(texts) >= limit:
            break
        texts[name] = shown(value)
    return texts


def qualified_name(code: types.CodeType) -> str:
    """Return the name of a function with its class, as all tools show it; before Python 3.11, only the name."""
    name: str = getattr(code, "co_qualname", code.co_name)
    return name.replace("<locals>.", "")


def call_stack(
    stack: Sequence[Tuple[types.FrameType, int]], current: int, name_of: Callable[[str], str], max_frames: int = 24
) -> List[Dict[str, Any]]:
    """Return the calls that led here, the outermost first; of a deep stack, those around frame `current`."""
    first = max(min(current - max_frames // 2, len(stack) - max_frames), 0)
    return [
        {
            "file": name_of(frame.f_code.co_filename),
            "line": line or 0,  # some instructions have no line
            "function": qualified_name(frame.f_code),
            "current": first + position == current,
        }
        for position, (frame, line) in enumerate(stack[first : first + max_frames])
    ]


def folded(keys: Sequence[Any], longest: int = 8) -> List[Tuple[int, int, int]]:
    """Return a sequence as (first, period, times): what repeats itself three times or more appears once."""
    parts = []
    position = 0
    while position < len(keys):
        period, times = 1, 1
        for length in range(1, longest + 1):
            block = keys[position : position + length]
            count = 1
            while keys[position + count * length : position + (count + 1) * length] == block:
                count += 1
            if count > 2:
                period, times = length, count
                break
        parts.append((position, period, times))
        position += period * times
    return parts
