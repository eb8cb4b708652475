# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from histo.bins import Histogram
from histo.render import chart


def test_rising_values():
    assert chart([1, 2, 12, 31], 10) == " 0 | ## 2\n10 | # 1\n20 | 0\n30 | # 1"


def test_late_small_value():
    assert chart([31, 35, 42, 3], 10) == " 0 | # 1\n10 | 0\n20 | 0\n30 | ## 2\n40 | # 1"


def test_neighbouring_smaller_value():
    histogram = Histogram(5)
    histogram.update([12, 7])
    assert histogram.bins() == [(5, 1), (10, 1)]


def test_scaled_bars():
    assert chart([1] * 100 + [11], 10, columns=10) == " 0 | ########## 100\n10 | # 1"
