"""What an operator can do to a run on its page. Each act is stored with who did it, when and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from stackrank.dashboard import login
from stackrank.dashboard.parts import show
from stackrank.dashboard.parts.writer import name, write
from stackrank.db.writes.acts import Acts
from stackrank.db.writes.tunable import NUMBERS, TunableNumber
from stackrank.terms import RunStatus
from stackrank.wording import words

_MOST_WHY = 500
_ICONS = {"pause": ":material/pause:", "change": ":material/tune:", "cancel": ":material/block:"}


def buttons(run: Mapping[str, Any]) -> None:
    """Draw the acts that are possible now: pause or let go on, change, cancel; nothing for who may not act."""
    if not login.may_operate():
        return
    run_id, status = run["id"], RunStatus(run["status"])
    with st.container(horizontal=True):
        if status.ended:
            if status is not RunStatus.FINISHED:
                st.caption(f"To play the rest: `stackrank resume {run_id}`.")
            return
        if run["paused"]:
            st.button(
                "Continue the run", icon=":material/play_arrow:", key="run_unpause", on_click=_resume, args=(run_id,)
            )
        else:
            _ask(
                "Pause",
                "No more episodes start; those in progress are finished. The run can be continued at any time.",
                lambda acts, why: acts.pause(run_id, person=name(), why=why),
            )
        _change(run_id, run["spec"])
        _ask(
            "Cancel",
            f"Its episodes end within seconds. To play the rest later: `stackrank resume {run_id}`.",
            lambda acts, why: acts.cancel_run(run_id, f"cancelled by {name()}{f': {why}' if why else ''}"),
        )


def retry(episode_ids: Sequence[int], run_id: int) -> None:
    """Let an operator give one of these episodes, which ended in an error, another try."""
    if not episode_ids or not login.may_operate():
        return
    with st.form(f"retry_{run_id}", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox("Retry an episode", episode_ids, key=f"retry_{run_id}_episode", width=220)
        why = st.text_input("Why", key=f"retry_{run_id}_why", max_chars=_MOST_WHY)
        if st.form_submit_button("Retry", icon=":material/replay:") and number is not None:
            write(Acts, lambda acts: acts.retry(number, person=name(), why=why))


def _resume(run_id: int) -> None:
    write(Acts, lambda acts: acts.unpause(run_id, person=name()), retry=False)


def _ask(verb: str, effect: str, work: Callable[[Acts, str], object]) -> None:
    """Draw a button that asks for the reason of an act, and then does it."""
    kind = verb.lower()
    with st.popover(verb, icon=_ICONS[kind], key=f"act_of_{kind}"):
        st.markdown(effect)
        with st.form(f"act_{kind}", border=False):
            why = st.text_input("Why, for those who look at the run later", key=f"why_{kind}", max_chars=_MOST_WHY)
            if st.form_submit_button(f"{verb} the run", type="primary"):
                write(Acts, lambda acts: work(acts, why))


def _change(run_id: int, spec: Mapping[str, Any]) -> None:
    """Let an operator change how the run is played, not what happens in its episodes."""
    with st.popover("Change", icon=_ICONS["change"]):
        st.caption("Limits of an episode, tools and models are conditions of the comparison and stay as they are.")
        with st.form("act_change", border=False):
            values = {field: _number(field, bounds, spec.get(field)) for field, bounds in NUMBERS.items()}
            plays_all = bool(spec.get("stop")) and st.checkbox("Play everything: drop the stop rule", key="set_stop")
            why = st.text_input("Why, for those who look at the run later", key="why_change", max_chars=_MOST_WHY)
            if st.form_submit_button("Change the run", type="primary"):
                if faults := [text for field, bounds in NUMBERS.items() if (text := _fault(field, bounds, values))]:
                    st.error(show.escaped(" ".join(faults)))
                else:
                    write(Acts, lambda acts: _tune(acts, run_id, values, plays_all, why))


def _tune(acts: Acts, run_id: int, values: Mapping[str, float | None], plays_all: bool, why: str) -> None:
    changes = {field: value for field, value in values.items() if value is not None or NUMBERS[field].optional}
    acts.tune(run_id, {**changes, **({"stop": None} if plays_all else {})}, person=name(), why=why)
    if plays_all:
        acts.unskip(run_id)


def _number(field: str, bounds: TunableNumber, value: float | None) -> float | None:
    kind: type[float] = int if bounds.whole else float
    entered: float | None = st.number_input(
        words(field).replace(" usd", ", $").capitalize(),
        min_value=kind(bounds.low),
        max_value=None if bounds.high is None else kind(bounds.high),
        value=None if value is None else kind(value),
        placeholder="No limit" if bounds.optional else "As it is",
        key=f"set_{field}",
    )
    return entered


def _fault(field: str, bounds: TunableNumber, values: Mapping[str, float | None]) -> str:
    value = values[field]
    is_low = value is not None and bounds.above and value <= bounds.low
    return f"{words(field).capitalize()} must be above {bounds.low:g}; leave it empty for no limit." if is_low else ""
