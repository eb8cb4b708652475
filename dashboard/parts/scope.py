"""The scope of all pages: which episodes their numbers are about. The address holds it, and every link carries it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

import streamlit as st
from sqlalchemy import Engine

from stackrank import wording
from stackrank.dashboard import address
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import show
from stackrank.db import queries
from stackrank.db.connection.errors import DatabaseError, NotFound
from stackrank.db.queries import Scope
from stackrank.db.writes import conditions
from stackrank.terms import ErrorsAre

Answer = TypeVar("Answer")
_LAST = {"All": None, "10": 10, "5": 5, "1": 1}
_RUNS = {"Finished": True, "All": False}
_DISPUTED = {"Counted": False, "Left out": True}
_DRAWN = "scope_that_was_drawn"


@st.fragment
def bar(*, wide: bool = False) -> None:
    """Draw the scope in one line, which opens to change it. A changed scope draws the whole page again.

    `wide`: see `current`.
    """
    try:
        label = _summary(current(wide=wide))
    except (DatabaseError, NotFound):
        return  # the page says so
    box = st.popover(label, icon=":material/filter_alt:", type="tertiary", key="scope_open", on_change="rerun")
    if box.open:
        with box:
            _widgets()
    if st.session_state.get(_DRAWN) != address.scope_parameters():
        st.rerun(scope="app")


def begin() -> None:
    """Remember the scope with which the page is drawn."""
    st.session_state[_DRAWN] = address.scope_parameters()


def current(*, wide: bool = False) -> Scope:
    """Return the scope in the address; values that no run has are ignored. Raises `NotFound` for an unknown run.

    `wide`: for lists, which show every benchmark if the address asks for none.
    """
    errors = ErrorsAre(_one("errors", list(map(str, ErrorsAre))) or ErrorsAre.LEFT_OUT)
    without_disputed = _DISPUTED[_one("disputed", list(_DISPUTED)) or "Counted"]
    if run := address.text("run"):
        return Scope(run=ask(queries.run, run)["id"], errors=errors, without_disputed=without_disputed)
    usual = "" if wide else ask(queries.usual_benchmark)
    if not address.carried():
        return Scope(benchmark=usual or None)
    choices = ask(queries.scope_choices)
    benchmark = _one("benchmark", [row["benchmark"] for row in choices]) or usual
    of_it = [row for row in choices if not benchmark or row["benchmark"] == benchmark]
    return Scope(
        benchmark=benchmark or None,
        version=_one("version", [row["version"] for row in of_it]),
        conditions=_one("conditions", [row["conditions_digest"] for row in of_it]),
        series=_one("series", [row["series"] for row in of_it]),
        owner=_one("owner", [row["owner"] for row in of_it]),
        tags=tuple(address.known("tags", [tag for row in of_it for tag in row["tags"]])),
        last=_LAST[_one("last", list(_LAST)) or "All"],
        finished_only=_RUNS[_one("runs", list(_RUNS)) or "Finished"],
        errors=errors,
        without_disputed=without_disputed,
    )


def shown(*, errors: bool = True) -> Scope:
    """Draw what the numbers of the page are about, and return the scope.

    `errors`: whether errors can count as failures on this page.
    """
    scope = current() if errors else replace(current(), errors=ErrorsAre.LEFT_OUT)
    show.scope(ask(queries.describe_scope, scope))
    return scope


def asked(question: Callable[[Engine, Scope], list[Answer]], *, errors: bool = True) -> tuple[Scope, list[Answer]]:
    """Draw the scope, and return it with the answer for it. Without an answer, the page ends with a hint."""
    scope = shown(errors=errors)
    rows = ask(question, scope)
    if not rows:
        nothing("No episode in this scope has a verdict yet.")
    return scope, rows


def nothing(sentence: str) -> NoReturn:
    """End a page that has nothing to show; if the address narrows its scope, with a button that shows everything."""
    st.info(sentence, icon=":material/filter_alt_off:")
    _offer_everything("scope_widest")
    st.stop()


def _offer_everything(key: str) -> None:
    """Draw a button that leaves the scope, if the address has one."""
    if address.carried():
        widest = dict.fromkeys(address.carried())
        st.button("Show everything", icon=":material/close:", on_click=address.put, kwargs=widest, key=key)


def query(scope: Scope) -> dict[str, Any]:
    """Return the parameters of a link to a page with this scope; None for each that the scope does not have."""
    values: dict[str, Any] = dict.fromkeys(address.SCOPE)
    values["errors"] = None if scope.errors == ErrorsAre.LEFT_OUT else str(scope.errors)
    values["disputed"] = "Left out" if scope.without_disputed else None
    if scope.run is not None:
        return values | {"run": str(scope.run)}
    values |= {name: getattr(scope, name) for name in ("version", "conditions", "series", "owner")}
    values["benchmark"] = scope.benchmark if scope.benchmark != ask(queries.usual_benchmark) else None
    values["tags"] = list(scope.tags) or None
    values["last"] = None if scope.last is None else str(scope.last)
    values["runs"] = None if scope.finished_only else "All"
    return values


def _one(name: str, choices: list[str]) -> str | None:
    return next(iter(address.known(name, choices)), None)


def _summary(scope: Scope) -> str:
    """Say in a few words what the scope is, with everything that is not usual."""
    parts = [f"run {scope.run}"] if scope.run is not None else [scope.benchmark or _every_benchmark()]
    parts += [value for value in (scope.series, scope.owner, *scope.tags) if value]
    parts += [f"version {scope.version[:8]}"] if scope.version else []
    parts += [f"conditions {scope.conditions[:8]}"] if scope.conditions else []
    parts += [f"last {wording.count_of(scope.last, 'run')}"] if scope.last else []
    parts += [] if scope.finished_only else ["unfinished runs too"]
    parts += ["errors as failures"] if scope.errors == ErrorsAre.AS_FAILURES else []
    parts += ["without disputed tasks"] if scope.without_disputed else []
    return show.escaped(", ".join(part[:40] for part in parts))


def _every_benchmark() -> str:
    """Name the benchmark if there is but one."""
    names = {row["benchmark"] for row in ask(queries.scope_choices)}
    return names.pop() if len(names) == 1 else "every benchmark"


def _widgets() -> None:
    """Draw a widget for each part of the scope of which there is more than one value."""
    scope = current()
    _offer_everything("scope_reset")
    errors = [str(rule) for rule in ErrorsAre]
    address.segmented("Errors", errors, "errors", default=errors[0], format_func=wording.words)
    address.segmented("Disputed tasks", list(_DISPUTED), "disputed", default="Counted")
    if scope.run is not None:
        return
    choices = ask(queries.scope_choices)
    benchmarks = list(dict.fromkeys(row["benchmark"] for row in choices))
    if benchmarks:
        _pick("Benchmark", "benchmark", benchmarks, default=ask(queries.usual_benchmark))
    of_it = [row for row in choices if row["benchmark"] == scope.benchmark]
    address.segmented("Runs", list(_RUNS), "runs", default="Finished")
    address.segmented("Last runs", list(_LAST), "last", default="All")
    _pick("Series", "series", sorted({row["series"] for row in of_it} - {""}))
    _pick("People", "owner", sorted({row["owner"] for row in of_it} - {""}))
    if tags := sorted({tag for row in of_it for tag in row["tags"]}):
        address.multiselect("Tags", tags, "tags", resets=address.PICKS)
    _pick("Version", "version", list(dict.fromkeys(row["version"] for row in of_it)), empty="As the newest")
    under = {row["conditions_digest"]: conditions.describe(row["conditions"]) for row in of_it}
    _pick("Conditions", "conditions", list(under), under, empty="As the newest")


def _pick(
    label: str,
    name: str,
    choices: list[str],
    labels: dict[str, str] | None = None,
    *,
    default: str | None = None,
    empty: str = "Any",
) -> None:
    if len(choices) > 1 or address.text(name):
        address.selectbox(
            label,
            choices,
            name,
            default=default,
            resets=address.PICKS,
            placeholder=empty,
            format_func=lambda choice: wording.visible(str((labels or {}).get(choice, choice))),
        )
