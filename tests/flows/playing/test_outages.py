"""Endpoints that do not answer: their entrants wait, nothing becomes an error, and the rest goes on."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.acts import Acts
from stackrank.db.writes.claims import ClaimedEpisode
from stackrank.db.writes.store import Store
from stackrank.flows.runs.playing import driver, outages
from stackrank.flows.runs.playing.driver import Driver, OnEnd
from stackrank.flows.runs.playing.error_policy import EpisodeFailed
from stackrank.flows.runs.playing.outages import Outages
from stackrank.flows.runs.playing.session import Session, join_run, leave_run
from stackrank.flows.runs.preparing.endpoints import find_silent_endpoints
from stackrank.flows.runs.preparing.entrants import Entrant, make_entrant
from stackrank.flows.runs.specification.spec import make_spec
from tests.fixtures.playing import drive, make_run
from tests.fixtures.scripted import ANSWERS, ENTRANT, Script
from tests.flows.engine.test_resume import endpoint, rows, scripted_run
from tests.support.openai_server import Entry, Fault, OpenAIServer
from tests.support.waiting import run_out, wait_for

pytestmark = pytest.mark.slow  # by its time

__all__ = ["endpoint"]
URL = "http://127.0.0.1:9/v1"
MODEL = {"agent": "llm", "model": "m", "config": {"base_url": URL}}
TASKS = 3


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "FIRST_PAUSE_S", 0.05)
    monkeypatch.setattr(outages, "LONGEST_PAUSE_S", 0.2)
    monkeypatch.setattr(driver, "TICK_S", 0.05)


class Played:
    """A run of a model and of an agent without one; `answers` says whether the endpoint answers this episode."""

    def __init__(self, answers: Callable[[Played, ClaimedEpisode], bool], workers: int = 2, **spec: object) -> None:
        self.answers = answers
        self.order: list[str] = []
        self.asked: Counter[int] = Counter()
        entrants = [MODEL, {"agent": "random"}]
        run = make_run(limit=TASKS, entrants=entrants, workers=workers, sandbox="bubblewrap", **spec)
        self.session: Session = join_run(run)
        self.session.store.start_run(run)

    def drive(self, limit: int | None = None, probes: bool = False) -> str:
        return Driver(self.session, self._submit, limit=limit, probes=probes).run()

    def _submit(self, claim: ClaimedEpisode, on_end: OnEnd) -> None:
        store, token = self.session.store, self.session.claims.token
        model = self.session.entrants[claim["entrant_id"]].spec.model
        self.order.append(model)
        self.asked[claim["id"]] += bool(model)
        if model and not self.answers(self, claim):
            on_end(EpisodeFailed("refused", retried=True, endpoint=URL, by=token))
        else:
            store.finish_episode(claim["id"], verdict="resolved", stop_reason="submitted", by=token)
            on_end(None)

    @property
    def counts(self) -> tuple[int, int, int, int]:
        counts = queries.progress(self.session.store.engine, self.session.run_id)
        return counts["resolved"], counts["pending"], counts["errors"], counts["retried"]

    @property
    def out(self) -> dict[str, object]:
        return dict(queries.outages(self.session.store.engine, self.session.run_id))


@pytest.mark.usefixtures("database")
def test_the_other_entrants_continue_and_no_episode_is_lost() -> None:
    """Down for six questions: with two workers at most two are asked in vain before the breaker opens."""
    played = Played(lambda played, claim: sum(played.asked.values()) > 6)
    try:
        assert played.drive() == ""
        assert played.counts == (2 * TASKS, 0, 0, 0) and not played.out
        script_positions = [place for place, model in enumerate(played.order) if not model]
        assert max(script_positions) < len(played.order) - 3, "the others did not wait for the endpoint"
        assert sum(played.asked.values()) == 6 + TASKS
        assert min(count for count in played.asked.values() if count) >= 2, "each probe is another episode"
    finally:
        leave_run(played.session.run_id)


@pytest.mark.usefixtures("database")
def test_patience_ends_and_the_run_can_be_resumed() -> None:
    up = False
    played = Played(lambda played, claim: up, endpoint_silence_s=0.0)
    try:
        reason = played.drive()
        assert f"{TASKS} episodes wait: endpoint {URL} has not answered since" in reason
        assert "stackrank resume" in reason
        assert played.counts == (TASKS, TASKS, 0, 0)
        up = True
        assert played.session.store.start_run(played.session.run_id) and not played.out
        assert played.drive() == "" and played.counts == (2 * TASKS, 0, 0, 0)
    finally:
        leave_run(played.session.run_id)


@pytest.mark.usefixtures("database")
def test_a_pause_does_not_count_as_waiting_for_an_endpoint() -> None:
    """The operator who let it go on sees it wait for its endpoint for as long as it says."""
    silence_s, asked_again = run_out(2.0), threading.Event()
    played = Played(lambda played, claim: asked_again.is_set(), workers=1, endpoint_silence_s=silence_s)
    run_id, acts, reasons = played.session.run_id, Acts(connect()), list[str]()
    playing = threading.Thread(target=lambda: reasons.append(played.drive()), daemon=True)
    playing.start()
    try:
        wait_for(lambda: played.out, "the outage")
        acts.pause(run_id, person="ada", why="the provider is down")
        wait_for(lambda: played.session.is_paused, "the pause")
        asked = sum(played.asked.values())
        time.sleep(1.5 * silence_s)
        assert sum(played.asked.values()) <= asked + 1, "a paused run asks nothing"
        acts.unpause(run_id, person="ada")
        wait_for(lambda: reasons or sum(played.asked.values()) >= asked + 3, "questions in vain")
        asked_again.set()
        playing.join(600)
        assert reasons == [""] and played.counts == (2 * TASKS, 0, 0, 0)
    finally:
        leave_run(run_id)


@pytest.mark.usefixtures("database")
def test_an_episode_that_is_never_answered_does_not_block_the_others() -> None:
    bad: set[int] = set()

    def answers(played: Played, claim: ClaimedEpisode) -> bool:
        bad.add(min(played.asked))
        return claim["id"] not in bad

    played = Played(answers, workers=1, retries=0)
    try:
        assert played.drive() == ""
        assert played.counts == (2 * TASKS - 1, 0, 1, 0)
    finally:
        leave_run(played.session.run_id)


@pytest.mark.usefixtures("database")
def test_a_shard_waits_for_no_endpoint_and_a_probing_shard_asks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "FIRST_PAUSE_S", 600.0)
    monkeypatch.setattr(outages, "LONGEST_PAUSE_S", 600.0)
    played = Played(lambda played, claim: False, workers=1)
    try:
        assert played.drive(limit=10) == ""
        assert played.counts == (TASKS, TASKS, 0, 0)
        asked_count = sum(played.asked.values())
        leader = Outages(played.session)
        leader.refresh()
        assert len(leader.waiting) == 1 and not leader.any_due()
        played.drive(limit=1, probes=True)
        assert sum(played.asked.values()) == asked_count + 1
        played.answers = lambda played, claim: True
        played.drive(limit=1, probes=True)
        assert not played.out and played.counts == (TASKS + 1, TASKS - 1, 0, 0)
    finally:
        leave_run(played.session.run_id)


@pytest.mark.usefixtures("database")
def test_only_one_worker_probes_an_endpoint() -> None:
    run = make_run(limit=TASKS, entrants=[MODEL], sandbox="bubblewrap")
    store = Store(connect())
    (entrant,) = {row["entrant_id"] for row in queries.episodes(store.engine, run)}
    store.open_outage(run, URL, [entrant], "refused")
    assert store.claim_next(run, "w", without=[entrant]) is None
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda n: store.claim_probe(run, URL, f"w{n}", probes=0), range(8)))
    (probe,) = [claim for claim in claims if claim]
    assert store.claim_probe(run, URL, "w", probes=1) is None, "while a probe is played, nobody else asks"
    (by,) = [row["claimed_by"] for row in store.claims(run)]
    assert not store.postpone(probe["id"], "another") and store.postpone(probe["id"], by)
    following = store.claim_probe(run, URL, "w", probes=1)
    assert following is not None and following["id"] != probe["id"]
    sentence = queries.describe_outages(queries.outages(store.engine, run))
    assert f"endpoint {URL} has not answered since" in sentence and "refused" in sentence
    assert store.end_outage(run, URL) and not store.end_outage(run, URL)


def test_an_endpoint_of_two_entrants_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third entrant has no endpoint."""
    monkeypatch.setattr("stackrank.agents.llm.endpoints.retries.FIRST_CONTACT_S", 0.1)
    checked: list[str] = []

    def watch(entrant: Entrant) -> Entrant:
        def check() -> None:
            checked.append(entrant.spec.tools)
            entrant.setup.check()

        return replace(entrant, setup=replace(entrant.setup, check=check))

    spec = make_spec({"entrants": [MODEL, {**MODEL, "tools": "rewrite"}, {"agent": "random"}]}, "the test")
    first, second, third = (watch(make_entrant(entrant)) for entrant in spec.entrants)
    silent = find_silent_endpoints([first, second, third])
    assert set(silent) == {first.digest, second.digest}
    assert {error.endpoint for error in silent.values()} == {URL}
    assert checked == [first.spec.tools, third.spec.tools]


@pytest.mark.usefixtures("database")
def test_a_model_over_its_limit_does_not_block_other_models(
    endpoint: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is refused until the other model is done, which answers all the time."""
    script, asked_count = Script(), Counter[str]()

    def limited(request: dict[str, Any]) -> Entry:
        asked_count[request["model"]] += 1
        is_over_limit = request["model"] == "limited" and asked_count["scripted"] < 4 * ANSWERS
        return Fault.status(429) if is_over_limit else script(request)

    endpoint._script = limited
    entrants = [{**ENTRANT, "model": name, "config": {"retry_s": 0}} for name in ("limited", "scripted")]
    run_id = scripted_run(entrants=entrants, retries=0)
    assert drive(run_id) == ""
    episodes = rows(run_id, counted=None)
    assert Counter((row["model"], row["verdict"]) for row in episodes) == {
        (model, verdict): 2 for model in ("limited", "scripted") for verdict in ("resolved", "unresolved")
    }
    assert asked_count["scripted"] == 4 * ANSWERS and not any(row["error"] for row in episodes)
    assert all(not row["interruptions"] for row in episodes if row["model"] == "scripted"), "it waited for nothing"
    log_text = capsys.readouterr().err
    assert f"{endpoint.url} (limited)" in log_text and f"{endpoint.url} (scripted)" not in log_text


@pytest.mark.usefixtures("database")
def test_an_endpoint_that_fails_once_per_request_loses_no_episode(endpoint: OpenAIServer) -> None:
    script, questions = Script(), set[str]()

    def each_once(request: dict[str, Any]) -> Entry:
        question = json.dumps(request["messages"])
        if question in questions:
            return script(request)
        questions.add(question)
        return Fault.status(503)

    endpoint._script = each_once
    run_id = scripted_run(entrants=[{**ENTRANT, "config": {"retry_s": 0}}], attempts=1, retries=0, workers=1)
    assert drive(run_id) == ""
    assert Counter(row["verdict"] for row in rows(run_id, counted=None)) == {"resolved": 1, "unresolved": 1}
    assert endpoint.asked == 2 * 2 * ANSWERS
