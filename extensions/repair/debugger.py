"""The agent's questions to the debugger: where the program is stopped, what it executes, what a change would do."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field

from stackrank.env.actions import Action, Observation
from stackrank.env.mutation.mutation import Mutation
from stackrank.env.sandbox.base import BadReply
from stackrank.env.sandbox.replies.decoder import Line, Many, Name, Number, decode

MARK = "repair>"
MOST = 60_000
"""The most characters that an answer may have."""
_HOLDER = '__import__("sys").modules["repair_probe"]'


@functools.cache
def _probe() -> str:
    return (Path(__file__).parent / "probe.py").read_text(encoding="utf-8")


def _load() -> str:
    """Return the command that loads the probe into the stopped program."""
    new = '__import__("types").ModuleType("repair_probe")'
    return f'!exec({_probe()!r}, vars(__import__("sys").modules.setdefault("repair_probe", {new})))'


def _call(expression: str) -> str:
    return f'!print({MARK!r}, __import__("json").dumps({_HOLDER}.{expression}))'


def look() -> Action:
    """Continue to where the test fails, and show the stack."""
    return Action("pdb", {"command": "c\nw"})


def ask_spectrum(paths: Sequence[str], failing: Sequence[str]) -> Action:
    """Ask which lines the failing and the passing tests execute."""
    command = f"{_load()}\n{_call(f'spectrum({list(paths)!r}, {list(failing)!r})')}"
    return Action("pdb", {"command": command, "limit": MOST})


def ask_trials(mutations: Sequence[Mutation], failing: Sequence[str], measured: Spectrum, restart: bool) -> Action:
    """Ask whether the failing tests pass when functions of the stopped program are changed like this.

    `measured`: how much work the tests are. `restart`: whether the program has to be run to the failing test first.
    """
    rows = [
        (mutation.path, [(edit.start, edit.end, edit.text) for edit in mutation.edits], list(mutation.imports))
        for mutation in mutations
    ]
    kept = [list(part) for part in measured.kept]
    command = _call(f"trials({rows!r}, {list(failing)!r}, {measured.effort}, {measured.steps}, {kept!r})")
    return Action("pdb", {"command": f"c\n{_load()}\n{command}" if restart else command, "limit": MOST})


def can_try_stopped(mutation: Mutation) -> bool:
    """Whether a mutation can be tried in the stopped program. pdb takes `;;` anywhere for the end of a command."""
    return mutation.is_hot_swappable and not any(";;" in edit.text for edit in mutation.edits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spectrum:
    """The probe's answer to `ask_spectrum`; see `probe.spectrum`."""

    lines: dict[Name, Many[tuple[Line, Number, Number]]]
    effort: Annotated[int, Field(ge=1, le=4)]
    steps: Number
    kept: Many[tuple[Number, Number]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """The probe's answer to `ask_trials`; see `probe.trials`."""

    results: Many[tuple[Number, Number | None] | Number | None]
    messages: Many[Name]


Answer = TypeVar("Answer", Spectrum, Trials)


def trial_results(observation: Observation) -> list[tuple[int, int | None] | str | None] | None:
    """Return for each candidate (fixed, broken), or the message of its failure, or None if its tests did not end.

    `broken` is None if the tests passed one after another, and did not end.
    """
    reply = answer(Trials, observation)
    if reply is None or any(isinstance(result, int) and result >= len(reply.messages) for result in reply.results):
        return None
    return [reply.messages[result] if isinstance(result, int) else result for result in reply.results]


def answer(shape: type[Answer], observation: Observation) -> Answer | None:
    """Return the probe's answer; None if there is none, or the program wrote something else in its place."""
    for line in observation.text.splitlines():
        if line.startswith(MARK):
            try:
                return decode(shape, line[len(MARK) :].encode("utf-8", "replace"))
            except BadReply:
                return None
    return None


def stands_in_test(observation: Observation) -> bool:
    """Whether the program is stopped inside a test, where the probe can work."""
    state = observation.state
    if not observation.ok or state["kind"] != "debugger" or not state.get("alive"):
        return False
    return state.get("event") in ("post_mortem", "line", "interrupted")


def local_values(observation: Observation) -> dict[str, str]:
    """Return the local variables where the program is stopped."""
    state = observation.state
    return dict(state.get("locals", {})) if state["kind"] == "debugger" else {}
