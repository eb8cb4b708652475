# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""An undo journal for a series of steps that shall happen together or not at all."""
from __future__ import annotations

from types import TracebackType
from typing import Callable


class Journal:
    """Context manager around the steps.

    Each step is recorded together with the function that undoes it. If the block ends well the steps
    stand. If it is left by an error the recorded steps are undone, latest first, and the error goes on
    to the caller.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[str, Callable[[], None]]] = []
        self.log: list[str] = []

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> int:
        if kind is None:
            return self.commit()
        return self.roll_back()

    def record(self, name: str, undo: Callable[[], None]) -> None:
        """Note that the step `name` was done and how to undo it."""
        self._steps.append((name, undo))
        self.log.append(f"did {name}")

    def commit(self) -> int:
        """Let the recorded steps stand; return how many they are."""
        count = len(self._steps)
        self._steps.clear()
        self.log.append(f"committed {count}")
        return count

    def roll_back(self) -> int:
        """Undo the recorded steps, latest first; return how many were undone."""
        count = 0
        while self._steps:
            name, undo = self._steps.pop()
            undo()
            self.log.append(f"undid {name}")
            count += 1
        return count
