from program import change


def test_one_coin():
    assert change(50) == [50]


def test_two_coins():
    assert change(70) == [50, 20]
