# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A least recently used cache whose entries carry tags."""
from __future__ import annotations

from collections import OrderedDict
from typing import Dict, Generic, Iterable, List, Optional, Set, Tuple, TypeVar

V = TypeVar("V")


class TagCache(Generic[V]):
    """Holds at most `capacity` values by key.

    When full, the value used least recently goes. Each value has the tags
    given with its latest `put`; `drop_tag` drops all values that have a tag.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError("capacity must be at least 1")
        self.capacity = capacity
        self._entries: OrderedDict[str, Tuple[V, Set[str]]] = OrderedDict()
        self._by_tag: Dict[str, Set[str]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def get(self, key: str) -> Optional[V]:
        """The value, or None. The value counts as used."""
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key][0]

    def put(self, key: str, value: V, tags: Iterable[str] = ()) -> None:
        """Store a value, in place of an older one of the same key."""
        self._entries[key] = (value, set(tags))
        self._entries.move_to_end(key)
        for tag in self._entries[key][1]:
            self._by_tag.setdefault(tag, set()).add(key)
        while len(self._entries) > self.capacity:
            self.drop(next(iter(self._entries)))

    def drop(self, key: str) -> bool:
        """Drop a value; tells whether there was one."""
        if key not in self._entries:
            return False
        _, tags = self._entries.pop(key)
        for tag in tags:
            keys = self._by_tag[tag]
            keys.discard(key)
            if not keys:
                del self._by_tag[tag]
        return True

    def drop_tag(self, tag: str) -> int:
        """Drop all values with a tag; returns how many there were."""
        return sum(self.drop(key) for key in sorted(self._by_tag.get(tag, ())))

    def tags(self) -> List[str]:
        """Tags of the values held, sorted."""
        return sorted(self._by_tag)
