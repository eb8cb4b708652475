# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The agenda."""
from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import List, Tuple

from agenda.events import Event
from agenda.parser import parse_event
from agenda.zones import zone

Slot = Tuple[datetime, datetime]


class Agenda:
    """Events of a person who lives in the home zone."""

    def __init__(self, home: str, text: str = "") -> None:
        self.home = zone(home)
        self.events: List[Event] = [parse_event(line, self.home) for line in text.splitlines() if line.strip()]

    def titles(self, day: date) -> List[str]:
        """Titles of the events that start on a day (in the home zone), all-day events first, then by start."""
        events = [event for event in self.events if event.start.astimezone(self.home).date() == day]
        events.sort(key=lambda event: (not event.all_day, event.start, event.title))
        return [event.title for event in events]

    def free_slots(self, day: date, begin: time, end: time, shortest: timedelta) -> List[Slot]:
        """The times of the day between `begin` and `end` without any event, in the home zone, not shorter than `shortest`."""
        free_from = datetime.combine(day, begin, self.home)
        close = datetime.combine(day, end, self.home)
        slots: List[Slot] = []
        for event in sorted(self.events, key=lambda event: event.start):
            if not event.overlaps(free_from, close):
                continue
            if event.start - free_from >= max(shortest, timedelta(minutes=1)):
                slots.append((free_from, event.start.astimezone(self.home)))
            free_from = event.end.astimezone(self.home)
        if close - free_from >= shortest:
            slots.append((free_from, close))
        return slots
