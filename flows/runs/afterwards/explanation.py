"""Explains why a run is slow, what fails, and what to do, in one paragraph made from measurements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.queries.episodes.in_progress import EpisodeInProgress
from stackrank.db.queries.episodes.time_spent import TimeBreakdown
from stackrank.db.queries.runs import RunRow
from stackrank.flows.runs.operating.absence import describe_absence
from stackrank.home import home
from stackrank.host.disk import is_full
from stackrank.host.programs import proxy_addresses
from stackrank.terms import ErrorClass, RunStatus
from stackrank.wording import count_of, duration, percent

PARTS = {
    "waited_s": "waiting for the endpoint (its limits, and tries that failed)",
    "model_s": "the model's answers",
    "sandbox_s": "tools in the sandbox",
    "tests_s": "the verdict's tests",
    "rest_s": "starting sandboxes, waiting for a busy machine, and interruptions",
}
REMEDIES = {
    "waited_s": "raise the endpoint's limits (`requests_per_minute`, `tokens_per_minute`, `max_concurrency`) or lower "
    "`workers`",
    "model_s": "raise `workers`, if the endpoint can handle more concurrent requests, or use a faster model",
    "sandbox_s": "look for slow tools on the page of an episode, and lower `workers`",
    "tests_s": "the tests are slow: leave out the slowest tasks, or split the run over machines with `pool`",
    "rest_s": "this machine is too busy for its `workers`: lower them, or split the run over machines with `pool`",
}
LONG_S = 60.0
"""A wait for the next step that an operator should hear of."""


def explain_run(engine: Engine, ref: int | str) -> dict[str, Any]:
    """Return the paragraph and the numbers it is made from. Raises NotFound."""
    run = queries.run(engine, ref)
    spent = queries.time_spent(engine, run["id"])
    shares = _shares(spent)
    slowest = _slowest(spent)
    errors = queries.episodes(engine, run["id"], verdict="error", limit=1, newest_first=True) if run["errors"] else []
    absence = describe_absence(engine, run)
    held = queries.in_progress(engine, run["id"]) if run["status"] == RunStatus.RUNNING and not absence else []
    sentences = [
        _state(engine, run, absence),
        _speed(spent, shares, slowest),
        _unplayed(run, absence),
        _longest_wait(held),
        _failing(run, errors[0]["error"] if errors else ""),
    ]
    advice = "; ".join(filter(None, [*_obstacles(run), _advice(run, shares, absence, held)]))
    return {
        "run": run["id"],
        "why": " ".join(filter(None, [*sentences, advice and f"What to do: {advice}."])),
        "status": run["status"],
        "paused": queries.describe_outages(run["outages"]) if run["status"] == RunStatus.RUNNING else "",
        "stalled": bool(absence),
        "longest_wait_s": held[0]["waiting_s"] if held else 0.0,
        "shares": shares,
        "queued_s": _mean([episode["queued_s"] for episode in spent]),
        "episode_s": _mean([episode["total_s"] for episode in spent]),
        "entrants": slowest,
        "errors": run["errors_by_class"],
    }


def _state(engine: Engine, run: RunRow, absence: str) -> str:
    total = run["episodes_total"] - run["not_played"]
    text = f"Run {run['id']} ({run['name']}) is {run['status']}: {run['done']} of {count_of(total, 'episode')}"
    text += f" in {duration(run['wall_s'])}." if run["wall_s"] is not None else "."
    if run["paused"] and not RunStatus(run["status"]).ended:
        text += f" {queries.describe_pause(engine, run['id'])}"
    if absence:
        return f"{text} {absence[0].upper()}{absence[1:]}."
    if run["status"] == RunStatus.RUNNING and (out := queries.describe_outages(run["outages"])):
        return f"{text} It is paused: {out}."
    if run["status"] == RunStatus.FAILED:
        return f"{text} It ended because {run['reason']}."
    return text


def _speed(spent: Sequence[TimeBreakdown], shares: dict[str, float], slowest: dict[str, float]) -> str:
    if not shares:
        return "No episode has a verdict yet, so it is unknown where the time goes."
    largest = sorted(((share, name) for name, share in shares.items() if share >= 0.05), reverse=True)
    parts = ", ".join(f"{percent(share)} {PARTS[name]}" for share, name in largest)
    text = f"An episode takes {duration(_mean([episode['total_s'] for episode in spent]))}: {parts}."
    names = list(slowest)
    if len(names) > 1 and slowest[names[0]] > 1.5 * slowest[names[-1]]:
        first, last = (f"{episode} ({duration(slowest[episode])})" for episode in (names[0], names[-1]))
        text += f" {first} is the slowest entrant, {last} the fastest."
    return text


def _unplayed(run: RunRow, absence: str) -> str:
    """Say how many episodes of a run in progress have no verdict yet."""
    if run["status"] != RunStatus.RUNNING or not run["pending"] + run["running"]:
        return ""
    begun = count_of(run["running"], "episode had begun", "episodes had begun")
    playing = count_of(run["running"], "episode is being played", "episodes are being played")
    return f"{begun if absence else playing}, {count_of(run['pending'], 'is', 'are')} waiting."


def _longest_wait(held: Sequence[EpisodeInProgress]) -> str:
    """Describe what an episode in progress has waited for, if that is long."""
    if not held or held[0]["waiting_s"] < LONG_S:
        return ""
    episode = held[0]
    awaited = "its sandbox"
    if episode["next_step"]:
        by = f": for an answer of {episode['model']}, or for its tool" if episode["model"] else ""
        awaited = f"step {episode['next_step']}{by}"
    waited = duration(episode["waiting_s"])
    return f"Episode {episode['episode']} ({episode['entrant']}) has waited {waited} for {awaited}."


def _failing(run: RunRow, example: str) -> str:
    if not run["errors"]:
        retries = f" {count_of(run['retried'], 'try was', 'tries were')} repeated." if run["retried"] else ""
        return f"No episode ended in an error.{retries}"
    classes = ", ".join(f"{count} by {name}" for name, count in sorted(run["errors_by_class"].items()))
    return f"{run['errors']} ended in an error ({classes}), for instance: {example[:300].rstrip('.')}."


def _obstacles(run: RunRow) -> list[str]:
    """Return what on this machine may explain a run that does not go on, or that ended in errors."""
    if run["status"] == RunStatus.FINISHED and not run["errors"]:
        return []
    obstacles = [
        f"free some space on the disk with {folder}" for folder in (home(), Path(gettempdir())) if is_full(folder)
    ]
    if (proxies := proxy_addresses()) and (run["outages"] or run["errors_by_class"].get(ErrorClass.ENDPOINT)):
        obstacles.append(f"check whether the proxy {', '.join(proxies)} lets requests to the models through")
    return obstacles


def _advice(run: RunRow, shares: dict[str, float], absence: str, held: Sequence[EpisodeInProgress]) -> str:
    if absence:
        return f"`stackrank resume {run['id']}`, or start a worker (`stackrank up`), which resumes it automatically"
    if run["status"] == RunStatus.RUNNING and run["outages"]:
        return "check that endpoint; its entrants continue when it answers again"
    if run["status"] in (RunStatus.FAILED, RunStatus.CANCELLED):
        return f"fix the cause, then play the rest with `stackrank resume {run['id']}`"
    if run["errors"] and run["status"] == RunStatus.FINISHED:
        return f"retry the errors with `stackrank resume {run['id']}`"
    if late := [episode for episode in held if episode["waiting_s"] >= LONG_S]:
        return _advice_for(late)
    worst = max(shares, key=lambda name: shares[name]) if shares else ""
    return REMEDIES.get(worst, "") if run["status"] == RunStatus.RUNNING else ""


def _advice_for(late: Sequence[EpisodeInProgress]) -> str:
    """Return what to do about episodes that have waited long for their next step."""
    asking = sorted({episode["model"] for episode in late if episode["model"] and episode["next_step"]})
    if asking:
        waiting = count_of(len(late), "episode has", "episodes have")
        return f"check whether the endpoint of {', '.join(asking)} answers: {waiting} waited for more than a minute"
    if not late[0]["next_step"]:
        return "this machine takes long to prepare sandboxes: lower `workers`"
    return f"look for a slow tool on the page of episode {late[0]['episode']}"


def _shares(spent: Sequence[TimeBreakdown]) -> dict[str, float]:
    """Return each part's share of the time of all episodes; empty if no time was measured."""
    sums = {name: sum(episode[name] for episode in spent) for name in PARTS}  # type: ignore[literal-required]
    total = sum(sums.values())
    return {name: seconds / total for name, seconds in sums.items()} if total else {}


def _slowest(spent: Sequence[TimeBreakdown]) -> dict[str, float]:
    """Return the mean time of each entrant's episodes, slowest first."""
    times: dict[str, list[float]] = defaultdict(list)
    for episode in spent:
        times[episode["entrant"]].append(episode["total_s"])
    means = {name: _mean(seconds) for name, seconds in times.items()}
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
