"""Above the steps, who did what and how it ended; below them, the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from stackrank import wording
from stackrank.dashboard import address
from stackrank.dashboard.parts import cards, show
from stackrank.dashboard.parts.tables import DIVERGE_PAGE, EPISODE_PAGE, RUN_PAGE, RUNS_PAGE, TASK_PAGE
from stackrank.dashboard.trace.texts import body
from stackrank.db import queries
from stackrank.patches.writing import shown_text
from stackrank.terms import Verdict


def header(episode: Mapping[str, Any], around: dict[str, Any], last: int | None = None) -> None:
    """Draw who did what, how it ended, and links to other pages, in few lines because the steps need the room.

    `last`: the newest step of an episode that is still played, whose totals are not known yet.
    """
    show.titled(episode["task"], episode["entrant"], f"episode {episode['id']}")
    run = wording.run_name(episode["run"], episode["run_id"])
    with st.container(key="trace_header", gap=None):
        with st.container(horizontal=True, horizontal_alignment="distribute", gap=None):
            show.breadcrumb(
                (RUNS_PAGE, "Runs", {}),
                (RUN_PAGE, show.escaped(run), {"id": episode["run_id"]}),
                (TASK_PAGE, f"Task {show.escaped(episode['task'])}", {"id": episode["task_id"]}),
            )
            _links(episode, around)
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.title(show.escaped(episode["task"]), width="content", anchor=False)
            show.badge(episode["verdict"] or episode["status"])
            _badges(episode)
            st.caption(_about(episode), width="content")
            if episode["tampered"]:
                notes = episode["score"].get("notes") or []
                _listed("Tampered", "The change tried to manipulate the verdict. The scorer noted:", notes)
            if lines := wording.suspicious_lines(episode):
                note = "The change uses machinery that a repair seldom needs. No verdict depends on it."
                _listed("Suspicious lines", note, lines)
        st.markdown(facts(episode, time=not cards.are_needed()) if episode["verdict"] else _so_far(last))
        if episode["error"]:
            st.error("The infrastructure failed. This says nothing about the entrant.", icon=":material/warning:")
            st.code(wording.visible(episode["error"]), language=None, wrap_lines=True, height=120)


def _so_far(last: int | None) -> str:
    steps = f":gray[Steps so far]&nbsp;**{wording.whole(last or 0)}**"
    return f"{steps} &nbsp; :gray[Tokens, cost and time are known when it ends.]"


def _about(episode: Mapping[str, Any]) -> str:
    attempt = f"attempt {episode['attempt']}"
    if episode["try_number"] > 1:
        attempt += f", try {episode['try_number']}"
    facts = [episode["entrant"], attempt, f"episode {episode['id']}"]
    if not cards.are_needed():  # the page of the task has these
        facts += [f"benchmark {episode['benchmark']}", *(episode[name] for name in ("category", "difficulty"))]
    if episode["interruptions"]:
        facts.append(f"cut off and continued {episode['interruptions']} times")
    return " · ".join(map(show.escaped, filter(None, facts)))


def _listed(label: str, caption: str, lines: Sequence[object]) -> None:
    with st.popover(f":orange[{label}] ({len(lines)})", icon=":material/policy:", type="tertiary"):
        st.markdown(caption)
        st.code(wording.visible("\n".join(map(str, lines))), language=None, wrap_lines=True)


def _badges(episode: Mapping[str, Any]) -> None:
    if episode["faults_total"] > 1 and episode["verdict"] != Verdict.ERROR:
        mended = f"{episode['mended']} of {wording.count_of(episode['faults_total'], 'fault')} mended"
        st.badge(mended, color="green" if episode["mended"] else "gray", icon=":material/build:")
    if seal := wording.seal(episode):
        color, icon = ("green", "verified") if episode["sealed"] else ("gray", "gpp_maybe")
        meaning = "A sealed verdict can only have been forged by guessing what its tests expect."
        st.badge(show.escaped(seal), color=color, icon=f":material/{icon}:", help=meaning)  # type: ignore[arg-type]
    if episode["stop_reason"]:
        st.badge(show.escaped(wording.words(episode["stop_reason"])), color="gray", icon=":material/stop_circle:")
    if episode["failure_point"]:
        failed = show.escaped(wording.words(episode["failure_point"]))
        st.badge(f"failure point: {failed}", color="red", icon=":material/my_location:")
    if episode["tampered"]:
        st.badge("tampered with the tests", color="red", icon=":material/gpp_bad:")
    if not episode["counted"]:
        st.badge("tried again, not counted", color="gray", icon=":material/replay:")
    if episode["replayed"]:
        result = episode["replayed"]
        label = "replays the same" if result == "same" else f"replay: {show.escaped(result)}"
        color = "green" if result == "same" else "gray" if result.startswith("same ") else "orange"
        st.badge(label, color=color, icon=":material/history:")  # type: ignore[arg-type]


def facts(episode: Mapping[str, Any], *, time: bool = True) -> str:
    """Return the totals in one line of Markdown. `time`: also where the time went."""
    tokens = f"{wording.whole(episode['tokens_in'])} in, {wording.whole(episode['tokens_out'])} out"
    parts = [
        ("Steps", wording.whole(episode["steps"])),
        ("Tokens", tokens),
        ("Cost", wording.usd(episode["cost_usd"])),
        ("Duration", wording.duration(episode["wall_s"])),
        *(_time(episode) if time else []),
        ("Tests of the verdict", f"{episode['tests_passed']} passed, {episode['tests_failed']} failed"),
    ]
    # A line may break between two facts, but not within one.
    cells = [(label, show.escaped(value).replace(" ", "&nbsp;")) for label, value in parts]
    return " &nbsp; ".join(f":gray[{label}]&nbsp;**{value}**" for label, value in cells)


def _time(episode: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return where the time went; parts under 0.1 s are left out, except those of the model and the tools."""
    spent = queries.split_time(episode, None)
    spans = [("Model", spent["model_s"]), ("Tools", spent["sandbox_s"])]
    small_spans = (
        ("Verdict", spent["tests_s"]),
        ("Waited for its endpoint", spent["waited_s"]),
        ("Other", spent["rest_s"]),
    )
    spans += [(name, seconds) for name, seconds in small_spans if seconds >= 0.1]
    return [(name, wording.duration(seconds)) for name, seconds in spans]


def _links(episode: Mapping[str, Any], around: dict[str, Any]) -> None:
    with st.container(horizontal=True, horizontal_alignment="right", gap="xsmall"):
        for side, label, icon in (("previous", "Previous", "arrow_back"), ("next", "Next", "arrow_forward")):
            if neighbour := around[side]:
                verdict = show.VERDICTS.get(neighbour["verdict"], "not ended")
                show.link(EPISODE_PAGE, f"{label} attempt: {verdict}", icon, id=neighbour["id"])
        show.link(DIVERGE_PAGE, "Compare with another episode", "fork_right", a=episode["id"])
        step = episode["failure_step"]
        if episode["failure_point"] and step is not None:
            show.link(EPISODE_PAGE, f"Failure point at step {step}", "my_location", id=episode["id"], step=step)


def outcome(episode: Mapping[str, Any]) -> None:
    """Draw the task, the agent's diff, the known fix and the score."""
    parts = {
        "Task": partial(body, episode["statement"] or "No statement is stored.", key="trace_statement"),
        "Final change": partial(_left, episode),
        "Known fix": partial(known_fix, episode),
        "Score": partial(scored, episode["score"]),
    }
    address.tabs("trace_tab", parts, default="Final change")


def _left(episode: Mapping[str, Any]) -> None:
    if episode["diff"]:
        body(shown_text(episode["diff"]), key="trace_diff", language="diff")
    else:
        st.caption("The agent changed none of the files that it may edit.")


def known_fix(episode: Mapping[str, Any]) -> None:
    """Draw the faults of an episode's task and their fix, when a reader asks for them."""
    if st.toggle("Show the known fix", key="trace_spoiler", help="Reveals the bug."):
        for fault in episode["faults"]:
            functions = ", ".join(fault.get("functions") or []) or "module level"
            lines = ", ".join(map(str, fault.get("lines") or []))
            st.text(wording.visible(f"{fault.get('file')}: {functions}, lines {lines}"))
        body(shown_text(episode["fix"]) or "No fix is known.", key="trace_fix", language="diff")


def scored(score: dict[str, Any]) -> None:
    """Draw the tests and the notes of the verdict."""
    tests = score.get("tests")
    if isinstance(tests, dict) and tests:
        order = sorted(tests.items(), key=lambda pair: (pair[1] == "passed", pair[0]))
        frame = pd.DataFrame(
            {"Outcome": [str(o) for _, o in order], "Test": [wording.visible(name) for name, _ in order]}
        )
        show.grid(frame, height=show.table_height(len(order), 12), alt="Tests of the verdict")
    for note in score.get("notes") or []:
        st.text(wording.visible(str(note)))
    if score.get("unsealed"):
        st.text(wording.visible(f"Not sealed: {score['unsealed']}."))
    for finding in score.get("suspicious") or []:
        st.text(wording.visible(f"Look at {finding['file']}, line {finding['line']}: {finding['what']}."))
    if not score:
        st.caption("The episode was not scored.")
    else:
        with st.expander("All of it"):
            st.json(score)
