"""A page and the command line give one answer to one question."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from stackrank.flows.cli import boards, results


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


def same(shown: Any, told: Any) -> bool:
    if isinstance(told, dict):
        told = ", ".join(f"{name} {count}" for name, count in told.items())
    return bool(shown == told or (told is None and shown != shown))  # pandas has NaN for nothing


@pytest.mark.parametrize("run", [None, "1"])
def test_the_leaderboard(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any], run: str | None) -> None:
    board = printed(boards.leaderboard, run=run)
    told = [*board["entrants"], *board["reference"]]
    query = {"lb_run": run} if run else {}
    app = visit(seeded.url, "leaderboard", lb_tab="Numbers", **query)
    shown = app.dataframe[1].value.to_dict("records")
    assert len(shown) == len(told) == 3
    for row, other in zip(shown, told, strict=True):
        assert row.keys() == other.keys()
        assert [name for name in other if not same(row[name], other[name])] == []
    said = [part.value.replace("\\", "") for part in app.caption]
    assert any(board["scope"]["sentence"] in part for part in said)
    table = app.dataframe[0].value
    assert table["Spent"].dropna().tolist() == [row["cost_usd"] for row in told if row["cost_usd"] is not None]
    assert table["Rate"].tolist() == [100 * row["rate"] for row in told]
    assert table["Cost per resolved"].dropna().tolist() == [
        row["cost_per_resolved"] for row in told if row["cost_per_resolved"] is not None
    ]


def test_reliability(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    told = printed(boards.leaderboard, reliability=True, finished_only=False)["entrants"]
    shown = visit(seeded.url, "leaderboard", lb_tab="Reliability", lb_runs="All").dataframe[1].value.to_dict("records")
    assert shown == told and {row["k"] for row in told} == {1, 2}, "few tasks were played in the run that goes on"


def test_abilities(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    output = printed(boards.leaderboard, abilities=True)
    shown = visit(seeded.url, "leaderboard", lb_tab="Abilities").dataframe[1].value.to_dict("records")
    assert shown == output["entrants"] and output["scope"]["sentence"]


def test_errors_as_failures(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    usual, told = (printed(boards.leaderboard, **options)["entrants"] for options in ({}, {"errors": "as-failures"}))
    assert [row["rate"] for row in usual] != [row["rate"] for row in told]
    app = visit(seeded.url, "leaderboard", lb_tab="Numbers", lb_errors="as-failures")
    assert app.dataframe[1].value["rate"].tolist() == [row["rate"] for row in told]


def test_a_comparison(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    one, two, three = seeded.made.entrants
    ids = seeded.made.entrants
    pick = ",".join(str(ids[name]) for name in (one, two, three))
    pairs = visit(seeded.url, "compare", cmp_pick=pick).dataframe[0].value.to_dict("records")
    for shown, (first, second) in zip(pairs, [(one, two), (one, three), (two, three)], strict=True):
        output = printed(boards.compare, first, second)
        assert shown["Points"] == 100 * output["difference"] and shown["Detectable"] == 100 * output["detectable"]
        assert shown["95% interval"] == f"{100 * output['ci_low']:+.1f} to {100 * output['ci_high']:+.1f}"
        assert shown["Relative uplift"].startswith(
            f"{100 * output['uplift']:+.0f}% ({100 * output['uplift_low']:+.0f}%"
        )
        assert shown["Tasks"] == output["tasks"]
    alone = visit(seeded.url, "compare", cmp_pick=f"{ids[one]},{ids[two]}")
    output = printed(boards.compare, one, two)
    assert any(output["sentence"] in part.value.replace("\\", "") for part in alone.markdown)


def test_runs(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    output = printed(results.runs)
    shown = visit(seeded.url, "runs").dataframe[0].value.to_dict("records")
    for row, other in zip(shown, output, strict=True):
        assert [row[name.capitalize()] for name in ("resolved", "unresolved", "errors")] == [
            other[name] for name in ("resolved", "unresolved", "errors")
        ]
        assert row["Cost"] == other["cost_usd"] and row["Id"] == f"run?id={other['id']}"


def test_tool_sets_beside_each_other(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    told = printed(boards.tool_sets)["tool_sets"]
    shown = visit(seeded.url, "tool_sets").dataframe[0].value.to_dict("records")
    for row, other in zip(shown, told, strict=True):
        assert (row["Tool set"], row["Rate"]) == (other["tools"], 100 * other["rate"])
        assert (row["Steps"], row["Cost"], row["Episodes"]) == (
            other["steps_mean"], other["cost_per_episode"], other["episodes"],
        )  # fmt: skip
        if other["base"]:
            assert (row["Points"], row["Gained tasks"]) == (100 * other["difference"], other["gained"])


def test_runs_apart_are_named_on_the_page_and_a_csv_says_its_scope(
    visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]
) -> None:
    scope = printed(boards.leaderboard)["scope"]
    assert [run["run"] for run in scope["runs"]] == seeded.made.runs[:2]
    for page in ("leaderboard", "compare", "tool_sets", "failures", "tasks"):
        said = [part.value.replace("\\", "") for part in visit(seeded.url, page).caption]
        (line,) = [part for part in said if scope["sentence"] in part]
        assert f"run {seeded.made.live_run} (status running)" in line, page
    app = visit(seeded.url, "leaderboard")
    assert app.session_state["scope_of_the_page"] == scope["sentence"]
    assert visit(seeded.url, "runs").session_state["scope_of_the_page"] == ""
