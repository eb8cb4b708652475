"""The debugger: one component over the whole height of the window, and the elements that feed it.

The browser shows the steps it has and reports in the background which one is selected; the steps around it are sent
before they are asked for. Each part is an element of its own, with the same bytes while its content is the same, so
that it is sent once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import streamlit as st

from stackrank.dashboard import data
from stackrank.dashboard.browser.modules import component, feed, packed
from stackrank.dashboard.data import ask
from stackrank.dashboard.trace import conversation, places, travel, work
from stackrank.dashboard.trace.chunks import CHUNK, Chunk, chunk, source_at
from stackrank.dashboard.trace.places import Excerpt
from stackrank.dashboard.trace.steps import outline, start_of, window_of
from stackrank.dashboard.trace.texts import MOST
from stackrank.dashboard.trace.view import View, current, keep
from stackrank.db import queries
from stackrank.db.connection.engine import default_url
from stackrank.terms import DEBUGGERS
from stackrank.wording import visible

_VERSIONS = 24
"""The number of file versions that are kept ready, those of the steps nearest to the selected one."""
_OF_STEPS = ("id", "milestones", "failure_step")
"""The fields of an episode that its steps need."""
_TEXTS = ("thought", "observation", "arguments")


STYLES = [f"{name}.css" for name in ("lib/base", "trace/debugger", "trace/list", "trace/source", "trace/step")]
"""The styles of what shows steps."""
_DEBUGGER = component("debugger", "trace/debugger.js", html="trace/debugger.html", styles=STYLES)


def debugger(episode: Mapping[str, Any], last: int) -> None:
    """Draw the episode up to its newest step."""
    view, key = current(), f"trace_{episode['id']}"
    start = start_of(episode, last)
    selected = min(last, start if view.step is None else view.step)

    def changed() -> None:
        # The last event of a reader who has just left the trace arrives when the component is gone.
        keep(getattr(st.session_state.get(key), "view", None))

    story = [[[visible(text), step] for text, step in clauses] for clauses in queries.story(episode)]
    content = {**steps_of(episode, selected, last), "start": start, "story": story, "faults": _faults(episode)}
    _DEBUGGER(key=key, data=packed(content), on_view_change=changed)
    with st.container(key="trace_feed", gap=None):
        for name, value in parts(episode, view, selected, last):
            feed(episode["id"], name, value())


def steps_of(episode: Mapping[str, Any], selected: int, last: int) -> dict[str, Any]:
    """Return the outline of the steps around the selected one, and what the browser has to know about them."""
    marks = tuple(episode["milestones"].items())
    steps = outline(default_url(), episode["id"], window_of(selected), last, marks)
    return {
        **steps,
        "episode": episode["id"],
        "chunk": CHUNK,
        "failure": episode["failure_step"],
        "deciding": ask(work.deciding_edit, episode["id"]),
        "debugs": bool(steps["stops"]) or has_debugger(episode),
    }


def has_debugger(episode: Mapping[str, Any]) -> bool:
    """Whether the entrant has a tool that shows what a program does while it runs, so that there can be a stack."""
    return not set(DEBUGGERS).isdisjoint(episode["tool_list"])


def _faults(episode: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return the lines that the known fix changes, but only once the reader has asked for them."""
    if not st.session_state.get("trace_spoiler"):
        return {}
    return {visible(str(fault.get("file"))): fault.get("lines") or [] for fault in episode["faults"]}


def parts(episode: Mapping[str, Any], view: View, selected: int, last: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield name and content of each part that the browser needs now or next."""
    chunk_start = selected // CHUNK * CHUNK
    chunks = {
        first: _chunk(default_url(), {name: episode[name] for name in _OF_STEPS}, first, min(last, first + CHUNK - 1))
        for first in (chunk_start, chunk_start + CHUNK, chunk_start - CHUNK)
        if 0 <= first <= last
    }
    for first, (steps, _) in chunks.items():
        yield f"steps:{first}", partial(_same, steps)
    around = {
        first + at: excerpt for first, (_, excerpts) in chunks.items() for at, excerpt in enumerate(excerpts) if excerpt
    }
    versions: dict[str, Excerpt] = {}
    for step in sorted(around, key=lambda step_index: abs(step_index - selected)):
        if len(versions) < _VERSIONS:
            versions.setdefault(around[step].key, around[step])
    if view.file:
        source, excerpt = source_at(episode, selected, view.file)
        versions |= {excerpt.key: excerpt} if excerpt else {}
        yield f"source:{selected}:{view.file}", partial(_same, source)
    for key, excerpt in versions.items():
        yield f"file:{key}", partial(places.lines_of, *excerpt)
    yield from _asked(episode, view, selected, last)


def _asked(episode: Mapping[str, Any], view: View, selected: int, last: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the parts that only some readers want to see."""
    if view.tab == "Diff":
        yield f"Diff:{selected}", partial(work.diffs, episode, selected)
    if view.tab == "Tests":
        yield f"Tests:{selected}", partial(work.tests, episode, selected)
    if view.tab == "Model":
        exchanges = queries.exchanges(data.engine(), episode["id"], selected)
        yield f"Model:{selected}", partial(conversation.questions, exchanges)
    if view.local:
        pauses = travel.pauses(default_url(), episode["id"], last)
        yield f"local:{view.local}", partial(travel.values, pauses, view.local)
    if view.find:
        found_in = ask(queries.find_hits, episode["run_id"], episode["id"], view.find)
        yield f"find:{view.find}", partial(_same, [{**hit, "excerpt": visible(hit["excerpt"])} for hit in found_in])
    if view.load in _TEXTS:
        yield f"{view.load}:{selected}", partial(_whole, episode["id"], selected, view.load)


def _whole(episode_id: int, step: int, name: str) -> str:
    # Not cached like other answers: it may have megabytes.
    return visible(queries.step_text(data.engine(), episode_id, step, name, chars=MOST))


def _same(value: Any) -> Any:
    return value


@st.cache_data(ttl=600, max_entries=20, show_spinner=False)
def _chunk(url: str, episode: dict[str, Any], first: int, last: int) -> Chunk:
    return chunk(episode, first, last)
