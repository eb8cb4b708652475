# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The rules of all features."""
from __future__ import annotations

from typing import Dict, Iterable, Mapping

from .rules import Rule


class UnknownFeature(LookupError):
    """A feature nobody has defined."""


class Store:
    """Rules by feature."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self._rules: Dict[str, Rule] = dict(rules)

    def rule(self, feature: str) -> Rule:
        try:
            return self._rules[feature]
        except KeyError:
            raise UnknownFeature(feature) from None

    def define(self, feature: str, rule: Rule) -> None:
        self._rules[feature] = rule

    def names(self) -> Iterable[str]:
        return sorted(self._rules)
