# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Articles."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Union

Value = Union[str, float]


@dataclass(frozen=True)
class Article:
    """Something for sale; `details` are its other properties."""

    name: str
    price: float
    details: Dict[str, Value] = field(default_factory=dict, hash=False)

    def property(self, key: str) -> Value:
        """A property of the article; an empty text if it does not have it."""
        if key == "price":
            return self.price
        return self.details.get(key, "")
