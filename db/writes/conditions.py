"""The conditions of a run. Episodes of two runs are pooled only if the conditions of both are equal.

Conditions are a mapping with readable fields, and its digest. A field that is not known is `unknown`,
which equals nothing but itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from stackrank.terms import UNKNOWN
from stackrank.wording import usd

FIELDS = {
    "steps": "steps",
    "tokens": "tokens",
    "cost_usd": "cost",
    "wall_s": "seconds",
    "malformed": "malformed actions in a row",
    "repeats": "repeated actions in a row",
    "sandbox": "sandbox",
    "scorer": "scorer",
    "ends_when_solved": "first green eval ends an episode:",
    "shows_failing_test": "failing test shown:",
    "shows_failure_state": "state at failures shown:",
}
"""The fields, and what people call them. As a value, None means no limit."""
_SHOWN = ("steps", "tokens", "cost_usd", "wall_s", "sandbox", "scorer")
_USUAL = {"ends_when_solved": True, "shows_failing_test": True, "shows_failure_state": False}
"""Fields that are only mentioned if they have another value."""
_BETWEEN = " + "
OWN_LIMIT = "of each task"
"""The value of a limit that is another one for each task. A benchmark's digest covers it."""


def complete(conditions: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return all fields in order, `unknown` if not given.

    Raises ValueError for a field that does not exist.
    """
    fields = dict(conditions or {})
    if strange := sorted(set(fields) - set(FIELDS)):
        raise ValueError(f"unknown conditions {strange}: use {sorted(FIELDS)}")
    return {name: _plain(fields.get(name, UNKNOWN)) for name in FIELDS}


def digest(conditions: Mapping[str, Any]) -> str:
    """Return the digest of conditions; conditions with equal digests are equal."""
    text = json.dumps({name: _plain(value) for name, value in conditions.items()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _plain(value: Any) -> Any:
    """Make whole numbers integers, so that 1800.0 and 1800 are the same limit."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def merge(stored: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the conditions of a run with its later ones. A field in which they differ names both and equals neither."""

    def both(name: str) -> Any:
        old, new = stored.get(name, UNKNOWN), later.get(name, UNKNOWN)
        if UNKNOWN in (old, new):
            return UNKNOWN
        parts = str(old).split(_BETWEEN)
        return old if old == new or str(new) in parts else _BETWEEN.join(sorted({*parts, str(new)}))

    return {name: both(name) for name in FIELDS}


def apart_from(conditions: Mapping[str, Any], field: str) -> str:
    """Return a digest of all conditions but one. Runs with equal digests can be compared across that field."""
    return digest({name: conditions.get(name, UNKNOWN) for name in FIELDS if name != field})


def label(field: str, value: Any) -> str:
    """Describe one condition: `steps 50`, `state at failures shown: yes`."""
    return f"{FIELDS[field]} {in_sentence(field, value)}"


def is_mixed(value: Any) -> bool:
    """Whether the value of a condition is not known, or changed during a run (see `merge`)."""
    return value == UNKNOWN or (isinstance(value, str) and _BETWEEN in value)


def differences(conditions: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the fields that differ from the usual conditions: {field: [the value, the usual value]}."""
    pairs = {name: [conditions.get(name, UNKNOWN), usual.get(name, UNKNOWN)] for name in FIELDS}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def describe_differences(differing: Mapping[str, list[Any]]) -> str:
    """Describe `differences` for people: `steps 3 instead of 50, sandbox local instead of docker`."""
    phrases = [
        f"{label(name, value)} instead of {in_sentence(name, usual)}" for name, (value, usual) in differing.items()
    ]
    return ", ".join(phrases)


def describe(conditions: Mapping[str, Any]) -> str:
    """Describe conditions for people: `steps 50, seconds 1,800, sandbox docker, scorer 3f2a91c0`.

    Fields without a limit are left out. Conditions of which nothing is known become the one word `unknown`.
    """
    if all(value == UNKNOWN for value in conditions.values()):
        return UNKNOWN
    fields = {name: conditions.get(name, UNKNOWN) for name in _SHOWN}
    fields["scorer"] = str(fields["scorer"])[:8]
    flags = {name: conditions.get(name, UNKNOWN) for name in _USUAL}
    fields |= {name: flag for name, flag in flags.items() if flag is not _USUAL[name]}
    return ", ".join(label(name, value) for name, value in fields.items() if value is not None)


def lines(conditions: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what every field is called, and its value for people."""
    return [(name.rstrip(":"), in_sentence(field, conditions.get(field, UNKNOWN))) for field, name in FIELDS.items()]


def in_sentence(field: str, value: Any) -> str:
    """Return the value of a condition as a sentence has it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value_text(value)
    return usd(value) if field == "cost_usd" else f"{value:,}"


def value_text(value: Any) -> str:
    """Return the value of a condition as people choose it."""
    if value is None:
        return "without limit"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
