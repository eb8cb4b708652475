# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Read events."""
from __future__ import annotations

from datetime import datetime, time, timedelta, timezone

from agenda.events import Event
from agenda.zones import zone


def parse_event(line: str, home: timezone) -> Event:
    """Read `2024-05-01 10:00-11:30 Berlin | Title` or `2024-05-01 | Title`.

    Without a zone the times are those of the home zone; an event without
    times takes the whole day of the home zone.
    """
    head, _, title = line.partition("|")
    parts = head.split()
    day = datetime.strptime(parts[0], "%Y-%m-%d").date()
    where = zone(parts[2]) if len(parts) > 2 else home
    if len(parts) == 1:
        start = datetime.combine(day, time(), where)
        end = datetime.combine(day + timedelta(days=1), time())
        return Event(title.strip(), start, end, True)
    begin, _, end = parts[1].partition("-")
    times = [datetime.combine(day, datetime.strptime(text, "%H:%M").time(), where) for text in (begin, end)]
    if times[1] <= times[0]:
        times[1] += timedelta(days=1)
    return Event(title.strip(), times[0], times[1])
