"""The observer of `snapshot` for the tree of calls."""

from __future__ import annotations

import threading
import types
from typing import Any, Dict, List, Optional

from .gates import NEVER, Gate
from .report_stream import Storyteller
from .steps import Clocked
from .tracing import CALLS, ENDS

_MOST_CALLS = 200_000
FOLLOWED = 500
"""How many calls of a function are placed in the tree; later calls are only counted."""
_GENERATORS = 0x2A0
"""Flags of functions that can be suspended and resumed after other calls."""


class _Node:
    """The calls of a function from one place in the tree."""

    __slots__ = ("children", "code", "count", "counted", "raised", "recursive")

    def __init__(self, code: Optional[types.CodeType]) -> None:
        self.code = code
        self.children: Dict[int, _Node] = {}
        self.count = self.raised = self.recursive = 0
        self.counted = 0
        """Number of calls, from here or elsewhere, that were only counted."""


class _Gates:
    """The gates of one function, with what is known of its place in the tree."""

    def __init__(self, code: types.CodeType) -> None:
        self.code = code
        """The function's code object, kept so that its id stays its own."""
        self.calls, self.ends = Gate(), Gate()
        self.node: Optional[_Node] = None
        """Where the function stood in the tree when its gates were closed; None while they are open."""
        self.seen = 0
        """How many calls had begun when its gates were closed."""

    def open(self) -> None:
        """Report each call from now on."""
        self.node = None
        self.calls.reset()
        self.ends.reset()

    def close(self, node: _Node) -> None:
        """Only count the calls from now on."""
        self.node, self.seen = node, self.calls.count
        self.calls.next(NEVER)
        self.ends.next(NEVER)


class TreeObserver(Clocked):
    """Counts who calls whom. A call inside a call of the same function is counted with the outer one."""

    def __init__(self, spec: Dict[str, Any], teller: Storyteller) -> None:
        super().__init__(spec, teller)
        self._root = _Node(None)
        self._stacks: Dict[int, List[_Node]] = {}
        self._gates: Dict[int, _Gates] = {}
        """Id of a function's code -> its gates."""
        self._closed = False
        """Whether the calls of some function are only counted."""

    def begin_test(self) -> None:
        """Start a new tree for each test; only the last test's tree is reported."""
        super().begin_test()
        self._root = _Node(None)
        self._stacks.clear()
        for gates in self._gates.values():
            gates.open()

    def interest(self, code: types.CodeType) -> int:
        """Ask for calls and their ends, until the number of calls is used up."""
        return 0 if self.tired else self.ever(code)

    def ever(self, code: types.CodeType) -> int:
        """Ask for calls and their ends."""
        return CALLS | ENDS

    def gate(self, code: types.CodeType, kind: int, line: int = 0) -> Optional[Gate]:
        """Return the function's own gate for calls or for their ends."""
        gates = self._gates.setdefault(id(code), _Gates(code))
        return gates.calls if kind == CALLS else gates.ends

    def placed(self, code: types.CodeType, new_code: types.CodeType) -> None:
        """Know the function by its new code from now on."""
        gates = self._gates.pop(id(code), None)
        if gates is not None:
            gates.code = new_code
            self._gates[id(new_code)] = gates

    def entered(self, frame: types.FrameType) -> None:
        """Add a call below the one that is running in its thread."""
        if self.calls.told() > _MOST_CALLS:
            self.rest(frame)
            return
        stack = self._stacks.setdefault(threading.get_ident(), [self._root])
        code = frame.f_code
        gates = self._gates.get(id(code))
        if gates is not None:
            gates.calls.told()
        for node in stack:
            if node.code is code:
                node.recursive += 1
                break
        else:
            top = self._caller(frame) or stack[-1]
            node = top.children.get(id(code)) or top.children.setdefault(id(code), _Node(code))
            node.count += 1
        if not code.co_flags & _GENERATORS:
            stack.append(node)
        elif gates is not None and gates.calls.count >= FOLLOWED:
            self._close(gates, node)

    def left(self, frame: types.FrameType, value: Any) -> None:
        """End a call that returns."""
        self._end(frame, False)

    def unwound(self, frame: types.FrameType, error: Optional[BaseException]) -> None:
        """End a call that an exception leaves."""
        self._end(frame, True)

    def _end(self, frame: types.FrameType, raised: bool) -> None:
        stack = self._stacks.get(threading.get_ident(), [])
        code = frame.f_code
        gates = self._gates.get(id(code))
        if not code.co_flags & _GENERATORS and len(stack) > 1 and stack[-1].code is code:
            node = stack.pop()
            node.raised += raised
            if gates is not None and gates.calls.count >= FOLLOWED and all(call.code is not code for call in stack):
                self._close(gates, node)

    def _close(self, gates: _Gates, node: _Node) -> None:
        self._closed = True
        gates.close(node)

    def _caller(self, frame: types.FrameType) -> Optional[_Node]:
        """Return where the calling function stands in the tree, if its calls are only counted."""
        caller = frame.f_back
        while self._closed and caller is not None:
            gates = self._gates.get(id(caller.f_code))
            if gates is not None:
                return gates.node
            caller = caller.f_back
        return None

    def finish(self) -> None:
        """Report the tree, one row per node: depth, place, counts."""
        for gates in self._gates.values():
            if gates.node is not None:
                gates.node.counted = gates.calls.count - gates.seen
        rows: List[Dict[str, Any]] = []
        pending = [(child, 0) for child in reversed(list(self._root.children.values()))]
        while pending and len(rows) < 2000:
            node, depth = pending.pop()
            assert node.code is not None
            name = self.teller.own.shorten(node.code.co_filename)
            row = {"file": name, "line": node.code.co_firstlineno, "function": self.teller.names(node.code)}
            rows.append(
                {**row, "depth": depth, "count": node.count, "recursive": node.recursive, "raised": node.raised,
                 "counted": node.counted}
            )  # fmt: skip
            pending += [(child, depth + 1) for child in reversed(list(node.children.values()))]
        self.teller.report.write("tree", rows=rows, tired=self.tired)
