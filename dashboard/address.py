"""Widgets that keep their values in the page's address, so that a reader can share what they see as a link.

We do not use Streamlit's `bind="query-params"`. In 1.67, a reader who leaves a page with bound widgets by a link gets a
wrong entry in the browser's history: the old page with the new page's parameters. The back button then shows the wrong
run. Here the address is the only state: it is read before a widget is drawn and written when the widget changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote_plus, urlencode

import streamlit as st

SCOPE = (
    *("benchmark", "version", "conditions", "series", "tags", "owner", "last", "runs"),
    *("run", "errors", "disputed"),
)
"""The parameters of the scope of all pages, which every link carries (see `parts.scope`)."""
PICKS = ("lb_pick", "cmp_pick", "cmp_pair", "ts_pair", "ep_after", "runs_before")
"""What a reader has picked within a scope, which another scope may not have."""
_IGNORED = "ignored_parameters"
_LEARNED = "learned_parameters"


def begin() -> None:
    """Forget the ignored parameters of an earlier view, and the learned values if the address has changed since."""
    st.session_state[_IGNORED] = {}
    _all()


def ignored() -> dict[str, str]:
    """Return the parameters of the address that mean nothing on this page, with their values; the page skips them."""
    return dict(st.session_state.get(_IGNORED, {}))


def ignore(name: str, value: str) -> None:
    """Remember that the address asks for a value that does not exist."""
    st.session_state.setdefault(_IGNORED, {})[name] = value


def scope_parameters() -> dict[str, list[str]]:
    """Return the parameters of the scope that the address has."""
    values = _all()
    return {name: values[name] for name in SCOPE if values.get(name)}


def carried() -> dict[str, list[str]]:
    """Return the parameters of the scope that links carry: those of the address that mean something."""
    return {name: values for name, values in scope_parameters().items() if name not in ignored()}


def to(path: str, **query: Any) -> str:
    """Return the address of a page with these parameters, which come last, and the scope; None removes a parameter."""
    parameters = {**carried(), **query}
    text = urlencode({name: value for name, value in parameters.items() if value is not None}, doseq=True)
    return f"{path}?{text}" if text else path


NAME = r"^[^?]*\?name=([^&]*)"
"""Finds the name in an address that has one, as a column of links shows it."""


def named(path: str, name: object) -> str:
    """Return an address that begins with the name of what it leads to, by which a table sorts and shows it."""
    page, _, query = path.partition("?")
    return f"{page}?name={quote_plus(str(name), errors='replace')}&{query}"


def learn(**values: Any) -> None:
    """Record values that a component has put into the address by itself; None removes a parameter.

    Streamlit keeps reporting the old address until it changes the address itself or the reader goes back; until then
    the recorded values take precedence.
    """
    learned = {name: [] if value in (None, "") else [str(value)] for name, value in values.items()}
    st.session_state[_LEARNED] = (_told(), learned)


def _told() -> dict[str, list[str]]:
    return {name: st.query_params.get_all(name) for name in st.query_params}


def _all() -> dict[str, list[str]]:
    address = _told()
    address_then, learned = st.session_state.get(_LEARNED, (address, {}))
    if address_then == address:
        return {**address, **learned}
    del st.session_state[_LEARNED]
    return address


def text(name: str) -> str:
    """Return the last value of the parameter `name` in the address; empty if there is none."""
    return next(reversed(_all().get(name, [])), "").replace("\0", "")


def known(name: str, choices: Sequence[str]) -> list[str]:
    """Return the values under `name` that are among the choices, and remember the others as ignored."""
    values = list(dict.fromkeys(_all().get(name, [])))
    for value in values:
        if value not in choices:
            ignore(name, value)
    return [value for value in values if value in choices]


def number(name: str) -> int | None:
    """Return the id or index under `name` in the address; None if it is missing or not a valid number."""
    digits = text(name).strip()
    if digits.isascii() and digits.isdigit() and len(digits) < 10:
        return int(digits)
    if digits:
        ignore(name, digits)
    return None


def put(**values: Any) -> None:
    """Change the address as one step in the browser's history; None, "" and [] remove a parameter."""
    old = {name: value for name, value in _all().items() if value}
    new = {name: value if isinstance(value, list | tuple) else [str(value)] for name, value in values.items()}
    removed = {name for name, value in values.items() if value is None or value in ("", [], ())}
    st.query_params.from_dict({name: value for name, value in {**old, **new}.items() if name not in removed})


def _keep(name: str, default: Any, resets: Sequence[str]) -> None:
    value = st.session_state[_key(name)]
    put(**{name: None if value == default else value}, **dict.fromkeys(resets))


def _key(name: str) -> str:
    return f"{name}_widget"


def _draw(
    widget: Callable[..., Any],
    name: str,
    value: Any,
    /,
    *arguments: Any,
    default: Any,
    resets: Sequence[str],
    **options: Any,
) -> Any:
    st.session_state[_key(name)] = value
    return widget(*arguments, key=_key(name), on_change=_keep, args=(name, default, resets), **options)


def picked(name: str, ids: Sequence[int]) -> list[int]:
    """Return the comma-separated ids under `name` in the address that are among `ids`."""
    chosen_ids: list[int] = []
    for part in filter(None, st.query_params.get(name, "").split(",")):
        if part.isascii() and part.isdigit() and len(part) < 10 and int(part) in ids:
            chosen_ids += [int(part)] if int(part) not in chosen_ids else []
        else:
            ignore(name, part)
    return chosen_ids


def text_input(label: str, name: str, *, resets: Sequence[str] = (), max_chars: int = 200, **options: Any) -> str:
    """Let the reader enter a line of at most `max_chars` characters."""
    value = st.query_params.get(name, "").replace("\0", "")[:max_chars]
    return str(_draw(st.text_input, name, value, label, default="", resets=resets, **options))


def number_input(label: str, name: str, *, integer: bool, resets: Sequence[str] = (), **options: Any) -> float | None:
    """Let the reader enter a number that is not negative; None if the field is empty."""
    try:
        value: float | None = float(st.query_params.get(name, ""))
        value = value if value is not None and 0 <= value < 1e9 else None
    except ValueError:
        value = None
    if value is None and st.query_params.get(name):
        ignore(name, st.query_params[name])
    low: float = 0 if integer else 0.0
    initial = int(value) if integer and value is not None else value
    options |= {"min_value": low, "value": None}
    entered: float | None = _draw(st.number_input, name, initial, label, default=None, resets=resets, **options)
    return entered


def selectbox(
    label: str,
    choices: Sequence[str],
    name: str,
    *,
    default: str | None = None,
    resets: Sequence[str] = (),
    **options: Any,
) -> str | None:
    """Let the reader select one of the choices; return it, or `default`."""
    value = next(iter(known(name, choices)), default)
    index = choices.index(default) if default in choices else None
    selected: str | None = _draw(
        st.selectbox, name, value, label, choices, default=default, resets=resets, index=index, **options
    )
    return selected


def segmented(label: str, choices: Sequence[str], name: str, *, default: str, **options: Any) -> str:
    """Let the reader select exactly one of a few choices."""
    value = next(iter(known(name, choices)), default)
    selected = _draw(
        st.segmented_control, name, value, label, choices, default=default, resets=(), required=True, **options
    )
    return str(selected or default)


def multiselect(
    label: str, choices: Sequence[str], name: str, *, resets: Sequence[str] = (), **options: Any
) -> tuple[str, ...]:
    """Let the reader select any number of many choices."""
    value = known(name, choices)
    return tuple(_draw(st.multiselect, name, value, label, choices, default=[], resets=resets, **options))


def pills(label: str, choices: Sequence[str], name: str, *, resets: Sequence[str] = ()) -> tuple[str, ...]:
    """Let the reader select any number of a few choices."""
    value = known(name, choices)
    return tuple(_draw(st.pills, name, value, label, choices, default=[], resets=resets, selection_mode="multi"))


def pager(name: str, following: int | None, *, first: str, next_label: str) -> None:
    """Draw buttons to the first page and to the page after the row with the id `following`; `name` holds that id."""
    with st.container(horizontal=True):
        if name in st.query_params:
            st.button(first, icon=":material/first_page:", on_click=put, kwargs={name: None})
        if following is not None:
            st.button(next_label, icon=":material/chevron_right:", on_click=put, kwargs={name: following})


def tabs(name: str, parts: Mapping[str, Callable[[], None]], *, default: str | None = None) -> None:
    """Draw a labelled tab for each part; only the open tab is filled."""
    labels = list(parts)
    first = default or labels[0]
    value = next(iter(known(name, labels)), first)
    for tab, fill in zip(_draw(st.tabs, name, value, labels, default=first, resets=()), parts.values(), strict=True):
        if tab.open:
            with tab:
                fill()
