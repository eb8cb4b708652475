# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Notices in the shop."""
from __future__ import annotations

import asyncio
from typing import List, Mapping

from .prices import PriceList, Pause


async def all_windows(prices: PriceList, windows: Mapping[str, List[str]], pause: Pause) -> List[str]:
    """The text of all windows, made at the same time, in the order of the names."""
    names = sorted(windows)
    parts = await asyncio.gather(*(prices.window(windows[name], pause) for name in names))
    return [f"{name} v{version}: {', '.join(map(str, values))}" for name, (version, values) in zip(names, parts)]
