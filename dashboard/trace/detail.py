"""One step in all its parts: what was done and seen, and behind tabs where the program, the files and the tests are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from stackrank import wording
from stackrank.dashboard import address, data, show
from stackrank.dashboard.data import ask
from stackrank.dashboard.tables import EPISODE_PAGE
from stackrank.dashboard.trace import places, work
from stackrank.dashboard.trace.steps import brief, distance, tool_of
from stackrank.dashboard.trace.texts import body, prose
from stackrank.db import queries

_CODE = {"code", "command", "new_code", "content", "expression", "statement"}
_MOST_INSIDE = 200
"""Steps after a question among which its investigation is looked for."""
_LANGUAGES = {"bash": "bash"}
_COLORS = {"line": "red", "function": "orange", "file": "blue", "elsewhere": "gray"}


def step_detail(episode: Mapping[str, Any], selected: int, last: int) -> None:
    """The selected step."""
    step = ask(queries.step, episode["id"], selected)
    if step is None:
        st.info(f"This episode has no step {selected}; its last one is {last}.", icon=":material/search_off:")
        return
    key = f"trace_{episode['id']}_{selected}"
    # The key tells the list and the timeline in the browser that the step is drawn.
    _head(episode, step, key=f"shown_step_{selected}")
    address.tabs(
        "step_tab",
        {
            "Step": partial(_step, episode, step, key),
            "Source": partial(places.source, episode, step, key),
            "Stack": partial(places.stack, episode, step),
            "Diff": partial(work.diffs, episode, step, key),
            "Tests": partial(work.tests, episode, step),
            "Model": partial(_exchanges, episode, step, key),
        },
    )


def step_body(episode: Mapping[str, Any], index: int) -> None:
    """One step without tabs: its thought, action and observation, and a link to the rest."""
    step = ask(queries.step, episode["id"], index)
    if step is None:
        return
    _head(episode, step)
    show.link(EPISODE_PAGE, f"Open step {index} in its trace", "bug_report", id=episode["id"], step=index)
    _step(episode, step, f"diverge_{episode['id']}_{index}")


def _head(episode: Mapping[str, Any], step: Mapping[str, Any], key: str | None = None) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=key):
        st.subheader(f"Step {step['index']}: {show.escaped(tool_of(step))}", width="content", anchor=False)
        if not step["ok"]:
            st.badge("tool error", color="orange", icon=":material/close:")
        if step["index"] == episode["failure_step"]:
            st.badge("failure point", color="red", icon=":material/my_location:")
        for name, index in episode["milestones"].items():
            if index == step["index"]:
                st.badge(wording.words(name), color="green", icon=":material/flag:")
        if step["distance"] in _COLORS:
            st.badge(distance(step), color=_COLORS[step["distance"]])  # type: ignore[arg-type]
    cost = "" if step["cost_usd"] is None else f" · {show.escaped(wording.usd(step['cost_usd']))}"
    cached = f" ({step['tokens_cached']:,} cached)" if step["tokens_cached"] else ""
    st.caption(
        f"{step['tokens_in']:,} tokens in{cached}, {step['tokens_out']:,} out{cost} · model "
        f"{wording.duration(step['model_ms'] / 1000)} · tool {wording.duration(step['env_ms'] / 1000)}"
    )


def _step(episode: Mapping[str, Any], step: Mapping[str, Any], key: str) -> None:
    load = partial(_load, episode["id"], step["index"])
    if step["thought"]:
        st.markdown("**Thought**")
        prose(step["thought"], key=f"{key}_thought", total=step["thought_chars"], load=partial(load, "thought"))
    _action(episode, step, key)
    st.markdown("**Observation**")
    total = step["observation_chars"]
    body(step["observation"], key=f"{key}_observation", total=total, load=partial(load, "observation"))
    if step["tool"] == "investigate" and step["ok"]:
        _investigation(episode, step, key)
    diff = work.diff_of_step(step)
    if diff and step["tool"] != "rewrite":
        st.markdown("**What it changed**")
        body(diff, key=f"{key}_changed", language="diff")


def _investigation(episode: Mapping[str, Any], step: Mapping[str, Any], key: str) -> None:
    """The answer, and every step that led to it."""
    later = ask(queries.steps, episode["id"], first=step["index"] + 1, limit=_MOST_INSIDE)
    inside = [row for row in later if row["investigation"] == step["index"]]
    answers = [row for row in inside if row["tool"] == "answer" and row["ok"]]
    st.markdown("**Answer**")
    if answers:
        body(answers[0]["observation"], key=f"{key}_answer")
    else:
        st.caption("The episode ended before there was one.")
    tokens = sum(row["tokens_in"] + row["tokens_out"] for row in inside)
    costs = [row["cost_usd"] for row in inside if row["cost_usd"] is not None]
    cost = f", {show.escaped(wording.usd(sum(costs)))}" if len(costs) == len(inside) else ""
    st.markdown(f"**Transcript:** {len(inside)} steps, {tokens:,} tokens{cost}")
    for row in inside:
        called = brief(json.dumps(row["arguments"])) or row["thought"]
        with st.expander(show.escaped(f"Step {row['index']}: {tool_of(row)} {called[:80]}")):
            if row["thought"]:
                body(row["thought"], key=f"{key}_inside_{row['index']}_thought")
            body(row["observation"], key=f"{key}_inside_{row['index']}")
            show.link(EPISODE_PAGE, "Its exchanges and all the rest", "bug_report", id=episode["id"], step=row["index"])


def _load(episode_id: int, index: int, column: str, chars: int) -> str:
    # Not remembered, as other answers are: it may have megabytes.
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


def _exchanges(episode: Mapping[str, Any], step: Mapping[str, Any], key: str) -> None:
    """What was asked of models for this step, and what they answered, as it went over the wire."""
    if not step["asked"]:
        st.caption("No model was asked for this step, or the questions were not kept.")
        return
    for number, each in enumerate(queries.exchanges(data.engine(), episode["id"], step["index"]), 1):
        usage = each.get("usage") or {}
        about = [f"Question {number}", str(each.get("model", "")), str(each.get("conversation", ""))]
        tokens = f"{usage.get('tokens_in', 0)} tokens in, {usage.get('tokens_out', 0)} out"
        about.append(f"about {tokens}, which the endpoint did not count" if usage.get("estimated") else tokens)
        st.markdown(f"**{show.escaped(' · '.join(filter(None, about)))}**")
        if left_out := _left_out(each.get("request") or {}):
            st.info(left_out, icon=":material/content_cut:")
        if each.get("reasoning"):
            st.caption("Reasoning")
            body(each["reasoning"], key=f"{key}_reasoning_{number}")
        _conversation(each.get("request"), f"{key}_said_{number}")
        for part in ("answer", "request"):
            with st.expander(f"The {part} as it was sent"):
                text = json.dumps(each.get(part), indent=1, ensure_ascii=False)
                body(text, key=f"{key}_{part}_{number}", language="json")


def _conversation(request: Any, key: str) -> None:
    """What the model was told since it last spoke; what stood before that is one click away."""
    said = request.get("messages") if isinstance(request, dict) else None
    messages = [each for each in said if isinstance(each, dict)] if isinstance(said, list) else []
    spoke = [at for at, each in enumerate(messages) if each.get("role") == "assistant"]
    new = spoke[-1] + 1 if spoke else 0
    for at, each in enumerate(messages[new:], new):
        _message(each, f"{key}_{at}")
    if new and st.toggle(f"Show the {new} earlier messages", key=f"{key}_earlier"):
        for at, each in enumerate(messages[max(0, new - _MOST_INSIDE) : new]):
            _message(each, f"{key}_earlier_{at}")


def _message(message: Mapping[str, Any], key: str) -> None:
    st.caption(show.escaped(wording.words(str(message.get("role", "")))).capitalize())
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    body("\n".join(str(text) for text in texts if text is not None), key=key)
    if called := message.get("tool_calls"):
        body(json.dumps(called, indent=1, ensure_ascii=False), key=f"{key}_calls", language="json")


def _left_out(request: Mapping[str, Any]) -> str:
    """What of the conversation the model did not see any more, in a sentence; empty where it saw all."""
    if "history_cut_to_tokens" not in request:
        return ""
    messages = json.dumps(request.get("messages"))
    turns = next(map(int, re.findall(r"\[(\d+) earlier turns of this conversation were left out\]", messages)), 0)
    cut = len(re.findall(r"\[\.\.\. \d+ characters of this observation were left out here", messages))
    parts = [f"{turns} earlier turns are left out"] * bool(turns)
    parts += [f"{cut} observation{'s are' if cut > 1 else ' is'} cut in the middle"] * bool(cut)
    said = f": {', '.join(parts)}" if parts else ""
    return f"The conversation was cut to about {request['history_cut_to_tokens']} tokens for this question{said}."
