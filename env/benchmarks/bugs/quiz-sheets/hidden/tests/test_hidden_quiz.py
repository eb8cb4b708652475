# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from quiz import TooShort, mark_file
from quiz.lines import Lines
from quiz.marking import grade
from quiz.questions import Question, Quiz
from quiz.reader import read_sheets

QUIZ = Quiz("sums", (Question("2+2", "4"), Question("2*3", "6", 2), Question("9-9", "0", 3)))


def lines(count):
    for number in range(count):
        yield from [f"sheet p{number}", "room 1", "4", "6", "-"]


@pytest.mark.parametrize("kept", range(16))
def test_cut_off_anywhere(kept):
    source = list(lines(3))[:kept]
    if kept % 5:
        with pytest.raises(TooShort) as caught:
            mark_file(iter(source), QUIZ)
        assert str(caught.value) == f"file ends too early, in sheet {kept // 5 + 1}"
    else:
        assert [mark[1:] for mark in mark_file(source, QUIZ)] == [(3, "C")] * (kept // 5)


def test_comments_after_the_cut():
    with pytest.raises(TooShort):
        read_sheets(["sheet a", "room 2", "4", "6", "", "# cut here"], QUIZ)


def test_answers_that_look_like_heads():
    sheets = read_sheets(["sheet a", "room 1", "sheet b", "room 2", "0", "sheet c", "room 3", "4", "6", "0"], QUIZ)
    assert [(sheet.name, sheet.room, sheet.score) for sheet in sheets] == [("a", 1, 3), ("c", 3, 6)]


def test_wrong_line():
    with pytest.raises(ValueError) as caught:
        read_sheets(["sheet a", "4", "6", "0"], QUIZ)
    assert str(caught.value) == "line 2: room expected"
    assert not isinstance(caught.value, TooShort)


def test_no_questions():
    assert mark_file(["sheet a", "room 1"], Quiz("none", ())) == [("a", 0, "A")]
    with pytest.raises(TooShort):
        mark_file(["sheet a"], Quiz("none", ()))


def test_line_numbers():
    source = Lines(["", "# x", "one", "", "two"])
    assert (source.take(), source.number, source.take(), source.number) == ("one", 3, "two", 5)
    assert grade(7, 10) == "B"


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_cut_off_before_an_answer_that_counts_little(cut):
    quiz = Quiz("q", (Question("a", "x", 5), Question("b", "y", 1), Question("c", "z", 1)))
    file = ["sheet Ann", "room 1", "x", "y", "z", "sheet Bob", "room 2", "x", "y", "z"]
    assert mark_file(file, quiz) == [("Ann", 7, "A"), ("Bob", 7, "A")]
    with pytest.raises(TooShort) as caught:
        mark_file(file[:-cut], quiz)
    assert str(caught.value) == "file ends too early, in sheet 2"


@pytest.mark.parametrize("error", [RuntimeError, OSError, ValueError, UnicodeDecodeError])
@pytest.mark.parametrize("kept", range(6))
def test_errors_of_the_source_are_passed_on(error, kept):
    fault = error("utf-8", b"\xff", 0, 1, "disk") if error is UnicodeDecodeError else error("disk")

    def source():
        yield from list(lines(2))[:kept]
        raise fault

    with pytest.raises(error) as caught:
        read_sheets(source(), QUIZ)
    assert not isinstance(caught.value, TooShort)
    assert "disk" in str(caught.value)


def test_a_room_that_is_no_number():
    with pytest.raises(ValueError) as caught:
        read_sheets(["sheet a", "room x", "4", "6", "0"], QUIZ)
    assert not isinstance(caught.value, TooShort)
