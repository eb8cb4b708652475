"""Inserts hook calls into a code object of Python 3.11: where it is entered, at its lines, where it ends or fails.

Lines, positions, names and variables stay as they are. A hook gets no argument, or the value or exception concerned;
the frame that it is about is the one above its own. A gate before a hook can skip it.
"""

from __future__ import annotations

import dis
import types
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from .gates import Gate
from .instructions import CACHES, NOWHERE, Emitted, Position, extended, positions, read, write_number
from .tracing import CALLS, ENDS, LINES, RAISES, Observer

_OPS = dis.opmap
_NO_WAY_ON = frozenset(
    _OPS[name]
    for name in (
        "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "RETURN_VALUE", "RAISE_VARARGS", "RERAISE",
    )
    if name in _OPS
)  # fmt: skip
_HOOK_STACK = 6


class Hooks(NamedTuple):
    """The functions to call: the last three get an exception, `left` and `yielded` a value."""

    entered: Callable[[], None]
    line: Callable[[], None]
    left: Callable[[Any], None]
    yielded: Callable[[Any], None]
    raised: Callable[[BaseException], None]
    again: Callable[[BaseException], None]
    """Called when an exception that was already reported is re-raised."""
    unwound: Callable[[BaseException], None]


class _Region(NamedTuple):
    """Old instructions whose exceptions go to `target`; -1: to the end of the code, where a hook is called."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool
    told: bool = False
    """Whether the target counts as a new line when an exception goes there."""


def with_hooks(code: types.CodeType, observer: Observer, hooks: Hooks, consts: Sequence[Any]) -> types.CodeType:
    """Return a code object that does the same and calls hooks for all events that the observer may ever want.

    `consts` replace the constants of `code`. Raises ValueError if no such code object can be made.
    """
    return _Assembly(code, observer, hooks, consts).code()


class _Guard(NamedTuple):
    """New instructions that call a hook; their exceptions go to `end`."""

    start: int
    end: int
    depth: int


class _Assembly:
    def __init__(self, code: types.CodeType, observer: Observer, hooks: Hooks, consts: Sequence[Any]) -> None:
        self._code = code
        self._observer = observer
        self._wanted = observer.ever(code)
        self._hooks = hooks
        self._consts: List[Any] = list(consts)
        self._const_of: Dict[str, int] = {}
        self._old, starts = read(code)
        resume = [i for i, element in enumerate(self._old) if element.op == _OPS["RESUME"]]
        if not resume:
            raise ValueError("no RESUME")
        self._resume = resume[0]
        self._regions = [
            _Region(starts[element.start], starts[element.end], starts[element.target], element.depth, element.lasti)
            for element in getattr(dis, "_parse_exception_table")(code)  # noqa: B009
        ]
        self._handlers = {element.target: element.depth + element.lasti + 1 for element in self._regions}
        """Target of exceptions -> depth of the stack there, the exception included."""
        self._new: List[Emitted] = []
        self._first: List[int] = []
        """For each old instruction: where the new instructions that belong to it begin."""
        self._hooked: List[int] = []
        """For each old instruction: the target of jumps that must call the line's hook."""
        self._plain: List[int] = []
        """For each old instruction: the target of jumps that must not call it."""
        self._from_exception: List[Tuple[int, int]] = []
        """For each old instruction: the targets of exceptions that skip the line's hook, and of those that call it."""
        self._guards: List[_Guard] = []

    def code(self) -> types.CodeType:
        reported = self._lines_told() if self._wanted & LINES else {}
        for index in range(len(self._old)):
            self._emit(index, reported)
        end = len(self._new)
        for places in (self._first, self._hooked, self._plain):
            places.append(end)
        regions = self._split() if reported else self._regions
        if self._wanted & (ENDS | RAISES):
            regions = self._everywhere(regions)
            if self._wanted & RAISES:
                self._tell_exception("raised", 2)
            if self._wanted & ENDS:
                self._tell_exception("unwound", 2)
            self._new.append(Emitted(_OPS["RERAISE"], 1, NOWHERE))
        offsets = self._layout()
        table = bytearray()
        for start, stop, target, depth in self._table(regions, end):
            write_number(table, offsets[start], 0x80)
            for value in (offsets[stop] - offsets[start], offsets[target], depth):
                write_number(table, value, 0)
        return self._code.replace(
            co_code=self._bytes(offsets),
            co_consts=tuple(self._consts),
            co_stacksize=self._code.co_stacksize + _HOOK_STACK,
            co_linetable=positions(self._new, self._code.co_firstlineno),
            co_exceptiontable=bytes(table),
        )

    def _table(self, regions: Sequence[_Region], end: int) -> List[Tuple[int, int, int, int]]:
        """Return the rows of the exception table: start and end of new instructions, the target, and its depth.

        Guards take precedence: a region is cut where it covers one, because the interpreter takes the first that fits.
        """
        rows = [(row.start, row.end, row.end, row.depth << 1) for row in self._guards]
        for region in regions:
            target = end if region.target < 0 else self._from_exception[region.target][region.told]
            at, stop = self._first[region.start], self._first[region.end]
            for guard in self._guards:
                if at <= guard.start < stop:
                    rows.append((at, guard.start, target, region.depth << 1 | region.lasti))
                    at = guard.end
            rows.append((at, stop, target, region.depth << 1 | region.lasti))
        return sorted(row for row in rows if row[0] < row[1])

    # ---- which lines are reported

    def _lines_told(self) -> Dict[int, Set[int]]:
        """Map each instruction to those from which it is reached as a new line; -1 stands for an exception.

        A line is new as for `sys.settrace`: if it differs from the line before, or if a jump leads backwards.
        """
        reported: Dict[int, Set[int]] = {}
        old = self._old

        def edge(origin: int, target: int) -> None:
            if old[target].line is None or old[target].op == _OPS["RESUME"] or target <= self._resume:
                return
            is_backward = target < origin and old[target].op != _OPS["SEND"]
            if origin <= self._resume or old[origin].line != old[target].line or is_backward:
                reported.setdefault(target, set()).add(origin)

        for index, instruction in enumerate(old):
            if instruction.op not in _NO_WAY_ON and index + 1 < len(old):
                edge(index, index + 1)
            if instruction.target >= 0:
                edge(index, instruction.target)
        for region in self._regions:
            if any(self._comes_anew(index, region.target) for index in range(region.start, region.end)):
                reported.setdefault(region.target, set()).add(-1)
        return {at: edges for at, edges in reported.items() if self._observer.at_line(self._code, old[at].line or 0)}

    # ---- the new order

    def _emit(self, index: int, reported: Dict[int, Set[int]]) -> None:
        old = self._old[index]
        self._first.append(len(self._new))
        edges = reported.get(index, set())
        raises = []
        if self._wanted & RAISES and index in self._handlers:
            raises.append(len(self._new))
            self._tell_exception("raised", self._handlers[index])
            if -1 in edges:
                self._jump_over(index)
                raises.append(len(self._new))
                self._tell_exception("raised", self._handlers[index])
        # A call's keywords are kept outside the stack until the call, so no other call may come in between.
        if edges and not (index and self._old[index - 1].op == _OPS["KW_NAMES"]):
            falls = index > 0 and self._old[index - 1].op not in _NO_WAY_ON
            if falls and index - 1 not in edges:
                self._jump_over(index)
            self._hooked.append(len(self._new))
            self._line(old.position)
        else:
            self._hooked.append(len(self._new))
        self._plain.append(len(self._new))
        self._from_exception.append((raises[0], raises[-1]) if raises else (self._plain[-1], self._hooked[-1]))
        if old.op == _OPS["KW_NAMES"] and reported.get(index + 1):
            self._line(self._old[index + 1].position)
        if self._wanted & RAISES:
            if old.op == _OPS["RERAISE"]:
                self._call("again", old.position, 1)
            elif old.op == _OPS["RAISE_VARARGS"] and not old.arg:
                self._call("again", old.position, 0)
        if self._wanted & ENDS:
            if old.op == _OPS["RETURN_VALUE"]:
                self._call("left", old.position, 1, self._observer.gate(self._code, ENDS))
            elif old.op == _OPS["YIELD_VALUE"] and self._code.co_flags & 0x220:
                self._call("yielded", old.position, 1, self._observer.gate(self._code, ENDS))
        new = Emitted(old.op, old.arg, old.position)
        if old.target >= 0:
            new.target = (old.target, index in reported.get(old.target, ()))
        self._new.append(new)
        if index == self._resume and self._wanted & CALLS:
            self._call("entered", old.position, 0, self._observer.gate(self._code, CALLS))

    def _jump_over(self, index: int) -> None:
        """Add a jump over the line's hook."""
        jump = Emitted(_OPS["JUMP_FORWARD"], 0, self._old[index - 1].position)
        jump.target = (index, False)
        self._new.append(jump)

    def _call(self, hook: str, position: Position, arguments: int = 0, gate: Optional[Gate] = None) -> None:
        """Add the call of a hook, with the value on top of the stack or no argument. The stack stays as it was."""
        const = self._const(hook, getattr(self._hooks, hook))
        parts = [("PUSH_NULL", 0), ("LOAD_CONST", const), *[("COPY", 3)] * arguments]
        parts += [("PRECALL", arguments), ("CALL", arguments), ("POP_TOP", 0)]
        if gate is not None:
            self._ask(gate, position, 3)
            self._new.append(Emitted(_OPS["JUMP_FORWARD"], 0, position, skips=len(parts)))
        self._new += [Emitted(_OPS[name], arg, position) for name, arg in parts]

    def _line(self, position: Position) -> None:
        """Add the call of a line's hook, or code that keeps what the observer wants to keep of the line."""
        line = position[0] or 0
        recording = self._observer.kept(self._code, line)
        if recording is None:
            self._call("line", position, 0, self._observer.gate(self._code, LINES, line))
            return
        keep, recorded = self._const("keep", recording.keep), self._const(f"line {line}", recording.what)
        parts = [("PUSH_NULL", 0), ("LOAD_CONST", keep), ("LOAD_CONST", recorded)]
        parts += [("PRECALL", 1), ("CALL", 1), ("POP_TOP", 0)]
        self._ask(recording.room, position, 2 + len(parts))
        self._new += [Emitted(_OPS[name], arg, position) for name, arg in parts]

    def _ask(self, gate: Gate, position: Position, skips: int) -> None:
        """Add code that goes on if the gate's iterator yields something, and else skips `skips` instructions.

        The two instructions that clear the stack are among those skipped.
        """
        cell, zero = self._const(f"gate {id(gate)}", gate.cell), self._const("zero", 0)
        self._new += [
            Emitted(_OPS["LOAD_CONST"], cell, position),
            Emitted(_OPS["LOAD_CONST"], zero, position),
            Emitted(_OPS["BINARY_SUBSCR"], 0, position),
            Emitted(_OPS["FOR_ITER"], 0, position, skips=skips),
            Emitted(_OPS["POP_TOP"], 0, position),
            Emitted(_OPS["POP_TOP"], 0, position),
        ]

    def _const(self, name: str, value: Any) -> int:
        """Return the index of a constant of our own, which is added on first use."""
        if name not in self._const_of:
            self._const_of[name] = len(self._consts)
            self._consts.append(value)
        return self._const_of[name]

    def _tell_exception(self, hook: str, depth: int) -> None:
        """Add the call of a hook with the exception on top of a stack of `depth`.

        If the program has reached its recursion limit, calling the hook fails too. That RecursionError must not
        replace what the program raised, such as GeneratorExit.
        """
        start = len(self._new)
        self._call(hook, NOWHERE, 1)
        self._new.append(Emitted(_OPS["JUMP_FORWARD"], 0, NOWHERE, skips=5))
        self._guards.append(_Guard(start, len(self._new), depth))
        self._new += [
            Emitted(_OPS["LOAD_CONST"], self._const("", RecursionError), NOWHERE),
            Emitted(_OPS["CHECK_EXC_MATCH"], 0, NOWHERE),
            Emitted(_OPS["POP_JUMP_FORWARD_IF_TRUE"], 0, NOWHERE, skips=1),
            Emitted(_OPS["RERAISE"], 0, NOWHERE),
            Emitted(_OPS["POP_TOP"], 0, NOWHERE),
        ]

    def _split(self) -> List[_Region]:
        """Split the regions so that going to the target is a new line for all of a part or for none of it."""
        regions: List[_Region] = []
        for region in self._regions:
            at = region.start
            while at < region.end:
                end = at
                is_reported = self._comes_anew(at, region.target)
                while end < region.end and self._comes_anew(end, region.target) == is_reported:
                    end += 1
                regions.append(region._replace(start=at, end=end, told=is_reported))
                at = end
        return regions

    def _comes_anew(self, raising: int, handler: int) -> bool:
        line = self._old[handler].line
        return line is not None and self._old[raising].line != line

    def _everywhere(self, regions: List[_Region]) -> List[_Region]:
        """Add regions for the gaps between these; exceptions there go to the hook at the end of the code."""
        new_regions: List[_Region] = []
        at = self._resume + 1
        for region in sorted(regions):
            if region.start > at:
                new_regions.append(_Region(at, region.start, -1, 0, True))
            new_regions.append(region)
            at = max(at, region.end)
        if at < len(self._old):
            new_regions.append(_Region(at, len(self._old), -1, 0, True))
        return new_regions

    def _layout(self) -> List[int]:
        """Set the arguments of jumps. Returns the offsets of the new instructions and the end, in units of 2 bytes."""
        while True:
            offsets = [0]
            for instruction in self._new:
                offsets.append(offsets[-1] + instruction.size)
            grown = False
            for index, instruction in enumerate(self._new):
                if instruction.target is not None:
                    old, hooked = instruction.target
                    place = (self._hooked if hooked else self._plain)[old]
                    instruction.arg = abs(offsets[place] - offsets[index + 1])
                elif instruction.skips:
                    instruction.arg = offsets[index + 1 + instruction.skips] - offsets[index + 1]
                size = 1 + CACHES[instruction.op] + extended(instruction.arg)
                grown = grown or size > instruction.size
                instruction.size = max(size, instruction.size)
            if not grown:
                return offsets

    def _bytes(self, offsets: List[int]) -> bytes:
        content = bytearray()
        for instruction in self._new:
            extended = instruction.size - 1 - CACHES[instruction.op]
            for shift in range(extended, 0, -1):
                content += bytes((dis.EXTENDED_ARG, instruction.arg >> 8 * shift & 0xFF))
            content += bytes((instruction.op, instruction.arg & 0xFF))
            content += bytes(2 * CACHES[instruction.op])
        return bytes(content)
