"""The time of day, by this machine's clock, which may be wrong and may jump.

How long something takes is measured by `time.monotonic` or `awake.now`, and whether somebody else is alive is found out
by watching. What remains is the age of a stored moment, which is shown to people, or limits something that may as well
happen a little earlier or later. It is computed here and nowhere else: a test checks that.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def now() -> datetime:
    """The current time in UTC, with its time zone."""
    return datetime.now(UTC)


def seconds_since(moment: datetime | str) -> float:
    """Return the age of a moment, which may be in ISO format; 0 for one that is still to come by this clock."""
    past = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return max((now() - past).total_seconds(), 0.0)


def seconds_until(moment: datetime) -> float:
    """Return the seconds until a moment; 0 for one that has passed by this clock."""
    return max((moment - now()).total_seconds(), 0.0)


def moment_ago(*, seconds: float = 0.0, days: float = 0.0) -> datetime:
    """Return the moment so long ago."""
    return now() - timedelta(days=days, seconds=seconds)
