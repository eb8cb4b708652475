"""The observer of `trace`: values each time a place is reached, and where an exception is first raised."""

from __future__ import annotations

import dis
import types
from typing import Any, Callable, Dict, List, Optional, Tuple

from ...core.disk import real_file
from ..evaluation import compiled, evaluate
from ..places import Place, find_places, separate_condition
from ..values import safe_locals
from .gates import NEVER, Gate
from .report_stream import Storyteller, describe
from .statements import result_of, statements
from .tracing import CALLS, LINES, RAISES, Observer, Traceback, Tracer

VALUE = 400
"""How many characters of a requested value are shown."""
_MOST_RAISED = 20
_MOST_PROBLEMS = 100


class HitsObserver(Observer):
    """Reports each hit as it happens.

    Expects `place` (one or several), `code` (lines of Python), `condition`, `skip`, `count` (how many to report),
    `exception` (the name of a class, with or without its module; the run ends where such an exception is first raised).
    """

    from_import = True
    tracer: Tracer
    stop_now: Callable[[str], None]

    def __init__(self, spec: Dict[str, Any], teller: Storyteller) -> None:
        """Raises Refused for a place that does not exist and for invalid code."""
        self._teller = teller
        self._skip: int = spec["skip"]
        self._most: int = spec["count"]
        self._exception: str = spec["exception"]
        names, condition = separate_condition(spec["place"], spec["condition"])
        self._places: List[Place] = find_places(spec["root"], names) if names else []
        self.code = statements(spec["code"])
        self._condition = compiled(condition) if condition else None
        self._named: Dict[str, List[int]] = {}
        self._lines: Dict[str, Dict[int, List[int]]] = {}
        for number, place in enumerate(self._places):
            if place.function:
                self._named.setdefault(place.file, []).append(number)
            else:
                self._lines.setdefault(place.file, {}).setdefault(place.line, []).append(number)
        self._functions: Dict[int, List[int]] = {}
        self._gates = [Gate() for _ in self._places]
        """The gate of each place, which counts how often it was reached."""
        self._entries = Gate()
        """The gate of functions that contain a place but are none themselves."""
        self._hits = [0] * len(self._places)
        self._shown_at = [0] * len(self._places)
        self._told = 0
        self._met = 0
        self._only_counts = self._condition is None and len(self._places) == 1
        """Whether every time that the place is reached is a hit, so that both have the same number."""
        self._problems: Dict[str, int] = {}
        self._before: Dict[int, Dict[str, str]] = {}
        self._raised: Dict[Tuple[type, str, int], int] = {}
        self._others: Dict[type, str] = {}
        """Classes of exceptions that are not looked for -> their names."""

    def begin_test(self) -> None:
        """Do nothing: hits are counted over all tests."""

    def where_raised(self, error: BaseException) -> Optional[Dict[str, Any]]:
        """Return None: hits are reported where they happen."""
        return None

    def interest(self, code: types.CodeType) -> int:
        """Ask for calls of a place, for lines of code that contains a place, and for exceptions if one is wanted."""
        events = RAISES if self._exception else 0
        names = self._named.get(real_file(code.co_filename), ())
        numbers = [number for number in names if self._places[number].is_function(code)]
        if numbers:
            events |= CALLS
            self._functions[id(code)] = numbers
        lines = self._lines.get(real_file(code.co_filename))
        if lines and any(line in lines for _, line in dis.findlinestarts(code)):
            events |= LINES | CALLS
        return events

    def at_line(self, code: types.CodeType, line: int) -> bool:
        """Whether a line is a place."""
        return line in self._lines.get(real_file(code.co_filename), ())

    def gate(self, code: types.CodeType, kind: int, line: int = 0) -> Optional[Gate]:
        """Return the gate of the place, or None if several places coincide."""
        if kind == LINES:
            numbers = self._lines[real_file(code.co_filename)][line]
        else:
            numbers = [
                number
                for number in self._named.get(real_file(code.co_filename), ())
                if self._places[number].is_function(code)
            ]
        if not numbers:
            return self._entries
        return self._gates[numbers[0]] if len(numbers) == 1 else None

    def entered(self, frame: types.FrameType) -> None:
        """Count a hit if the function that is called is a place."""
        self._before.pop(id(frame), None)
        for number in self._functions.get(id(frame.f_code), ()):
            self._hit(number, frame)

    def line(self, frame: types.FrameType) -> None:
        """Count a hit if the line that is reached is a place."""
        for number in self._lines[real_file(frame.f_code.co_filename)].get(frame.f_lineno, ()):
            self._hit(number, frame)

    def _hit(self, number: int, frame: types.FrameType) -> None:
        count = self._gates[number].told()
        if self._condition is not None:
            try:
                if not evaluate(self._condition, frame.f_globals, frame.f_locals):
                    return
            except BaseException as error:  # SystemExit too, so that the program goes on
                self._problem("the condition raised %s" % describe(error).split("\n")[0])
                return
        self._hits[number] += 1
        self._met = count if self._only_counts else self._met + 1
        if self._met <= self._skip or self._told >= self._most:
            self._count_only()
            return
        self._told += 1
        self._shown_at[number] += 1
        self.tell(number, frame)

    def tell(self, number: int, frame: types.FrameType) -> None:
        """Report one hit of the place with that number."""
        values = self._values(frame) if self.code else self._changed(frame)
        record = self._teller.place(frame)
        if self._places[number].function:
            record["line"] = frame.f_code.co_firstlineno
        self._teller.report.write(
            "hit", number=self._met, place=number, test=self._teller.test, values=values, **record
        )

    def _count_only(self) -> None:
        """Let gates count the hits that are not reported, so that the program need not be interrupted for them."""
        if self._condition is None and self._told >= self._most:
            for gate in (self._entries, *self._gates):
                gate.next(NEVER)
        elif self._only_counts:
            self._gates[0].next(self._skip + 1)

    def _problem(self, text: str) -> None:
        if text in self._problems or len(self._problems) < _MOST_PROBLEMS:
            self._problems[text] = self._problems.get(text, 0) + 1

    def _values(self, frame: types.FrameType) -> Dict[str, str]:
        names = dict(frame.f_locals)
        values = {" ".join(part.text.split()): result_of(part, frame.f_globals, names, VALUE) for part in self.code}
        return {text: " ".join(value.split("\n")) for text, value in values.items() if value}

    def _changed(self, frame: types.FrameType) -> Dict[str, str]:
        """Return the local variables that changed since this call's last hit; used if no values were asked for."""
        new_values = safe_locals(frame.f_locals)
        old_values = self._before.get(id(frame), {})
        self._before = {id(frame): new_values}
        return {name: value for name, value in new_values.items() if old_values.get(name) != value}

    def raised(self, frame: types.FrameType, error: BaseException, line: int, traceback: Traceback) -> None:
        """End the run here if the exception is the one that is looked for, otherwise count it."""
        kind = type(error)
        if kind not in self._others and not self._is_wanted(kind):
            self._others[kind] = kind.__name__
        if kind in self._others:
            if self._passes_through(frame, traceback):
                return
            place = (kind, frame.f_code.co_filename, line)
            if place in self._raised or len(self._raised) < _MOST_RAISED:
                self._raised[place] = self._raised.get(place, 0) + 1
            return
        self._teller.report.write(
            "raised", error=describe(error), frames=self._teller.stack(frame, line), test=self._teller.test
        )
        self.stop_now("raised")

    def _passes_through(self, frame: types.FrameType, traceback: Traceback) -> bool:
        """Whether an exception was raised in a call of the workspace below this frame."""
        while traceback is not None and (
            traceback.tb_frame is frame or not self._teller.own(traceback.tb_frame.f_code.co_filename)
        ):
            traceback = traceback.tb_next
        return traceback is not None

    def _is_wanted(self, error: type) -> bool:
        names = ((kind.__name__, "%s.%s" % (kind.__module__, kind.__qualname__)) for kind in error.__mro__[:-1])
        return any(self._exception in name for name in names)

    def finish(self) -> None:
        """Report the totals."""
        shorten = self._teller.own.shorten
        raised = {
            "%s at %s:%d" % (self._others[kind], shorten(file), line): times
            for (kind, file, line), times in self._raised.items()
        }
        places = []
        for number, place in enumerate(self._places):
            file = self._teller.own.shorten(place.file)
            place_row = {"name": place.name, "file": file, "line": place.line, "function": place.function}
            count = self._gates[number].count
            hits = count if self._condition is None else self._hits[number]
            counts = {"reached": count, "hits": hits, "shown": self._shown_at[number]}
            places.append({**place_row, **counts})
        met = self._met if self._condition is not None else sum(gate.count for gate in self._gates)
        self._teller.report.write(
            "hits", places=places, problems=self._problems, met=met, told=self._told, raised=raised
        )
