"""`random`: an agent that acts at random, as a lower bound for the others."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from stackrank.agents.episode.protocol import Agent, Briefing, Decision
from stackrank.env.actions import Action, Observation
from stackrank.env.task import Task

WEIGHTS = {
    "view": 5, "rewrite": 4, "pdb": 3, "inspect": 3, "trace": 3, "calls": 3, "snapshot": 3, "eval": 2, "grep": 2,
    "listdir": 1, "bash": 1, "terminal": 1, "submit": 0.2,
}  # fmt: skip
"""The relative frequency with which each tool is picked."""
COMMANDS = ("ls", "ls -R", "cat *.py", "python -m pytest -x")
"""The commands that it runs in a shell."""
SWAPS = (
    ("<=", "<"), (">=", ">"), ("==", "!="), ("<", "<="), (">", ">="), (" + ", " - "), (" - ", " + "), ("//", "/"),
    (" and ", " or "), (" or ", " and "), (" not ", " "), ("True", "False"), ("False", "True"), ("0", "1"), ("1", "0"),
    ("min", "max"), ("max", "min"),
)  # fmt: skip
"""The replacements that a random edit makes: (old, new)."""
_FILE = re.compile(r"[\w-][\w./-]*\.py\b")
_NUMBERED = re.compile(r"^ *(\d{1,9})  (.*)$", re.MULTILINE)
_WORD = re.compile(r"\b[A-Za-z_]\w{2,}\b")


class RandomAgent(Agent):
    """Picks tools at random, with arguments from what it has seen; the same seed and task give the same choices."""

    version = "1"
    reference = True
    uses_servers = False

    def __init__(self, *, model: str = "", config: Mapping[str, Any] | None = None, task: Task | None = None) -> None:
        """Raises SetupError if anything is configured."""
        super().__init__(config=config)
        # Dictionaries serve as sets that remember their order: choices must not depend on hashes.
        self._files: dict[str, None] = {}
        self._readonly: set[str] = set()
        self._lines: dict[tuple[str, int], str] = {}
        self._words: dict[str, None] = {}
        self._rewrites = 0
        self._arguments: dict[str, Callable[[], dict[str, Any] | None]] = {
            "view": self._view,
            "rewrite": self._rewrite,
            "pdb": self._pdb,
            "inspect": lambda: {"place": "{}:{}".format(*self._pick(self._lines))} if self._lines else {},
            "trace": lambda: {"place": "{}:{}".format(*self._pick(self._lines))} if self._lines else None,
            "calls": lambda: {"place": self._pick(self._words)} if self._words else None,
            "snapshot": lambda: {"show": self._random.choice(("frames", "steps", "tree", "difference"))},
            "eval": dict,
            "grep": lambda: {"pattern": self._pick(self._words)} if self._words else None,
            "listdir": lambda: {"depth": 4},
            "bash": lambda: {"command": self._random.choice(COMMANDS)},
            "terminal": lambda: {"text": self._random.choice(COMMANDS)},
            "submit": dict,
        }

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Start from the names in the failing tests' output."""
        self._briefing = briefing
        self._random = random.Random(f"{briefing.attempt_seed} {briefing.task_id}")
        self._learn(observation)

    def act(self, observation: Observation) -> Decision:
        """Pick any tool that can be used now, except those of plug-ins, whose arguments cannot be guessed."""
        self._learn(observation)
        weights = {
            name: weight
            for name, weight in WEIGHTS.items()
            if name in self._briefing.tools.tools and not self._briefing.tools.locked(name, self._rewrites)
        }
        while True:
            (name,) = self._random.choices(list(weights), list(weights.values()))
            arguments = self._arguments[name]()
            if arguments is not None:
                return Decision(Action(name, arguments))
            del weights[name]

    def _learn(self, observation: Observation) -> None:
        for path in _FILE.findall(observation.text):
            self._files.setdefault(path.removeprefix("workspace/"))
        for line in observation.text.splitlines():
            if line.endswith("  (read-only)"):
                self._readonly.add(line.removesuffix("  (read-only)"))
        state = observation.state
        path = state["edited"] if state["kind"] == "edit" else state["path"] if state["kind"] == "shown" else ""
        if state["kind"] == "edit" and observation.ok:
            self._rewrites += 1
        if path and observation.ok and "lines" in state:
            for number, line in _NUMBERED.findall(observation.text):
                self._lines[path, int(number)] = line
                self._words.update(dict.fromkeys(_WORD.findall(line)))
        if ", read-only:" in observation.text.partition("\n")[0] and path:
            self._readonly.add(path)

    def _pick(self, choices: dict[Any, Any]) -> Any:
        return self._random.choice(list(choices))

    def _view(self) -> dict[str, Any] | None:
        return {"path": self._pick(self._files)} if self._files else None

    def _rewrite(self) -> dict[str, Any] | None:
        """Make one replacement in one line that was seen and may be edited."""
        edits = [
            (path, number, line.replace(old, new, 1))
            for (path, number), line in self._lines.items()
            if path not in self._readonly
            for old, new in SWAPS
            if old in line
        ]
        if not edits:
            return None
        path, number, line = self._random.choice(edits)
        return {"path": path, "start": number, "new_code": line}

    def _pdb(self) -> dict[str, Any]:
        commands = ["c", "n", "s", "r", "u", "d", "w", "l", "a"]
        if self._words:
            commands.append(f"p {self._pick(self._words)}")
        if self._lines:
            commands += ["b {}:{}".format(*self._pick(self._lines))] * 3
        return {"command": self._random.choice(commands)}
