"""Checks what the process under debugging reports."""

from __future__ import annotations

import itertools
import json
from typing import Any, Dict, Optional, Tuple

_ROW = {
    "number": int, "file": str, "line": int, "temporary": bool, "enabled": bool, "ignore": int, "hits": int,
    "commands": list, "silent": bool, "entered": str,
}  # fmt: skip
_STOP = {
    "stops": int, "event": str, "file": str, "line": int, "function": str, "depth": int, "locals": dict,
    "source": list, "stack": list,
}  # fmt: skip
_MOST_TESTS = 20_000
_LONGEST = 60_000


def sound_report(raw: bytes) -> Optional[Dict[str, Any]]:
    """Parse a report; None if its shape is wrong, because the program can write into the debugger's channel."""
    try:
        report = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not (isinstance(report, dict) and isinstance(report.get("text"), str) and isinstance(report.get("notes"), list)):
        return None
    stop, tests = report.get("stop", {}), report.get("tests", {})
    if not (isinstance(stop, dict) and isinstance(tests, dict) and isinstance(report.get("exit", 0), int)):
        return None
    if "stop" in report:
        report["stop"] = stop = _capped(stop)
    table = stop.get("breakpoints", report.get("breakpoints", []))
    if not isinstance(table, list):
        return None
    # Before the first line of the program runs, there is no place; afterwards it is whole.
    shapes = [(stop, {key: kind for key, kind in _STOP.items() if key in stop or "file" in stop})]
    shapes += [(row if isinstance(row, dict) else {}, _ROW) for row in table]
    for row, fields in shapes:
        if not all(isinstance(row.get(key), kind) for key, kind in fields.items()):
            return None
    texts = [*report["notes"], *stop.get("source", []), *(line for row in table for line in row["commands"])]
    return report if all(isinstance(text, str) for text in [*texts, *tests.values()]) else None


def _capped(value: Any) -> Any:
    """Return a value with no text, such as the name of a file that a program made up, longer than the host accepts."""
    if isinstance(value, dict):
        return {_capped(key): _capped(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_capped(inner) for inner in value]
    return value[:_LONGEST] if isinstance(value, str) else value


def standing_of(report: Dict[str, Any]) -> Tuple[Dict[str, Any], int]:
    """Return where the program stands after a report, for the host, and how often it has stopped."""
    if "died" in report:
        return {"event": "died", "reason": report["died"]}, 0
    if "ended" in report:
        outcomes = dict(itertools.islice(report.get("tests", {}).items(), _MOST_TESTS))
        return {"event": report["ended"], "exit": report.get("exit", 0) & 0xFF, "outcomes": outcomes}, 0
    stop = report.get("stop", {})
    standing = {key: value for key, value in stop.items() if key not in ("breakpoints", "defining", "stops")}
    return standing, stop.get("stops", 0)
