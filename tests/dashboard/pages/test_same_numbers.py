"""Pages and commands show the same numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from stackrank.dashboard.parts.columns import with_intervals
from stackrank.flows.cli import boards, results
from stackrank.wording import distance, point_interval, uplift
from tests.dashboard.page_parts import records


@pytest.fixture
def printed(
    seeded: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """What a command prints with --json about the filled database."""
    monkeypatch.setenv("STACKRANK_DATABASE_URL", seeded.url)

    def call(command: Callable[..., None], *arguments: Any, **options: Any) -> Any:
        capsys.readouterr()
        command(*arguments, **options, as_json=True)
        return json.loads(capsys.readouterr().out)

    return call


def same(cell: Any, printed_value: Any) -> bool:
    if isinstance(printed_value, dict):
        printed_value = ", ".join(f"{name} {count}" for name, count in printed_value.items())
    if isinstance(printed_value, bool):
        printed_value = "yes" if printed_value else "no"
    return bool(cell == printed_value or (printed_value is None and cell != cell))  # pandas has NaN for nothing


@pytest.mark.parametrize("run", [None, "1"])
def test_the_leaderboard(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any], run: str | None) -> None:
    board = printed(boards.leaderboard, run=run)
    printed_rows = [*board["entrants"], *board["reference"]]
    lines = [with_intervals(row) for row in printed_rows]
    assert lines[0]["95% interval"] == f"{100 * printed_rows[0]['ci_low']:.1f}–{100 * printed_rows[0]['ci_high']:.1f}%"
    query = {"run": run} if run else {}
    app = visit(seeded.url, "leaderboard", lb_tab="Numbers", **query)
    page_rows = records(app.dataframe[1].value)
    assert len(page_rows) == len(printed_rows) == 3
    for row, printed_row in zip(page_rows, lines, strict=True):
        assert row.keys() == printed_row.keys()
        assert [name for name in printed_row if not same(row[name], printed_row[name])] == []
    captions = [part.value.replace("\\", "") for part in app.caption]
    assert any(board["scope"]["sentence"] in part for part in captions)
    table = app.dataframe[0].value
    assert table["Spent"].dropna().tolist() == [row["cost_usd"] for row in printed_rows if row["cost_usd"] is not None]
    assert table["Rate"].tolist() == [100 * row["rate"] for row in printed_rows]
    assert table["Cost per resolved"].dropna().tolist() == [
        row["cost_per_resolved"] for row in printed_rows if row["cost_per_resolved"] is not None
    ]


def test_each_number_of_the_leaderboard_is_of_some_kind(visit: Any, seeded: SimpleNamespace) -> None:
    kinds = ("rates", "verdicts", "effort", "settings")
    tables = [visit(seeded.url, "leaderboard", lb_tab="Numbers", lb_numbers=kind).dataframe[1] for kind in kinds]
    shown = {column for table in tables for column in table.proto.column_order}
    assert set(tables[0].value) - shown == {"entrant_id", "apart", "partial", "warning"}, "notes are below the board"


def test_reliability(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    printed_rows = printed(boards.leaderboard, reliability=True, finished_only=False)["entrants"]
    app = visit(seeded.url, "leaderboard", lb_tab="Reliability", runs="All")
    page_rows = records(app.dataframe[1].value)
    by_name = sorted(page_rows, key=lambda row: (row["entrant"], row["k"]))
    assert by_name == [with_intervals(row) for row in printed_rows] and {row["k"] for row in printed_rows} == {1, 2}, (
        "few tasks were played in the run that goes on"
    )
    assert [row["k"] for row in page_rows[:2]] == [1, 2] and page_rows[0]["all_k"] == max(
        row["all_k"] for row in page_rows
    ), "the best first"


def test_abilities(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    output = printed(boards.leaderboard, abilities=True)
    page_rows = records(visit(seeded.url, "leaderboard", lb_tab="Abilities").dataframe[1].value)
    lines = [with_intervals(row) for row in output["entrants"]]
    assert [row.keys() for row in page_rows] == [row.keys() for row in lines]
    for row, printed_row in zip(page_rows, lines, strict=True):
        assert [name for name in printed_row if not same(row[name], printed_row[name])] == []
    assert output["scope"]["sentence"]


def test_errors_as_failures(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    usual, printed_rows = (
        printed(boards.leaderboard, **options)["entrants"] for options in ({}, {"errors": "as-failures"})
    )
    assert [row["rate"] for row in usual] != [row["rate"] for row in printed_rows]
    app = visit(seeded.url, "leaderboard", lb_tab="Numbers", errors="as-failures")
    assert app.dataframe[1].value["rate"].tolist() == [row["rate"] for row in printed_rows]


def test_a_comparison(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    first_name, two, three = seeded.made.entrants
    ids = seeded.made.entrants
    pick = ",".join(str(ids[name]) for name in (first_name, two, three))
    pairs = records(visit(seeded.url, "compare", cmp_pick=pick).dataframe[0].value)
    assert len(pairs) == 3
    for table_row in pairs:
        second, first = table_row["Pair"].split(" against ")
        output = printed(boards.compare, first, second)
        assert table_row["Points"] == output["difference"] and table_row["Detectable"] == output["detectable"]
        assert table_row["95% interval"] == point_interval(output["holm_low"], output["holm_high"])
        assert table_row["Relative uplift"] == uplift(output["uplift"], output["uplift_low"], output["uplift_high"])
        assert table_row["Tasks"] == output["tasks"]
    alone = visit(seeded.url, "compare", cmp_pick=f"{ids[first_name]},{ids[two]}")
    outputs = [printed(boards.compare, *sides) for sides in ((first_name, two), (two, first_name))]
    headline = next(output for output in outputs if output["difference"] > 0)["sentence"].partition(" (")[0]
    assert any(f"**{headline}.**" in part.value.replace("\\", "") for part in alone.markdown)


def test_runs(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    output = printed(results.runs)
    page_rows = records(visit(seeded.url, "runs").dataframe[0].value)
    for row, printed_row in zip(page_rows, output, strict=True):
        assert [row[name.capitalize()] for name in ("resolved", "unresolved", "errors")] == [
            printed_row[name] for name in ("resolved", "unresolved", "errors")
        ]
        assert row["Cost"] == printed_row["cost_usd"] and row["Run"] == f"{printed_row['name']} #{printed_row['id']}"


def test_tool_sets(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    printed_rows = printed(boards.tool_sets)["tool_sets"]
    app = visit(seeded.url, "tool_sets")
    page_rows = records(next(table.value for table in app.dataframe if "Steps" in table.value))
    for row, printed_row in zip(page_rows, printed_rows, strict=True):
        assert (row["Tool set"], row["Rate"]) == (printed_row["tools"], printed_row["rate"])
        assert (row["Steps"], row["Cost"], row["Episodes"]) == (
            printed_row["steps_mean"], printed_row["cost_per_episode"], printed_row["episodes"],
        )  # fmt: skip
    shown = " ".join(part.value.replace("\\", "") for part in app.markdown)
    for printed_row in (row for row in printed_rows if row["base"]):
        assert f" {distance(abs(printed_row['difference']))} points " in shown
        assert f"**Gained with {printed_row['tools']}: {printed_row['gained']}**" in shown


def test_excluded_runs_are_named_and_csv_states_its_scope(
    visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]
) -> None:
    scope = printed(boards.leaderboard)["scope"]
    assert [run["run"] for run in scope["runs"]] == seeded.made.runs[:2]
    for page in ("leaderboard", "compare", "tool_sets", "failures", "tasks"):
        captions = [part.value.replace("\\", "") for part in visit(seeded.url, page).caption]
        (line,) = [part for part in captions if scope["sentence"] in part]
        assert f"run {seeded.made.live_run} (status running)" in line, page
    app = visit(seeded.url, "leaderboard")
    assert app.session_state["scope_of_the_page"] == scope["sentence"]
    assert visit(seeded.url, "runs").session_state["scope_of_the_page"] == ""
