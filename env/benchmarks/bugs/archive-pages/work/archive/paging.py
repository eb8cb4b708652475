# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Going through pages."""
from __future__ import annotations

from typing import Callable, Iterator, Optional

from .letters import Letter
from .service import Page


def pages(fetch: Callable[[Optional[str]], Page]) -> Iterator[Page]:
    """All pages, one request at a time, each only when it is wanted."""
    mark: Optional[str] = None
    while True:
        page = fetch(mark)
        if not page.letters:
            return
        yield page
        mark = page.mark
        if mark is None:
            return


def letters(fetch: Callable[[Optional[str]], Page]) -> Iterator[Letter]:
    """The letters of all pages."""
    for page in pages(fetch):
        yield from page.letters
