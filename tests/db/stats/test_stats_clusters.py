"""The interval of a difference over clusters of tasks: against statsmodels, a direct computation, and simulation."""

from __future__ import annotations

import numpy
import pytest

from stackrank.db import queries
from stackrank.db.stats import cluster_interval
from stackrank.db.writes.store import Store
from tests.support.episodes import create_episodes

NAMES = [f"c{n}" for n in range(12)]


def test_with_clusters_of_one_size_it_is_the_usual_sandwich() -> None:
    import statsmodels.api as sm

    dice = numpy.random.default_rng(1)
    gaps, clusters = dice.normal(0.1, 0.3, 60), numpy.repeat(numpy.arange(12), 5)
    model = sm.OLS(gaps, numpy.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    low, high = model.conf_int()[0]
    interval = cluster_interval(gaps.tolist(), [NAMES[cluster] for cluster in clusters])
    assert interval is not None and (interval.clusters, interval.low, interval.high) == (
        12,
        pytest.approx(low),
        pytest.approx(high),
    )


def test_with_clusters_of_many_sizes_it_is_what_its_matrices_say() -> None:
    from scipy import stats as scipy_stats

    dice = numpy.random.default_rng(2)
    clusters = dice.choice(7, 40, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05])
    gaps = dice.normal(0.1, 0.2, 40)
    ones = numpy.ones((40, 1))
    hat = numpy.eye(40) - ones @ ones.T / 40
    rows = []
    for cluster in numpy.unique(clusters):
        members = numpy.flatnonzero(clusters == cluster)
        values, vectors = numpy.linalg.eigh(hat[numpy.ix_(members, members)])
        root = vectors @ numpy.diag(values**-0.5) @ vectors.T
        rows.append(ones[members].T @ root @ hat[members] / 40)
    adjusted = numpy.vstack(rows)
    variance = float(((adjusted @ gaps) ** 2).sum())
    working = adjusted @ adjusted.T
    freedom = numpy.trace(working) ** 2 / numpy.trace(working @ working)
    reach = scipy_stats.t.ppf(0.975, freedom) * variance**0.5
    interval = cluster_interval(gaps.tolist(), [f"c{cluster}" for cluster in clusters])
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((gaps.mean() - reach, gaps.mean() + reach))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_cluster_interval_ends_where_gaps_end(sign: float) -> None:
    interval = cluster_interval([sign * gap for gap in (1, 1, 1, 1, 1, 1, 1, 1, -1, -1)], [*"aabbccddee"])
    assert interval is not None and sign in (interval.low, interval.high)
    assert -1 <= interval.low < 0.6 * sign < interval.high <= 1


def test_the_cluster_interval_covers_where_the_paired_one_does_not() -> None:
    dice, held, naive, boards = numpy.random.default_rng(3), 0, 0, 1_000
    sizes = [3, 3, 5, 5, 8, 8, 12, 16]
    names = [NAMES[place] for place, size in enumerate(sizes) for _ in range(size)]
    for _ in range(boards):
        gaps = numpy.repeat(dice.normal(0, 0.15, len(sizes)), sizes) + dice.normal(0, 0.2, len(names))
        interval = cluster_interval(gaps.tolist(), names)
        assert interval is not None
        held += interval.low <= 0 <= interval.high
        naive += abs(gaps.mean()) <= 1.96 * gaps.std(ddof=1) / len(gaps) ** 0.5
    assert held / boards > 0.93 > 0.8 > naive / boards


def test_no_interval_without_clusters() -> None:
    assert cluster_interval([], []) is None
    assert cluster_interval([0.1] * 8, [""] * 8) is None, "no task has one"
    assert cluster_interval([0.1] * 8, NAMES[:8]) is None, "no two tasks share one"
    assert cluster_interval([0.1] * 8, ["a", "b"] * 4) is None, "too few"
    assert cluster_interval([0.0] * 9, ["a", "a", *[""] * 7]) is not None, "those without stand for themselves"


@pytest.mark.parametrize(("better", "unsure"), [(("c0",), True), (tuple(NAMES[:6]), False)])
def test_a_comparison_states_the_cluster_interval(store: Store, better: tuple[str, ...], unsure: bool) -> None:
    tasks = [{"name": f"t{n:02}", "digest": f"d{n}", "category": NAMES[n // 10]} for n in range(60)]
    saved = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
    first, two = (store.save_entrant(digest=name, name=name, agent="repair") for name in ("one", "two"))
    cells = [(task, entrant, 1) for task in saved.task_ids.values() for entrant in (first, two)]
    run = store.create_run(name="r", benchmark_id=saved.id, spec={}, cells=cells)
    store.start_run(run)
    wins = {saved.task_ids[task["name"]] for task in tasks if task["category"] in better}
    for (task, entrant, _), episode in create_episodes(store, run, cells).items():
        resolved = entrant == two and task in wins
        store.finish_episode(episode, verdict="resolved" if resolved else "unresolved", stop_reason="submitted")
    store.end_run(run, "finished")
    interval = queries.compare(store.engine, "one", "two")
    assert interval["p_value"] is not None and interval["p_value"] < 0.05 and interval["clusters"] == 6
    phrase = "the interval is -" if unsure else "the interval is no wider."
    assert f"with the 6 categories as clusters {phrase}" in interval["cluster_sentence"]
    assert ("other categories might not show the difference" in interval["cluster_sentence"]) == unsure
