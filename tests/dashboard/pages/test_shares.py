"""A board of tasks with several faults: shares in place of rates, and curves of mended faults as its first picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stackrank.dashboard import charts
from stackrank.dashboard.charts import paper
from stackrank.db import queries
from stackrank.db.connection.transactions import EPISODE
from stackrank.db.queries.boards.standings import ranked_rows
from stackrank.db.queries.comparisons.history import observed_spread
from stackrank.db.queries.front_page import _lead_sentence
from stackrank.db.totals.tallies import of_episodes
from stackrank.flows.cli.output import leaderboard_columns, leaderboard_rows
from tests.dashboard.page_parts import texts
from tests.db.queries.test_fair_boards import Store, connect
from tests.db.storage.test_identity import KNOWN
from tests.support.episodes import create_episodes, start

FAULTS = 10
MENDED = {"strong": (6, 7, 5, 8, 6, 7, 6, 5, 7, 6, 8, 10), "weak": (5, 5, 4, 6, 5, 5, 5, 3, 6, 4, 6, 7)}
"""Entrant -> how many of ten faults it mended in each task."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A finished run of two entrants on tasks with ten faults each."""
    store = Store(connect(f"sqlite:///{tmp_path / 'shares.db'}"))
    tasks = [{"name": f"t{n:02}", "digest": f"d{n}"} for n in range(len(MENDED["weak"]))]
    saved = store.save_benchmark(name="marathon", digest="v1", license="", source="", tasks=tasks)
    run = store.create_run(name="r", spec={}, benchmark_id=saved.id, conditions=KNOWN)
    store.start_run(run)
    for name, counts in MENDED.items():
        entrant = store.save_entrant(digest=name, name=name, agent="llm")
        for task, mended in zip(saved.task_ids.values(), counts, strict=True):
            (episode,) = create_episodes(store, run, [(task, entrant, 1)]).values()
            start(store, episode)
            store.finish_episode(
                episode, verdict="resolved" if mended == FAULTS else "unresolved", stop_reason="step_limit",
                mended=mended, faults_total=FAULTS, steps=30, tokens_in=3_000, cost_usd=3.0,
                by_fault=[
                    {"name": f"f{n}", "mended": n < mended, "sealed": 3 * (n < mended), "unsealed": ""}
                    | ({"step": 2 * n + 1, "tokens": 200 * n, "cost_usd": 0.2 * n} if n < mended else {})
                    for n in range(FAULTS)
                ],
            )  # fmt: skip
    store.end_run(run, "finished")
    return store


def test_boards_and_comparisons_take_shares_as_rates(store: Store) -> None:
    rows = queries.leaderboard(store.engine)
    strong, weak = rows
    assert (strong["entrant"], strong["rate"], strong["resolved"]) == ("strong", pytest.approx(81 / 120), 1)
    assert (strong["faults_mended"], strong["faults"], weak["faults_mended"]) == (81, 120, 61)
    assert strong["ci_low"] is not None and strong["ci_high"] is not None
    assert strong["ci_high"] - strong["ci_low"] < 0.25, (
        "half as wide as that of twelve episodes that are resolved or not"
    )
    assert (strong["rank_low"], weak["rank_low"]) == (1, 2)
    pair = queries.compare(store.engine, "weak", "strong")
    assert pair["test"] == "permutation" and pair["difference"] == pytest.approx(20 / 120)
    assert pair["ci_low"] > 0.1 and pair["p_value"] < 0.001
    assert leaderboard_columns(rows)["rate"] == "mended" and leaderboard_rows(rows)[0]["faults"] == "81/120"
    assert queries.rate_history(store.engine)[strong["entrant_id"]] == [pytest.approx(81 / 120)]
    observed = observed_spread(store.engine, "marathon", [])
    assert observed is not None and not observed[0].whole
    with store.engine.connect() as connection:
        every = EPISODE.c.run_id > 0
        cells = of_episodes(connection, every, every)
    assert sum(sums.mended for *_, sums in cells) == pytest.approx(142 / 10)


@pytest.mark.parametrize(("by", "first"), [("steps", 1), ("tokens", 0), ("cost_usd", 0.0)])
def test_curves_rise_when_faults_are_mended(store: Store, by: Any, first: float) -> None:
    curves = {row["entrant"]: row["curve"] for row in queries.budget_curves(store.engine, by=by)}
    assert curves["strong"][0] == pytest.approx([first, 0.1])
    assert curves["strong"][-1][1] == pytest.approx(81 / 120) and curves["weak"][-1][1] == pytest.approx(61 / 120)


def test_the_board_opens_with_the_curves(store: Store, visit: Any) -> None:
    app = visit(store.engine.url.render_as_string(hide_password=False), "leaderboard")
    assert "A fault counts from the last step" in texts(app)
    assert app.dataframe[0].value["Faults"].tolist() == ["81 of 120", "61 of 120"]


def test_nothing_is_called_resolved_that_is_a_share(store: Store, visit: Any) -> None:
    rows = queries.leaderboard(store.engine)
    assert queries.outcome_of(rows) == queries.MENDED and queries.outcome_of([]) != queries.MENDED
    assert "Resol" not in str(charts.ranking(rows)) and "81 of 120 faults" in str(charts.ranking(rows))
    assert "Resol" not in paper.ranking(rows, "").replace("Mended", "")
    episode = visit(store.engine.url.render_as_string(hide_password=False), "episode", id="1")
    assert "6 of 10 faults mended" in texts(episode)


def test_the_front_page_says_what_a_single_entrant_mends(store: Store) -> None:
    selection = queries.Scope().find(store.engine)
    lead = _lead_sentence(ranked_rows(selection)[:1], None)
    assert lead.startswith("strong mends 67.5% (") and "of the faults of 12 tasks" in lead
