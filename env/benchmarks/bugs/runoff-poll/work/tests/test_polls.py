# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from polls.ballots import parse_ballots
from polls.report import report


def test_majority_at_once():
    assert report("3: ada > bob\n2: bob\n") == ["round 1: ada 3, bob 2", "winner: ada"]


def test_transfer():
    lines = report("4: ada > bob > cy\n3: bob > ada > cy\n2: cy > bob > ada\n")
    assert lines[-1] == "winner: bob"
    assert len(lines) == 3


def test_short_ballots():
    lines = report("4: ada\n2: bob\n3: cy\n1: dee\n")
    assert lines[-1] == "winner: ada"


def test_name_given_twice():
    with pytest.raises(ValueError):
        parse_ballots("ada > bob > ada")
