from program import change


def test_nothing():
    assert change(0) == []


def test_all_coins():
    assert change(388) == [200, 100, 50, 20, 10, 5, 2, 1]
