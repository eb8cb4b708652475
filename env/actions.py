"""What goes into the environment and what comes out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Action:
    """One tool call."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observation:
    """The answer to one action, as text for the reader and as state for the record."""

    text: str
    ok: bool = True
    """False when the tool could not do what was asked. A failing test run is not a failing tool."""
    state: dict[str, Any] = field(default_factory=dict)
    """Where things stand, as far as this action tells. Keys in use: `file`, `line`, `function`, `depth`, `exception`
    (where the debugger is paused), `tests` ({"passed", "failed", "ids"}), `edited` (path), `lines` ([first, last]
    of the edit, or of what was shown), `path` (what was shown), `breakpoints` ([{"file", "line", ...}]), `exit`,
    `timed_out`, `restarted`."""
    env_ms: float = 0.0

    def as_json(self) -> str:
        """The observation as one JSON document: the structured text that text-only models read."""
        return json.dumps({"ok": self.ok, "state": self.state, "observation": self.text}, ensure_ascii=False)
