"""The parts of a page that tests look at."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote_plus

import pandas as pd
from streamlit.testing.v1 import AppTest

from stackrank.dashboard.address import NAME


def texts(app: AppTest) -> str:
    """Everything that is Markdown on the page, without the backslashes that keep it plain."""
    kinds = ("title", "subheader", "markdown", "caption", "warning", "error", "info", "code", "text")
    return "\n".join(str(part.value) for kind in kinds for part in app.get(kind)).replace("\\", "")


def linked(cells: Iterable[str]) -> dict[str, str]:
    """The names that the cells of a table show, and the address that each leads to."""
    found = [(re.match(NAME, cell), cell) for cell in cells]
    return {unquote_plus(name[1]): cell.replace(f"name={name[1]}&", "") for name, cell in found if name}


def records(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    """The rows of a table, with names in place of links."""

    def name(cell: Any) -> Any:
        return next(iter(linked([cell])), cell) if isinstance(cell, str) else cell

    return [{column: name(cell) for column, cell in row.items()} for row in frame.to_dict("records")]


def drawn(app: AppTest) -> int:
    """How many figures there are, whoever draws them."""
    return len(app.get("plotly_chart")) + len(app.get("arrow_vega_lite_chart")) + len(app.get("vega_lite_chart"))
