"""A page and the command line give one answer to one question."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from flows.commands import look


@pytest.fixture
def printed(
    seeded: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """What a command prints with --json about the filled database."""
    monkeypatch.setenv("STACKRANK_DATABASE_URL", seeded.url)

    def call(command: Callable[..., None], *arguments: Any) -> Any:
        capsys.readouterr()
        command(*arguments, True)
        return json.loads(capsys.readouterr().out)

    return call


def same(shown: Any, told: Any) -> bool:
    return bool(shown == told or (told is None and shown != shown))  # pandas has NaN for nothing


@pytest.mark.parametrize("run", [None, "1"])
def test_the_leaderboard(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any], run: str | None) -> None:
    told = printed(look.leaderboard, {"run": run})
    query = {"lb_run": run} if run else {}
    app = visit(seeded.url, "leaderboard", lb_tab="Numbers", **query)
    shown = app.dataframe[1].value.to_dict("records")
    assert len(shown) == len(told) == 3
    for row, other in zip(shown, told, strict=True):
        assert row.keys() == other.keys()
        assert [name for name in other if not same(row[name], other[name])] == []
    table = app.dataframe[0].value
    assert table["Rate"].tolist() == [100 * row["rate"] for row in told]
    assert table["Cost per resolved"].dropna().tolist() == [
        row["cost_per_resolved"] for row in told if row["cost_per_resolved"] is not None
    ]


def test_reliability(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    told = printed(look.reliability, {})
    shown = visit(seeded.url, "leaderboard", lb_tab="Reliability").dataframe[1].value.to_dict("records")
    assert shown == told and {row["k"] for row in told} == {1, 2, 3}


def test_a_comparison(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    one, two, three = seeded.made.entrants
    ids = seeded.made.entrants
    pick = ",".join(str(ids[name]) for name in (one, two, three))
    pairs = visit(seeded.url, "compare", cmp_pick=pick).dataframe[0].value.to_dict("records")
    for shown, (first, second) in zip(pairs, [(one, two), (one, three), (two, three)], strict=True):
        told = printed(look.compare, first, second, None, None)
        assert shown["Points"] == 100 * told["difference"] and shown["Detectable"] == 100 * told["detectable"]
        assert shown["95% interval"] == f"{100 * told['ci_low']:+.1f} to {100 * told['ci_high']:+.1f}"
        assert shown["Relative uplift"].startswith(f"{100 * told['uplift']:+.0f}% ({100 * told['uplift_low']:+.0f}%")
        assert shown["Tasks"] == told["tasks"]
    alone = visit(seeded.url, "compare", cmp_pick=f"{ids[one]},{ids[two]}")
    told = printed(look.compare, one, two, None, None)
    assert any(told["sentence"] in part.value.replace("\\", "") for part in alone.markdown)


def test_runs(visit: Any, seeded: SimpleNamespace, printed: Callable[..., Any]) -> None:
    told = printed(look.runs, {}, 50)
    shown = visit(seeded.url, "runs").dataframe[0].value.to_dict("records")
    for row, other in zip(shown, told, strict=True):
        assert [row[name.capitalize()] for name in ("resolved", "unresolved", "errors")] == [
            other[name] for name in ("resolved", "unresolved", "errors")
        ]
        assert row["Cost"] == other["cost_usd"] and row["Id"] == f"run?id={other['id']}"
