# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from quiz import TooShort, mark_file
from quiz.questions import Question, Quiz

QUIZ = Quiz("capitals", (Question("it", "Rome"), Question("fr", "Paris"), Question("no", "Oslo", 2)))
FILE = ["sheet Ann", "room 5", "rome", "paris", "-", "", "# second", "sheet Bob B.", "room 7", "Rome", "Paris", "Oslo"]


def test_whole_file():
    assert mark_file(FILE, QUIZ) == [("Bob B.", 4, "A"), ("Ann", 2, "C")]


def test_cut_off_after_the_name():
    with pytest.raises(TooShort) as caught:
        mark_file(FILE[:-4], QUIZ)
    assert "sheet 2" in str(caught.value)


@pytest.mark.parametrize("missing", [1, 2])
def test_cut_off_further_down(missing):
    with pytest.raises(TooShort):
        mark_file(FILE[:-missing], QUIZ)


def test_answer_is_missing_in_the_middle():
    with pytest.raises(ValueError):
        mark_file(FILE[:4] + FILE[5:], QUIZ)
