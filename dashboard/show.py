"""Pieces that several pages are made of. What agents and users wrote is shown as text, never as Markdown or HTML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Literal, NoReturn

import pandas as pd
import streamlit as st

from db.errors import DatabaseError, NotFound

RUN_COMMAND = "stackrank run --benchmark bugs"
VERDICTS = {"resolved": "✓ resolved", "unresolved": "✗ unresolved", "error": "! error", "": "– open"}
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
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|>~$:<&@^=\"'])")
# What moves the cursor, the direction of text or nothing that can be seen.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
NOTHING = "–"


def escaped(text: object) -> str:
    """`text` for places that render Markdown: labels, titles, captions, messages."""
    return _MARKDOWN.sub(r"\\\1", re.sub(r"\s+", " ", str(text)))


def visible(text: str) -> str:
    """`text` with its control characters as signs: ESC as ␛, a change of the direction of text as ⟨U+202E⟩."""
    return _CONTROL.sub(_sign, text.replace("\r\n", "\n"))


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def words(name: str) -> str:
    """`never_reproduced` as people write it."""
    return name.replace("_", " ")


def badge(state: str, label: str | None = None) -> None:
    """A verdict or a run's status; colour, sign and word say the same."""
    color, icon = _BADGES.get(state, ("gray", "help"))
    text = label or words(state) or "open"
    st.badge(escaped(text), icon=f":material/{icon}:", color=color)  # type: ignore[arg-type]


@contextmanager
def guarded() -> Iterator[None]:
    """Turn what a page cannot help into the one sentence that says what to do."""
    try:
        yield
    except NotFound as error:
        st.warning(as_message(error), icon=":material/search_off:")
    except DatabaseError as error:
        st.error(as_message(error), title="No database", icon=":material/database_off:")


def as_message(error: Exception) -> str:
    """The sentence of an error, with its `command` kept as code."""
    parts = re.split(r"`([^`]*)`", str(error))
    return "".join(f"`{part}`" if index % 2 else escaped(part) for index, part in enumerate(parts))


def empty(what: str, command: str = RUN_COMMAND) -> None:
    """An empty state that says what to run."""
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(f":material/inbox: {what}", width="content")
        st.code(command, language="bash", width="content")


def which(title: str, question: str, page: str, label: str, icon: str) -> NoReturn:
    """What a page about one thing shows where the address names none: the way to the list of them."""
    st.title(title)
    st.info(question, icon=":material/search:")
    st.page_link(page, label=label, icon=f":material/{icon}:")
    st.stop()


def percent(value: float | None, digits: int = 0) -> str:
    """A share as text."""
    return NOTHING if value is None else f"{100 * value:.{digits}f}%"


def points(value: float) -> str:
    """A difference of two rates as text, with its sign."""
    return f"{100 * value:+.1f}"


def interval(low: float | None, high: float | None) -> str:
    """A 95% interval of a rate as text."""
    return NOTHING if low is None or high is None else f"{100 * low:.0f}–{100 * high:.0f}%"


def usd(value: float | None) -> str:
    """A cost as text; an unknown price is not free."""
    if value is None:
        return NOTHING
    return f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.4f}"


def duration(seconds: float | None) -> str:
    """A duration as text."""
    if seconds is None:
        return NOTHING
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def p_value(value: float | None) -> str:
    """A p-value as text."""
    return NOTHING if value is None else "< 0.001" if value < 0.001 else f"{value:.2g}"


def signed_percent(value: float | None) -> str:
    """A relative change as text."""
    return NOTHING if value is None else f"{100 * value:+.0f}%"


def point_interval(row: dict[str, Any]) -> str:
    """The interval of a difference, in points."""
    return NOTHING if row["ci_low"] is None else f"{points(row['ci_low'])} to {points(row['ci_high'])}"


def flat_pair(row: dict[str, Any]) -> dict[str, Any]:
    """A comparison as a row of a table: the two names and every number that is one."""
    numbers = {name: value for name, value in row.items() if not isinstance(value, dict | list)}
    return {"first": row["first"]["entrant"], "second": row["second"]["entrant"], **numbers}


def uplift(row: dict[str, Any]) -> str:
    """A relative uplift with its interval as text; nothing where there is none."""
    if row["uplift"] is None:
        return NOTHING
    most = "no upper end" if row["uplift_high"] is None else signed_percent(row["uplift_high"])
    return f"{signed_percent(row['uplift'])} ({signed_percent(row['uplift_low'])} to {most})"


def short_count(number: float) -> str:
    """A large number in few characters."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}"


def ranks(low: int | None, high: int | None) -> str:
    """A range of ranks as text."""
    if low is None:
        return NOTHING
    return str(low) if low == high else f"{low}–{high}"


def moment(text: str | None) -> datetime | None:
    """A stored time, for a table's column."""
    return datetime.fromisoformat(text) if text else None


def age_s(text: str | None) -> float:
    """Seconds since a stored time; 0 for none."""
    then = moment(text)
    return (datetime.now(UTC) - then).total_seconds() if then else 0.0


def table_height(rows: int, most: int = 700) -> int | Literal["content"]:
    """The height of a table: what its rows need, up to `most` pixels."""
    return "content" if 40 + 35 * rows <= most else most


_SHARES = {"rate", "all_attempts_rate", "pass_at_k", "all_k"}
_NAMED = {
    "ci": "95% interval",
    "rate": "Rate",
    "all_attempts_rate": "Every attempt",
    "pass_at_k": "pass@k",
    "pass": "pass@k, 95%",
    "k": "k",
    "all_k": "All k",
    "all": "All k, 95%",
    "cost_usd": "Cost",
    "cost_per_resolved": "Cost per resolved",
    "rank": "Rank",
    "counted": "Episodes",
    "wall_mean_s": "Mean seconds",
    "steps_mean": "Mean steps",
    "tasks_total": "Tasks in question",
    "debugger": "Has a debugger",
}


def _column(name: str) -> Any:
    """How a column of an answer is shown; its id is not."""
    if name.endswith("_id"):
        return None
    stem, _, end = name.rpartition("_")
    label = _NAMED.get(name) or words(name).capitalize()
    if end in ("low", "high"):
        label = f"{_NAMED.get(stem) or words(stem).capitalize()}, {'from' if end == 'low' else 'to'}"
    if name in _SHARES or stem in ("ci", "pass", "all"):
        return st.column_config.NumberColumn(label, format="percent")
    if name.startswith("cost"):
        return st.column_config.NumberColumn(label, format="$%.4f")
    return st.column_config.Column(label)


def table_and_csv(rows: Sequence[dict[str, Any]], *, name: str, alt: str, key: str) -> None:
    """The numbers behind a chart under names for people, and a button that saves them under those of the database."""
    frame = pd.DataFrame(rows)
    columns = {column: _column(column) for column in frame.columns}
    st.dataframe(frame, hide_index=True, alt=alt, key=key, placeholder=NOTHING, column_config=columns)
    csv_button(rows, name=name, key=key)


def csv_button(rows: Sequence[dict[str, Any]], *, name: str, key: str) -> None:
    """A button that saves the rows as they came from the database, not as a table shows them."""
    frame = pd.DataFrame([{column: _csv_cell(value) for column, value in row.items()} for row in rows])
    st.download_button(
        "Download CSV",
        frame.to_csv(index=False).encode(),
        file_name=f"{name}.csv",
        mime="text/csv",
        icon=":material/download:",
        type="tertiary",
        key=f"{key}_csv",
        on_click="ignore",
    )


def _csv_cell(value: Any) -> Any:
    """A value that a spreadsheet does not take for a formula."""
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    # Agents and users write names: OWASP, CSV injection.
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
