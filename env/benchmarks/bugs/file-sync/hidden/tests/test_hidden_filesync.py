# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import shutil

import pytest

from filesync import Journal, synchronise


def test_error_in_a_later_file_is_raised_and_all_is_undone(tmp_path):
    source, target = tmp_path / "s", tmp_path / "t"
    source.mkdir()
    target.mkdir()
    for name in "abcd":
        (source / name).write_text(name)
    (target / "b").write_text("before")

    def copy(origin, place):
        if origin.name == "d":
            raise PermissionError("d is locked")
        shutil.copyfile(str(origin), str(place))

    with pytest.raises(PermissionError, match="d is locked"):
        synchronise(source, target, delete=True, copy=copy)
    assert {p.name: p.read_text() for p in target.iterdir()} == {"b": "before"}


def test_journal_lets_the_error_go_on_and_undoes_in_reverse():
    undone = []
    with pytest.raises(KeyError):
        with Journal() as journal:
            for name in ("one", "two", "three"):
                journal.record(name, lambda name=name: undone.append(name))
            raise KeyError("stop")
    assert undone == ["three", "two", "one"]
    assert journal.log[-1] == "undid one"


def test_journal_does_not_stop_an_interrupt():
    with pytest.raises(KeyboardInterrupt):
        with Journal() as journal:
            journal.record("one", lambda: None)
            raise KeyboardInterrupt


def test_journal_commits():
    undone = []
    with Journal() as journal:
        journal.record("one", lambda: undone.append("one"))
    assert undone == []
    assert journal.log == ["did one", "committed 1"]
    assert journal.roll_back() == 0


def test_counts_are_reported():
    journal = Journal()
    journal.record("one", lambda: None)
    journal.record("two", lambda: None)
    assert journal.roll_back() == 2
    journal.record("three", lambda: None)
    assert journal.commit() == 1


def test_nothing_to_do(tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "t").mkdir()
    report = synchronise(tmp_path / "s", tmp_path / "t")
    assert (report.created, report.updated, report.deleted) == ([], [], [])
