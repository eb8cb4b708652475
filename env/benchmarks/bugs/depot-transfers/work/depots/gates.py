# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Opening gates of depots."""
from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import AsyncIterator, Iterable

from .depot import Depot


@asynccontextmanager
async def gates(depots: Iterable[Depot]) -> AsyncIterator[None]:
    """Hold the gates of some depots for the block, each once, even if a depot is given more than once."""
    unique = {depot.number: depot for depot in depots}
    async with AsyncExitStack() as stack:
        for depot in unique.values():
            await stack.enter_async_context(depot.opened())
        yield
