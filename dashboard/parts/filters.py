"""The filters that say which episodes a page is about. The address holds them, under a prefix for each page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import streamlit as st
from sqlalchemy import Engine

from stackrank import wording
from stackrank.dashboard import address
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import show
from stackrank.db import queries
from stackrank.db.queries import Scope
from stackrank.db.writes import conditions
from stackrank.terms import ErrorsAre

Answer = TypeVar("Answer")
_LAST = {"All": None, "10": 10, "5": 5, "1": 1}
_FINISHED = {"Finished": True, "All": False}
_DISPUTED = {"Counted": False, "Left out": True}


def choose(prefix: str, *, errors: bool = True) -> Scope:
    """Draw the filters and a summary of the scope, and return the scope. Without a run, the page ends with a hint.

    A link may ask for one run (`PREFIX_run`); then the other filters are not drawn. `errors`: whether errors may count
    as failures on this page.
    """
    scope = _of_one_run(prefix) if st.query_params.get(f"{prefix}_run") else _of_many(prefix)
    scoped = ask(queries.describe_scope, scope)
    if scoped["disputed_tasks"]:
        choice = address.segmented("Disputed tasks", list(_DISPUTED), f"{prefix}_disputed", default="Counted")
        scope = replace(scope, without_disputed=_DISPUTED[choice])
    if errors and any(scoped["errors"].values()):
        choices = [str(rule) for rule in ErrorsAre]
        choice = address.segmented("Errors", choices, f"{prefix}_errors", default=choices[0], format_func=wording.words)
        scope = replace(scope, errors=ErrorsAre(choice))
    show.scope(ask(queries.describe_scope, scope))
    return scope


def _of_one_run(prefix: str) -> Scope:
    run = ask(queries.run, st.query_params[f"{prefix}_run"])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Only run {run['id']}: **{show.escaped(run['name'])}**", width="content")
        clear = {f"{prefix}_run": None}
        st.button("All runs", icon=":material/close:", on_click=address.put, kwargs=clear, key=f"{prefix}_all")
    return Scope(run=run["id"])


def _of_many(prefix: str) -> Scope:
    runs = ask(queries.runs, limit=500)
    if not runs:
        show.empty("No entrant has played yet. This page is about the runs of a benchmark.")
        st.stop()
    # By default a page is about the benchmark that finished last, not the one that was started last.
    usual = ask(queries.describe_scope, Scope())["benchmark"] or runs[0]["benchmark"]
    benchmarks = list(dict.fromkeys(run["benchmark"] for run in runs))
    with st.container(horizontal=True):
        benchmark = address.selectbox("Benchmark", benchmarks, f"{prefix}_benchmark", default=usual, width=220)
        of_it = [run for run in runs if run["benchmark"] == benchmark]
        series = sorted({run["series"] for run in of_it} - {""})
        tags = sorted({tag for run in of_it for tag in run["tags"]})
        # Newest first; a filter with only one choice is not drawn.
        under = {run["conditions_digest"]: conditions.describe(run["conditions"]) for run in of_it}
        versions = list(dict.fromkeys(run["benchmark_digest"] for run in of_it))
        finished = address.segmented("Runs", list(_FINISHED), f"{prefix}_runs", default="Finished")
        board = _one_of("Series", series, f"{prefix}_board") if series else None
        version = _one_of("Version", versions, f"{prefix}_version") if len(versions) > 1 else None
        digest = _one_of("Conditions", list(under), f"{prefix}_conditions", under) if len(under) > 1 else None
        last = address.segmented("Last runs", list(_LAST), f"{prefix}_last", default="All")
        picked = address.multiselect("Tags", tags, f"{prefix}_tags", width=260) if tags else ()
    return Scope(
        benchmark=benchmark,
        version=version,
        conditions=digest,
        series=board,
        tags=picked,
        last=_LAST[last],
        finished_only=_FINISHED[finished],
    )


def carried(prefix: str) -> Scope:
    """Return the scope of a page about one thing: that of the link (see `query`), with a choice of runs that count."""
    parameters = st.query_params
    errors = ErrorsAre(next(iter(address.known(f"{prefix}_errors", list(ErrorsAre))), ErrorsAre.LEFT_OUT))
    left_out = _DISPUTED[next(iter(address.known(f"{prefix}_disputed", list(_DISPUTED))), "Counted")]
    if parameters.get(f"{prefix}_run"):
        return replace(_of_one_run(prefix), errors=errors, without_disputed=left_out)
    finished = address.segmented("Runs", list(_FINISHED), f"{prefix}_runs", default="Finished")
    return Scope(
        conditions=parameters.get(f"{prefix}_conditions"),
        series=parameters.get(f"{prefix}_board"),
        tags=tuple(parameters.get_all(f"{prefix}_tags")),
        last=_LAST.get(parameters.get(f"{prefix}_last", "All")),
        finished_only=_FINISHED[finished],
        errors=errors,
        without_disputed=left_out,
    )


def _one_of(label: str, choices: list[str], name: str, labels: Mapping[str, str] | None = None) -> str | None:
    """Let the reader select one of the choices; None means any series, or else that of the newest finished run."""

    def shown(choice: str) -> str:
        return wording.visible((labels or {}).get(choice, choice))

    empty = "Any" if label == "Series" else "As the newest"
    return address.selectbox(label, choices, name, placeholder=empty, format_func=shown, width=220)


def asked(
    prefix: str, question: Callable[[Engine, Scope], list[Answer]], *, errors: bool = True
) -> tuple[Scope, list[Answer]]:
    """Draw the filters and return their scope and the answer for it. Without an answer, the page ends with a hint."""
    scope = choose(prefix, errors=errors)
    rows = ask(question, scope)
    if not rows:
        st.info("No episode matches these filters, or none has a verdict yet.", icon=":material/filter_alt_off:")
        st.stop()
    return scope, rows


def query(prefix: str, scope: Scope) -> dict[str, Any]:
    """Return the parameters of a link to the page with this prefix, about the same episodes."""
    options = {} if scope.errors == ErrorsAre.LEFT_OUT else {f"{prefix}_errors": str(scope.errors)}
    if scope.without_disputed:
        options[f"{prefix}_disputed"] = "Left out"
    if scope.run is not None:
        return {f"{prefix}_run": str(scope.run), **options}
    values: dict[str, Any] = {"benchmark": scope.benchmark, "board": scope.series, "tags": list(scope.tags)}
    values |= {"version": scope.version, "conditions": scope.conditions}
    values["last"] = None if scope.last is None else str(scope.last)
    values["runs"] = None if scope.finished_only else "All"
    return {f"{prefix}_{name}": value for name, value in values.items() if value} | options
