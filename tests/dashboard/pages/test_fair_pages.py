"""Pages with infrastructure errors, and with rates near 0 and 100%."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stackrank.dashboard.parts.tables import board_frame
from stackrank.db import queries
from stackrank.db.queries import Scope
from stackrank.wording import interval
from tests.dashboard.page_parts import texts
from tests.db.queries.test_fair_boards import Store, connect, played


def test_pages_count_errors_as_failures(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'errors.db'}"
    store = Store(connect(url))
    played(store, {"one": "!" * 30, "two": "+" * 29 + "-"})
    app = visit(url, "compare", errors="as-failures")
    assert "0 episodes with a verdict on 30 tasks; 30 errors, counted as failures" in texts(app)
    app = visit(url, "failures", errors="as-failures")
    assert "counted as failures" not in texts(app) and "errors: one 30" in texts(app)
    task = queries.tasks(store.engine, "bugs")[0]["id"]
    page = visit(url, "task", id=str(task), errors="as-failures")
    assert page.dataframe[0].value["Rate"].tolist() == [1.0, 0.0]
    assert len(page.dataframe[1].value) == 2 and "Counts above" not in page.dataframe[1].value, "all of them do"
    assert queries.describe_scope(store.engine, Scope(run=1))["sentence"].split(";")[0] in texts(page)


def test_pages_do_not_round_to_0_or_100_percent(tmp_path: Path) -> None:
    store = Store(connect(f"sqlite:///{tmp_path / 'nearly.db'}"))
    for _ in range(9):
        played(store, {"one": "+" * 30})
    played(store, {"one": "+" * 29 + "-"})
    row = queries.leaderboard(store.engine)[0]
    assert 0.995 < row["rate"] < 1  # type: ignore[operator]
    assert board_frame([row])["95% interval"].tolist() == [interval(row["ci_low"], row["ci_high"])]
    assert interval(0.9812, 0.9994) == "98.1–99.9%"


def test_past_rates_are_shown_where_every_task_was_played(tmp_path: Path) -> None:
    store = Store(connect(f"sqlite:///{tmp_path / 'complete.db'}"))
    played(store, {"one": "+" * 3})
    (row,) = queries.leaderboard(store.engine)
    frame = board_frame([row], {row["entrant_id"]: [0.5, 1.0, 1.0]})
    assert "Tasks" not in frame and frame["Last runs"].tolist() == [[0.5, 1.0, 1.0]]
