"""An agent without a model: it swaps one operator after another until the tests pass."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stackrank.api import Action, Agent, Briefing, Decision, GaveUp, Observation

SWAPS = {"<=": "<", ">=": ">", "<": "<=", ">": ">=", "==": "!=", "+": "-", "-": "+", "and": "or", "or": "and"}
OPERATOR = re.compile(r"(?<= )(?:" + "|".join(map(re.escape, SWAPS)) + r")(?= )")
NUMBERED = re.compile(r"^ *(\d+)  (.*)$", re.MULTILINE)


class Swapper(Agent):
    """Views each program file, and tries the swaps in its lines from the top."""

    version = "1"
    needs_tools = ("view", "rewrite", "eval")

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Plan the episode; nothing is done yet."""
        files = [path for path in briefing.files if path.endswith(".py") and "test" not in path]
        self._decisions = self._try_swaps(files)

    def act(self, observation: Observation) -> Decision:
        """Return the next step of the plan. Raises GaveUp at its end."""
        self._observation = observation
        for decision in self._decisions:
            return decision
        raise GaveUp("every operator has been swapped")

    def _try_swaps(self, files: list[str]) -> Iterator[Decision]:
        for path in files:
            yield Decision(Action("view", {"path": path}))
            for number, line in NUMBERED.findall(self._observation.text):
                for operator in OPERATOR.finditer(line):
                    start, end = operator.span()
                    swapped = line[:start] + SWAPS[operator[0]] + line[end:]
                    place = {"path": path, "start": int(number), "end": int(number)}
                    thought = f"Perhaps {operator[0]} is wrong."
                    yield Decision(Action("rewrite", {**place, "new_code": swapped}), thought)
                    yield Decision(Action("eval"))  # the episode ends here if all tests pass
                    yield Decision(Action("rewrite", {**place, "new_code": line}), "It was right.")
