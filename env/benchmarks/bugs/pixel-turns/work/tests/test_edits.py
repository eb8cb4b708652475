# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from pixels.edits import apply
from pixels.files import load

WIDE = "4 2\n1 2 3 4\n5 6 7 8\n"


def test_turn_and_mirror():
    assert apply(WIDE, "turn 1") == "2 4\n5 1\n6 2\n7 3\n8 4\n"
    assert apply(WIDE, "turn -1") == "2 4\n4 8\n3 7\n2 6\n1 5\n"
    assert apply(WIDE, "mirror; transpose; transpose") == "4 2\n4 3 2 1\n8 7 6 5\n"


def test_blur():
    assert apply("2 2 0 4 8 12", "blur; invert") == "2 2\n249 249\n249 249\n"


def test_turned_part_is_blurred():
    assert apply(WIDE, "turn 1; turn 1; crop 1 0 3 3; blur") == "3 2\n4 4 3\n4 4 3\n"


def test_unknown():
    with pytest.raises(ValueError):
        apply(WIDE, "sharpen")
    with pytest.raises(ValueError):
        load("2 2 1 2 3")
