# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Threads for jobs."""
from __future__ import annotations

import threading
from typing import Callable, Dict, List, Tuple

from .context import Context
from .log import Log


class Crew:
    """Runs every job in a thread of its own, tagged with its name."""

    def __init__(self, context: Context, log: Log) -> None:
        self._context = context
        self._log = log

    def run(self, jobs: Dict[str, Callable[[], object]]) -> Dict[str, object]:
        """The results of the jobs; for a job that fails the error."""
        results: Dict[str, object] = {}
        threads: List[Tuple[str, threading.Thread]] = []
        for name, job in jobs.items():
            threads.append((name, threading.Thread(target=self._work, args=(name, job, results))))
        for _, thread in threads:
            thread.start()
        for _, thread in threads:
            thread.join()
        return results

    def _work(self, name: str, job: Callable[[], object], results: Dict[str, object]) -> None:
        try:
            with self._context.tagged(job=name):
                self._log.write("info", "begins")
                results[name] = job()
        except Exception as error:
            results[name] = error
