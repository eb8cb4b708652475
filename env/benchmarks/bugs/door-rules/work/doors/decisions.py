# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The door."""
from __future__ import annotations

from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from .log import Log
from .patterns import fits
from .people import PEOPLE
from .rules import RULES


class UnknownPerson(KeyError):
    """Nobody is called so."""


class Rule(NamedTuple):
    effect: str
    who: str
    action: str
    what: str
    why: str


class Decision(NamedTuple):
    """`why`: the reason of the rule that decided."""

    allowed: bool
    why: str


NO_RULE = Decision(False, "no rule allows it")


class Doors:
    """Decisions are kept, since the same is asked again and again."""

    def __init__(
        self, rules: Iterable[Tuple[str, str, str, str, str]] = RULES, people: Optional[Dict[str, str]] = None
    ) -> None:
        self.rules: List[Rule] = [Rule(*rule) for rule in rules]
        self.people = dict(PEOPLE if people is None else people)
        self.log = Log()
        self._kept: Dict[Tuple[str, str, str], Decision] = {}

    def ask(self, person: str, action: str, what: str) -> Decision:
        """Raises UnknownPerson."""
        try:
            badge = self.people[person]
        except KeyError:
            raise UnknownPerson(person) from None
        question = badge, action, what
        if question not in self._kept:
            self._kept[question] = self._decide(*question)
        decision = self._kept[question]
        self.log.note(person, action, what, decision.allowed)
        return decision

    def may(self, person: str, action: str, what: str) -> bool:
        return self.ask(person, action, what).allowed

    def move(self, person: str, badge: str) -> None:
        """Somebody changes team or group. Raises UnknownPerson."""
        if person not in self.people:
            raise UnknownPerson(person)
        self.people[person] = badge

    def _decide(self, badge: str, action: str, what: str) -> Decision:
        for rule in self.rules:
            if fits(rule.who, badge) and rule.action in ("*", action) and fits(rule.what, what):
                return Decision(rule.effect == "allow", rule.why)
        return NO_RULE
