"""A run that ends when its comparisons are decided: what is played, what is not, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.queries.comparisons.stopping import StoppingState
from stackrank.db.writes.claims import ClaimedEpisode
from stackrank.flows.cli import runs
from stackrank.flows.runs.playing.driver import Driver, OnEnd
from stackrank.flows.runs.playing.early_stopping import reconsider
from stackrank.flows.runs.playing.error_policy import EpisodeFailed
from stackrank.flows.runs.playing.session import Session, join_run, leave_run
from stackrank.flows.runs.specification.spec import SpecError, make_spec
from stackrank.flows.services import prefect_server
from tests.fixtures.calls import CommandLine
from tests.fixtures.playing import make_run

pytestmark = pytest.mark.slow  # by its time

Resolves = Callable[[str, int], bool]


def entrants(*names: str) -> list[dict[str, Any]]:
    return [{"agent": "repair", "tools": tools, "name": name} for name, tools in zip(names, TOOLS, strict=False)]


TOOLS = ("rewrite", "debug", "debug5")


@pytest.fixture
def opened(database: str) -> Iterator[Callable[..., Session]]:
    """Opens the session of a new run that goes on."""
    run_ids: list[int] = []

    def make(**spec: Any) -> Session:
        run_id = make_run(**{"limit": 40, "workers": 1, "sandbox": "bubblewrap", "stop": {"decided": 0.05}, **spec})
        run_ids.append(run_id)
        session = join_run(run_id)
        session.store.start_run(run_id)
        return session

    yield make
    for run_id in run_ids:
        leave_run(run_id)


def plays(session: Session, resolves: Resolves) -> Callable[[ClaimedEpisode, OnEnd], None]:
    """Episodes that end at once, as `resolves` says of the entrant's name and the task's row."""

    def submit(claim: ClaimedEpisode, on_end: OnEnd) -> None:
        name = session.entrants[claim["entrant_id"]].spec.label
        verdict = "resolved" if resolves(name, claim["task_id"]) else "unresolved"
        session.store.finish_episode(
            claim["id"], verdict=verdict, stop_reason="submitted", cost_usd=0.5, wall_s=2.0, by=session.claims.token
        )
        on_end(None)

    return submit


def known(session: Session) -> StoppingState:
    stopping = queries.stopping(session.store.engine, session.run_id)
    assert stopping is not None
    return stopping


def counts(session: Session) -> dict[str, int]:
    progress = queries.progress(session.store.engine, session.run_id)
    return {name: progress[name] for name in ("done", "pending", "running", "not_played")}  # type: ignore[literal-required]


def episodes_of(session: Session) -> dict[str, int]:
    board = queries.leaderboard(session.store.engine, queries.Scope(run=session.run_id))
    return {row["entrant"]: row["episodes"] for row in board}


def only_good(name: str, task: int) -> bool:
    return name == "good"


def test_a_decided_run_ends_and_says_what_it_saved(opened: Callable[..., Session]) -> None:
    session = opened(entrants=entrants("good", "bad"))
    assert Driver(session, plays(session, only_good)).run() == ""
    stopping, progress = known(session), counts(session)
    assert [(pair["first"], pair["second"], pair["decision"]) for pair in stopping["pairs"]] == [
        ("good", "bad", "behind")
    ]
    assert progress["not_played"] > progress["done"] and progress["pending"] == progress["running"] == 0
    assert stopping["not_played"] == progress["not_played"] and stopping["saved_usd"] == progress["not_played"] * 0.5
    assert stopping["saved_s"] == progress["not_played"] * 2.0
    assert f"{progress['not_played']} of {stopping['episodes_total']} episodes" in stopping["sentence"]
    (pair,) = stopping["pairs"]
    assert pair["difference"] == -1 and pair["ci_low"] <= -1 + 1e-9 and pair["ci_high"] < 0
    assert pair["p_corrected"] <= 0.05
    # Both sides of the last task that counted were played; nothing lies idle in between.
    assert progress["done"] in (2 * pair["tasks"], 2 * pair["tasks"] + 1)
    assert queries.run_summary(session.store.engine, session.run_id)["stop"] == stopping
    session.store.end_run(session.run_id, "finished")
    scope = queries.describe_scope(session.store.engine)
    assert scope["stopped"] == [session.run_id] and f"run {session.run_id} stopped early" in scope["sentence"]


def test_tasks_come_in_a_random_order_that_the_seed_fixes(opened: Callable[..., Session]) -> None:
    def order(**spec: Any) -> list[str]:
        session = opened(entrants=entrants("good", "bad"), limit=10, **spec)
        played: list[str] = []
        submit = plays(session, lambda name, task: bool(played.append(session.tasks[task].id)))  # type: ignore[func-returns-value]
        Driver(session, submit).run()
        return played[::2]

    shuffled = order(seed=1)
    assert len(shuffled) == 10 and shuffled != sorted(shuffled)
    assert order(seed=1) == shuffled != order(seed=2)
    unshuffled = order(stop=None)
    assert unshuffled == sorted(unshuffled)


def test_a_decided_entrant_stops_and_the_others_play_everything(opened: Callable[..., Session]) -> None:
    session = opened(entrants=entrants("good", "bad", "same"))
    Driver(session, plays(session, lambda name, task: name != "bad")).run()
    stopping = known(session)
    by_names = {(pair["first"], pair["second"]): pair["decision"] for pair in stopping["pairs"]}
    assert by_names == {("good", "bad"): "behind", ("good", "same"): "open", ("bad", "same"): "ahead"}
    board = episodes_of(session)
    tasks = len(session.run.tasks)
    assert board["good"] == board["same"] == tasks > board["bad"] and stopping["not_played"] == tasks - board["bad"]


def test_equal_entrants_are_decided_within_a_margin_and_else_play_everything(opened: Callable[..., Session]) -> None:
    margin = opened(entrants=entrants("good", "same"), stop={"decided": 0.05, "equal_within": 0.4})
    Driver(margin, plays(margin, lambda name, task: task % 2 == 0)).run()
    (pair,) = known(margin)["pairs"]
    assert pair["decision"] == "equal" and pair["p_equal"] <= 0.05 < pair["p_corrected"]
    assert counts(margin)["not_played"] > 0
    without = opened(entrants=entrants("good", "same"))
    Driver(without, plays(without, lambda name, task: task % 2 == 0)).run()
    assert [pair["decision"] for pair in known(without)["pairs"]] == ["open"] and counts(without)["not_played"] == 0


def test_only_compared_entrants_keep_a_run_going(opened: Callable[..., Session]) -> None:
    session = opened(entrants=entrants("good", "bad", "same"), stop={"decided": 0.05, "against": "bad"})
    Driver(session, plays(session, lambda name, task: name != "bad")).run()
    assert len(known(session)["pairs"]) == 2 and known(session)["open"] == 0 and counts(session)["not_played"] > 0


def test_a_reference_entrant_is_not_compared_and_plays_everything(opened: Callable[..., Session]) -> None:
    session = opened(entrants=[{"agent": "oracle", "tools": "rewrite", "name": "key"}, *entrants("good", "bad")])
    Driver(session, plays(session, lambda name, task: name != "bad")).run()
    assert [(pair["first"], pair["second"]) for pair in known(session)["pairs"]] == [("good", "bad")]
    board = episodes_of(session)
    assert 0 <= board["key"] - board["bad"] <= 1


def test_quick_episodes_do_not_decide_before_the_slow_ones_of_their_tasks(opened: Callable[..., Session]) -> None:
    """What ends first is no random sample: here the first task dealt never ends, and the others speak for one side."""
    session = opened(entrants=entrants("good", "bad"), workers=4)
    first = queries.episodes(session.store.engine, session.run_id, limit=1)[0]["id"]
    held: list[OnEnd] = []
    submit = plays(session, only_good)

    def slow(claim: ClaimedEpisode, on_end: OnEnd) -> None:
        if claim["id"] != first:
            submit(claim, on_end)
            if counts(session)["pending"] == 0:
                session.store.fail_episode(first, stop_reason="error", error="gone", by=session.claims.token)
                held[0](EpisodeFailed("gone"))
        else:
            held.append(on_end)

    Driver(session, slow).run()
    assert counts(session)["not_played"] == 0
    # Once it is over, the others count.
    assert known(session)["open"] == 0


def test_several_workers_and_a_resumed_run_decide_the_same(opened: Callable[..., Session]) -> None:
    alone = opened(entrants=entrants("good", "bad"), attempts=2)
    Driver(alone, plays(alone, only_good)).run()
    many = opened(entrants=entrants("good", "bad"), attempts=2)
    threads = [Thread(target=Driver(many, plays(many, only_good), limit=7).run) for _ in range(20)]
    for thread in threads[:2]:  # two at a time; each gives up after seven episodes, as a shard does
        thread.start()
    for predecessor, successor in zip(threads, [*threads[2:], None, None], strict=True):
        predecessor.join(600)
        if successor is not None:
            successor.start()
    assert counts(many)["pending"] == counts(many)["running"] == 0
    ours, theirs = known(alone)["pairs"][0], known(many)["pairs"][0]
    assert ours["decision"] == theirs["decision"] == "behind"
    # Gone on with, nothing comes back that is not needed.
    before_resume = counts(many)
    reconsider(many)
    assert counts(many) == before_resume


def test_a_decision_based_on_an_error_is_repeated(opened: Callable[..., Session]) -> None:
    session = opened(entrants=entrants("good", "bad"))
    Driver(session, plays(session, only_good)).run()
    first = queries.episodes(session.store.engine, session.run_id, limit=1)[0]["id"]
    from sqlalchemy import update

    from stackrank.db.connection.transactions import EPISODE

    with session.store.engine.connect().execution_options(write=True) as connection, connection.begin():
        values = {"verdict": "", "status": "pending", "claimed_by": ""}
        connection.execute(update(EPISODE).where(EPISODE.c.id == first).values(values))
    skipped = counts(session)["not_played"]
    reconsider(session)
    assert known(session)["open"] == 1 and counts(session)["pending"] == skipped + 1


def test_no_stop_plays_the_skipped_episodes(
    opened: Callable[..., Session], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened(entrants=entrants("good", "bad"))
    Driver(session, plays(session, only_good)).run()
    session.store.end_run(session.run_id, "finished")
    played: list[int] = []
    monkeypatch.setattr(runs, "evaluate", lambda run_id, *_, **__: played.append(run_id) or 0)
    monkeypatch.setattr(prefect_server, "ensure_server", lambda **_: "")
    stackrank = CommandLine(capsys, monkeypatch)
    needless = stackrank("resume", str(session.run_id))
    assert "--no-stop" in needless.err and "Stopped early: 1 of 1" in needless.out and not played
    skipped = counts(session)["not_played"]
    assert stackrank("resume", str(session.run_id), "--no-stop").status == 0
    assert played == [session.run_id] and counts(session)["pending"] == skipped


@pytest.mark.parametrize(
    ("stop", "message"),
    [
        ({"decided": 0}, "stop.decided"),
        ({"decided": 0.05, "equal_within": 1.5}, "stop.equal_within"),
        ({"decide": 0.05}, "decided"),
        ({"decided": 0.05, "against": "nobody"}, "nobody"),
    ],
)
def test_an_invalid_stop_names_its_field(stop: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make_spec({"benchmark": "bugs", "entrants": entrants("good", "bad"), "stop": stop}, "the test")


def test_telling_tasks_are_played_first_and_the_run_keeps_what_they_tell(opened: Callable[..., Session]) -> None:
    """Earlier results say which tasks tell entrants apart; the stored run says so, too, when it is continued."""
    first = opened(entrants=entrants("good", "bad", "same"), limit=20, stop=None)
    names = {task: first.tasks[task].id for task in first.tasks}
    telling = queries.tasks_of_run(first.store.engine, first.run_id)[:4]
    Driver(first, plays(first, lambda name, task: name == "good" or names[task] not in telling)).run()
    session = opened(entrants=entrants("good", "bad"), limit=20, seed=3)
    stop = queries.run(session.store.engine, session.run_id)["spec"]["stop"]
    assert session.run.spec.stop is not None and session.run.spec.stop.telling == stop["telling"]
    assert min(stop["telling"][task] for task in telling) > max(
        told for task, told in stop["telling"].items() if task not in telling
    )
    played: list[str] = []
    submit = plays(session, lambda name, task: bool(played.append(session.tasks[task].id)))  # type: ignore[func-returns-value]
    Driver(session, submit).run()
    assert {*played[:12]} & {*telling} and len({*played}) == 20
    (pair,) = known(session)["pairs"]
    assert pair["difference"] == 0 and pair["decision"] == "open"


def test_a_random_order_needs_no_earlier_results(opened: Callable[..., Session]) -> None:
    session = opened(entrants=entrants("good", "bad"), stop={"decided": 0.05, "order": "random"})
    assert session.run.spec.stop is not None and session.run.spec.stop.telling == {}


def test_numbers_of_ones_own_have_to_cover_every_task(opened: Callable[..., Session]) -> None:
    with pytest.raises(SpecError, match="no number for the task"):
        opened(entrants=entrants("good", "bad"), stop={"decided": 0.05, "telling": {"x": 1.0}})
