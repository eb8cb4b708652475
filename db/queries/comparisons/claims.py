"""The words that say who is better: the only place that makes such a claim, and only if a corrected test holds."""

from __future__ import annotations

from stackrank.db.stats import ALPHA
from stackrank.wording import count_of, p_is


def claim(
    difference: float | None,
    p_value: float | None,
    *,
    above: str,
    below: str,
    between: str = "",
    measured: str = "",
    alpha: float = ALPHA,
) -> str:
    """Return `above` or `below`, whichever the test supports, else `No clear difference`.

    Then the words `between` follow, and behind a colon what was `measured`. `p_value`: corrected for all comparisons
    that are shown together; None: there was no test.
    """
    sign = direction(difference, p_value, alpha)
    if sign:
        return above if sign > 0 else below
    return f"No clear difference{between and f' {between}'}{measured and f': {measured}'}"


def direction(difference: float | None, p_value: float | None, alpha: float = ALPHA) -> int:
    """Return the sign of a difference, or 0 if it may be chance."""
    if difference is None or p_value is None or p_value >= alpha or not difference:
        return 0
    return 1 if difference > 0 else -1


def in_sentence(text: str) -> str:
    """Return a claim as it reads in the middle of a sentence; the names of entrants keep their letters."""
    return f"n{text[1:]}" if text.startswith("No clear difference") else text


def interval_alone(ends: str, p_alone: float | None, p_value: float | None) -> str:
    """Return the text of an interval that belongs to the p-value before the correction.

    Where only the correction makes a difference unclear, the interval leaves out 0 all the same: the text says why.
    """
    if p_alone is None or p_value is None or not p_alone < ALPHA <= p_value:
        return ends
    return f"{ends} without the correction"


def corrected_p(p_alone: float | None, p_value: float | None, family: int, noun: str = "pair") -> str:
    """Format a p-value, and if there are several comparisons how Holm's correction over them changed it.

    `p_alone`: before the correction, as the interval beside it, which may exclude 0 although no difference is clear.
    """
    if family <= 1:
        return p_is(p_value)
    alone, corrected = p_is(p_alone), p_is(p_value)
    over = f"over {count_of(family, noun)} (Holm)"
    if alone == corrected:
        return f"{corrected} {over}"
    return f"{alone} alone, {corrected.removeprefix('p ').removeprefix('= ')} {over}"
