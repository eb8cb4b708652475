"""The words that say who is better: the only place that makes such a claim, and only if a corrected test holds."""

from __future__ import annotations

from stackrank.db.stats import ALPHA
from stackrank.wording import count_of, p_is


def claim(
    difference: float | None, p_value: float | None, *, above: str, below: str, between: str, alpha: float = ALPHA
) -> str:
    """Return `above` or `below`, whichever the test supports, else `No clear difference` and the words `between`.

    `p_value`: corrected for all comparisons that are shown together; None: there was no test.
    """
    sign = direction(difference, p_value, alpha)
    return f"No clear difference {between}" if not sign else above if sign > 0 else below


def direction(difference: float | None, p_value: float | None, alpha: float = ALPHA) -> int:
    """Return the sign of a difference, or 0 if it may be chance."""
    if difference is None or p_value is None or p_value >= alpha or not difference:
        return 0
    return 1 if difference > 0 else -1


def in_sentence(text: str) -> str:
    """Return a claim as it reads in the middle of a sentence; the names of entrants keep their letters."""
    return f"n{text[1:]}" if text.startswith("No clear difference") else text


def corrected_p(p_value: float | None, family: int, noun: str = "pair") -> str:
    """Format a p-value, and how many comparisons Holm's correction covers if there are several."""
    return f"{p_is(p_value)} (Holm, {count_of(family, noun)})" if family > 1 else p_is(p_value)
