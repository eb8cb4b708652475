"""The fields of a run's specification that an operator may change while it is played."""

from __future__ import annotations

from typing import NamedTuple


class TunableNumber(NamedTuple):
    """A number: its bounds, and whether it is whole, may equal the lower bound, and may be absent."""

    low: float
    high: float | None = None
    whole: bool = False
    above: bool = False
    """Whether it has to be above the lower bound."""
    optional: bool = False


NUMBERS = {
    "workers": TunableNumber(1, 256, whole=True),
    "requests_per_minute": TunableNumber(0, above=True, optional=True),
    "budget_usd": TunableNumber(0, above=True, optional=True),
    "retries": TunableNumber(0, 10, whole=True),
    "max_error_share": TunableNumber(0, 1),
    "endpoint_silence_s": TunableNumber(0),
}
TUNABLE = (*NUMBERS, "stop")
"""They decide when and where episodes are played, and not what happens in them."""
