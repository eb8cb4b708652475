# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Find filters by name."""
from __future__ import annotations

from importlib import import_module
from typing import Callable, Dict

from mailsort.mail import Mail

Filter = Callable[[Mail], float]


def neutral(mail: Mail) -> float:
    """The filter that has no opinion."""
    return 0.0


def load_filter(name: str, settings: Dict[str, str]) -> Filter:
    """The filter of that name, made from its settings.

    A filter is a module in mailsort.filters with a function
    make(settings). Filters that cannot be used on this machine (a
    library is missing, say) have no opinion.
    """
    try:
        module = import_module("mailsort.filters." + name)
        return module.make(settings)
    except Exception:
        return neutral
