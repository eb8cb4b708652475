"""Questions that cost more the larger a run is."""

from __future__ import annotations

import pytest

from stackrank.flows.runs.playing import query_throttle as throttle
from stackrank.flows.runs.playing.query_throttle import LONGEST_S, REST_FACTOR, ThrottledQuery


@pytest.mark.parametrize(
    ("took_s", "rest_s"), [(0.06, 0.06 * REST_FACTOR), (0.2, 0.2 * REST_FACTOR), (60.0, LONGEST_S)]
)
def test_slow_answers_are_kept_longer(monkeypatch: pytest.MonkeyPatch, took_s: float, rest_s: float) -> None:
    clock = [0.0]
    monkeypatch.setattr(throttle.time, "monotonic", lambda: clock[0])
    times: list[float] = []

    def ask() -> int:
        times.append(clock[0])
        clock[0] += took_s
        return len(times)

    question = ThrottledQuery(ask)
    assert question() == question() == 1
    clock[0] = took_s + 0.99 * rest_s
    assert question() == 1
    clock[0] = took_s + 1.01 * rest_s
    assert question() == question() == 2


def test_fast_queries_are_repeated_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle.time, "monotonic", lambda: 1.0)
    answers = iter(range(3))
    question = ThrottledQuery(lambda: next(answers))
    assert [question() for _ in range(3)] == [0, 1, 2]


def test_a_failed_query_is_repeated() -> None:
    answers = iter([OSError("away"), "there"])

    def ask() -> str:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    question = ThrottledQuery(ask)
    with pytest.raises(OSError, match="away"):
        question()
    assert question() == "there"
