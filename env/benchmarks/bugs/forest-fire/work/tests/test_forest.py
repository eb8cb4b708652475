# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from forest import Simulation


def test_to_the_left():
    fire = Simulation(["TTT*"])
    fire.step()
    assert fire.picture() == ["TT*a"]


def test_to_the_right():
    fire = Simulation(["*TTT"])
    fire.step()
    assert fire.picture() == ["a*TT"]


def test_in_all_directions():
    fire = Simulation(["TTTTT", "TTTTT", "TT*TT", "TTTTT", "TTTTT"])
    assert fire.step() == 5
    assert fire.picture() == ["TTTTT", "TT*TT", "T*a*T", "TT*TT", "TTTTT"]


def test_gap_stops_the_fire():
    assert Simulation(["TT.T*"]).run() == 2
