"""What the agent has changed so far, and how the tests stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine

from stackrank import wording
from stackrank.dashboard.data import ask
from stackrank.dashboard.trace.files import Files, read_files
from stackrank.dashboard.trace.texts import said
from stackrank.db import queries
from stackrank.patches.writing import shown_text
from stackrank.terms import Milestone, Verdict


def files_at(episode_id: int, last: int) -> Files:
    """Return the task's files after step `last`, as far as the steps record changes to them."""
    return Files(ask(queries.task_files, episode_id)).follow(ask(queries.edits, episode_id, last))


def deciding_edit(engine: Engine, episode_id: int) -> int | None:
    """Return the step after which nothing had to be changed any more; None unless the episode was resolved.

    It is the first step, of any tool, after which the files of the task that the episode's diff changes were as they
    were when the visible tests first passed or, if they never did, at the end. If the diff changes none of these files,
    the files that it creates decide; if no step recorded its changes, the first edit of the fault does.
    """
    episode = queries.episode(engine, episode_id)
    if episode["verdict"] != Verdict.RESOLVED:
        return None
    solved = episode["milestones"].get(Milestone.SOLVED)
    rows = queries.edits(engine, episode_id, episode["steps"] if solved is None else solved)
    changed = read_files(episode["diff"])
    paths = {file.path for file in changed if file.old is not None} or {file.path for file in changed}
    files = Files(queries.task_files(engine, episode_id))
    hidden: dict[str, int] = {}  # file whose content is not known -> the last step that changed it
    contents: list[tuple[int, object]] = []
    for row in rows:
        files.follow([row])
        touched = paths & {file.path for file in read_files(row["diff"])}
        hidden = {path: index for path, index in hidden.items() if path in files.lost}
        hidden |= dict.fromkeys(touched & files.lost, row["index"])
        if touched and row["kind"] != "tests":
            contents.append((row["index"], [(files.texts.get(path), hidden.get(path)) for path in sorted(paths)]))
    return next((index for index, content in contents if content == contents[-1][1]), episode["at_edited"])


def edit_of(step: Mapping[str, Any]) -> str:
    """Say which lines of which file a step rewrote."""
    arguments = step["arguments"]
    start, end = arguments.get("start"), arguments.get("end")
    lines = "all of it" if start is None else f"line {start}" if end in (None, start) else f"lines {start} to {end}"
    return f"{arguments.get('path')}, {lines}"


def diff_of_step(step: Mapping[str, Any]) -> str:
    """Return what a step changed, as a unified diff; empty if it changed nothing or recorded no diff."""
    return str((step["state"] or {}).get("diff") or "")


def doubts(files: Files) -> list[str]:
    """Say in sentences which changes the steps do not record."""
    if not files.lost:
        return []
    names = ", ".join(sorted(files.lost))
    return [wording.visible(f"These files changed, but no step shows how: {names}. The final diff has all changes.")]


def diffs(episode: Mapping[str, Any], step: int) -> dict[str, Any]:
    """Return the changes so far, and the final diff once there is a verdict."""
    files = files_at(episode["id"], step)
    return {
        "so_far": said(files.diff()),
        "doubts": doubts(files),
        "final": said(shown_text(episode["diff"])) if episode["verdict"] else None,
    }


def tests(episode: Mapping[str, Any], step: int) -> dict[str, Any]:
    """Return the last test results up to this step, with the previous ones; `at` is None before any results."""
    step_state = ask(queries.last_step_with, episode["id"], step, "solved")
    if step_state is None:
        return {"at": None, "counts": "", "rows": []}
    earlier = ask(queries.last_step_with, episode["id"], step_state["index"] - 1, "solved")
    outcomes, outcomes_before = _outcomes(step_state["state"]), _outcomes(earlier["state"]) if earlier else {}
    counts = step_state["state"].get("tests")
    counts_text = (
        f"{counts.get('passed')} passed, {counts.get('failed')} failed" if isinstance(counts, dict) else "no report"
    )
    order = sorted(outcomes.items(), key=lambda pair: (pair[1] == "passed", pair[0]))
    rows = [[outcome, name, outcomes_before.get(name, wording.NOTHING)] for name, outcome in order]
    return {"at": step_state["index"], "counts": wording.visible(counts_text), "rows": rows}


def _outcomes(state: dict[str, Any]) -> dict[str, str]:
    tests = state.get("tests")
    outcomes = tests.get("ids") if isinstance(tests, dict) else None
    if not isinstance(outcomes, dict):
        return {}
    return {wording.visible(str(name)): wording.visible(str(outcome)) for name, outcome in outcomes.items()}
