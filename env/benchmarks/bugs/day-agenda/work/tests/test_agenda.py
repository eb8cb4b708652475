# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from datetime import date, datetime, time, timedelta

from agenda.agenda import Agenda
from agenda.zones import zone

DAY = date(2024, 5, 2)
MEETINGS = "2024-05-02 10:00-11:00 | Stand-up\n2024-05-02 09:30-10:30 UTC | Call\n"


def clock(agenda, *args):
    return [(a.strftime("%H:%M"), b.strftime("%H:%M")) for a, b in agenda.free_slots(DAY, *args)]


def test_meetings():
    agenda = Agenda("Berlin", MEETINGS)
    assert clock(agenda, time(9), time(17), timedelta(minutes=40)) == [("09:00", "10:00"), ("12:30", "17:00")]


def test_titles():
    agenda = Agenda("Berlin", MEETINGS + "2024-05-02 | Holiday\n2024-05-03 | Other\n")
    assert agenda.titles(DAY) == ["Holiday", "Stand-up", "Call"]


def test_all_day():
    agenda = Agenda("Berlin", MEETINGS + "2024-05-02 | Holiday\n")
    assert clock(agenda, time(9), time(17), timedelta(minutes=30)) == []


def test_zone():
    assert datetime(2024, 1, 1, tzinfo=zone("-03:30")).utcoffset() == timedelta(hours=-3, minutes=-30)
