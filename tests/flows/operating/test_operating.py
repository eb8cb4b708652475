"""A run is paused, retuned and retried while it plays; what would change its results is refused."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import ValidationError

from stackrank.agents.llm.endpoints import limits
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.acts import Acts
from stackrank.db.writes.store import Store
from stackrank.db.writes.tunable import NUMBERS
from stackrank.errors import UsageError
from stackrank.flows.runs.operating.tuning import read_assignments, retune
from stackrank.flows.runs.playing.driver import Driver, OnEnd
from stackrank.flows.runs.playing.session import Session, join_run, leave_run
from stackrank.flows.runs.specification.spec import RunSpec, SpecError
from tests.fixtures.calls import CommandLine
from tests.fixtures.playing import make_run
from tests.support.waiting import wait_for

pytestmark = pytest.mark.slow  # by its time

ORACLE = [{"agent": "oracle", "tools": "rewrite"}]
LATER_S = 60.0


class Players:
    """Episodes that a driver has started, each of which ends when the test says so."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.thread: threading.Thread
        """Of the driver."""
        self.started: list[int] = []
        self.looks = 0
        """How often the driver has asked what operators want."""
        self._ends: list[Callable[[], None]] = []
        session.follow = self._counted(session.follow)  # type: ignore[method-assign]

    def _counted(self, follow: Callable[[], None]) -> Callable[[], None]:
        def counted() -> None:
            follow()
            self.looks += 1

        return counted

    def wait_for_looks(self) -> None:
        """Wait until the driver has asked twice more."""
        looks = self.looks
        wait_for(lambda: self.looks >= looks + 2, "looks of the driver")

    def submit(self, claim: Any, on_end: OnEnd) -> None:
        """Start an episode: nothing is played, the test ends it."""

        def end() -> None:
            token = self._session.claims.token
            self._session.store.fail_episode(claim["id"], stop_reason="error", error="ended by the test", by=token)
            on_end(None)

        self.started.append(claim["id"])
        self._ends.append(end)

    def end_one(self) -> None:
        """End the episode that started first."""
        self._ends.pop(0)()


@contextmanager
def driven(run_id: int) -> Iterator[Players]:
    """Drive a run in a thread, and end its episodes when the body is over."""
    session = join_run(run_id)
    players = Players(session)
    assert session.start_run()
    players.thread = threading.Thread(target=Driver(session, players.submit).run, daemon=True)
    players.thread.start()
    try:
        yield players
    finally:
        session.drain()
        while players._ends:
            players.end_one()
        players.thread.join(LATER_S)
        leave_run(run_id)
    assert not players.thread.is_alive()


@pytest.fixture
def run_id(database: str) -> int:
    return make_run(entrants=ORACLE, limit=6, workers=2, sandbox="local", max_error_share=1.0)


@pytest.fixture
def acts(run_id: int) -> Acts:
    return Acts(connect())


@pytest.fixture(autouse=True)
def local_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_ALLOW_LOCAL", "1")


def test_no_episode_starts_while_a_run_is_paused(run_id: int, acts: Acts) -> None:
    with driven(run_id) as players:
        wait_for(lambda: len(players.started) == 2, "what the act asks for")
        assert acts.pause(run_id, person="ada", why="the provider throttles")
        wait_for(lambda: join_run(run_id).is_paused, "what the act asks for")
        players.end_one()
        players.end_one()
        players.wait_for_looks()
        assert len(players.started) == 2
        assert acts.unpause(run_id, person="ada")
        wait_for(lambda: len(players.started) == 4, "what the act asks for")


def test_a_paused_run_ends_when_nothing_is_left(run_id: int, acts: Acts) -> None:
    """Otherwise a schedule would wait for somebody who has nothing to decide."""
    acts.tune(run_id, {"workers": 6}, person="ada")
    with driven(run_id) as players:
        wait_for(lambda: len(players.started) == 6, "all episodes")
        acts.pause(run_id, person="ada")
        wait_for(lambda: join_run(run_id).is_paused, "the pause")
        for _ in range(6):
            assert players.thread.is_alive()
            players.end_one()
        players.thread.join(LATER_S)
        assert not players.thread.is_alive()


def test_workers_change_while_the_run_plays(run_id: int, acts: Acts) -> None:
    with driven(run_id) as players:
        wait_for(lambda: len(players.started) == 2, "what the act asks for")
        acts.tune(run_id, {"workers": 5}, person="ada")
        wait_for(lambda: len(players.started) == 5, "what the act asks for")
        acts.tune(run_id, {"workers": 1}, person="ada")
        wait_for(lambda: join_run(run_id).run.spec.workers == 1, "what the act asks for")
        for _ in range(4):
            players.end_one()
        players.wait_for_looks()
        assert len(players.started) == 5
        players.end_one()
        wait_for(lambda: len(players.started) == 6, "what the act asks for")


def test_acts_are_recorded_with_who_and_why(run_id: int, acts: Acts) -> None:
    assert acts.pause(run_id, person="ada", why="the provider throttles")
    assert not acts.pause(run_id, person="bob")
    assert acts.tune(run_id, {"workers": 1, "retries": 2}, person="bob") == {"workers": [2, 1]}
    assert acts.unpause(run_id, person="bob")
    assert not acts.unpause(run_id, person="bob")
    rows = queries.acts(acts.engine, run_id)
    assert [(row["kind"], row["person"]) for row in rows] == [("pause", "ada"), ("set", "bob"), ("resume", "bob")]
    sentences = [queries.describe_act(row) for row in rows]
    assert sentences[0].startswith("ada paused it at ") and sentences[0].endswith(": the provider throttles")
    assert sentences[1].startswith("bob set workers from 2 to 1 at ")
    assert queries.run(acts.engine, run_id)["spec"]["workers"] == 1


def test_a_run_that_is_over_cannot_be_paused(run_id: int, acts: Acts) -> None:
    store = Store(acts.engine)
    store.start_run(run_id)
    store.end_run(run_id, "finished")
    with pytest.raises(UsageError, match="is finished: only a run in progress can be paused"):
        acts.pause(run_id, person="ada")
    assert queries.acts(acts.engine, run_id) == []


def test_only_errors_are_retried(run_id: int, acts: Acts) -> None:
    store = Store(acts.engine)
    first, second = (store.claim_next(run_id, "worker") for _ in range(2))
    assert first and second
    store.fail_episode(first["id"], stop_reason="error", error="no network", by="worker")
    with pytest.raises(UsageError, match="is running: only an episode that ended can be retried"):
        acts.retry(second["id"], person="ada")
    assert acts.retry(first["id"], person="ada") == run_id
    with pytest.raises(UsageError, match="another one has taken its place"):
        acts.retry(first["id"], person="ada")
    assert [row["change"] for row in queries.acts(acts.engine, run_id)] == [{"episode": first["id"]}]
    counts = queries.progress(acts.engine, run_id)
    assert (counts["retried"], counts["pending"], counts["errors"]) == (1, 5, 0)


@pytest.mark.parametrize(
    ("assignment", "reason"),
    [
        ("steps=10", "steps is a condition of the comparison"),
        ("wall_s=60", "wall_s is a condition of the comparison"),
        ("sandbox=docker", "sandbox is a condition of the comparison"),
        ("shows_failing_test=false", "is a condition of the comparison"),
        ("attempts=3", "attempts decides what a run plays"),
        ("limit=3", "limit decides what a run plays"),
        ("owner=eve", "owner cannot change while a run is played: set workers,"),
        ("worker=3", "worker is not a field of a run: set workers,"),
        ("workers", "'workers' is not FIELD=VALUE"),
        (" =3", "' =3' is not FIELD=VALUE"),
        ("workers=0", "workers"),
        ("workers=many", "workers"),
        ("budget_usd=-1", "budget_usd"),
        ("stop={decided: 0.05}", "a stop rule cannot begin or change in the middle of a run"),
    ],
)
def test_what_would_change_results_is_refused(assignment: str, reason: str) -> None:
    with pytest.raises(SpecError, match=reason.replace("{", r"\{")):
        read_assignments([assignment], {"benchmark": "bugs"})


def test_values_are_read_as_in_a_specification() -> None:
    stored = {"benchmark": "bugs", "workers": 2, "budget_usd": 3.0, "stop": {"decided": 0.05}}
    assert read_assignments(["workers=4", "budget_usd=null", "stop=null"], stored) == {
        "workers": 4,
        "budget_usd": None,
        "stop": None,
    }


def test_a_specification_keeps_what_is_not_tunable() -> None:
    spec = RunSpec.model_validate({"steps": 7, "workers": 2, "stop": {"decided": 0.05}})
    assert retune(spec, spec.model_dump(mode="json")) is spec
    tuned = retune(spec, {**spec.model_dump(mode="json"), "workers": 3, "steps": 9, "stop": None})
    assert (tuned.workers, tuned.steps, tuned.stop) == (3, 7, None)


def test_requests_of_an_endpoint_are_restrained_and_freed_again() -> None:
    url = "http://127.0.0.1:1/v1"
    limits.restrain(url, None)
    limits.restrain(url, 30)
    assert limits._limits_by_url[url]._requests.per_minute == 30
    limits.restrain(url, None)
    assert limits._limits_by_url[url]._requests.per_minute is None


def test_commands_say_what_has_become_of_the_run(stackrank: CommandLine, run_id: int) -> None:
    paused = stackrank("pause", str(run_id), "--why", "the provider throttles").out
    assert paused.rstrip().endswith("is paused.")
    assert "was paused already" in stackrank("pause", str(run_id)).out
    assert "running, paused" in stackrank("runs").out or "pending, paused" in stackrank("runs").out
    why = stackrank("why", str(run_id), "--json").json()["why"]
    assert "paused it at" in why and "the provider throttles" in why and f"`stackrank resume {run_id}`" in why
    document = stackrank("set", str(run_id), "workers=1", "--json").json()
    assert document == {"run": run_id, "changed": {"workers": {"from": 2, "to": 1}}}
    refused = stackrank("set", str(run_id), "steps=10")
    assert refused.status == 2 and "condition of the comparison" in refused.sentence()
    assert stackrank("retry", "1").status == 2


def test_a_paused_run_goes_on_as_resume_asks(stackrank: CommandLine, run_id: int, acts: Acts) -> None:
    with driven(run_id) as players:
        wait_for(lambda: len(players.started) == 2, "two episodes")
        acts.pause(run_id, person="ada")
        document = stackrank("resume", str(run_id), "--workers", "3", "--budget", "9", "--json").json()
        assert document == {"run": run_id, "status": "running", "paused": False}
        wait_for(lambda: len(players.started) == 3, "a third one")
    assert queries.run(acts.engine, run_id)["spec"]["budget_usd"] == 9


@pytest.mark.parametrize("field", NUMBERS)
def test_pages_offer_the_values_that_a_specification_takes(field: str) -> None:
    bounds = NUMBERS[field]
    values = {bounds.low: not bounds.above, bounds.low - 1: False, bounds.low + 1: True, None: bounds.optional}
    values |= {bounds.high: True, bounds.high + 1: False} if bounds.high is not None else {}
    for value, is_valid in values.items():
        if is_valid:
            assert getattr(RunSpec.model_validate({field: value}), field) == value
        else:
            with pytest.raises(ValidationError):
                RunSpec.model_validate({field: value})
