"""What the agent has changed so far, and how the tests stand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import address, show
from dashboard.data import ask
from dashboard.trace.texts import body
from dashboard.trace.workspace import Workspace


def workspace_at(episode_id: int, last: int) -> Workspace:
    """The task's files after step `last`, as far as the steps record what was done to them."""
    return Workspace(ask("task_files", episode_id)).replay(ask("edits", episode_id, last))


def edit_of(step: dict[str, Any]) -> str:
    """Which lines of which file a step rewrote."""
    arguments = step["arguments"]
    start, end = arguments.get("start"), arguments.get("end")
    lines = "all of it" if start is None else f"line {start}" if end in (None, start) else f"lines {start} to {end}"
    return f"{arguments.get('path')}, {lines}"


def diff_of_step(episode_id: int, step: dict[str, Any]) -> str:
    """What an edit changed, as a unified diff; empty where it is no edit, or the file before it is not known."""
    state = step["state"] or {}
    if step["tool"] != "rewrite" or not step["ok"] or not state.get("edited"):
        return ""
    before = workspace_at(episode_id, step["index"] - 1)
    old = dict(before.files)
    after = before.replay([{**step, "edited": str(state["edited"])}])
    path = str(state["edited"])
    return after.diff(since={**after.files, path: old[path]} if path in old else _without(after.files, path))


def _without(files: dict[str, str], path: str) -> dict[str, str]:
    return {name: text for name, text in files.items() if name != path}


def doubts(workspace: Workspace) -> None:
    """Say what the steps do not record."""
    if workspace.lost:
        st.caption(show.escaped(f"Not followed, since nothing records how they changed: {', '.join(workspace.lost)}."))
    if workspace.shell is not None:
        st.caption(f"The shell was used up to step {workspace.shell}; what it changed in files is not shown here.")


def diffs(episode: dict[str, Any], step: dict[str, Any], key: str) -> None:
    """The work so far, and below it what it came to, or what it should have come to."""
    workspace = workspace_at(episode["id"], step["index"])
    st.markdown(f"**So far, up to step {step['index']}**")
    diff = workspace.diff()
    if diff:
        body(diff, key=f"{key}_so_far", language="diff")
    else:
        st.caption("Nothing is changed yet.")
    doubts(workspace)
    if address.segmented("Compare with", ["Final", "Known fix"], "step_against", default="Final") == "Final":
        if episode["diff"]:
            body(episode["diff"], key=f"{key}_final", language="diff")
        else:
            st.caption("The agent changed nothing that it may change." if episode["verdict"] else "Not there yet.")
    elif st.toggle("Show the known fix", key="trace_step_spoiler", help="It gives the bug away."):
        body(episode["fix"] or "No fix is known.", key=f"{key}_fix", language="diff")


def tests(episode: dict[str, Any], step: dict[str, Any]) -> None:
    """The last results of the tests up to this step, and what changed since those before."""
    found = ask("before", episode["id"], step["index"], "solved")
    if found is None:
        st.caption("The tests were not run yet.")
        return
    earlier = ask("before", episode["id"], found["index"] - 1, "solved")
    now, then = _outcomes(found["state"]), _outcomes(earlier["state"]) if earlier else {}
    counts = found["state"].get("tests")
    known = isinstance(counts, dict)
    passed = f"{counts.get('passed')} passed, {counts.get('failed')} failed" if known else "no report"
    when = "at this step" if found["index"] == step["index"] else f"at step {found['index']}"
    st.markdown(f"**{show.escaped(passed)}**, {when}")
    if not now:
        return
    order = sorted(now.items(), key=lambda pair: (pair[1] == "passed", pair[0]))
    frame = pd.DataFrame(
        {
            "Outcome": [outcome for _, outcome in order],
            "Test": [name for name, _ in order],
            "Before": [then.get(name, show.NOTHING) for name, _ in order],
        }
    )
    st.dataframe(frame, hide_index=True, height=show.table_height(len(order), 500), alt="Tests as last run")


def _outcomes(state: dict[str, Any]) -> dict[str, str]:
    found = state.get("tests")
    each = found.get("ids") if isinstance(found, dict) else None
    return {show.visible(str(name)): str(outcome) for name, outcome in each.items()} if isinstance(each, dict) else {}
