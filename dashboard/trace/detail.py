"""One step by itself, as the page with two episodes side by side shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from stackrank.dashboard import data
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import show
from stackrank.dashboard.parts.tables import EPISODE_PAGE
from stackrank.dashboard.trace import work
from stackrank.dashboard.trace.chunks import badges, spent
from stackrank.dashboard.trace.steps import tool_of
from stackrank.dashboard.trace.texts import body, prose
from stackrank.db import queries

_CODE = {"code", "command", "new_code", "content", "expression", "statement"}
_LANGUAGES = {"bash": "bash"}


def step_body(episode: Mapping[str, Any], index: int) -> None:
    """Draw one step without tabs: its thought, action and observation, and a link to the rest."""
    step = ask(queries.step, episode["id"], index)
    if step is None:
        return
    _head(episode, step)
    show.link(EPISODE_PAGE, f"Open step {index} in its trace", "bug_report", id=episode["id"], step=index)
    _step(episode, step, f"diverge_{episode['id']}_{index}")


def _head(episode: Mapping[str, Any], step: Mapping[str, Any]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"Step {step['index']}: {show.escaped(tool_of(step))}", width="content", anchor=False)
        for text, color in badges(episode, step):
            st.badge(show.escaped(text), color=color)  # type: ignore[arg-type]
    st.caption(show.escaped(spent(step)))


def _step(episode: Mapping[str, Any], step: Mapping[str, Any], key: str) -> None:
    load = partial(_load, episode["id"], step["index"])
    if step["thought"]:
        st.markdown("**Thought**")
        prose(step["thought"], key=f"{key}_thought", total=step["thought_chars"], load=partial(load, "thought"))
    _action(episode, step, key)
    st.markdown("**Observation**")
    total = step["observation_chars"]
    body(step["observation"], key=f"{key}_observation", total=total, load=partial(load, "observation"))
    diff = work.diff_of_step(step)
    if diff and step["tool"] != "rewrite":
        st.markdown("**What it changed**")
        body(diff, key=f"{key}_changed", language="diff")


def _load(episode_id: int, index: int, column: str, chars: int) -> str:
    # Not cached like other answers: it may have megabytes.
    return queries.step_text(data.engine(), episode_id, index, column, chars=chars)


def _action(episode: Mapping[str, Any], step: Mapping[str, Any], key: str) -> None:
    if step["arguments"] is None:
        st.markdown("**Action**")
        load = partial(_load, episode["id"], step["index"], "arguments")
        body(step["arguments_text"], key=f"{key}_arguments", total=step["arguments_chars"], load=load)
        return
    diff = work.diff_of_step(step)
    if diff and step["tool"] == "rewrite":
        st.markdown(f"**Action:** {show.escaped(work.edit_of(step))}")
        body(diff, key=f"{key}_edit", language="diff")
        return
    for name, value in step["arguments"].items():
        if value is None:
            continue
        st.markdown(f"**Action:** {show.escaped(name)}")
        text = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
        language = _LANGUAGES.get(step["tool"], "python") if name in _CODE else None
        body(text, key=f"{key}_{name}", language=language)
