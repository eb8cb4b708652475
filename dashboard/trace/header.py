"""Who did what and how it ended; and, below the steps, what came of it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import address, show
from dashboard.tables import DIVERGE_PAGE, EPISODE_PAGE, RUN_PAGE, TASK_PAGE
from dashboard.trace.texts import body


def header(episode: dict[str, Any], around: dict[str, Any]) -> None:
    """Who did what, how it ended, and where to go from here."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(show.escaped(episode["task"]), width="content", anchor=False)
        show.badge(episode["verdict"] or episode["status"])
        _badges(episode)
    attempt = f"attempt {episode['attempt']}"
    if episode["try_number"] > 1:
        attempt += f", try {episode['try_number']}"
    about = [episode["entrant"], f"benchmark {episode['benchmark']}", attempt, f"episode {episode['id']}"]
    about += [episode[name] for name in ("category", "difficulty") if episode[name]]
    if episode["interruptions"]:
        about.append(f"cut off and continued {episode['interruptions']} times")
    st.caption(" · ".join(map(show.escaped, about)))
    st.markdown(facts(episode))
    _links(episode, around)
    if episode["error"]:
        st.error("The infrastructure failed. This says nothing about the entrant.", icon=":material/warning:")
        st.code(show.visible(episode["error"]), language=None, wrap_lines=True)


def _badges(episode: dict[str, Any]) -> None:
    if episode["stop_reason"]:
        st.badge(show.escaped(show.words(episode["stop_reason"])), color="gray", icon=":material/stop_circle:")
    if episode["failure_point"]:
        failed = show.escaped(show.words(episode["failure_point"]))
        st.badge(f"failure point: {failed}", color="red", icon=":material/my_location:")
    if episode["tampered"]:
        st.badge("tampered with the tests", color="red", icon=":material/gpp_bad:")
    if not episode["counted"]:
        st.badge("tried again, not counted", color="gray", icon=":material/replay:")
    if episode["replayed"]:
        same = episode["replayed"] == "same"
        label = "replays the same" if same else f"replay: {show.escaped(episode['replayed'])}"
        st.badge(label, color="green" if same else "orange", icon=":material/history:")


def facts(episode: dict[str, Any]) -> str:
    """The totals in one line of Markdown."""
    tokens = f"{show.short_count(episode['tokens_in'])} in, {show.short_count(episode['tokens_out'])} out"
    parts = [
        ("Steps", str(episode["steps"])),
        ("Tokens", tokens),
        ("Cost", show.usd(episode["cost_usd"])),
        ("Duration", show.duration(episode["wall_s"])),
        ("Model", show.duration(episode["model_ms"] / 1000)),
        ("Tools", show.duration(episode["env_ms"] / 1000)),
        ("Tests", f"{episode['tests_passed']} passed, {episode['tests_failed']} failed"),
    ]
    # A line is broken between two facts, not within one.
    whole = [(label, show.escaped(value).replace(" ", "&nbsp;")) for label, value in parts]
    return " &nbsp; ".join(f":gray[{label}]&nbsp;**{value}**" for label, value in whole)


def _links(episode: dict[str, Any], around: dict[str, Any]) -> None:
    with st.container(horizontal=True):
        st.page_link(
            RUN_PAGE,
            label=f"Run {show.escaped(episode['run'])}",
            icon=":material/play_circle:",
            query_params={"id": str(episode["run_id"])},
        )
        st.page_link(TASK_PAGE, label="Task", icon=":material/task:", query_params={"id": str(episode["task_id"])})
        for side, label, icon in (("previous", "Previous", "arrow_back"), ("next", "Next", "arrow_forward")):
            other = around[side]
            if other:
                st.page_link(
                    EPISODE_PAGE,
                    label=f"{label} of this task and entrant: {show.VERDICTS.get(other['verdict'], '')}",
                    icon=f":material/{icon}:",
                    query_params={"id": str(other["id"])},
                )
        st.page_link(
            DIVERGE_PAGE,
            label="Beside another episode",
            icon=":material/fork_right:",
            query_params={"a": str(episode["id"])},
        )
        if episode["failure_point"] and episode["failure_step"] is not None:
            st.page_link(
                EPISODE_PAGE,
                label=f"Failure point at step {episode['failure_step']}",
                icon=":material/my_location:",
                query_params={"id": str(episode["id"]), "step": str(episode["failure_step"])},
            )


def outcome(episode: dict[str, Any]) -> None:
    """What the agent left, what the known fix is, and what the scorer saw."""
    parts = {
        "Task": partial(body, episode["statement"] or "No statement is stored.", key="trace_statement"),
        "Diff": partial(_left, episode),
        "Known fix": partial(_known_fix, episode),
        "Score": partial(scored, episode["score"]),
    }
    address.tabs("trace_tab", parts, default="Diff")


def _left(episode: dict[str, Any]) -> None:
    if episode["diff"]:
        body(episode["diff"], key="trace_diff", language="diff")
    else:
        st.caption("The agent changed nothing that it may change.")


def _known_fix(episode: dict[str, Any]) -> None:
    if st.toggle("Show the known fix", key="trace_spoiler", help="It gives the bug away."):
        for fault in episode["faults"]:
            functions = ", ".join(fault.get("functions") or []) or "module level"
            lines = ", ".join(map(str, fault.get("lines") or []))
            st.text(show.visible(f"{fault.get('file')}: {functions}, lines {lines}"))
        body(episode["fix"] or "No fix is known.", key="trace_fix", language="diff")


def scored(score: dict[str, Any]) -> None:
    """The tests of the verdict."""
    found = score.get("tests")
    if isinstance(found, dict) and found:
        order = sorted(found.items(), key=lambda pair: (pair[1] == "passed", pair[0]))
        frame = pd.DataFrame({"Outcome": [str(o) for _, o in order], "Test": [show.visible(name) for name, _ in order]})
        st.dataframe(frame, hide_index=True, height=show.table_height(len(order), 500), alt="Tests of the verdict")
    for note in score.get("notes") or []:
        st.text(show.visible(str(note)))
    if not score:
        st.caption("The episode was not scored.")
    else:
        with st.expander("All of it"):
            st.json(score)
