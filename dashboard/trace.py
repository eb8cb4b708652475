"""The parts of an episode's page: header, list of steps, one step, and what came of it."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import address, show
from dashboard.data import ask
from dashboard.tables import EPISODE_PAGE, RUN_PAGE

PAGE = 500
"""Steps on one page of the list."""
_CUT = 20_000
"""Characters of a text that are shown before someone asks for all."""
# From here on a text scrolls by itself, so that what follows stays in sight.
_LONG, _LONG_LINES, _LONG_HEIGHT = 4_000, 40, 520
_CODE = {"code", "command", "new_code", "content", "expression", "statement"}


def header(episode: dict[str, Any], around: dict[str, Any]) -> None:
    """Who did what, how it ended, and where to go from here."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(show.escaped(episode["task"]), width="content")
        show.badge(episode["verdict"] or episode["status"])
        if episode["stop_reason"]:
            st.badge(show.escaped(show.words(episode["stop_reason"])), color="gray", icon=":material/stop_circle:")
        if episode["tampered"]:
            st.badge("tampered with the tests", color="red", icon=":material/gpp_bad:")
        if not episode["counted"]:
            st.badge("tried again, not counted", color="gray", icon=":material/replay:")
    attempt = f"attempt {episode['attempt']}"
    if episode["try_number"] > 1:
        attempt += f", try {episode['try_number']}"
    about = [episode["entrant"], f"benchmark {episode['benchmark']}", attempt, f"episode {episode['id']}"]
    about += [episode[name] for name in ("category", "difficulty") if episode[name]]
    st.caption(" · ".join(map(show.escaped, about)))
    with st.container(horizontal=True):
        st.page_link(
            RUN_PAGE,
            label=f"Run {show.escaped(episode['run'])}",
            icon=":material/play_circle:",
            query_params={"id": str(episode["run_id"])},
        )
        for side, label, icon in (("previous", "Previous", "arrow_back"), ("next", "Next", "arrow_forward")):
            other = around[side]
            if other:
                st.page_link(
                    EPISODE_PAGE,
                    label=f"{label} of this task and entrant: {show.VERDICTS.get(other['verdict'], '')}",
                    icon=f":material/{icon}:",
                    query_params={"id": str(other["id"])},
                )
    if episode["error"]:
        st.error("The infrastructure failed. This says nothing about the entrant.", icon=":material/warning:")
        st.code(episode["error"], language=None, wrap_lines=True)
    if episode["failure_point"]:
        failure(episode)
    with st.container(horizontal=True):
        st.metric("Steps", episode["steps"], border=True)
        tokens = f"{show.short_count(episode['tokens_in'])} in, {show.short_count(episode['tokens_out'])} out"
        st.metric("Tokens", tokens, border=True)
        st.metric("Cost", show.usd(episode["cost_usd"]), border=True)
        st.metric("Duration", show.duration(episode["wall_s"]), border=True)
        parts = f"{show.duration(episode['model_ms'] / 1000)} model, {show.duration(episode['env_ms'] / 1000)} tools"
        st.metric("Of which", parts, border=True)
        st.metric("Tests", f"{episode['tests_passed']} passed, {episode['tests_failed']} failed", border=True)


def failure(episode: dict[str, Any]) -> None:
    """Where it went wrong."""
    step = episode["failure_step"]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Failure point: **{show.escaped(show.words(episode['failure_point']))}**", width="content")
        if step is not None:
            st.page_link(
                EPISODE_PAGE,
                label=f"Go to step {step}",
                icon=":material/my_location:",
                query_params={"id": str(episode["id"]), "step": str(step)},
            )


def where(state: dict[str, Any]) -> str:
    """The place where the debugger is paused, else what was edited or shown."""
    if state.get("file"):
        function = f" {state['function']}" if state.get("function") else ""
        return f"{state['file']}:{state.get('line', '?')}{function}"
    return str(state.get("edited") or state.get("path") or "")


def tests(state: dict[str, Any]) -> str:
    """How the tests stand, if this step ran any."""
    found = state.get("tests")
    if not isinstance(found, dict):
        return ""
    passed, failed = found.get("passed"), found.get("failed")
    return f"{passed} of {passed + failed}" if isinstance(passed, int) and isinstance(failed, int) else ""


def brief(arguments: str) -> str:
    """The beginning of an action's arguments, without the JSON around a single one."""
    try:
        parsed = json.loads(arguments)
    except ValueError:
        return arguments
    if isinstance(parsed, dict):
        return ", ".join(str(value) for value in parsed.values())
    return arguments


def step_list(episode: dict[str, Any], selected: int, last: int) -> None:
    """The steps; a click on one puts it into the address."""
    first = selected // PAGE * PAGE
    rows = ask("step_outline", episode["id"], first=first, limit=PAGE)
    milestones: dict[int, list[str]] = {}
    for name, index in episode["milestones"].items():
        milestones.setdefault(index, []).append(show.words(name))
    frame = pd.DataFrame(
        {
            "Step": [row["index"] for row in rows],
            "Tool": [("" if row["ok"] else "! ") + (row["tool"] or "reset") for row in rows],
            "Action": [brief(row["arguments"]) for row in rows],
            "Where": [where(row) for row in rows],
            "Tests": ["" if row["passed"] is None else f"{row['passed']} passed" for row in rows],
            "Milestone": [", ".join(milestones.get(row["index"], [])) for row in rows],
            "Tokens": [row["tokens_in"] + row["tokens_out"] for row in rows],
            "Model s": [row["model_ms"] / 1000 for row in rows],
        }
    )
    position = next((n for n, row in enumerate(rows) if row["index"] == selected), None)
    key = f"trace_steps_{episode['id']}_{first}"

    def chosen() -> None:
        picked = st.session_state[key].selection.rows
        if picked and picked[0] < len(rows):
            address.put(step=rows[picked[0]]["index"])

    # The address decides which step is selected, so that links and the browser's buttons work.
    st.session_state[key] = {"selection": {"rows": [] if position is None else [position]}}
    st.dataframe(
        frame,
        hide_index=True,
        key=key,
        on_select=chosen,
        selection_mode="single-row",
        column_config={
            "Step": st.column_config.NumberColumn(width=50, pinned=True),
            "Tool": st.column_config.TextColumn(width=70, help="! the tool could not do what was asked."),
            "Action": st.column_config.TextColumn(width=170),
            "Where": st.column_config.TextColumn(width=140),
            "Tests": st.column_config.TextColumn(width=60, help="Passed, where the step ran tests."),
            "Milestone": st.column_config.TextColumn(width=90),
            "Model s": st.column_config.NumberColumn(format="%.1f"),
        },
        height=show.table_height(len(rows), 640),
        alt="Steps of the episode",
    )
    with st.container(horizontal=True):
        if first > 0:
            st.button("Earlier steps", icon=":material/chevron_left:", on_click=go, args=(first - PAGE,))
        if last >= first + PAGE:
            st.button("Later steps", icon=":material/chevron_right:", on_click=go, args=(first + PAGE,))


def go(step: int) -> None:
    """Put a step into the address."""
    address.put(step=max(0, step))


def body(text: str, *, key: str, language: str | None = None) -> None:
    """A text as it is, cut where it is long."""
    if len(text) > _CUT and not st.toggle(f"Load all {len(text):,} characters", key=f"{key}_all"):
        text = f"{text[:_CUT]}\n[{len(text) - _CUT:,} more characters]"
    long = len(text) > _LONG or text.count("\n") > _LONG_LINES
    st.code(text, language=language, wrap_lines=True, height=_LONG_HEIGHT if long else "content")


def step_detail(episode: dict[str, Any], selected: int, last: int) -> None:
    """One step: thought, action, observation, state."""
    found = ask("steps", episode["id"], first=selected, limit=1)
    if not found or found[0]["index"] != selected:
        st.info(f"This episode has no step {selected}; its last one is {last}.", icon=":material/search_off:")
        return
    step = found[0]
    key = f"trace_{episode['id']}_{selected}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"Step {selected}: {show.escaped(step['tool'] or 'reset')}", width="content")
        if not step["ok"]:
            st.badge("the tool could not do it", color="orange", icon=":material/close:")
        st.space("stretch")
        back, forward = selected > 0, selected < last
        st.button("Previous", icon=":material/chevron_left:", on_click=go, args=(selected - 1,), disabled=not back)
        st.button("Next", icon=":material/chevron_right:", on_click=go, args=(selected + 1,), disabled=not forward)
    cost = "" if step["cost_usd"] is None else f" · {show.escaped(show.usd(step['cost_usd']))}"
    st.caption(
        f"{step['tokens_in']:,} tokens in, {step['tokens_out']:,} out{cost} · model "
        f"{show.duration(step['model_ms'] / 1000)} · tool {show.duration(step['env_ms'] / 1000)}"
    )
    if step["thought"]:
        st.markdown("**Thought**")
        body(step["thought"], key=f"{key}_thought")
    for name, value in step["arguments"].items():
        st.markdown(f"**Action:** {show.escaped(name)}")
        text = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
        body(text, key=f"{key}_{name}", language="python" if name in _CODE else None)
    st.markdown("**Observation**")
    body(step["observation"], key=f"{key}_observation")
    state_of(step["state"])


def state_of(state: dict[str, Any]) -> None:
    """Where the program and the tests stand after the step."""
    if not state:
        return
    st.markdown("**State**")
    facts = {"Paused at": where(state)} if state.get("file") else {}
    names = (("Stack depth", "depth"), ("Exception", "exception"), ("Edited", "edited"), ("Shown", "path"))
    facts |= {label: str(state[name]) for label, name in names if state.get(name) not in (None, "")}
    if tests(state):
        facts["Tests passed"] = tests(state)
    for point in state.get("breakpoints") or []:
        if isinstance(point, dict):
            facts["Breakpoints"] = f"{facts.get('Breakpoints', '')} {point.get('file')}:{point.get('line')}".strip()
    if facts:
        frame = pd.DataFrame({"": list(facts), "Value": list(facts.values())})
        st.dataframe(frame, hide_index=True, height="content", alt="Where things stand after the step")
    locals_ = state.get("locals")
    if isinstance(locals_, dict) and locals_:
        frame = pd.DataFrame({"Local": list(map(str, locals_)), "Value": list(map(str, locals_.values()))})
        st.dataframe(frame, hide_index=True, height="content", alt="Local variables")
    with st.expander("All of it"):
        st.json(state)


def outcome(episode: dict[str, Any]) -> None:
    """What the agent left, what the known fix is, and what the scorer saw."""
    task, diff, fix, score = address.tabs(["Task", "Diff", "Known fix", "Score"], "trace_tab", default="Diff")
    if task.open:
        with task:
            body(episode["statement"] or "No statement is stored.", key="trace_statement")
    if diff.open:
        with diff:
            if episode["diff"]:
                body(episode["diff"], key="trace_diff", language="diff")
            else:
                st.caption("The agent changed nothing that it may change.")
    if fix.open:
        with fix:
            if st.toggle("Show the known fix", key="trace_spoiler", help="It gives the bug away."):
                for fault in episode["faults"]:
                    functions = ", ".join(fault.get("functions") or []) or "module level"
                    lines = ", ".join(map(str, fault.get("lines") or []))
                    st.text(f"{fault.get('file')}: {functions}, lines {lines}")
                body(episode["fix"] or "No fix is known.", key="trace_fix", language="diff")
    if score.open:
        with score:
            scored(episode["score"])


def scored(score: dict[str, Any]) -> None:
    """The tests of the verdict."""
    found = score.get("tests")
    if isinstance(found, dict) and found:
        order = sorted(found.items(), key=lambda pair: (pair[1] == "passed", pair[0]))
        frame = pd.DataFrame({"Outcome": [str(o) for _, o in order], "Test": [name for name, _ in order]})
        st.dataframe(frame, hide_index=True, height=show.table_height(len(order), 500), alt="Tests of the verdict")
    for note in score.get("notes") or []:
        st.text(str(note))
    if not score:
        st.caption("The episode was not scored.")
    else:
        with st.expander("All of it"):
            st.json(score)
