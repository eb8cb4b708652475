from program import days


def test_other_centuries():
    assert days(2000) == 366
    assert days(2100) == 365
