# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from recorder import Recorder
from recorder.tape import Tape


@pytest.mark.parametrize("total", range(0, 23))
@pytest.mark.parametrize("count", [0, 1, 3, 6, 7, 20])
def test_last(total, count):
    tape = Tape(7)
    for number in range(total):
        tape.append(number)
    kept = list(range(total))[-7:]
    assert list(tape.last(count)) == (kept[-count:] if count else [])


@pytest.mark.parametrize("total", range(0, 12))
def test_whole_tape(total):
    tape = Tape(4)
    for number in range(total):
        tape.append(number)
    assert list(tape) == list(range(total))[-4:]
    assert len(tape) == min(total, 4)


def test_items_that_are_none():
    tape = Tape(3)
    for item in (None, 1, None, None):
        tape.append(item)
    assert list(tape.last(3)) == [1, None, None]


def test_average_speed():
    recorder = Recorder(length=4)
    assert recorder.average_speed(3) == 0.0
    for second, speed in enumerate([200, 300, 400, 500, 600]):
        recorder.record(second, 0, speed)
    assert recorder.average_speed(3) == 500
    assert recorder.average_speed(99) == 450


def test_alarm_only_when_fresh():
    recorder = Recorder(length=3, before=2)
    for second, speed in enumerate([300, 300, 300, 950, 960, 300, 100]):
        recorder.record(second, 100, speed)
    assert [alarm.sample.second for alarm in recorder.alarms] == [3, 6]
    assert [[s.second for s in alarm.before] for alarm in recorder.alarms] == [[1, 2], [4, 5]]
