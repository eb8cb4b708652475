# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Doing the same thing with many items in several threads."""
from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Iterable, List, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_parallel(work: Callable[[T], R], items: Iterable[T], workers: int = 4) -> List[R]:
    """The results of the work for all items, in the order of the items. An error of the work is raised."""
    results: List[R] = []
    lock = threading.Lock()

    def run(item: T) -> None:
        result = work(item)
        with lock:
            results.append(result)

    with ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(run, item) for item in items]:
            future.result()
    return results
