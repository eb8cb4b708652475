# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Mail addresses."""
from __future__ import annotations

from typing import Iterable, Iterator, Set


def normal(address: str) -> str:
    """The address as it is compared: no blanks around, the domain in lower case."""
    name, at, domain = address.strip().rpartition("@")
    if not at or not name or "." not in domain:
        raise ValueError(f"not an address: {address!r}")
    return f"{name}@{domain.lower()}"


def unique(addresses: Iterable[str], blocked: Iterable[str] = ()) -> Iterator[str]:
    """The normal addresses, each once, in order, without the blocked ones."""
    seen: Set[str] = {normal(address) for address in blocked}
    for address in map(normal, addresses):
        if address not in seen:
            seen.add(address)
            yield address
