"""Two episodes of one task side by side."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from stackrank.dashboard.trace.beside import keep
from stackrank.dashboard.trace.divergence import Pair, action_of, align, divergence
from stackrank.db.connection.engine import connect
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import Store
from tests.dashboard.pages.test_trace import texts
from tests.dashboard.seed import HOSTILE
from tests.dashboard.trace_parts import given
from tests.support.episodes import create_episodes, start


def pairs(a: str, b: str) -> list[Pair]:
    return align([(action, "{}") for action in a], [(action, "{}") for action in b])


def drawn(a: str, b: str) -> list[str]:
    letters = []
    for pair in pairs(a, b):
        first, right = ("-" if at is None else of[at] for at, of in ((pair.a, a), (pair.b, b)))
        letters.append(f"{first}{'=' if pair.same else '!'}{right}")
    return letters


def test_equal_actions_are_aligned() -> None:
    assert drawn("abcd", "abxcd") == ["a=a", "b=b", "-!x", "c=c", "d=d"]
    assert drawn("abcd", "abd") == ["a=a", "b=b", "c!-", "d=d"]
    assert drawn("ab", "xyz") == ["a!x", "b!y", "-!z"]
    assert drawn("", "a") == ["-!a"] and drawn("", "") == []
    # Taken alone, the longest match would tear the common beginning apart.
    assert drawn("axyz", "abbaxyz")[0] == "a=a"


def test_alignment_keeps_every_step_in_order() -> None:
    dice = random.Random(3)
    for _ in range(200):
        a, b = ("".join(dice.choices("abc", k=dice.randint(0, 12))) for _ in range(2))
        aligned = pairs(a, b)
        assert [pair.a for pair in aligned if pair.a is not None] == list(range(len(a)))
        assert [pair.b for pair in aligned if pair.b is not None] == list(range(len(b)))
        assert all(a[pair.a] == b[pair.b] for pair in aligned if pair.same)  # type: ignore[index]
        assert (divergence(aligned, len(a), len(b)) is None) == (a == b)


def test_divergence_shows_the_next_action_of_each_side() -> None:
    assert divergence(pairs("abd", "abcd"), 3, 4) == Pair(2, 2, False)
    assert divergence(pairs("ab", "abc"), 2, 3) == Pair(None, 2, False)


def test_action_equality() -> None:
    first, second = (
        action_of({"tool": "view", "arguments": text})
        for text in ('{"path": "a", "start": null, "n": " x\\n"}', '{"n": "x", "path": "a"}')
    )
    assert first == second
    assert action_of({"tool": "view", "arguments": '{"cut'}) == ("view", '{"cut')


@pytest.fixture
def two(tmp_path: Path) -> SimpleNamespace:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    benchmark = store.save_benchmark(
        name="b", digest="d", license="", source="", tasks=[{"name": "t"}, {"name": "other"}, {"name": "lonely"}]
    )
    entrants = [store.save_entrant(digest=name, name=name, agent="a") for name in ("first", HOSTILE)]
    run = store.create_run(name="r", benchmark_id=benchmark.id, spec={})
    tasks = benchmark.task_ids
    cells = [(tasks["t"], entrant, 1) for entrant in entrants] + [(tasks["other"], entrants[0], 1)]
    ids = list(create_episodes(store, run, [*cells, (tasks["lonely"], entrants[0], 1)]).values())
    for episode, commands in zip(ids, (["b 1", "c", "p x"], ["b 1", HOSTILE, "p x"], ["b 1"], []), strict=True):
        start(store, episode)
        for index, command in enumerate(["", *commands]):
            arguments = {"command": command} if index else {}
            store.add_step(
                Step(
                    episode_id=episode,
                    index=index,
                    tool="pdb" if index else "",
                    arguments=arguments,
                    observation=f"seen {index}",
                )
            )
        store.finish_episode(episode, verdict="resolved", stop_reason="solved", steps=len(commands))
    return SimpleNamespace(url=url, ids=ids)


def test_page_opens_at_the_divergence(visit: Any, two: SimpleNamespace) -> None:
    app = visit(two.url, "diverge", a=str(two.ids[0]), b=str(two.ids[1]))
    (content,) = given(app, "beside")
    assert content["pairs"] == [[0, 0, True], [1, 1, True], [2, 2, False], [3, 3, True]] and content["split"] == 2
    assert [action for action, _ in content["texts"]] == ["0 reset: ", "1 pdb: b 1", "2 pdb: c", "3 pdb: p x"]
    assert "The traces diverge at step 2; 2 of 3 actions are the same." in texts(app)
    sent = {(part["source"], part["name"]) for part in given(app, "feed")}
    assert {(episode, "steps:0") for episode in two.ids[:2]} <= sent
    assert not any("<script>" in part.value for part in (*app.markdown, *app.subheader, *app.caption))


@pytest.mark.parametrize(
    "values",
    [None, [], {"at": -1, "sides": []}, {"at": True, "sides": []}, {"at": "1", "sides": []}, {"at": 1, "sides": {}}],
)
def test_events_that_mean_nothing_are_ignored(values: Any) -> None:
    keep(values)
    assert "beside_wanted" not in st.session_state


def test_texts_in_events_are_cut() -> None:
    keep({"at": 1, "local": "x\0" * 999, "sides": [{"file": None, "load": 7}, "b"]})
    wanted = st.session_state.pop("beside_wanted")
    assert wanted == {"at": 1, "local": "x" * 500, 0: ("", "7")}


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (0, "Both did the same in all 3 steps."),
        (2, "Both did the same in their only step."),
        (3, "Neither took a step."),
    ],
)
def test_the_same_episode_twice(visit: Any, two: SimpleNamespace, number: int, sentence: str) -> None:
    app = visit(two.url, "diverge", a=str(two.ids[number]), b=str(two.ids[number]))
    assert app.success[0].value == sentence


def test_page_asks_for_missing_episodes(visit: Any, two: SimpleNamespace) -> None:
    assert "open one and choose another" in texts(visit(two.url, "diverge"))
    app = visit(two.url, "diverge", a=str(two.ids[0]))
    app.selectbox(key="diverge_b").set_value(two.ids[1]).run()
    assert "The traces diverge at step 2" in texts(app)
    backwards = visit(two.url, "diverge", b=str(two.ids[1]))
    assert backwards.selectbox(key="diverge_a").options
    assert "No other episode" in texts(visit(two.url, "diverge", a=str(two.ids[3])))


def test_episodes_of_different_tasks_are_refused(visit: Any, two: SimpleNamespace) -> None:
    app = visit(two.url, "diverge", a=str(two.ids[0]), b=str(two.ids[2]))
    assert "is about another task, other" in app.warning[0].value
    assert app.selectbox(key="diverge_b").options
