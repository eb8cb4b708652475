"""The failure points of recorded episodes are those that a person gave them."""

from __future__ import annotations

from stackrank.agents.episode.failure_point import diagnose
from stackrank.env.scoring.judge import Score
from stackrank.terms import FailurePoint, StopReason
from tests.agents.episode.episodes import RECORDED, labelled, recorded, steps_of, task_of

AGREEMENT = 0.95


def test_the_labels_cover_every_failure_point() -> None:
    labels = labelled()
    assert len(labels) >= 40 and {each["label"][0] for each in labels} == set(FailurePoint)
    assert {each["name"] for each in labels} == set(recorded()["episodes"]), "play them again: see record.py"
    assert RECORDED.stat().st_size < 1 << 20


def test_people_and_the_program_agree() -> None:
    found, wrong = recorded(), []
    for each in labelled():
        episode = found["episodes"][each["name"]]
        score, reason = Score(**episode["score"]), StopReason(episode["reason"])
        said = diagnose(task_of(episode, found["tasks"]), steps_of(episode), score, reason)
        if [said.failure_point, said.step] != each["label"]:
            wrong.append(f"{each['name']}: {said.failure_point} at {said.step}, not {each['label']}")
    assert len(wrong) <= (1 - AGREEMENT) * len(labelled()), "\n".join(wrong)
