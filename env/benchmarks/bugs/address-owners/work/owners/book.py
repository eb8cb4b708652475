# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The book of networks."""
from __future__ import annotations

from bisect import bisect_right
from typing import Iterable, Iterator, List, NamedTuple, Optional, Tuple

from .addresses import as_number, as_text
from .records import RECORDS


class Network(NamedTuple):
    """The addresses from `first` to `last`, both of them included."""

    first: int
    last: int
    size: int
    name: str
    kind: str
    country: str

    def __str__(self) -> str:
        return f"{as_text(self.first)}-{as_text(self.last)} {self.name}"


class Book:
    """Networks by their addresses. No two of them overlap."""

    def __init__(self, records: Iterable[Tuple[str, str, int, str, str, str]] = RECORDS) -> None:
        self._networks: List[Network] = sorted(
            Network(as_number(first), as_number(last), *rest) for first, last, *rest in records
        )
        self._firsts = [network.first for network in self._networks]

    def __iter__(self) -> Iterator[Network]:
        return iter(self._networks)

    def __len__(self) -> int:
        return len(self._networks)

    def owner(self, address: str) -> Optional[Network]:
        """The network of an address, or None where nobody has it. Raises BadAddress."""
        number = as_number(address)
        index = bisect_right(self._firsts, number) - 1
        if index < 0 or number > self._networks[index].last:
            return None
        return self._networks[index]

    def free(self) -> List[Tuple[str, str]]:
        """What lies between the networks and belongs to nobody."""
        found = []
        for one, other in zip(self._networks, self._networks[1:]):
            if one.last + 1 < other.first:
                found.append((as_text(one.last + 1), as_text(other.first - 1)))
        return found
