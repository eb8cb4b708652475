"""Spectrum-based fault localisation: how suspicious a line is, judged by which tests run it and which of them fail.

Each formula takes four counts: failing tests that run the line and that do not, passing tests that run it and that do
not. The formulas differ in how much a passing test excuses a line. Ranks are given by all three, so that none of them
decides alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of one line."""

    failing: int
    """Failing tests that run it."""
    not_failing: int
    """Failing tests that do not."""
    passing: int
    not_passing: int


def ochiai(n: Counts) -> float:
    """Abreu, Zoeteweij, van Gemund: On the Accuracy of Spectrum-based Fault Localization, 2007."""
    return n.failing / math.sqrt((n.failing + n.not_failing) * (n.failing + n.passing)) if n.failing else 0.0


def dstar(n: Counts) -> float:
    """D* with * = 2. Wong, Debroy, Gao, Li: The DStar Method for Effective Software Fault Localization, 2014."""
    mismatches = n.passing + n.not_failing
    return n.failing**2 / mismatches if mismatches else math.inf if n.failing else 0.0


def op2(n: Counts) -> float:
    """Naish, Lee, Ramamohanarao: A Model for Spectra-based Software Diagnosis, 2011."""
    return n.failing - n.passing / (n.passing + n.not_passing + 1)


FORMULAS: dict[str, Callable[[Counts], float]] = {"ochiai": ochiai, "dstar": dstar, "op2": op2}


def rank(formula: Callable[[Counts], float], counts: Mapping[Counts, int], fault: Collection[Counts]) -> float | None:
    """Return the rank, from 1, at which a reader who starts with the most suspicious line reaches the fault.

    `counts`: how many lines have which counts. Equally suspicious lines share their middle rank, because the fault is
    equally likely to be any of them. None if no test runs the fault.
    """
    if not fault:
        return None
    best = max(formula(count) for count in fault)
    higher = sum(lines for count, lines in counts.items() if formula(count) > best)
    equal = sum(lines for count, lines in counts.items() if formula(count) == best)
    return higher + (equal + 1) / 2
