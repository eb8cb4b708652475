"""A run as one file: complete, self-contained, and nothing in it runs."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.errors import NotFound
from stackrank.db.queries import Scope
from stackrank.db.writes.notes import Notes
from stackrank.db.writes.store import Store
from stackrank.flows.cli.results import report
from stackrank.flows.runs.afterwards.html_report import render
from tests.dashboard.seed import HOSTILE, Seeded
from tests.support.databases import Databases

pytestmark = pytest.mark.slow


class Reader(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.values: list[str] = []
        self.names: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}
        self.values += [value or "" for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


@pytest.fixture
def seeded(databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Engine, Seeded]:
    url, seed = databases.seeded(tmp_path / "x.db", runs=2, live=False, tasks=6)
    monkeypatch.setenv("STACKRANK_DATABASE_URL", url)
    return connect(url), seed


def test_an_unknown_run(seeded: tuple[Engine, Seeded]) -> None:
    with pytest.raises(NotFound):
        render(seeded[0], "nowhere")


def test_the_numbers_of_the_report_are_those_of_the_queries(
    seeded: tuple[Engine, Seeded], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine, seed = seeded
    file = tmp_path / "report.html"
    report(str(seed.runs[1]), file, True)
    assert json.loads(capsys.readouterr().out) == {
        "run": seed.runs[1],
        "file": str(file),
        "bytes": file.stat().st_size,
    }
    page = Reader(file.read_text())
    for row in queries.leaderboard(engine, Scope(run=seed.runs[1])):
        assert row["entrant"] in page.texts and f"{100 * row['rate']:.1f}%" in page.texts
    (pair,) = queries.tool_sets(engine, Scope(run=seed.runs[1]))
    assert f"{100 * pair['difference']:+.1f}" in page.texts
    assert page.tags.count("svg") == 2 and "h2" in page.tags
    for heading in ("Entrants", "Pairs", "What tools are worth", "Failure points", "Tools", "The specification"):
        assert heading in page.texts


def test_the_report_of_an_empty_run(seeded: tuple[Engine, Seeded]) -> None:
    engine, seed = seeded
    run = Store(engine).create_run(name="empty", benchmark_id=seed.benchmark.id, spec={})
    assert "No episode has a verdict." in Reader(render(engine, run)[0]).texts


def test_the_report_needs_no_network_and_runs_no_script(seeded: tuple[Engine, Seeded]) -> None:
    engine, seed = seeded
    with engine.begin() as connection:
        for table in ("task", "entrant", "run"):
            connection.execute(text(f"UPDATE {table} SET name = :t || {table}.id"), {"t": HOSTILE})
        regressions: list[dict[str, Any]] = [{"entrant": HOSTILE, "sentence": HOSTILE}]
        connection.execute(text("UPDATE run SET regressions = :r"), {"r": json.dumps(regressions)})
    Notes(engine).add(seed.runs[0], HOSTILE, author=HOSTILE)
    text_, _ = render(engine, seed.runs[0])
    page = Reader(text_)
    assert not {"script", "img", "iframe", "link", "object", "a"} & set(page.tags)
    assert not {name for name in page.names if name.startswith("on")} and not {"src", "href"} & page.names
    assert not re.search(r"url\(|@import|https?://", text_)
    assert "default-src 'none'; style-src 'unsafe-inline'" in page.values
    assert any("<script>" in part for part in page.texts)
