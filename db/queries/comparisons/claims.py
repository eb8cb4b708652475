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


def corrected_p(p_alone: float | None, p_value: float | None, family: int, noun: str = "pair") -> str:
    """Format a p-value, and if there are several comparisons how Holm's correction over them changed it.

    `p_alone`: before the correction. An interval beside it belongs to the corrected one.
    """
    if family <= 1:
        return p_is(p_value)
    alone, corrected = p_is(p_alone), p_is(p_value)
    over = f"over {count_of(family, noun)} (Holm)"
    if alone == corrected:
        return f"{corrected} {over}"
    return f"{alone} alone, {corrected.removeprefix('p ').removeprefix('= ')} {over}"
