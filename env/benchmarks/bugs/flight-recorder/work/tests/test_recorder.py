# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from recorder import Recorder


def test_tape():
    recorder = Recorder(length=5)
    for second in range(8):
        recorder.record(second, 1000, 300)
    assert [sample.second for sample in recorder.tape()] == [3, 4, 5, 6, 7]


def test_alarm_at_the_beginning():
    recorder = Recorder()
    recorder.record(0, 1000, 300)
    recorder.record(1, 1000, 950)
    assert [sample.second for sample in recorder.alarms[0].before] == [0]
    assert recorder.alarms[0].reasons == ("speed",)


def test_alarm_on_a_long_flight():
    recorder = Recorder(length=60, before=10)
    for second in range(123):
        recorder.record(second, 1000, 300)
    recorder.record(123, 13000, 300)
    assert [sample.second for sample in recorder.alarms[0].before] == list(range(113, 123))
