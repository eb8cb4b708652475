"""Building blocks of several pages. What agents and users wrote is shown as text, never as Markdown or HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, Literal, NoReturn

import pandas as pd
import streamlit as st

from stackrank.dashboard import address
from stackrank.dashboard.parts import cards, columns
from stackrank.db import queries
from stackrank.db.connection.errors import DatabaseError, NotComparable, NotFound
from stackrank.db.queries.boards.scope_description import ScopeDescription
from stackrank.db.queries.comparisons.claims import direction
from stackrank.db.queries.comparisons.compare import Comparison
from stackrank.host.wall_clock import seconds_since
from stackrank.wording import NOTHING, csv_lines, visible, words

VERDICTS = {"resolved": "✓ resolved", "unresolved": "✗ unresolved", "error": "! error"}
_STATES = {"running": "▶ running", "pending": "– pending", "not_played": "– not played"}
_BADGES = {
    "resolved": ("green", "check"),
    "unresolved": ("orange", "close"),
    "error": ("violet", "warning"),
    "": ("gray", "schedule"),
    "running": ("blue", "play_arrow"),
    "finished": ("green", "check"),
    "cancelled": ("gray", "block"),
    "failed": ("red", "error"),
    "pending": ("gray", "schedule"),
    "not_played": ("gray", "skip_next"),
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|>~$:<&@^=\"'])")


def escaped(text: object) -> str:
    """Escape `text` for places that render Markdown: labels, titles, captions, messages."""
    return _MARKDOWN.sub(r"\\\1", visible(re.sub(r"\s+", " ", str(text))))


def titled(*parts: object) -> None:
    """Set the title of the browser's tab: what this page is about, the most specific part first."""
    titles = [visible(re.sub(r"\s+", " ", str(part)))[:80] for part in (*parts, "stackrank")]
    st.set_page_config(page_title=" - ".join(titles))


def breadcrumb(*links: tuple[str, str, Mapping[str, Any]]) -> None:
    """Draw the path to this page. `links`: page, label and query of each place above it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="breadcrumb"):
        for place, (page, label, query) in enumerate(links):
            if place:
                st.markdown("›", width="content")
            link(page, label, None, **query)


_FILTERS = "filters_are_open"


@contextmanager
def filters() -> Iterator[None]:
    """Draw the filters of a page in here. A phone has them behind one button (`app.css`), a wide window shows them."""
    is_open = bool(st.session_state.get(_FILTERS))
    with st.container(key="filters_button"):
        label, icon = ("Hide filters", "expand_less") if is_open else ("Filters", "tune")
        st.button(label, icon=f":material/{icon}:", width="stretch", on_click=_turn_filters, args=(not is_open,))
    with st.container(key="filters_open" if is_open else "filters_closed"):
        yield


def _turn_filters(is_open: bool) -> None:
    st.session_state[_FILTERS] = is_open


def badge(state: str, label: str | None = None) -> None:
    """Draw a verdict or a run's status; colour, icon and word say the same."""
    color, icon = _BADGES.get(state, ("gray", "help"))
    text = label or words(state) or "open"
    st.badge(escaped(text), icon=f":material/{icon}:", color=color)  # type: ignore[arg-type]


def verdict(episode: Mapping[str, Any]) -> str:
    """Return how an episode ended, or its state if it has not; a sign and a word say the same."""
    if not episode["verdict"]:
        return _STATES.get(episode["status"], words(episode["status"]))
    return VERDICTS[episode["verdict"]] + (" (unverified)" if episode["unverified"] else "")


def story(page: str, episode: Mapping[str, Any]) -> None:
    """Draw the story of an episode; each clause that a step shows is a link to that step. `page`: of episodes."""
    with st.container(horizontal=True, vertical_alignment="center", gap=None, key=f"story_{episode['id']}"):
        for clauses in queries.story(episode):
            for place, clause in enumerate(clauses):
                text = escaped(f"{clause.text}{'.' if place == len(clauses) - 1 else ','}")
                if clause.step is None:
                    st.markdown(text, width="content")
                else:
                    link(page, text, None, id=episode["id"], step=clause.step)


TEST = (
    "p is the chance of a difference this large if there is none. Holm's correction makes up for testing several pairs "
    "at once: a difference is called clear if the corrected p is below 0.05. The interval is corrected likewise, and "
    "leaves out 0 if and only if the difference is clear."
)
"""Explains what the evidence of a comparison says."""


def comparison(pair: Comparison, basis: str = "") -> None:
    """Draw what a comparison says in one line, what that rests on, and what speaks against it.

    Doubts warn only of a clear difference; where there is none, they cannot mislead.
    """
    st.markdown(f":material/compare_arrows: **{escaped(queries.headline(pair))}**")
    if lines := f"{queries.evidence(pair)} {basis}".strip():
        st.caption(escaped(lines), help=escaped(f"{TEST} {queries.describe_alone(pair)}".strip()))
    if pair["warning"] and direction(pair["difference"], pair["p_holm"]):
        st.warning(escaped(pair["warning"]), icon=":material/warning:")
    elif pair["warning"]:
        st.caption(escaped(pair["warning"]))


def metric(label: str, value: str, note: str | None = None, **options: Any) -> None:
    """Draw a number in a box as high as the others in its row, with a note beneath."""
    plain: dict[str, Any] = {"delta_color": "off", "delta_arrow": "off", "border": True, "height": "stretch"}
    st.metric(label, value, note, **plain, **options)


_WAYS = (("overview", "home"), ("runs", "play_circle"), ("tasks", "task"), ("episodes", "list_alt"))


@contextmanager
def guarded(*, page: bool = False) -> Iterator[None]:
    """Turn an error that a page cannot handle into one sentence that says what to do.

    `page`: this is all of a page, so what does not exist gets a heading and links to what does.
    """
    try:
        yield
    except (NotFound, NotComparable) as error:
        if page:
            st.title("Not found" if isinstance(error, NotFound) else "Not comparable", anchor=False)
        st.warning(as_message(error), icon=":material/search_off:")
        if page:
            with st.container(horizontal=True):
                for name, icon in _WAYS:
                    st.page_link(f"app_pages/{name}.py", label=name.capitalize(), icon=f":material/{icon}:")
    except DatabaseError as error:
        st.error(as_message(error), title="No database", icon=":material/database_off:")


def as_message(error: Exception) -> str:
    """Return an error's message as Markdown, with a `command` in it kept as code."""
    parts = re.split(r"`([^`]*)`", str(error))
    return "".join(f"`{part}`" if index % 2 else escaped(part) for index, part in enumerate(parts))


def empty(reason: str, command: str) -> None:
    """Draw an empty state that says what to run."""
    with st.container(border=True):
        st.markdown(f":material/inbox: {reason}")
        st.code(visible(" ".join(command.split())), language=None, wrap_lines=True)


def link(page: str, label: str, icon: str | None = "arrow_forward", **query: Any) -> None:
    """Draw a link to a page of the dashboard with this query and the scope; parameters that are None are left out.

    `st.switch_page` would put this page with the other page's query into the browser's history.
    """
    non_empty = {name: value for name, value in {**address.carried(), **query}.items() if value is not None}
    parameters = {name: value if isinstance(value, list) else str(value) for name, value in non_empty.items()}
    st.page_link(page, label=label, icon=icon and f":material/{icon}:", query_params=parameters)


def which(title: str, question: str, page: str, label: str, icon: str) -> NoReturn:
    """End a page about one thing whose address names none, with a link to the list to choose from."""
    st.title(title)
    st.info(question, icon=":material/search:")
    link(page, label, icon)
    st.stop()


def in_percent(share: float | None) -> float | None:
    """Convert a share for a table's column of percent or of points."""
    return None if share is None else 100 * share


def telling(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Return a table without those of these columns that say nothing: empty ones, and the same in every row."""
    return frame.drop(columns=[name for name in names if name in frame and _says_nothing(frame[name].tolist())])


def _says_nothing(cells: Sequence[Any]) -> bool:
    texts = {"" if cell is None or cell != cell else str(cell or "") for cell in cells}
    return texts <= {""} or (len(texts) == 1 and len(cells) > 1)


def flat_pair(row: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten a comparison to a row of a table: the two names and every value that is not a list or a dict."""
    numbers = {name: value for name, value in row.items() if not isinstance(value, dict | list)}
    return {"first": row["first"]["entrant"], "second": row["second"]["entrant"], **numbers}


def moment(text: str | None) -> datetime | None:
    """Parse a stored time, for a table's column."""
    return datetime.fromisoformat(text) if text else None


def age_s(text: str | None) -> float:
    """Seconds since a stored time; 0 for none."""
    return seconds_since(text) if text else 0.0


def table_height(rows: int, most: int = 26) -> int | Literal["content"]:
    """The height of a table: what its rows need, or a box with so many that half a row says that it scrolls."""
    return "content" if rows <= most else 36 + 35 * min(most, 18) + 17


def grid(
    rows: Any,
    *,
    about: Sequence[Mapping[str, Any]] = (),
    links: Mapping[str, Sequence[str | None]] | None = None,
    column_config: Mapping[str, Any] | None = None,
    hidden: Collection[str] = (),
    **options: Any,
) -> Any:
    """Call `st.dataframe` with its texts made harmless; the other options and the result are those of `st.dataframe`.

    `about`: the rows of the database that the table shows. The names of their tasks, entrants, runs and episodes are
    links, wherever a row has the id. `links`: column -> address of each row, for cells that lead elsewhere. `hidden`:
    columns that a reader can add by the eye above the table. A table is not much wider than it needs to be, so that
    numbers stay near what they are about. A narrow window gets cards instead.
    """
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
    neutral = frame.map(_neutral)
    for column in filter(lambda name: pd.api.types.is_bool_dtype(frame[name]), frame.columns):
        neutral[column] = ["yes" if cell else "no" for cell in frame[column]]  # a box to tick would be no control
    kinds: dict[str, Any] = {
        column: columns.count() for column in neutral.columns if pd.api.types.is_integer_dtype(neutral[column])
    }
    kinds |= column_config or {}
    writers = {name: kind for name, kind in kinds.items() if isinstance(kind, columns.Kind) and name in neutral}
    configuration = {name: kind.looks if isinstance(kind, columns.Kind) else kind for name, kind in kinds.items()}
    for name in map(str, neutral):
        if name not in writers and not pd.api.types.is_string_dtype(neutral[name]):
            continue
        looks = configuration.setdefault(name, st.column_config.Column())
        if isinstance(looks, dict) and looks.get("width") is None:
            texts = map(writers.get(name, str), frame[name])
            width = columns.width_of(looks.get("label") or name, texts)
            configuration[name] = {**looks, "width": width}
    places = {**_places(frame, about), **(links or {})}
    if cards.are_needed():
        shown = neutral[[column for column in neutral if column not in hidden]]
        several = options.get("selection_mode") == "multi-row"
        asked = (options.get("alt", ""), options.get("key"), options.get("on_select"))
        unlinked = {name: kind for name, kind in writers.items() if name not in places}
        drawn = cards.draw(shown, configuration, unlinked, places, *asked, several=several)
        if drawn:
            return drawn
    for column, addresses in places.items():
        cells = zip(neutral[column], addresses, strict=True)
        neutral[column] = [cell if place is None else address.named(place, cell) for cell, place in cells]
        writers.pop(column, None)
        looks = {name: value for name, value in (configuration.get(column) or {}).items() if value is not None}
        link_column = st.column_config.LinkColumn(display_text=address.NAME, alignment="left")
        configuration[column] = {**link_column, **looks, "type_config": link_column["type_config"]}
    shown_columns = [name for name in map(str, frame) if name not in hidden]
    table_width = round(_ROOMY * cards.width_of(shown_columns, configuration)) or "content"
    usual = {"hide_index": True, "placeholder": NOTHING, "height": table_height(len(frame)), "width": table_width}
    options = {**usual, **options}
    if hidden:
        options["column_order"] = [column for column in frame.columns if column not in hidden]
    written = neutral.style.format(writers) if writers else neutral  # type: ignore[arg-type]
    return st.dataframe(written, column_config=configuration, **options)


_ROOMY = 1.4
"""So many times as wide as its columns need is a table, if the page has the room."""
_PLACES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "task": lambda row: address.to("task", id=row["task_id"]),
    "entrant": lambda row: address.to("episodes", ep_entrant=row["entrant"]),
    "run": lambda row: address.to("run", id=row["run_id"]),
    "episode": lambda row: address.to("episode", id=row["episode_id"]),
}
"""Where the name of a thing leads. An entrant has no page of its own, so its name leads to its episodes."""


def _places(frame: pd.DataFrame, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str | None]]:
    """Return the addresses that the columns of a table lead to by default."""

    def place(column: str, row: Mapping[str, Any]) -> str | None:
        try:
            return _PLACES[column.lower()](row)
        except KeyError:  # the row has no id of it
            return None

    names = [column for column in frame.columns if column.lower() in _PLACES] if rows else []
    return {column: places for column in names if any(places := [place(column, row) for row in rows])}


def _neutral(value: Any) -> Any:
    if isinstance(value, list):
        return [_neutral(member) for member in value]
    if isinstance(value, dict):  # Arrow would give every row the keys of all rows.
        return ", ".join(f"{visible(str(key))} {_neutral(member)}" for key, member in value.items())
    if value == NOTHING:  # a table writes it paler
        return None
    return visible(value) if isinstance(value, str) else value


def table_and_csv(
    rows: Sequence[Mapping[str, Any]], *, name: str, alt: str, key: str, shown: Collection[str] = ()
) -> None:
    """Draw a chart's numbers under readable names, and a button that saves them under the database's names.

    `shown`: columns; a reader can add the others. None: all are shown.
    """
    frame = pd.DataFrame(map(columns.with_intervals, rows))
    hidden = [column for column in map(str, frame) if shown and column not in shown]
    for column in filter(columns.is_share, frame.columns):
        frame[column] = pd.to_numeric(frame[column])
    kinds = {column: columns.named(column, frame[column]) for column in frame.columns}
    grid(frame, about=rows, alt=alt, key=key, column_config=kinds, hidden=hidden)
    csv_button(rows, name=name, key=key)


_SCOPE = "scope_of_the_page"


def begin() -> None:
    """Forget the scope of the page: what follows is not about those runs."""
    st.session_state[_SCOPE] = ""


def scope(scoped: ScopeDescription) -> None:
    """Say in a few words what the numbers below cover; a click says all of it, with what they leave out.

    Each CSV of the page has the scope as last column.
    """
    excluded = queries.exclusion_sentence(scoped)
    st.session_state[_SCOPE] = scoped["sentence"]
    with st.popover(
        escaped(queries.scope_in_short(scoped)),
        icon=":material/filter_alt:",
        type="tertiary",
        key="scope_of_the_numbers",
    ):
        st.caption(escaped(scoped["sentence"]) + (f"  \n{escaped(excluded)}" if excluded else ""))


def paper_button(drawing: Callable[[str], str], *, name: str, key: str) -> None:
    """Draw a button that saves a figure for a paper. `drawing` makes an SVG, with the scope's sentence as caption."""
    draw = partial(drawing, st.session_state.get(_SCOPE, ""))
    _save("Figure for a paper (SVG)", draw, f"{name}.svg", "image/svg+xml", icon="article", key=f"{key}_paper")


def csv_button(
    rows: Sequence[Mapping[str, Any]] | Callable[[], Sequence[Mapping[str, Any]]], *, name: str, key: str
) -> None:
    """Draw a button that saves the rows as they came from the database, not as a table shows them.

    `rows` may be a function that reads them on a click. On a page with a scope, a column `scope` says which runs the
    rows are about, and under which conditions.
    """
    label = f"Download {words(re.sub('_[0-9]+', '', name))} (CSV)"
    write = partial(_csv, rows, st.session_state.get(_SCOPE, ""))
    _save(label, write, f"{name}.csv", "text/csv", icon="download", key=f"{key}_csv")


def _csv(given: Sequence[Mapping[str, Any]] | Callable[[], Sequence[Mapping[str, Any]]], scope_line: str) -> str:
    rows = given() if callable(given) else given
    names, footer = list(rows[0]) if rows else [], [scope_line] if scope_line else []
    heading = [*names, *(["scope"] if scope_line else [])]
    return "".join(csv_lines([heading, *([row.get(name) for name in names] + footer for row in rows)]))


def _save(label: str, make: Callable[[], str], file: str, mime: str, *, icon: str, key: str) -> None:
    """Draw a button that saves a text as a file.

    The text is made only on a click. Otherwise, on a page that is redrawn again and again, the browser would request
    the previous file, which is gone.
    """
    st.download_button(
        label,
        lambda: make().encode(),
        file_name=file,
        mime=mime,
        icon=f":material/{icon}:",
        type="tertiary",
        key=key,
        on_click="ignore",
    )
