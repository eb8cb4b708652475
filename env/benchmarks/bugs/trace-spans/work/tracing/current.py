# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The spans that are open where we are."""
from __future__ import annotations

import threading
from typing import List, Optional

from .span import Span


class OpenSpans:
    """The open spans of whoever runs, innermost last: each flow of work has its own.

    Work that is started inside a span belongs to that span.
    """

    def __init__(self) -> None:
        self._local = threading.local()

    def _spans(self) -> List[Span]:
        if not hasattr(self._local, "spans"):
            self._local.spans = []
        return self._local.spans

    def push(self, span: Span) -> None:
        self._spans().append(span)

    def pop(self) -> Span:
        return self._spans().pop()

    def innermost(self) -> Optional[Span]:
        spans = self._spans()
        return spans[-1] if spans else None
