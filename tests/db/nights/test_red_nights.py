"""Red nights: something is changed in simulated nights, and the explanation has to name it from what is stored."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.queries.explanation.findings import CauseKind
from stackrank.db.queries.explanation.night import NightExplanation
from stackrank.db.writes.store import Store
from stackrank.flows.engine.reporting import chat_message
from tests.dashboard.page_parts import texts
from tests.db.nights.played_nights import (
    CONDITIONS,
    EARLIER,
    PROMPT,
    TOOLS,
    Night,
    Series,
    calm_chances,
    usual_chances,
    usual_night,
    with_all,
    with_first,
)
from tests.fixtures.calls import CommandLine

pytestmark = pytest.mark.slow  # by its time

Change = Callable[[Night, random.Random], Night]
Dice = random.Random


def _conditions(**fields: Any) -> Change:
    return lambda night, dice: replace(night, conditions={**CONDITIONS, **fields})


def _config(night: Night, skill: float, **fields: Any) -> Night:
    """Change the settings of the first entrant, as its requests show."""
    player = night.players[0]
    sent = {name: value for name, value in fields.items() if name in ("temperature", "max_tokens", "top_p")}
    config, parameters = {**player.config, **fields}, {**player.parameters, **sent}
    return with_first(night, config=config, parameters=parameters, skill=skill)


def _prompt(night: Night, dice: Dice) -> Night:
    prompt = PROMPT.replace("Use the debugger when in doubt.", "Answer briefly.")
    return with_first(_config(night, dice.uniform(0.3, 0.6), prompts={"system": prompt}), prompt=prompt)


CHANGES: dict[str, tuple[CauseKind, Change]] = {
    "a changed prompt": (CauseKind.PROMPT, _prompt),
    "a prompt that a plug-in changed": (
        CauseKind.PROMPT,
        lambda night, dice: with_first(night, prompt=f"{PROMPT} Never run tests.", skill=dice.uniform(0.3, 0.6)),
    ),
    "another temperature": (
        CauseKind.SAMPLING, lambda night, dice: _config(night, dice.uniform(0.4, 0.65), temperature=1.2),
    ),
    "a model snapshot": (
        CauseKind.MODEL,
        lambda night, dice: with_first(night, snapshot="qwen3-coder-2026-11-20", skill=dice.uniform(0.4, 0.65)),
    ),
    "a quantised server": (
        CauseKind.MODEL, lambda night, dice: with_first(night, fingerprint="fp_b7", skill=dice.uniform(0.4, 0.65)),
    ),
    "a broken tool": (CauseKind.TOOLS, lambda night, dice: with_all(night, broken_tool="view")),
    "a new version of a tool": (
        CauseKind.TOOLS,
        lambda night, dice: with_all(
            night, tool_versions={**dict.fromkeys(TOOLS, "1"), "rewrite": "2"}, skill=dice.uniform(0.4, 0.65)
        ),
    ),
    "a tool less": (
        CauseKind.TOOLS,
        lambda night, dice: with_first(night, tool_list=("view", "grep", "listdir", "rewrite", "eval")),
    ),
    "fewer steps": (CauseKind.LIMITS, _conditions(steps=10)),
    "less time": (CauseKind.LIMITS, _conditions(wall_s=22.0)),
    "a slower endpoint": (
        CauseKind.ENDPOINT, lambda night, dice: with_all(night, latency=dice.uniform(3.5, 5.0)),
    ),
    "a busy machine": (CauseKind.MACHINE, lambda night, dice: replace(night, busy=dice.uniform(15.0, 25.0), load=6.0)),
    "a machine that starts no sandboxes": (
        CauseKind.MACHINE,
        lambda night, dice: with_all(
            night, error_share=dice.uniform(0.25, 0.5), error=("machine", "the sandbox did not start within 60 s")
        ),
    ),
    "errors of the provider": (
        CauseKind.ERRORS, lambda night, dice: with_all(night, error_share=dice.uniform(0.2, 0.5)),
    ),
    "a shorter context": (
        CauseKind.CONTEXT,
        lambda night, dice: with_first(_config(night, 1.0, context_tokens=2500), cut_to=2500),
    ),
    "a server that drops what is old": (CauseKind.CONTEXT, lambda night, dice: with_first(night, window=2048)),
    "shorter answers": (
        CauseKind.ANSWER_LENGTH,
        lambda night, dice: with_first(_config(night, 0.8, max_tokens=200), longest_answer=True),
    ),
    "a changed scorer": (
        CauseKind.SCORER,
        lambda night, dice: replace(
            night, conditions={**CONDITIONS, "scorer": "99aa7c1200000000"}, strict=dice.uniform(0.3, 0.6)
        ),
    ),
    "a model that writes on and on": (
        CauseKind.SETTINGS,
        lambda night, dice: with_first(_config(night, 1.0, reasoning_effort="high"), words=dice.uniform(8.0, 12.0)),
    ),
    "a flaky task": (CauseKind.FLAKY_TASKS, lambda night, dice: night),
    "nothing": (CauseKind.CHANCE, lambda night, dice: night),
}  # fmt: skip
"""What is changed -> the cause that should be named, and the change."""
SEEDS = 3


def _everyday(night: Night, dice: Dice) -> Night:
    """Return the night with changes that happen all the time and harm nothing."""
    if dice.random() < 0.3:
        night = replace(night, versions={**night.versions, "stackrank": "0.1.1"})
    if dice.random() < 0.3:
        night = replace(night, host="worker-2")
    if dice.random() < 0.3:
        others = (night.players[0], replace(night.players[1], agent_version="5"))
        night = replace(night, players=others)
    if dice.random() < 0.2:
        night = replace(night, versions={**night.versions, "pytest": "8.4.2"})
    if dice.random() < 0.15:
        night = with_all(night, tool_versions={**night.players[0].tool_versions, "grep": "1.1"})
    if dice.random() < 0.2:
        night = with_all(night, fingerprint="fp_a2")
    return with_all(night, latency=night.players[0].latency * dice.uniform(0.85, 1.15))


def careless(url: str) -> Engine:
    """Return the engine of a database that need not survive a power cut, so that it is filled faster."""
    engine = connect(url)
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
    return engine


@dataclass(frozen=True)
class Past:
    """The nights before the red one: the latest, its results, and what the series goes on with."""

    chances: list[float]
    before: int
    results: list[list[bool]]


def play_past(store: Store, dice: Dice, *, is_flaky: bool = False) -> Past:
    """Play the nights of a series that come before the red one."""
    chances = calm_chances(dice, dice.choice([1, 2])) if is_flaky else usual_chances(dice)
    series, usual = Series(store, chances, dice), usual_night()
    for number in range(EARLIER + is_flaky * 2, 0, -1):
        # The first task is flaky, if any is: it can be lost only if it was resolved in the night before.
        before, results = series.play(usual, lambda night, last=number == 1: night[0][0] or not (is_flaky and last))
    return Past(chances, before, results)


def explain(store: Store, change: str, seed: int, past: Past | None = None) -> tuple[CauseKind, NightExplanation]:
    """Play a red night, after the `past` that is in the store or one of its own, and explain it. Returns the cause that
    should be named as well."""
    dice = random.Random(f"{change} {seed}")
    kind, apply = CHANGES[change]
    is_flaky = kind is CauseKind.FLAKY_TASKS
    past = past or play_past(store, dice, is_flaky=is_flaky)
    usual = usual_night()
    night = usual if kind is CauseKind.CHANCE or is_flaky else _everyday(usual, dice)

    def is_red(tonight: list[list[bool]]) -> bool:
        lost = sum(map(sum, past.results)) - sum(map(sum, tonight))
        return lost >= (1 if is_flaky else 2)

    run, _ = Series(store, past.chances, dice).play(apply(night, dice), is_red)
    assert queries.night_before(store.engine, run) == past.before
    return kind, queries.explain_night(store.engine, past.before, run)


def test_a_lowered_limit_is_named_with_its_traces(
    database: str, stackrank: CommandLine, visit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = careless(database)
    kind, explained = explain(Store(engine), "fewer steps", 0)
    cause = explained["causes"][0]
    assert cause["kind"] is kind and explained["worse"]
    assert re.match(r"The likeliest cause: The limit is steps 10 instead of 40: \d+ of \d+ newly failing episodes of ",
                    explained["why"])  # fmt: skip
    assert not queries.run(engine, explained["run"])["regressions"], "the series does not compare other conditions"
    of_limit = [link["query"]["id"] for link in cause["links"] if link["page"] == "episode"]
    assert of_limit and {queries.episode(engine, episode)["stop_reason"] for episode in of_limit} == {"step_limit"}
    assert {link["query"]["id"] for link in cause["links"] if link["page"] == "run"} == {
        explained["before"], explained["run"],
    }  # fmt: skip
    for flip in explained["tasks"]:
        row = queries.episode(engine, flip["episode"])
        assert row["verdict"] == "unresolved" and (flip["task"], flip["stop_reason"]) == (
            row["task"], row["stop_reason"],
        )  # fmt: skip
        if flip["fails"] == "never saw the fault":
            assert row["at_localized"] is None and row["at_reproduced"] is not None
    monkeypatch.setenv("STACKRANK_DASHBOARD_URL", "http://board.example")
    message = chat_message(queries.run(engine, explained["run"]), [], explained, "scope").splitlines()
    assert message[1:3] == [explained["difference"], explained["why"]]
    assert message[-1] == f"http://board.example/against?a={explained['before']}&b={explained['run']}"
    shown = texts(visit(database, "against", a=str(explained["before"]), b=str(explained["run"])))
    for sentence in (
        explained["why"],
        explained["fails"],
        *(text for each in explained["causes"] for text in each["sentences"]),
    ):
        assert sentence in shown
    assert stackrank("explain", str(explained["run"]), "--json").json() == explained
    assert explained["why"] in stackrank("explain", "--against", str(explained["before"])).out


def test_a_night_that_differs_by_chance_is_called_so(tmp_path: Path) -> None:
    engine = careless(f"sqlite:///{tmp_path}/nights.db")
    _, explained = explain(Store(engine), "nothing", 0)
    assert not explained["worse"] and explained["why"] == "This may well be chance."
    assert explained["difference"].startswith("No clear difference")
    assert explained["causes"][0]["kind"] is CauseKind.CHANCE and explained["tasks"], "some tasks did flip"
    better = queries.explain_night(engine, explained["run"], explained["run"])
    assert (better["worse"], better["causes"], better["why"], better["tasks"]) == (False, [], "", [])


def test_errors_make_a_night_worse_for_all_entrants(store: Store) -> None:
    kind, explained = explain(store, "errors of the provider", 0)
    cause = explained["causes"][0]
    assert explained["worse"] and cause["kind"] is kind and "the endpoint answered 529" in explained["why"]
    assert sorted(cause["entrants"]) == ["llama / debug", "qwen / debug"]
    assert "errors in 0.0% -> " in explained["difference"]
    for link in cause["links"]:
        assert queries.episode(store.engine, link["query"]["id"])["verdict"] == "error"


def test_the_load_of_the_machine_is_evidence(tmp_path: Path) -> None:
    engine = careless(f"sqlite:///{tmp_path}/nights.db")
    dice = random.Random(1)
    series, usual = Series(Store(engine), usual_chances(dice), dice), usual_night()
    for _ in range(EARLIER):
        before, _ = series.play(usual)
    strengths = []
    for load, sentence in (
        (6.0, "because the machine was busy: load per processor 0.9 -> 6.0"),
        (None, "so the machine was probably busy"),
        (0.9, "although the machine was not busier: load per processor 0.9 -> 0.9"),
    ):
        run, _ = series.play(replace(usual, busy=20.0, load=load))
        causes = queries.explain_night(engine, before, run)["causes"]
        (cause,) = (cause for cause in causes if cause["kind"] is CauseKind.MACHINE)
        assert all(sentence in text for text in cause["sentences"])
        strengths.append(cause["strength"])
    assert strengths == sorted(strengths, reverse=True) and strengths[0] > 1.2 * strengths[2] > 0


def test_a_run_without_a_past_has_no_night_before(tmp_path: Path) -> None:
    store = Store(careless(f"sqlite:///{tmp_path}/nights.db"))
    dice = random.Random(1)
    run, _ = Series(store, usual_chances(dice), dice).play(usual_night())
    assert queries.night_before(store.engine, run) is None


@pytest.mark.exhaustive
def test_the_named_cause_is_the_one_that_was_changed(tmp_path: Path) -> None:
    wrong: list[str] = []
    for seed in range(SEEDS):
        file = tmp_path / f"{seed}.db"  # the nights before, which all changes but flaky tasks have in common
        engine = careless(f"sqlite:///{file}")
        usual_past = play_past(Store(engine), random.Random(seed))
        engine.dispose()
        for change, (kind, _) in CHANGES.items():
            past = None if kind is CauseKind.FLAKY_TASKS else usual_past
            nights = tmp_path / f"{seed} {change}.db"
            if past:
                shutil.copy(file, nights)
            store = Store(careless(f"sqlite:///{nights}"))
            _, explained = explain(store, change, seed, past)
            if explained["causes"][0]["kind"] is not kind:
                named = [(cause["kind"].value, round(cause["strength"], 2)) for cause in explained["causes"][:3]]
                wrong.append(f"{change} {seed}: {named}; {explained['difference']} {explained['why']}")
            store.engine.dispose()
    count = SEEDS * len(CHANGES)
    share = 1 - len(wrong) / count
    print(f"{share:.0%} of {count} red nights explained", *wrong, sep="\n")
    assert count >= 50 and share >= 0.8, wrong
