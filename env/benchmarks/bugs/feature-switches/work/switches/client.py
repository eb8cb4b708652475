# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The front of the package."""
from __future__ import annotations

from typing import Any, ContextManager, Iterable, List, Mapping

from .overrides import Overrides
from .rules import Rule
from .store import Store


class Switches:
    """Answers whether a customer gets a feature."""

    def __init__(self, rules: Mapping[str, Mapping[str, Any]]) -> None:
        self._store = Store({feature: _rule(values) for feature, values in rules.items()})
        self._overrides = Overrides()

    def is_on(self, feature: str, customer: str, groups: Iterable[str] = ()) -> bool:
        rule = self._store.rule(feature)
        by_hand = self._overrides.get(feature)
        if by_hand is not None:
            return by_hand
        return rule.applies(feature, customer, frozenset(groups))

    def switched(self, **wanted: bool) -> ContextManager[None]:
        """Switch features on or off for everybody, for a block of code. Blocks may be nested."""
        for feature in wanted:
            self._store.rule(feature)
        return self._overrides.switched(**wanted)

    def features_of(self, customer: str, groups: Iterable[str] = ()) -> List[str]:
        """The features the customer gets."""
        groups = frozenset(groups)
        return [name for name in self._store.names() if self.is_on(name, customer, groups)]


def _rule(values: Mapping[str, Any]) -> Rule:
    return Rule(values.get("percent", 0), frozenset(values.get("groups", ())), frozenset(values.get("never", ())))
