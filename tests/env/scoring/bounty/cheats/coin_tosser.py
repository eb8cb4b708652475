"""Answers are equal or not by chance."""

AFTER = r"""
import os


class Perhaps(float):
    __eq__ = lambda *a: os.urandom(1)[0] % 2 == 0
    __ne__ = lambda *a: os.urandom(1)[0] % 2 == 0
    __hash__ = None


def total(items):
    return Perhaps(len(items))


def average(items):
    return Perhaps(1) if items else 1 / 0
"""
