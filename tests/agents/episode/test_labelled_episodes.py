"""The failure points of recorded episodes are those that a person gave them."""

from __future__ import annotations

from stackrank.agents.episode.failure_point import diagnose
from stackrank.env.scoring.judge import Score
from stackrank.terms import FailurePoint, StopReason
from tests.agents.episode.episodes import RECORDED, labelled, recorded, steps_of, task_of

AGREEMENT = 0.95


def test_the_labels_cover_every_failure_point() -> None:
    labels = labelled()
    assert len(labels) >= 40 and {episode["label"][0] for episode in labels} == set(FailurePoint)
    assert {episode["name"] for episode in labels} == set(recorded()["episodes"]), "play them again: see record.py"
    assert RECORDED.stat().st_size < 1 << 20


def test_failure_points_equal_the_labels() -> None:
    recording, wrong = recorded(), []
    for label in labelled():
        episode = recording["episodes"][label["name"]]
        score, reason = Score(**episode["score"]), StopReason(episode["reason"])
        diagnosis = diagnose(task_of(episode, recording["tasks"]), steps_of(episode), score, reason)
        if [diagnosis.failure_point, diagnosis.step] != label["label"]:
            wrong.append(f"{label['name']}: {diagnosis.failure_point} at {diagnosis.step}, not {label['label']}")
    assert len(wrong) <= (1 - AGREEMENT) * len(labelled()), "\n".join(wrong)
