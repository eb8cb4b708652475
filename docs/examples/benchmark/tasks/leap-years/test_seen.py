from program import days


def test_turn_of_the_century():
    assert days(1900) == 365


def test_this_century():
    assert days(2023) == 365
    assert days(2024) == 366
