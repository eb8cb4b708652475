"""The parts of a page that tests look at."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def texts(app: AppTest) -> str:
    """Everything that is Markdown on the page, without the backslashes that keep it plain."""
    kinds = ("title", "subheader", "markdown", "caption", "warning", "error", "info", "code", "text")
    return "\n".join(str(part.value) for kind in kinds for part in app.get(kind)).replace("\\", "")


def drawn(app: AppTest) -> int:
    """How many figures there are, whoever draws them."""
    return len(app.get("plotly_chart")) + len(app.get("arrow_vega_lite_chart")) + len(app.get("vega_lite_chart"))
