"""Signs that the code under test interferes with what judges it. What each is for: see `env.scoring`."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sys
import types
from typing import Any, Callable, Dict, Iterable, List, Set, Tuple

EVENT = "stackrank.report"
GUARDED = ("_pytest", "pytest", "pluggy", "unittest", "builtins")
_LOOKS_INTO_MEMORY = {"gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._current_frames"}
# What decides whether a test runs at all, and what comes of it.
_DECISIVE = (
    "pytest_runtestloop", "pytest_runtest_protocol", "pytest_runtest_setup", "pytest_runtest_call",
    "pytest_runtest_teardown", "pytest_pyfunc_call", "pytest_runtest_makereport", "pytest_fixture_setup",
)  # fmt: skip


def install(
    fd: int, key: bytes, suspects: Iterable[str], bottom: types.FrameType, trusted: Set[int]
) -> Callable[[], bool]:
    """Write what is audited as EVENT to `fd`, each record with a keyed hash and a running number.

    The key is held by an audit hook, which Python code can neither list nor remove. A record counts as forged when a
    frame of a file in `suspects`, or of code without a file, is on its stack, or when the stack does not begin at
    `bottom`. `trusted`: ids of code that nobody may take over. Returns a function that says whether its caller was
    called by suspects.
    """
    write, mac, dumps, sha256 = os.write, hmac.new, json.dumps, hashlib.sha256
    getframe, doubtful = sys._getframe, {os.path.abspath(path) for path in suspects}
    state = {"sequence": 0, "busy": False}

    def emit(record: Dict[str, Any]) -> None:
        record = dict(record, seq=state["sequence"])
        state["sequence"] += 1
        text = dumps(record)
        data = memoryview(("%s %s\n" % (mac(key, text.encode(), sha256).hexdigest(), text)).encode())
        while data:
            data = data[write(fd, data) :]

    def suspicious(frame: Any) -> bool:
        while frame is not None:
            name = frame.f_code.co_filename
            if name in doubtful or (name[:1] == "<" and name[:7] != "<frozen"):
                return True
            if frame is bottom:
                return False
            frame = frame.f_back
        return True  # another thread, or a stack that began elsewhere

    def doubt(event: str, arguments: Tuple[Any, ...]) -> str:
        """What it means if suspects do this; empty where anyone may."""
        if event in _LOOKS_INTO_MEMORY:
            return "the code under test searched the memory of the test process (%s)" % event
        if event in ("object.__setattr__", "function.__new__"):
            code = arguments[-1] if event == "object.__setattr__" else arguments[0]
            return "the code under test took over code of the test runner" if id(code) in trusted else ""
        if event == "open" and isinstance(arguments[0], str) and arguments[0].endswith("/mem"):
            return "the code under test opened the memory of a process"
        return ""

    def hook(event: str, arguments: Tuple[Any, ...]) -> None:
        if state["busy"]:
            return
        state["busy"] = True
        try:
            if event == EVENT:
                frame = getframe(1)
                (record,) = arguments
                if suspicious(frame) or ("finished" in record and frame is not bottom):
                    emit({"suspicion": "the code under test called the reporter"})
                else:
                    emit(record)
            else:
                said = doubt(event, arguments)
                if said and suspicious(getframe(1)):
                    emit({"suspicion": said})
        finally:
            state["busy"] = False

    sys.addaudithook(hook)
    return lambda: suspicious(getframe(1))


def code_ids() -> Set[int]:
    """The code of everything that judges tests."""
    found: Set[int] = set()
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] not in (*GUARDED, "guest"):
            continue
        for value in list(vars(module).values()):
            for inner in [value, *(vars(value).values() if isinstance(value, type) else ())]:
                function = getattr(inner, "__func__", inner)
                if isinstance(function, types.FunctionType):
                    found.add(id(function.__code__))
    return found


class Watch:
    """What a test item and the hooks were when collected, compared with what they are when a result comes."""

    def __init__(self, session: Any) -> None:
        self._hooks = self._decisive(session)
        self._items: Dict[int, Tuple[Any, Any, Any]] = {id(item): self._shape(item) for item in session.items}
        self._ran: Set[int] = set()

    @staticmethod
    def _decisive(session: Any) -> List[Any]:
        hook = session.config.hook
        return [id(hook), *([id(impl) for impl in getattr(hook, name).get_hookimpls()] for name in _DECISIVE)]

    @staticmethod
    def _shape(item: Any) -> Tuple[Any, Any, Any]:
        # The instance's own attribute, and not the property, which makes a new bound method each time.
        function = vars(item).get("_obj", vars(item).get("obj"))
        function = getattr(function, "__func__", function)
        return function, id(getattr(function, "__code__", None)), vars(item).get("runtest")

    def runs(self, item: Any) -> None:
        """The item's function is about to be called."""
        self._ran.add(id(item))

    def changed(self, item: Any, has_function: bool) -> str:
        """What is wrong with an item that is said to have passed; empty where nothing is."""
        if self._decisive(item.session) != self._hooks:
            return "the hooks that run the tests were changed"
        if id(item) in self._items and self._shape(item)[1:] != self._items[id(item)][1:]:
            return "%s was replaced after it was collected" % item.nodeid
        if has_function and id(item) not in self._ran:
            return "%s was said to have passed and never ran" % item.nodeid
        return ""


def fingerprint() -> Dict[str, int]:
    """The identity of every function and class of the machinery that judges tests: name -> id."""
    marks: Dict[str, int] = {}
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] not in GUARDED or not isinstance(module, types.ModuleType):
            continue
        for attribute, value in list(vars(module).items()):
            if attribute.startswith("__") and name != "builtins":
                continue
            where = "%s.%s" % (name, attribute)
            if isinstance(value, type):
                marks[where] = id(value)
                if value.__module__.split(".")[0] in GUARDED and value.__module__ != "builtins":
                    for member, inner in list(vars(value).items()):
                        if isinstance(inner, (types.FunctionType, classmethod, staticmethod, property)):
                            marks["%s.%s" % (where, member)] = id(inner)
                            _mark_code(marks, "%s.%s" % (where, member), inner)
            elif callable(value):
                marks[where] = id(value)
                _mark_code(marks, where, value)
    return marks


def _mark_code(marks: Dict[str, int], where: str, value: Any) -> None:
    function = value.__func__ if isinstance(value, (classmethod, staticmethod, types.MethodType)) else value
    if isinstance(function, types.FunctionType):
        marks[where + ".__code__"] = id(function.__code__)


def changed(before: Dict[str, int]) -> List[str]:
    """Names whose object is no longer what it was. What came new is not a change."""
    after = fingerprint()
    return [name for name, mark in before.items() if after.get(name) != mark and not _benign(name)][:20]


def _benign(name: str) -> bool:
    """Whether pytest itself made the change: its `legacypath` plugin patches pytest's own classes."""
    _module, _, rest = name.partition(".Config.")
    value = getattr(sys.modules["_pytest.config"].Config, rest.replace(".__code__", ""), None) if rest else None
    return getattr(value, "__module__", "") == "_pytest.legacypath"
