"""The conditions of a run: what has to be equal before its episodes are pooled with those of another run.

They are a mapping with readable fields, and its digest. What is not known of a run, as of those of older versions, is
`unknown`, which equals nothing but itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from stackrank.terms import UNKNOWN

FIELDS = {
    "steps": "steps",
    "tokens": "tokens",
    "cost_usd": "dollars",
    "wall_s": "seconds",
    "malformed": "malformed actions in a row",
    "repeats": "repeated actions in a row",
    "sandbox": "sandbox",
    "scorer": "scorer",
    "ends_when_solved": "first green eval ends an episode:",
    "shows_failing_test": "failing test shown:",
}
"""The fields, and how people call them. None is no limit."""
_LATER = {"shows_failing_test": True}
"""Fields that came later, with what was always so before. That is left out, so that equal conditions stay equal."""
_SHOWN = ("steps", "tokens", "cost_usd", "wall_s", "sandbox", "scorer")
_BETWEEN = " + "


def complete(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The fields, in their order; `unknown` where nothing is given, and without later ones as they always were.

    Raises ValueError for a field that there is not.
    """
    known = dict(given or {})
    if strange := sorted(set(known) - set(FIELDS)):
        raise ValueError(f"unknown conditions {strange}: use {sorted(FIELDS)}")
    return _without_later({name: _plain(_of(known, name)) for name in FIELDS})


def _of(conditions: Mapping[str, Any], name: str) -> Any:
    return conditions.get(name, _LATER.get(name, UNKNOWN))


def _without_later(conditions: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in conditions.items() if name not in _LATER or value != _LATER[name]}


def digest(conditions: Mapping[str, Any]) -> str:
    """The digest of conditions: equal digests, equal conditions."""
    text = json.dumps({name: _plain(value) for name, value in conditions.items()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _plain(value: Any) -> Any:
    """1800.0 and 1800 are one limit."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def joined(stored: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, Any]:
    """The conditions of a run that goes on under other ones: where they differ, both are said, and equal neither."""

    def both(name: str) -> Any:
        before, now = _of(stored, name), _of(here, name)
        if UNKNOWN in (before, now):
            return UNKNOWN
        parts = str(before).split(_BETWEEN)
        return before if before == now or str(now) in parts else _BETWEEN.join(sorted({*parts, str(now)}))

    return _without_later({name: both(name) for name in FIELDS})


def differences(conditions: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Where these conditions are not the usual ones: {field: [the value, the usual value]}."""
    pairs = {name: [_of(conditions, name), _of(usual, name)] for name in FIELDS}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def say_differences(differing: Mapping[str, list[Any]]) -> str:
    """`differences` for people: `steps 3 instead of 50, sandbox local instead of docker`."""
    said = [f"{FIELDS[name]} {_word(value)} instead of {_word(usual)}" for name, (value, usual) in differing.items()]
    return ", ".join(said)


def say(conditions: Mapping[str, Any]) -> str:
    """Conditions for people: `steps 50, seconds 1800, sandbox docker, scorer 3f2a91c0`; what has no limit is left out.

    Conditions of which nothing is known are said in one word.
    """
    if all(value == UNKNOWN for value in conditions.values()):
        return UNKNOWN
    shown = {name: conditions.get(name, UNKNOWN) for name in _SHOWN}
    shown["scorer"] = str(shown["scorer"])[:8]
    if conditions.get("ends_when_solved") is not True:
        shown["ends_when_solved"] = conditions.get("ends_when_solved", UNKNOWN)
    shown |= {name: conditions[name] for name in _LATER if name in conditions}
    return ", ".join(f"{FIELDS[name]} {_word(value)}" for name, value in shown.items() if value is not None)


def _word(value: Any) -> str:
    if value is None:
        return "without limit"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
