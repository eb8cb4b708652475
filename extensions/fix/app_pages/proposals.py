"""Fixes that wait for a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import streamlit as st

from stackrank import wording
from stackrank.dashboard import address
from stackrank.dashboard.data import ask, engine, forget
from stackrank.dashboard.parts import cards, show, writer
from stackrank.dashboard.parts.side_by_side import as_html, sides
from stackrank.dashboard.parts.tables import EPISODE_PAGE
from stackrank.db import queries
from stackrank.db.connection.errors import DatabaseError
from stackrank.errors import UsageError
from stackrank.extensions.fix.acceptance import acceptance
from stackrank.extensions.fix.decisions import Proposals
from stackrank.extensions.fix.keys import keys
from stackrank.extensions.fix.wording import evidence_lines, plain_verdict
from stackrank.terms import DecisionKind

_MARKS = {
    "open": "– open",
    "covered": "≡ covered",
    "replaced": "↷ replaced",
    "approved": "✓ approved",
    "rejected": "✗ rejected",
}
_SAID = "proposals_said"
# What the open dialogue is about.
_ASKED = "proposals_asked"


def decide(number: int, digest: str, kind: DecisionKind, reason: str) -> bool:
    """Store a decision and return whether that worked; the page shows the error."""
    try:
        Proposals(engine()).decide(number, kind, digest=digest, reason=reason, person=writer.name())
    except (UsageError, DatabaseError) as error:
        st.session_state[_SAID] = show.as_message(error)
        return False
    finally:
        forget()
    return True


_VERBS = {DecisionKind.APPROVED: "Approve", DecisionKind.REJECTED: "Reject", DecisionKind.COMMENT: "Comment"}


def open_dialogue(number: int, digest: str, kind: DecisionKind, following: int | None) -> None:
    """Open the dialogue when a button is pressed. `digest` is that of the change that was on the screen."""
    st.session_state[_ASKED] = (number, digest, kind, following)


@st.dialog("Decide", on_dismiss=lambda: st.session_state.pop(_ASKED, None))
def confirm(number: int, digest: str, kind: DecisionKind, following: int | None) -> None:
    """Ask for the words of a decision or a comment, before anything is stored. Ctrl+Enter sends them."""
    if kind is not DecisionKind.COMMENT:
        st.markdown("A decision is final: it is sealed, and nobody can decide about this proposal again.")
    with st.form("proposal_why", border=False):
        need = "optional" if kind is DecisionKind.APPROVED else "needed"
        reason = st.text_area(f"Why, about proposal {number} ({need})", key="proposal_reason", max_chars=10_000)
        if st.form_submit_button(_VERBS[kind], type="primary"):
            del st.session_state[_ASKED]
            if decide(number, digest, kind, reason) and kind is not DecisionKind.COMMENT:
                address.put(pr_id=following)
            st.rerun()


def buttons(row: Mapping[str, Any], following: int | None) -> None:
    """Draw the buttons to approve, reject, comment and go on: a, r, c and n on the keyboard."""
    number, digest, status = row["id"], row["digest"], row["status"]
    with st.container(horizontal=True):
        st.button(
            "Approve", key="pr_approve", icon=":material/check:", type="primary", disabled=status != "open",
            on_click=open_dialogue, args=(number, digest, DecisionKind.APPROVED, following),
        )  # fmt: skip
        st.button(
            "Reject", key="pr_reject", icon=":material/close:", disabled=status not in ("open", "covered"),
            on_click=open_dialogue, args=(number, digest, DecisionKind.REJECTED, following),
        )  # fmt: skip
        st.button(
            "Comment", key="pr_comment", icon=":material/add_comment:",
            on_click=open_dialogue, args=(number, digest, DecisionKind.COMMENT, following),
        )  # fmt: skip
        st.button(
            "Next", key="pr_next", icon=":material/arrow_forward:", disabled=following is None,
            on_click=lambda: address.put(pr_id=following),
        )  # fmt: skip
        show.link(EPISODE_PAGE, "The episode, step by step", id=row["episode_id"])
    if asked := st.session_state.get(_ASKED):
        confirm(*asked)


def change(diff: str) -> None:
    """Draw both sides of a diff next to each other."""
    for file in sides(diff):
        st.markdown(f"**{show.escaped(file.path)}**")
        for column, text in zip(st.columns(2), as_html(file), strict=True):
            column.html(text)


def details(row: Mapping[str, Any]) -> None:
    """Draw the change, the evidence for and against it, and what people said about it."""
    verdict, *facts = evidence_lines(row, stops=False)
    st.markdown(f"**{show.escaped(verdict)}**")
    if row["test_diff"]:
        st.subheader("The test that was written for it, which fails without the change")
        change(row["test_diff"])
        st.subheader("The change")
    change(row["diff"])
    st.subheader("Evidence")
    st.markdown("\n".join(f"- {show.escaped(fact)}" for fact in facts))
    for stop in row["evidence"]["debugger"]:
        show.link(EPISODE_PAGE, f"Debugger at {show.escaped(stop['place'])}", "bug_report", id=row["episode_id"],
                  step=stop["step"])  # fmt: skip
        st.code(wording.visible(stop["shown"]), language=None, wrap_lines=True)
    for decision in (*row["comments"], *filter(None, [row["decision"]])):
        with st.container(border=True):
            st.caption(f"{decision['kind']} by {show.escaped(decision['person'])}, {decision['created_at'][:16]} UTC")
            st.text(decision["reason"])


st.title("Proposals")
rows = queries.proposals(engine())  # not cached: a person who decides must see the current state
if not rows:
    st.markdown(
        "The leading entrant proposes fixes for the failing tests and the issues of a repository. Here you see each "
        "change with the evidence for and against it, and decide. Nothing is published before a person approves it."
    )
    show.empty(
        "Nothing is proposed yet. This command looks for failing tests, and proposes fixes for them:",
        "stackrank fix REPOSITORY --agent repair",
    )
    st.caption(
        "REPOSITORY is the folder of a git repository, which is never changed. The agent repair needs no model and no "
        "key."
    )
    st.stop()

waiting = [row["id"] for row in rows if row["status"] == "open"]
requested = address.number("pr_id") or (waiting or [rows[0]["id"]])[0]
proposal = next((row for row in rows if row["id"] == requested), None)
if proposal is None:
    address.ignore("pr_id", str(requested))
    proposal = rows[0]
position = waiting.index(proposal["id"]) + 1 if proposal["id"] in waiting else 0
queue = [number for number in (*waiting[position:], *waiting[:position]) if number != proposal["id"]]

hint = "" if cards.are_needed() else " Keys: a approve, r reject, c comment, n the next one."
st.caption(
    f"{wording.count_of(len(waiting), 'proposal')} {'waits' if len(waiting) == 1 else 'wait'} for a decision.{hint}"
)
with st.container(horizontal=True, vertical_alignment="center"):
    st.header(f"Proposal {proposal['id']}: {show.escaped(proposal['title'])}", width="content", anchor=False)
    st.badge(_MARKS[proposal["status"]], color="gray")
keys({"a": "pr_approve", "r": "pr_reject", "c": "pr_comment", "n": "pr_next"})
caption = (
    f"{proposal['repository']} at {proposal['base'][:12]}, by {proposal['entrant']}, change {proposal['digest'][:16]}"
)
st.caption(show.escaped(caption))
if proposal["covered_by"]:
    st.info(f"Proposal {proposal['covered_by']}, which is approved, fixes everything that this one fixes.")
if message := st.session_state.pop(_SAID, ""):
    st.error(message)
buttons(proposal, queue[0] if queue else None)
details(proposal)

st.subheader("Queue")
lines = [
    {
        "Proposal": row["id"],
        "Status": _MARKS[row["status"]],
        "Verdict": plain_verdict(row["evidence"]),
        "Problem": row["title"],
        "Entrant": row["entrant"],
        "Repository": row["repository"],
    }
    for row in rows
]
addresses = [address.to("proposals", pr_id=row["id"]) for row in rows]
show.grid(
    lines,
    about=rows,
    links={"Proposal": addresses, "Problem": addresses},
    alt="All proposals, those that wait first, those without doubts first",
)

accepted = ask(acceptance)
if any(row["rate"] is not None for row in accepted):
    st.subheader("What people accept")
    board = [
        {
            "Entrant": row["entrant"],
            "Approved": row["approved"],
            "Rejected": row["rejected"],
            "Rate": wording.percent(row["rate"]),
            "95% interval": wording.interval(row["ci_low"], row["ci_high"]),
            "Hours to decide": row["hours_to_decide"],
        }
        for row in accepted
    ]
    show.grid(board, about=accepted, alt="Share of each entrant's decided proposals that were approved")
    show.csv_button(accepted, name="acceptance", key="pr_acceptance")
    reasons = Counter((row["entrant"], reason) for row in accepted for reason in row["reasons"])
    if reasons:
        st.subheader("Why changes were rejected")
        rejections = [
            {"Entrant": entrant, "Reason": reason, "Times": times} for (entrant, reason), times in reasons.most_common()
        ]
        show.grid(rejections, alt="Reasons for rejections, the most frequent first")
