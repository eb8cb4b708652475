"""What became worse in a run of a series."""

from __future__ import annotations

from sqlalchemy import Engine

from stackrank.db import stats
from stackrank.db.queries.comparisons.changes import RateChange, changed
from stackrank.db.queries.comparisons.compare import differences, shared_tasks
from stackrank.db.queries.comparisons.series import Past, past
from stackrank.db.queries.reading import Row
from stackrank.db.queries.runs import run as find_run
from stackrank.db.totals.sums import Sums, total
from stackrank.wording import p_is

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
    entrants = past(engine, find_run(engine, run))
    fell = {
        one.entrant["id"]: row for one, row in changed(entrants) if row["difference"] < 0 and row["p_value"] < alpha
    }
    found: list[Row] = []
    for one in entrants:
        usual, baseline = one.usual(), one.baseline
        if not baseline:
            continue
        about = {
            "entrant": one.entrant["name"],
            "entrant_id": one.entrant["id"],
            "called": one.entrant["called"],
            "before": baseline[-1],
            "differs": differences(one.last, one.entrant),
        }
        drop = fell.get(one.entrant["id"])
        parts = [_rate(drop) if drop else None, _errors(one, usual, errors), _cost(one, usual, cost)]
        since = f"run {baseline[-1]}" if len(baseline) == 1 else f"the {len(baseline)} runs to run {baseline[-1]}"
        for part in parts:
            if part:
                found.append({**about, **part, "sentence": f"{about['entrant']}: {part['sentence']} since {since}"})
    return found


def _rate(drop: RateChange) -> Row:
    then, now = drop["rate_before"], drop["rate"]
    lately = f" in the last {drop['runs']} runs" if drop["runs"] > 1 else ""
    sentence = f"resolved {then:.1%} -> {now:.1%} of {drop['tasks']} tasks{lately} ({p_is(drop['p_value'])})"
    return _found("rate", then, now, drop["tasks"], sentence, drop["p_value"], drop["runs"])


def _errors(one: Past, usual: dict[tuple[str, str], Sums], most: float) -> Row | None:
    now, then = total(one.tonight.values()), total(usual.values()) if usual else Sums()
    episodes, before = now.counted + now.errors, then.counted + then.errors
    if not episodes or not before or now.errors < LEAST_ERRORS:
        return None
    share, usually = now.errors / episodes, then.errors / before
    if share - usually <= most:
        return None
    sentence = f"errors {usually:.1%} -> {share:.1%} of its episodes"
    return _found("errors", usually, share, sum(sums.counted > 0 for sums in one.tonight.values()), sentence)


def _cost(one: Past, usual: dict[tuple[str, str], Sums], most: float) -> Row | None:
    shared = shared_tasks(usual, one.tonight)
    if not shared:
        return None
    now, then = (total(side[key] for key in shared) for side in (one.tonight, usual))
    if now.priced < now.counted or then.priced < then.counted or not then.cost_usd:  # unknown, or free
        return None
    before, mean = then.cost_usd / then.counted, now.cost_usd / now.counted
    if mean <= before * most:
        return None
    return _found("cost", before, mean, len(shared), f"cost ${before:.3g} -> ${mean:.3g} an episode")


def _found(
    what: str, before: float, value: float, tasks: int, sentence: str, p_value: float | None = None, runs: int = 1
) -> Row:
    about = {"what": what, "value_before": before, "value": value, "runs": runs}
    return {**about, "tasks": tasks, "p_value": p_value, "sentence": sentence}
