"""The guest takes no report apart that the debugger cannot have sent, since programs can write into its channel."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stackrank.env.sandbox.guest.debugging.pdb.reports import sound_report

ROW: dict[str, Any] = {
    "number": 1, "file": "cart.py", "line": 3, "condition": None, "temporary": False, "enabled": True, "ignore": 0,
    "hits": 0, "commands": [], "silent": False, "entered": "",
}  # fmt: skip
START: dict[str, Any] = {"event": "start", "breakpoints": [ROW], "defining": False}
STOP: dict[str, Any] = {
    **START, "event": "line", "file": "cart.py", "line": 3, "function": "f", "depth": 1, "thread": None,
    "exception": None, "locals": {}, "source": ["   3 -> x"], "stack": [], "stops": 1,
}  # fmt: skip
END: dict[str, Any] = {"ended": "finished", "exit": 1, "breakpoints": [ROW], "tests": {"test_a": "failed"}}
SENT = {"a start": {"stop": START}, "a stop": {"stop": STOP}, "an end": END, "a restart": {"restart": True}}


def _parsed(**fields: Any) -> dict[str, Any] | None:
    return sound_report(json.dumps({"text": "", "notes": [], **fields}).encode())


@pytest.mark.parametrize("name", SENT)
def test_what_the_debugger_sends_is_sound(name: str) -> None:
    assert _parsed(**SENT[name]) == {"text": "", "notes": [], **SENT[name]}


@pytest.mark.parametrize("missing", ["line", "function", "depth", "stops", "event", "locals", "source", "stack"])
def test_a_place_is_whole(missing: str) -> None:
    assert _parsed(stop={name: value for name, value in STOP.items() if name != missing}) is None


@pytest.mark.parametrize(
    "forged",
    [
        {"stop": [STOP]},
        {"stop": {**STOP, "file": ["cart.py"]}},
        {"stop": {**STOP, "function": {}}},
        {"stop": {**STOP, "source": [3]}},
        {"stop": {**START, "breakpoints": [{**ROW, "line": "3"}]}},
        {**END, "breakpoints": [3]},
        {**END, "exit": "1"},
        {**END, "tests": {"test_a": ["failed"]}},
        {**END, "notes": [None]},
    ],
)
def test_values_of_another_type_are_no_report(forged: dict[str, Any]) -> None:
    assert _parsed(**forged) is None
