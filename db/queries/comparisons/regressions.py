"""What became worse in a run of a series."""

from __future__ import annotations

from sqlalchemy import Engine

from stackrank.db import stats
from stackrank.db.queries.comparisons.changes import RateChange, change_sentence, entrant_changes
from stackrank.db.queries.comparisons.compare import differences, shared_tasks
from stackrank.db.queries.comparisons.series import EntrantHistory, load_histories
from stackrank.db.queries.reading import Row
from stackrank.db.queries.runs import run as find_run
from stackrank.db.totals.sums import Sums, total
from stackrank.wording import count_of, percent, usd

LEAST_ERRORS = 2
"""With fewer errors than this, no jump is reported, whatever their share: one hiccup is no regression."""


def regressions(
    engine: Engine, run: int | str, *, alpha: float = stats.ALPHA, errors: float = 0.1, cost: float = 1.5
) -> list[Row]:
    """Return what each entrant of a run does worse than in the earlier finished runs of the same series.

    An entrant is identified by what it is called, so that a new version of an agent is compared with the old one. Three
    kinds are reported. `rate`: the rate fell, as in `changes`, with a p-value below `alpha`. `errors`: the share of
    episodes that ended in an error grew by more than `errors`. `cost`: the cost per counted episode, on the tasks that
    both sides counted, is more than `cost` times what it was. Each run reports a regression again as long as it lasts.
    Each row: entrant, entrant_id, called, what (the kind), before (the newest run of the baseline), runs (how many show
    it), value_before, value, tasks, p_value (None except for rates), differs (settings that differ from those of the
    last run before), sentence.
    """
    entrants = load_histories(engine, find_run(engine, run))
    drops = {
        history.entrant["id"]: row
        for history, row in entrant_changes(entrants)
        if row["difference"] < 0 and row["p_value"] < alpha
    }
    rows: list[Row] = []
    for history in entrants:
        usual, baseline = history.usual(), history.baseline
        if not baseline:
            continue
        entrant_columns = {
            "entrant": history.entrant["name"],
            "entrant_id": history.entrant["id"],
            "called": history.entrant["called"],
            "before": baseline[-1],
            "differs": differences(history.last, history.entrant),
        }
        drop = drops.get(history.entrant["id"])
        findings = [
            _rate_finding(drop, alpha) if drop else None,
            _error_finding(history, usual, errors),
            _cost_finding(history, usual, cost),
        ]
        since = (
            f"run {baseline[-1]}" if len(baseline) == 1 else f"{count_of(len(baseline), 'run')} to run {baseline[-1]}"
        )
        rows += [
            {**entrant_columns, **finding, "sentence": f"{finding['sentence']}; before: {since}"}
            for finding in findings
            if finding
        ]
    return rows


def _rate_finding(drop: RateChange, alpha: float) -> Row:
    lately = f"; now: the last {count_of(drop['runs'], 'run')}" if drop["runs"] > 1 else ""
    sentence = f"{change_sentence(drop, drop['entrant'], alpha=alpha)}{lately}"
    rates = drop["rate_before"], drop["rate"]
    return _finding("rate", *rates, drop["tasks"], sentence, drop["p_value"], drop["runs"])


def _error_finding(history: EntrantHistory, usual: dict[tuple[str, str], Sums], max_increase: float) -> Row | None:
    current, baseline = total(history.current.values()), total(usual.values()) if usual else Sums()
    episodes, episodes_before = current.counted + current.errors, baseline.counted + baseline.errors
    if not episodes or not episodes_before or current.errors < LEAST_ERRORS:
        return None
    share, share_before = current.errors / episodes, baseline.errors / episodes_before
    if share - share_before <= max_increase:
        return None
    name = history.entrant["name"]
    sentence = f"{name}: errors in {percent(share_before)} -> {percent(share)} of its episodes"
    return _finding("errors", share_before, share, sum(sums.counted > 0 for sums in history.current.values()), sentence)


def _cost_finding(history: EntrantHistory, usual: dict[tuple[str, str], Sums], max_ratio: float) -> Row | None:
    shared = shared_tasks(usual, history.current)
    if not shared:
        return None
    current, baseline = (total(side[key] for key in shared) for side in (history.current, usual))
    if (
        current.priced < current.counted or baseline.priced < baseline.counted or not baseline.cost_usd
    ):  # unknown, or free
        return None
    cost_before, cost = baseline.cost_usd / baseline.counted, current.cost_usd / current.counted
    if cost <= cost_before * max_ratio:
        return None
    sentence = f"{history.entrant['name']}: cost of an episode {usd(cost_before)} -> {usd(cost)}"
    return _finding("cost", cost_before, cost, len(shared), sentence)


def _finding(
    kind: str, value_before: float, value: float, tasks: int, sentence: str, p_value: float | None = None, runs: int = 1
) -> Row:
    columns = {"what": kind, "value_before": value_before, "value": value, "runs": runs}
    return {**columns, "tasks": tasks, "p_value": p_value, "sentence": sentence}
