# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Lines of the firewall's log."""
from __future__ import annotations

import re
from typing import Iterable, Iterator, NamedTuple

_LINE = re.compile(r"(?P<when>\S+ \S+) (?P<action>DROP|PASS) src=(?P<source>\S+) port=(?P<port>\d+)")


class Entry(NamedTuple):
    when: str
    action: str
    source: str
    port: int


def read(lines: Iterable[str]) -> Iterator[Entry]:
    """The entries of a log; other lines are left out."""
    for line in lines:
        match = _LINE.match(line)
        if match:
            yield Entry(match["when"], match["action"], match["source"], int(match["port"]))


def attacks(lines: Iterable[str], ports: Iterable[int] = (22, 23, 3389)) -> Iterator[Entry]:
    """What was dropped at one of the ports."""
    watched = set(ports)
    return (entry for entry in read(lines) if entry.action == "DROP" and entry.port in watched)
