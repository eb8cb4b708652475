"""How busy this machine is."""

from __future__ import annotations

import os


def machine_load() -> float | None:
    """Return how many processes ran or waited for a processor in the last minute, per processor; None if unknown.

    All programs of the machine count, those of a run too. Above 1, some of them had to wait.
    """
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:
        return None
