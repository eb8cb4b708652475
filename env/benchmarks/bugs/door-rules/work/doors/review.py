# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What the auditors want to know."""
from __future__ import annotations

from typing import Dict, Iterable, List, Set, Tuple

from .decisions import Doors, Rule


def reach(doors: Doors, what: str, action: str = "read") -> List[str]:
    """The badges that may do it."""
    badges = sorted(set(doors.people.values()))
    people: Dict[str, str] = {badge: person for person, badge in doors.people.items()}
    return [badge for badge in badges if doors.may(people[badge], action, what)]


def unused(doors: Doors, questions: Iterable[Tuple[str, str, str]]) -> List[Rule]:
    """The rules that decided none of the questions."""
    reasons: Set[str] = {doors.ask(*question).why for question in questions}
    return [rule for rule in doors.rules if rule.why not in reasons]
