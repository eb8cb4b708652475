# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The time zone of the company."""
from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

_HOUR = timedelta(hours=1)


def _last_sunday(year: int, month: int, hour: int) -> datetime:
    day = datetime(year, month, 31, hour)
    return day - timedelta(days=(day.weekday() + 1) % 7)


class CentralTime(tzinfo):
    """One hour ahead of UTC, two from the last Sunday of March, 2:00, to that of October, 3:00.

    Times of the hour that comes twice in October mean the first (summer) one with fold=0 and the second
    with fold=1.
    """

    def utcoffset(self, moment: datetime | None) -> timedelta:
        return _HOUR + self.dst(moment)

    def dst(self, moment: datetime | None) -> timedelta:
        if moment is None:
            return timedelta(0)
        wall = moment.replace(tzinfo=None, fold=0)
        begin, end = _last_sunday(wall.year, 3, 2), _last_sunday(wall.year, 10, 3)
        if end - _HOUR <= wall < end:
            return timedelta(0) if moment.fold else _HOUR
        return _HOUR if begin <= wall < end else timedelta(0)

    def tzname(self, moment: datetime | None) -> str:
        return "CEST" if self.dst(moment) else "CET"


CENTRAL = CentralTime()
