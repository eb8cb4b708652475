# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The queue of jobs."""
from __future__ import annotations

from collections import deque
from typing import Deque, Iterator, List

from .jobs import Job


class JobQueue:
    """Jobs in the order of coming; urgent ones go before all others that wait."""

    def __init__(self) -> None:
        self._jobs: Deque[Job] = deque()

    def __len__(self) -> int:
        return len(self._jobs)

    def put(self, job: Job, urgent: bool = False) -> None:
        if urgent:
            self._jobs.appendleft(job)
        else:
            self._jobs.append(job)

    def take_all(self) -> Iterator[Job]:
        """Take jobs out, one at a time, until there are none."""
        while self._jobs:
            yield self._jobs.popleft()

    def numbers(self) -> List[int]:
        return [job.number for job in self._jobs]
