# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from trams import Network, departures, plan
from trams.clock import clock, minutes
from trams.planner import CHANGE
from trams.text import describe


@pytest.mark.parametrize(
    "start, end, at, arrival",
    [
        ("Altmarkt", "Domplatz", "10:19", "10:35"),
        ("Bergtor", "Domplatz", "10:22", "10:35"),
        ("Altmarkt", "Nordbad", "10:19", "10:57"),
        ("Bergtor", "Inselbad", "10:22", "11:02"),
        ("Altmarkt", "Rathaus", "10:19", "11:22"),
        ("Altmarkt", "Ufer", "10:19", "11:39"),
    ],
)
def test_arrival(start: str, end: str, at: str, arrival: str) -> None:
    journey = plan(Network(), start, end, minutes(at))
    assert journey is not None and clock(journey.arrival) == arrival


def test_a_ride_to_the_stop_itself() -> None:
    journey = plan(Network(), "Cityhafen", "Domplatz", 629)
    assert journey is not None
    assert describe(journey) == ["10:29 Cityhafen: line 1", "10:35 Domplatz"]


def test_trams_never_go_back_in_time() -> None:
    for connection in Network().connections:
        assert 0 < connection.arrival - connection.departure < 10, connection


def test_all_trips_of_a_line_take_equally_long() -> None:
    took = {}
    for trip in Network().trips.values():
        first = trip.stops[0][1]
        took.setdefault(trip.number[:2], set()).add(tuple((name, time - first) for name, time in trip.stops))
    assert {number: len(found) for number, found in took.items()} == {number: 1 for number in took}
    assert len(Network().trips) == 55


def test_a_change_takes_its_time() -> None:
    journey = plan(Network(), "Altmarkt", "Nordbad", minutes("10:19"))
    assert journey is not None and journey.changes == 1
    one, other = journey.rides
    assert one.end == other.start and other.departure - one.arrival >= CHANGE


def test_the_board_of_the_stop() -> None:
    found = departures(Network(), "Domplatz", minutes("10:35"), 20)
    assert ("10:35", "1", "Hafentor") in found
    assert ("11:35", "1", "Hafentor") not in found or False
