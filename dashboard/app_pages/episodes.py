"""Finding episodes."""

import re
from typing import Any

import streamlit as st

from stackrank import wording
from stackrank.dashboard import address
from stackrank.dashboard.data import ask, engine
from stackrank.dashboard.parts import labels as said
from stackrank.dashboard.parts import show
from stackrank.dashboard.parts.scope import current
from stackrank.dashboard.parts.tables import episode_table
from stackrank.db import queries
from stackrank.db.queries.episodes.episodes import EpisodeSummary
from stackrank.db.search import HELP, STEP, TEXT, parse
from stackrank.errors import UsageError
from stackrank.terms import UNKNOWN, FailurePoint, StopReason, Verdict
from stackrank.wording import count_of

_PAGE = 100
# The most episodes that a CSV has.
_MOST_SAVED = 1_000_000
# The most characters of a query.
_MOST_ASKED = 500
_MORE = ("ep_failure", "ep_stop", "ep_tool", "ep_steps", "ep_steps_max", "ep_cost", "ep_cost_max", "ep_tag")
# Seconds after which a search of texts shows what it has found so far.
_PATIENCE_S = 4.0
_FAILURES = [*map(str, FailurePoint), UNKNOWN]
_STOPS = list(map(str, StopReason))

with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    st.title("Episodes", width="content")
    said.saved_views("episodes", "ep_")

names = sorted({entrant["name"] for entrant in ask(queries.entrants)})


_RESETS = ("ep_after",)
query = address.text_input(
    "Query", "ep_query", resets=_RESETS, placeholder='entrant:qwen -breakpoint tool:pdb text:"AssertionError" steps>20',
    help=HELP, icon=":material/search:", max_chars=_MOST_ASKED,
)  # fmt: skip
try:
    words = parse(query)
except UsageError as error:
    st.error(show.as_message(error), icon=":material/search_off:")
    st.stop()
with show.filters():
    with st.container(horizontal=True):
        entrants = address.multiselect("Entrant", names, "ep_entrant", resets=_RESETS, width=300)
        in_query = [value for word in words if word.field == "verdict" and not word.negated for value in word.values]
        if in_query:
            st.pills("Verdict, from the query", in_query, selection_mode="multi", default=in_query, disabled=True)
        verdicts = () if in_query else address.pills("Verdict", list(map(str, Verdict)), "ep_verdict", resets=_RESETS)
        text = address.text_input("Task or error contains", "ep_text", resets=_RESETS, width=220)
    shows_more = any(name in st.query_params for name in _MORE)
    with st.expander("More filters", expanded=shows_more, type="compact"), st.container(horizontal=True):
        failures = address.multiselect(
            "Failure point", _FAILURES, "ep_failure", resets=_RESETS, format_func=wording.words, width=300
        )
        stops = address.multiselect(
            "Stop reason", _STOPS, "ep_stop", resets=_RESETS, format_func=wording.words, width=300
        )
        tool = address.text_input("Tool used", "ep_tool", resets=_RESETS, width=140, placeholder="pdb")
        steps_min = address.number_input("Steps, at least", "ep_steps", integer=True, resets=_RESETS, width=140)
        steps_max = address.number_input("Steps, at most", "ep_steps_max", integer=True, resets=_RESETS, width=140)
        cost_min = address.number_input("Cost, at least $", "ep_cost", integer=False, resets=_RESETS, width=140)
        cost_max = address.number_input("Cost, at most $", "ep_cost_max", integer=False, resets=_RESETS, width=140)
        tag = address.text_input("Tag", "ep_tag", resets=_RESETS, width=140)

filters: dict[str, Any] = {
    "entrant": entrants,
    "verdict": verdicts,
    "failure_point": ["" if point == UNKNOWN else point for point in failures],
    "stop_reason": stops,
    "tool": tool or None,
    "text": text or None,
    "steps_min": steps_min,
    "steps_max": steps_max,
    "cost_min": cost_min,
    "cost_max": cost_max,
    "tags": tag or (),
    "status": ("running", "done"),
}
narrowed = [name for name in st.query_params if name.startswith("ep_") and name != "ep_after"]
narrowed += list(address.carried())
scope = current(wide=True)
last_id = address.number("ep_after")
page_filters = {**filters, "scope": scope, "newest_first": True}
in_texts = queries.asks_for_text(query)
total = ask(queries.count_matches, query, **filters, scope=scope)
rest = total if last_id is None else ask(queries.count_matches, query, **filters, scope=scope, before_id=last_id)
looked_at, following = total - rest, last_id
progress = st.empty()
while True:
    matches = ask(queries.search, query, **page_filters, after_id=following, limit=_PAGE, seconds=_PATIENCE_S)
    rows, following = matches["episodes"], matches["following"]
    looked_at += matches["looked_at"]
    if rows or following is None:
        break
    searched = f"Nothing found yet; the texts of {looked_at:,} of {count_of(total, 'episode')} are searched so far."
    progress.progress(min(1.0, looked_at / max(1, total)), text=searched)
progress.empty()


def marked(excerpt: str) -> str:
    """Mark the texts of the query in what was found."""
    phrases = [re.escape(value) for word in words if word.field == TEXT and not word.negated for value in word.values]
    return re.sub("|".join(phrases), r"«\g<0>»", excerpt, flags=re.IGNORECASE) if phrases else excerpt


def everything() -> list[EpisodeSummary]:
    """Return all episodes that match, for the CSV; not cached, because there may be very many."""
    return queries.search(engine(), query, **page_filters, limit=_MOST_SAVED)["episodes"]


def matching() -> str:
    """Say how many episodes match, and which of them are shown; of a search of texts what is known so far."""
    if not in_texts:
        first = total - rest + 1
        return f"{first:,}–{first + len(rows) - 1:,} of {count_of(total, 'episode')}."
    if following is None and last_id is None:
        return f"{count_of(len(rows), 'episode has the text', 'episodes have the text')}."
    found = f"{count_of(len(rows), 'episode')} found on this page"
    return f"{found}; the texts of {looked_at:,} of {count_of(total, 'episode')} are searched so far."


if rows:
    st.caption(f"{matching()} Newest first, without those that have not started.")
    saved = "all_matching_episodes" if narrowed else "all_episodes"
    hits = {number: {**hit, "excerpt": marked(hit["excerpt"])} for number, hit in matches["hits"].items()}
    episode_table(rows, key="ep_table", hits=hits, everything=everything, name=saved)
else:
    found_none = "No episode matches these filters." if narrowed else "No episode has started yet."
    if in_texts and not any(word.field == STEP for word in words):
        found_none += " The text of the reset is searched only with `step:0`."
    st.info(found_none if last_id is None else "No further episode matches.", icon=":material/filter_alt_off:")
    if narrowed:
        widest = dict.fromkeys([*narrowed, *_RESETS])
        st.button("Show all episodes", icon=":material/close:", on_click=address.put, kwargs=widest)
address.pager("ep_after", following, first="First page", next_label="Next page" if len(rows) == _PAGE else "Search on")
