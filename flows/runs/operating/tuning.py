"""The fields of a run's specification that may change while it is played, and why the others may not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stackrank.db.writes.conditions import FIELDS as CONDITIONS
from stackrank.db.writes.tunable import TUNABLE
from stackrank.flows.runs.specification.spec import RunSpec, SpecError, make_spec
from stackrank.wording import one_of
from stackrank.yaml_text import load_yaml

_CHOICE = ("tasks", "limit", "entrants", "matrix", "attempts", "benchmark", "include_invalid", "night", "mcp", "seed")


def read_assignments(assignments: Iterable[str], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new values of `FIELD=VALUE` texts, in the form in which specifications are stored.

    `stored`: the run's specification. Raises SpecError for a field that may not change, or a wrong value.
    """
    changes: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        name = name.strip()
        if not equals or not name:
            raise SpecError(f"{assignment!r} is not FIELD=VALUE: write for instance workers=2")
        if name not in TUNABLE:
            raise SpecError(_why_not(name))
        changes[name] = load_yaml(text)
    tuned = make_spec({**stored, **changes}, "")
    if tuned.stop is not None and "stop" in changes:
        raise SpecError(
            "a stop rule cannot begin or change in the middle of a run, because its error rate holds only for a random "
            "order of tasks from the start: use stop=null to play everything, or start a new run"
        )
    return {name: tuned.model_dump(mode="json")[name] for name in changes}


def retune(spec: RunSpec, stored: Mapping[str, Any]) -> RunSpec:
    """Return a run's specification with the stored values of its tunable fields; the same object if none differs."""
    values = spec.model_dump(mode="json", include=set(TUNABLE))
    if all(stored.get(name, values[name]) == values[name] for name in TUNABLE):
        return spec
    changed = {name: stored[name] for name in TUNABLE if name in stored}
    read = RunSpec.model_validate({"stop": None, **changed})
    return spec.model_copy(update={name: getattr(read, name) for name in changed})


def _why_not(name: str) -> str:
    if name in CONDITIONS:
        return (
            f"{name} is a condition of the comparison: episodes played with another value would not be comparable with "
            "those that are played. Start a run of its own with it"
        )
    if name in _CHOICE:
        return f"{name} decides what a run plays: start a run of its own"
    known = "cannot change while a run is played" if name in RunSpec.model_fields else "is not a field of a run"
    return f"{name} {known}: set {one_of(TUNABLE)}"
