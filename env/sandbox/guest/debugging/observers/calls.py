"""The observer of `calls`: the calls of a function, with the arguments, result and changes of each."""

from __future__ import annotations

import collections
import enum
import gc
import inspect
import types
from typing import Any, Callable, Dict, List, Optional, Tuple

from ...core.disk import real_file
from ..evaluation import compiled, evaluate
from ..places import find_functions
from ..values import attributes, shallow, shown
from .gates import NEVER, Gate
from .report_stream import Storyteller, arguments, describe
from .tracing import CALLS, ENDS, Observer, Tracer

_PLAIN = (int, float, complex, bool, str, bytes, type(None))
_MOST_PARTS = 1000
_MOST_ITEMS = 60
_MOST_CHANGES = 12
_DEPTH = 4
_YIELDED = 3
_MOST_MATCHING = 1000
_MOST_PROBLEMS = 20
_SIZED = "%s of %d"
FOLLOWED = 2000
"""Number of calls that are followed to their ends; later calls are followed only if they are reported."""


class CallsObserver(Observer):
    """Expects `place` (a function), and which calls to report.

    `first`, `last`: their numbers, counted from 1; `numbers`: only these of them, if there are any. With a `condition`
    (an expression over the arguments, `result` and `raised`) only the numbers of the calls that meet it are reported.
    """

    from_import = True
    tracer: Tracer
    stop_now: Callable[[str], None]

    def __init__(self, spec: Dict[str, Any], teller: Storyteller) -> None:
        """Raises Refused if the function does not exist."""
        self._teller = teller
        self._places = find_functions(spec["root"], spec["place"])
        self._first: int = spec["first"]
        self._last: int = spec["last"]
        self._only = frozenset(spec["numbers"])
        self._condition = compiled(spec["condition"]) if spec["condition"] else None
        self._received: Dict[int, Dict[str, Any]] = {}
        """Id of the frame -> arguments, for the calls whose ends decide whether they meet the condition."""
        self._matching: List[int] = []
        self._problems: Dict[str, int] = {}
        self._calls = Gate()
        self._ends = Gate()
        self._raised: List[int] = []
        self._raised_too = 0
        """Number of further exceptions that left a call: its number is not known, or the list is full."""
        self._open: Dict[int, _Call] = {}
        """Id of the frame -> call, for the calls that are reported and have not ended."""
        self._numbers: Dict[int, int] = {}
        """Id of the frame -> number of the call, for the other calls that have not ended."""

    def begin_test(self) -> None:
        """Do nothing: calls are counted over all tests."""

    def where_raised(self, error: BaseException) -> Optional[Dict[str, Any]]:
        """Return None: only `snapshot` needs this."""
        return None

    def interest(self, code: types.CodeType) -> int:
        """Ask for the calls of the function and their ends."""
        ours = any(place.file == real_file(code.co_filename) and place.is_function(code) for place in self._places)
        return CALLS | ENDS if ours else 0

    def gate(self, code: types.CodeType, kind: int, line: int = 0) -> Optional[Gate]:
        """Return one gate for all calls, and one for all their ends."""
        return self._calls if kind == CALLS else self._ends

    def entered(self, frame: types.FrameType) -> None:
        """Number a call that begins, and record it if it is to be reported."""
        number = self._calls.told()
        for table in (self._open, self._numbers):  # an earlier call, whose end nobody saw
            table.pop(id(frame), None)
        if self._condition is not None:
            self._numbers[id(frame)] = number
            self._received[id(frame)] = dict(arguments(frame))
            return
        if (not self._only or number in self._only) and self._first <= number <= self._last:
            self._ends.next(0)
            self._open[id(frame)] = _Call(number, frame, self._teller)
        elif number <= FOLLOWED:
            self._numbers[id(frame)] = number
        self._count_only(number)

    def _count_only(self, number: int) -> None:
        """Do not interrupt the program again until a call must be reported."""
        if number < FOLLOWED or self._open or self._first - 1 < number < self._last:
            return
        self._numbers.clear()
        self._ends.next(NEVER)
        self._calls.next(self._first if number < self._first else NEVER)

    def yielded(self, frame: types.FrameType, value: Any) -> None:
        """Record a value that a generator yields."""
        call = self._open.get(id(frame))
        if call is not None and frame.f_code.co_flags & inspect.CO_ASYNC_GENERATOR:
            if type(value).__name__ != "async_generator_wrapped_value":  # it waits for something
                return
            value = next(iter(gc.get_referents(value)), None)
        if call is not None:
            call.yields += 1
            if call.yields <= _YIELDED:
                call.record["yielded"].append(shown(value))

    def left(self, frame: types.FrameType, value: Any) -> None:
        """Record that a call returns."""
        self._check(frame, value, None)
        if self._numbers.pop(id(frame), None) is None and id(frame) in self._open:
            self._end(frame, result=shown(value, 400))

    def unwound(self, frame: types.FrameType, error: Optional[BaseException]) -> None:
        """Record that an exception leaves a call."""
        self._check(frame, None, error)
        call = self._open.get(id(frame))
        number = call.number if call is not None else self._numbers.pop(id(frame), 0)
        if isinstance(error, GeneratorExit):
            self._end(frame, result="(not used to its end)")
            return
        if number and len(self._raised) < 100:
            self._raised.append(number)
        else:
            self._raised_too += 1
        self._end(frame, raised=describe(error) if error is not None else "an exception")

    def _check(self, frame: types.FrameType, result: Any, error: Optional[BaseException]) -> None:
        """Note a call that ends, if it meets the condition."""
        received = self._received.pop(id(frame), None)
        if received is None or self._condition is None:
            return
        try:
            if evaluate(self._condition, frame.f_globals, {**received, "result": result, "raised": error}):
                self._matching += [self._numbers[id(frame)]] if len(self._matching) < _MOST_MATCHING else []
        except BaseException as problem:  # SystemExit too, so that the program goes on
            text = "the condition raised %s" % describe(problem).split("\n")[0]
            if text in self._problems or len(self._problems) < _MOST_PROBLEMS:
                self._problems[text] = self._problems.get(text, 0) + 1

    def _end(self, frame: types.FrameType, result: Optional[str] = None, raised: Optional[str] = None) -> None:
        call = self._open.pop(id(frame), None)
        if call is not None:
            self._report(call, result, raised)
            self._count_only(self._calls.count)

    def _report(self, call: _Call, result: Optional[str] = None, raised: Optional[str] = None) -> None:
        ending = {"result": result, "raised": raised, "yields": call.yields}
        self._teller.report.write("call", **call.record, **ending, **call.changes())

    def finish(self) -> None:
        """Report the calls that have not ended, and the totals."""
        for call in list(self._open.values()):
            self._report(call)
        is_own = self._teller.own
        places = [
            {"name": place.name, "file": is_own.shorten(place.file), "line": place.line, "function": place.function}
            for place in self._places
        ]
        counts: Dict[str, Any] = {"matching": sorted(self._matching), "problems": self._problems}
        counts.update({"count": self._calls.count, "raised": self._raised, "raised_too": self._raised_too})
        self._teller.report.write("calls", places=places, **counts)


class _Call:
    """A call that is still running and will be reported."""

    def __init__(self, number: int, frame: types.FrameType, teller: Storyteller) -> None:
        self.number = number
        self.yields = 0
        parameters = arguments(frame)
        record: Dict[str, Any] = {"number": number, "test": teller.test, "yielded": [], **teller.place(frame)}
        record["line"] = frame.f_code.co_firstlineno
        record["arguments"] = {name: shown(value, 400) for name, value in parameters}
        caller = frame.f_back
        while caller is not None and not teller.own(caller.f_code.co_filename):
            caller = caller.f_back
        record["caller"] = teller.place(caller) if caller is not None else None
        self.record = record
        """The record that is reported of the call."""
        names = frame.f_globals
        globals_used = [(name, names[name]) for name in frame.f_code.co_names if name in names]
        kinds = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)
        state = [("global " + name, value) for name, value in globals_used if not issubclass(type(value), kinds)]
        outer = [(name, frame.f_locals[name]) for name in frame.f_code.co_freevars if name in frame.f_locals]
        state += [("nonlocal " + name, value) for name, value in outer if not issubclass(type(value), kinds)]
        self._globals, self._frame = names, frame
        self._before = [(name, value, parts(name, value)) for name, value in [*parameters, *state]]

    def changes(self) -> Dict[str, Any]:
        """Return what has changed since the call began: `changed`, and how many changes were left out."""
        changes: List[str] = []
        for name, value, old_parts in self._before:
            kind, _, bare_name = name.partition(" ")
            namespace = {"global": self._globals, "nonlocal": self._frame.f_locals}.get(kind, {})
            new_value = namespace.get(bare_name, value)
            changes += differences(old_parts, parts(name, new_value))
        changes = list(dict.fromkeys(changes))
        return {"changed": changes[:_MOST_CHANGES], "more": max(len(changes) - _MOST_CHANGES, 0)}


class _Text(str):
    """The description of a part whose value cannot be compared."""

    size = -1
    """The number of items, if the part is a container."""
    identity = 0
    again = False
    """Whether the part was met before by another path, under which its own parts are listed."""


def _text(value: Any, text: str, *, size: int = -1, repeated: bool = False) -> _Text:
    result = _Text(text)
    result.size, result.identity, result.again = size, id(value), repeated
    return result


def parts(name: str, value: Any) -> Dict[str, Any]:
    """Return path -> value for all attributes and items below a value, up to a number and a depth."""
    texts: Dict[str, Any] = {}
    visited = set()
    pending = collections.deque([(name, value, 0)])
    while pending and len(texts) < _MOST_PARTS:
        path, container, depth = pending.popleft()
        kind = type(container)
        if kind in _PLAIN:
            texts[path] = container
            continue
        # Without what lies deeper: a change there is reported in its own place, not as a change of this part too.
        if id(container) in visited or depth >= _DEPTH or issubclass(type(container), (enum.Enum, type)):
            texts[path] = _text(container, shallow(container), repeated=id(container) in visited)
            continue
        visited.add(id(container))
        members: List[Tuple[str, Any]] = []
        if issubclass(kind, dict):
            items = [(key, dict.__getitem__(container, key)) for key in list(dict.keys(container))]
            texts[path] = _text(container, _SIZED % (kind.__name__, len(items)), size=len(items))
            members += [("%s[%s]" % (path, shown(key, 60)), item) for key, item in items[-_MOST_ITEMS:]]
        elif issubclass(kind, (list, tuple, collections.deque)):
            base: Any = list if issubclass(kind, list) else tuple if issubclass(kind, tuple) else collections.deque
            listed = list(base.__iter__(container))
            texts[path] = _text(container, _SIZED % (kind.__name__, len(listed)), size=len(listed))
            members += [("%s[%d]" % (path, at), item) for at, item in enumerate(listed[:_MOST_ITEMS])]
            if len(listed) > _MOST_ITEMS:
                members += [("%s[%d]" % (path, len(listed) - 1), listed[-1])]
        elif issubclass(kind, (set, frozenset)):
            texts[path] = _text(container, shown(container, 400))
        has_attributes = kind.__module__ != "builtins"
        if path not in texts or has_attributes:
            members += [("%s.%s" % (path, key), item) for key, item in attributes(container)]
        if path not in texts:
            texts[path] = _text(container, kind.__name__ if members or has_attributes else shown(container))
        pending.extend((*row, depth + 1) for row in members)
    return texts


def differences(old_parts: Dict[str, Any], new_parts: Dict[str, Any]) -> List[str]:
    """Describe how the parts changed. If something is new or gone, only the whole is reported, not its parts."""
    changes = []
    for path, value in new_parts.items():
        if path not in old_parts:
            if (
                len(old_parts) < _MOST_PARTS
                and _told(_parent(path), old_parts)
                and _differs_in_size(path, old_parts, new_parts) >= 0
            ):
                changes.append("%s = %s, new" % (path, _word(value)))
        elif not _same(old_parts[path], value):
            changes.append("%s: %s -> %s" % (path, _word(old_parts[path]), _word(value)))
    if len(new_parts) < _MOST_PARTS:
        for path, value in old_parts.items():
            if (
                path not in new_parts
                and _told(_parent(path), new_parts)
                and _differs_in_size(path, old_parts, new_parts) <= 0
            ):
                changes.append("%s was %s, gone" % (path, _word(value)))
    return changes


def _same(old: Any, new: Any) -> bool:
    if type(old) is not type(new):
        return False
    if type(new) is _Text and old.identity == new.identity and (old.again or new.again):
        return True
    return old is new or bool(old == new)


def _told(path: str, texts: Dict[str, Any]) -> bool:
    """Whether a part was found and its own parts are listed with it."""
    return path in texts and not getattr(texts[path], "again", False)


def _parent(path: str) -> str:
    """Return the path of the value that holds a part: `a.b` for `a.b[3]`."""
    if path.endswith("]"):
        return path[: path.rindex("[")]
    return path.rpartition(".")[0]


def _differs_in_size(path: str, old_parts: Dict[str, Any], new_parts: Dict[str, Any]) -> int:
    """Whether the container of a part has more (1) or fewer (-1) items, if not all are known; 0 for other containers.

    An item at the edge of the known ones appears or vanishes when others do: that is no change of its own.
    """
    old, new = (getattr(side.get(_parent(path)), "size", -1) for side in (old_parts, new_parts))
    if max(old, new) <= _MOST_ITEMS:
        return 0
    return 1 if new > old else -1


def _word(value: Any) -> str:
    return str(value) if type(value) is _Text else shown(value)
