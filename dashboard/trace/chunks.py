"""Steps in full, a chunk at a time: the browser keeps the steps around the selected one ready."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stackrank import wording
from stackrank.dashboard import data
from stackrank.dashboard.data import ask
from stackrank.dashboard.trace import places, travel
from stackrank.dashboard.trace.files import Files
from stackrank.dashboard.trace.places import Excerpt
from stackrank.dashboard.trace.steps import brief, distance, tool_of
from stackrank.dashboard.trace.texts import CUT, said, tree
from stackrank.dashboard.trace.work import diff_of_step, edit_of, files_at
from stackrank.db import queries
from stackrank.db.connection.engine import default_url
from stackrank.db.queries.episodes.pauses import Pause
from stackrank.debug_events import KEY, with_stop
from stackrank.lines import line_to
from stackrank.wording import count_of

CHUNK = 30
"""The number of steps that are sent at once."""
_MOST_INSIDE = 200
"""The number of steps after a question that are searched for its investigation."""
_DEBUGGED = ("breakpoints", KEY)
"""The parts of a state that say where a debugger has the program."""
_HUES = {"line": "red", "function": "orange", "file": "blue", "elsewhere": "gray"}
Chunk = tuple[list[dict[str, Any]], list[Excerpt | None]]
"""The steps for the browser, and the part of a file that each of them shows."""


def chunk(episode: Mapping[str, Any], first: int, last: int) -> Chunk:
    """Return a chunk of steps from `first` on, of an episode whose newest step is `last`."""
    rows = queries.display_steps(data.engine(), episode["id"], first=first, limit=CHUNK, chars=CUT)
    pauses = travel.pauses(default_url(), episode["id"], last)
    walk = _Walk(episode, first, pauses)
    steps_with_excerpts = [walk.step(row) for row in rows]
    return [step for step, _ in steps_with_excerpts], [excerpt for _, excerpt in steps_with_excerpts]


class _Walk:
    """Goes from step to step and tracks what is known of the files and of the program."""

    def __init__(self, episode: Mapping[str, Any], first: int, pauses: list[Pause]) -> None:
        self.episode = episode
        self.files = files_at(episode["id"], first - 1)
        self.edits = {row["index"]: row for row in ask(queries.edits, episode["id"], first + CHUNK - 1)}
        self.branches = ask(queries.branches, episode["id"])
        self.pauses = pauses
        self._go_to(first - 1)
        self.path = ""

    def _go_to(self, index: int) -> None:
        """Take up the program where it stood after a step."""
        debugged = ask(queries.last_step_with, self.episode["id"], index, *_DEBUGGED)
        self.stood: dict[str, Any] = with_stop(debugged["state"]) if debugged else {}
        self.at: int | None = debugged["index"] if debugged else None
        line = list(line_to(self.branches, index))
        self.changes = travel.Changes(row for row in self.pauses if any(row["index"] in span for span in line))
        self.stack = places.stack(self.stood, self.at, self.changes)

    def step(self, row: Mapping[str, Any]) -> tuple[dict[str, Any], Excerpt | None]:
        state = with_stop(row["state"] or {})
        if row["index"] in self.branches:
            self._go_to(row["index"])
        if row["index"] in self.edits:
            self.files.follow([self.edits[row["index"]]])
        if any(state.get(part) is not None for part in _DEBUGGED):
            self.stood, self.at = state, row["index"]
            self.stack = places.stack(state, self.at, self.changes)
        self.path = places.path_of(state, self.stood, self.files, self.path)
        source, excerpt = places.source(state, self.stood, self.files, self.path)
        return {**about(self.episode, row), "source": source, "stack": self.stack}, excerpt


def source_at(episode: Mapping[str, Any], index: int, path: str) -> tuple[dict[str, Any], Excerpt | None]:
    """Return the file `path` as it was after step `index`."""
    step = queries.step(data.engine(), episode["id"], index)
    debugged = ask(queries.last_step_with, episode["id"], index, *_DEBUGGED)
    state, files = with_stop((step or {}).get("state") or {}), files_at(episode["id"], index)
    # The browser names files as it shows them.
    file = next((name for name in files.texts if wording.visible(name) == path), path)
    return places.source(state, with_stop(debugged["state"]) if debugged else {}, files, file)


def names(files: Files) -> list[str]:
    """Return the files whose text is known, under the names that are shown."""
    return sorted(map(wording.visible, files.texts))


def about(episode: Mapping[str, Any], step: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a step did and saw, for the browser."""
    diff = diff_of_step(step)
    return {
        "step": step["index"],
        "tool": tool_of(step),
        "ok": bool(step["ok"]),
        "badges": badges(episode, step),
        "spent": spent(step),
        "thought": tree(step["thought"]) if step["thought_chars"] <= CUT else None,
        "thought_text": said(step["thought"], step["thought_chars"], "thought"),
        "action": _action(step, diff),
        "observation": said(step["observation"], step["observation_chars"], "observation"),
        "investigation": _investigation(episode, step) if step["tool"] == "investigate" and step["ok"] else None,
        "changed": said(diff) if diff and step["tool"] != "rewrite" else None,
        "asked": step["asked"],
    }


def badges(episode: Mapping[str, Any], step: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what is remarkable about a step: text and colour of each badge."""
    marks = [] if step["ok"] else [("tool error", "orange")]
    marks += [(f"from step {step['parent']}", "gray")] * (step["parent"] not in (None, step["index"] - 1))
    marks += [("failure point", "red")] * (step["index"] == episode["failure_step"])
    marks += [(wording.words(name), "green") for name, at in episode["milestones"].items() if at == step["index"]]
    marks += [(distance(step), _HUES[step["distance"]])] if step["distance"] in _HUES else []
    return marks


def spent(step: Mapping[str, Any]) -> str:
    """Return tokens, cost and time of a step in one line, without what nothing was spent on."""
    cached = f" ({step['tokens_cached']:,} cached)" if step["tokens_cached"] else ""
    tokens = f"{step['tokens_in']:,} tokens in{cached}, {step['tokens_out']:,} out"
    parts = [tokens] if step["tokens_in"] or step["tokens_out"] else []
    parts += [] if step["cost_usd"] is None else [wording.usd(step["cost_usd"])]
    times = (("model", step["model_ms"]), ("tool", step["env_ms"]))
    return " · ".join([*parts, *(f"{name} {wording.duration(ms / 1000)}" for name, ms in times if ms)])


def _action(step: Mapping[str, Any], diff: str) -> list[dict[str, Any]]:
    """Return the parts of an action: name, text, and whether the text is a diff."""
    if step["arguments"] is None:
        arguments = said(step["arguments_text"], step["arguments_chars"], "arguments")
        return [{"name": "", "text": arguments, "diff": False}]
    if diff and step["tool"] == "rewrite":
        return [{"name": wording.visible(edit_of(step)), "text": said(diff), "diff": True}]
    parts = []
    for name, value in step["arguments"].items():
        if value is not None:
            text = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
            parts.append({"name": wording.visible(str(name)), "text": said(text), "diff": False})
    return parts


def _investigation(episode: Mapping[str, Any], step: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a question, or None if there is none, and every step that led to it."""
    later = queries.steps(data.engine(), episode["id"], first=step["index"] + 1, limit=_MOST_INSIDE)
    steps = [row for row in later if row["investigation"] == step["index"]]
    answers = [row for row in steps if row["tool"] == "answer" and row["ok"]]
    tokens = sum(row["tokens_in"] + row["tokens_out"] for row in steps)
    costs = [row["cost_usd"] for row in steps if row["cost_usd"] is not None]
    cost = f", {wording.usd(sum(costs))}" if steps and len(costs) == len(steps) else ""
    calls = [(row, brief(json.dumps(row["arguments"])) or row["thought"]) for row in steps]
    return {
        "answer": said(answers[0]["observation"]) if answers else None,
        "about": f"{count_of(len(steps), 'step')}, {tokens:,} tokens{cost}",
        "steps": [[row["index"], wording.visible(f"{tool_of(row)} {text[:80]}")] for row, text in calls],
    }
