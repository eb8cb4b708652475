"""Abilities and difficulties: what cannot be told first, then that the truth is found."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from scipy.special import expit
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.stats.abilities import _Rasch, fit_abilities
from tests.dashboard.seed import Seeded
from tests.support.databases import Databases

pytestmark = pytest.mark.slow  # by its time


def test_resolving_all_or_nothing_gives_a_finite_ability_and_a_wide_interval() -> None:
    resolved = numpy.array([[1] * 30, [0] * 30, [1] * 15 + [0] * 15])
    model = fit_abilities(resolved, numpy.ones((3, 30)))
    best, worst, middle = model.entrants
    assert best.low > middle.ability > worst.high
    assert best.high - best.low > middle.high - middle.low and best.high < 20
    assert best.rate_high <= 1 and worst.rate_low >= 0


def test_one_entrant_alone() -> None:
    (entrant,) = fit_abilities([[1, 0, 1, 1]], [[1, 1, 1, 1]]).entrants
    assert entrant.low < entrant.ability < entrant.high and 0.3 < entrant.rate < 0.95


def test_entrants_without_common_tasks_are_marked_as_not_linked() -> None:
    counted = numpy.zeros((5, 40))
    counted[:2, :20], counted[2, 15:25], counted[3:, 30:] = 1, 1, 1
    model = fit_abilities(counted * numpy.arange(40) % 2, counted)
    assert [entrant.linked for entrant in model.entrants] == [True, True, True, False, False]


def test_the_gradient_is_that_of_the_likelihood() -> None:
    from scipy.optimize import check_grad

    dice = numpy.random.default_rng(1)
    counted = dice.integers(1, 4, (4, 30)).astype(float)
    counted[0, :12] = 0
    model = _Rasch(dice.binomial(counted.astype(int), 0.5).astype(float), counted)
    at = numpy.array([0.3, -0.4, 1.2, 0.0, 0.7, 0.4])
    assert check_grad(lambda x: model.loss(x)[0], lambda x: model.loss(x)[1], at) < 1e-3


def test_the_estimates_are_those_of_a_logistic_regression_with_many_attempts() -> None:
    """So many attempts that the tasks' own parameters can be fitted: conditional and marginal estimates agree."""
    from statsmodels.discrete.discrete_model import Logit

    dice, tasks, attempts = numpy.random.default_rng(2), 25, 40
    truth, difficulty = numpy.array([-0.8, 0.0, 1.0]), dice.normal(0, 1.2, 25)
    resolved = dice.binomial(attempts, expit(truth[:, None] - difficulty))
    model = fit_abilities(resolved, numpy.full((3, tasks), attempts))
    rows, outcomes = [], []
    for entrant in range(3):
        for task in range(tasks):
            row = numpy.zeros(2 + tasks)
            row[2 + task] = 1
            if entrant:
                row[entrant - 1] = 1
            rows += [row] * attempts
            outcomes += [1] * resolved[entrant, task] + [0] * (attempts - resolved[entrant, task])
    theirs = Logit(outcomes, numpy.array(rows)).fit(disp=0).params
    mine = [model.entrants[index].ability - model.entrants[0].ability for index in (1, 2)]
    assert mine == pytest.approx(theirs[:2], abs=0.05)
    assert numpy.corrcoef([index.difficulty for index in model.tasks], -theirs[2:])[0, 1] > 0.99


def test_entrants_that_played_other_tasks_are_on_one_scale() -> None:
    """The first plays the easy half, the second the hard one: seen 80% and 45%, and yet the second is better."""
    dice = numpy.random.default_rng(3)
    difficulty = numpy.concatenate([dice.normal(-2, 0.5, 100), dice.normal(2, 0.5, 100)])
    truth = numpy.array([-0.5, 1.8, 0.0, 0.5])
    counted = numpy.ones((4, 200), int)
    counted[0, 100:], counted[1, :100] = 0, 0
    model = fit_abilities(dice.binomial(counted, expit(truth[:, None] - difficulty)), counted)
    first, second = model.entrants[:2]
    assert second.low > first.high and second.rate > first.rate
    assert second.low < second.ability < second.high
    assert second.ability - first.ability == pytest.approx(2.3, abs=1.0)


def test_clusters_above_the_task_widen_intervals() -> None:
    dice = numpy.random.default_rng(4)
    family = numpy.repeat(numpy.arange(15), 8)
    taste = dice.normal(0, 2, (3, 15))[:, family]
    resolved = dice.binomial(1, expit(taste - dice.normal(0, 1, 120)))
    alone, clustered = (
        fit_abilities(resolved, numpy.ones((3, 120)), names) for names in ((), [str(n) for n in family])
    )
    assert (alone.clusters, clustered.clusters) == (120, 15)
    widths = [sum(entrant.high - entrant.low for entrant in model.entrants) for model in (alone, clustered)]
    assert widths[1] > 1.3 * widths[0]
    two_clusters = fit_abilities(resolved, numpy.ones((3, 120)), ["a", "b"] * 60)
    assert two_clusters.clusters == 120, "two clusters say nothing about how they differ"


@pytest.fixture(scope="module")
def seeded(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Any:
    url, contents = databases.seeded(tmp_path_factory.mktemp("seeded") / "x.db", runs=2, live=False, attempts=2)
    opened = connect(url)
    yield opened, contents
    opened.dispose()


def test_the_model_of_a_board(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    board = {row["entrant_id"]: row for row in queries.leaderboard(engine) if not row["reference"]}
    model = queries.abilities(engine)
    assert {row["entrant_id"] for row in model["entrants"]} == board.keys() and contents.entrants
    for row in model["entrants"]:
        assert row["observed"] == pytest.approx(board[row["entrant_id"]]["rate"])
        assert row["ci_low"] < row["rate"] < row["ci_high"] and row["linked"]
        assert abs(row["rate"] - row["observed"]) < 0.1
    levels = {(row["entrant_id"], row["level"]): row["rate"] for row in model["levels"]}
    assert all(levels[entrant, "easiest third"] >= levels[entrant, "hardest third"] for entrant in board)
    assert [row["difficulty"] for row in model["tasks"]] == sorted(
        (r["difficulty"] for r in model["tasks"]), reverse=True
    )
    assert sum(row["episodes"] for row in model["calibration"]) == sum(
        row["resolved"] + row["unresolved"] for row in board.values()
    )


def test_abilities_without_episodes(engine: Engine) -> None:
    assert queries.abilities(engine)["entrants"] == []
