"""Explains why a run is slow, what fails, and what to do, in one paragraph made from measurements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.queries.episodes.time_spent import TimeBreakdown
from stackrank.db.queries.runs import RunRow
from stackrank.home import home
from stackrank.host.disk import is_full
from stackrank.host.programs import proxy_addresses
from stackrank.host.wall_clock import seconds_since
from stackrank.settings import settings
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


def explain_run(engine: Engine, ref: int | str) -> dict[str, Any]:
    """Return the paragraph and the numbers it is made from. Raises NotFound."""
    run = queries.run(engine, ref)
    spent = queries.time_spent(engine, run["id"])
    shares = _shares(spent)
    slowest = _slowest(spent)
    errors = queries.episodes(engine, run["id"], verdict="error", limit=1, newest_first=True) if run["errors"] else []
    sentences = [
        _state(engine, run),
        _speed(run, spent, shares, slowest),
        _failing(run, errors[0]["error"] if errors else ""),
    ]
    advice = "; ".join(filter(None, [*_obstacles(run), _advice(run, shares)]))
    return {
        "run": run["id"],
        "why": " ".join(filter(None, [*sentences, advice and f"What to do: {advice}."])),
        "status": run["status"],
        "paused": queries.describe_outages(run["outages"]) if run["status"] == RunStatus.RUNNING else "",
        "stalled": find_silence(run) is not None,
        "shares": shares,
        "queued_s": _mean([episode["queued_s"] for episode in spent]),
        "episode_s": _mean([episode["total_s"] for episode in spent]),
        "entrants": slowest,
        "errors": run["errors_by_class"],
    }


def find_silence(run: RunRow) -> float | None:
    """Return the seconds since the run's last sign of life, if they are too many; else None."""
    last_sign = run["heartbeat_at"] or run["started_at"]
    if run["status"] != RunStatus.RUNNING or not last_sign:
        return None
    seconds = seconds_since(last_sign)
    return seconds if seconds > settings().run_silent_s else None


def _state(engine: Engine, run: RunRow) -> str:
    total = run["episodes_total"] - run["not_played"]
    text = f"Run {run['id']} ({run['name']}) is {run['status']}: {run['done']} of {count_of(total, 'episode')}"
    text += f" in {duration(run['wall_s'])}." if run["wall_s"] is not None else "."
    if run["paused"] and not RunStatus(run["status"]).ended:
        text += f" {queries.describe_pause(engine, run['id'])}"
    if (silence := find_silence(run)) is not None:
        return f"{text} Nobody has played it for {duration(silence)}."
    if run["status"] == RunStatus.RUNNING and (out := queries.describe_outages(run["outages"])):
        return f"{text} It is paused: {out}."
    if run["status"] == RunStatus.FAILED:
        return f"{text} It ended because {run['reason']}."
    return text


def _speed(run: RunRow, spent: Sequence[TimeBreakdown], shares: dict[str, float], slowest: dict[str, float]) -> str:
    if not shares:
        return "No episode has a verdict yet, so it is unknown where the time goes."
    largest = sorted(((share, name) for name, share in shares.items() if share >= 0.05), reverse=True)
    parts = ", ".join(f"{percent(share, 0)} {PARTS[name]}" for share, name in largest)
    text = f"An episode takes {duration(_mean([episode['total_s'] for episode in spent]))}: {parts}."
    names = list(slowest)
    if len(names) > 1 and slowest[names[0]] > 1.5 * slowest[names[-1]]:
        first, last = (f"{episode} ({duration(slowest[episode])})" for episode in (names[0], names[-1]))
        text += f" {first} is the slowest entrant, {last} the fastest."
    unplayed = run["pending"] + run["running"]
    if unplayed and run["status"] == RunStatus.RUNNING:
        playing = count_of(run["running"], "episode is", "episodes are")
        text += f" {playing} being played, {count_of(run['pending'], 'is', 'are')} waiting."
    return text


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


def _advice(run: RunRow, shares: dict[str, float]) -> str:
    if find_silence(run) is not None:
        return f"`stackrank resume {run['id']}`, or start a worker (`stackrank up`), which resumes it automatically"
    if run["status"] == RunStatus.RUNNING and run["outages"]:
        return "check that endpoint; its entrants continue when it answers again"
    if run["status"] in (RunStatus.FAILED, RunStatus.CANCELLED):
        return f"fix the cause, then play the rest with `stackrank resume {run['id']}`"
    if run["errors"] and run["status"] == RunStatus.FINISHED:
        return f"retry the errors with `stackrank resume {run['id']}`"
    worst = max(shares, key=lambda name: shares[name]) if shares else ""
    return REMEDIES.get(worst, "") if run["status"] == RunStatus.RUNNING else ""


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
