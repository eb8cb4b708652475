# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from trams import Network, UnknownStop, departures, plan
from trams.clock import clock, minutes


@pytest.fixture(scope="module")
def network() -> Network:
    return Network()


def test_from_altmarkt_to_turmplatz(network: Network) -> None:
    journey = plan(network, "Altmarkt", "Turmplatz", minutes("10:19"))
    assert journey is not None and clock(journey.arrival) == "11:34"


def test_on_one_line(network: Network) -> None:
    journey = plan(network, "Altmarkt", "Cityhafen", 500)
    assert journey is not None and journey.changes == 0
    assert journey.arrival == 509


def test_departures(network: Network) -> None:
    assert departures(network, "Altmarkt", minutes("10:20"), 1) == [("10:20", "1", "Hafentor")]
    with pytest.raises(UnknownStop):
        departures(network, "Nowhere", 0)


def test_nothing_goes_any_more(network: Network) -> None:
    assert plan(network, "Altmarkt", "Turmplatz", minutes("23:00")) is None
