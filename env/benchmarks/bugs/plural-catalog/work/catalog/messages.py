# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Message catalogs."""
from __future__ import annotations

from typing import Dict, List, Mapping, Sequence, Union

from .plurals import form

Text = Union[str, Sequence[str]]


class Catalog:
    """The messages of one language; a message is a text or one text for each plural form."""

    def __init__(self, language: str, messages: Mapping[str, Text]) -> None:
        self.language = language
        self._messages: Dict[str, Text] = dict(messages)

    def text(self, key: str, **values: object) -> str:
        """A message; `{name}` is filled from the values. A message that is missing is its own key."""
        found = self._messages.get(key, key)
        return (found if isinstance(found, str) else found[0]).format(**values)

    def count(self, key: str, n: int, **values: object) -> str:
        """A message about n things; `{n}` is the number."""
        found = self._messages.get(key, key)
        text = found if isinstance(found, str) else found[form(self.language, n)]
        return text.format(n=n, **values)

    def incomplete(self) -> List[str]:
        """The keys of messages that lack a form."""
        needed = 1 + max(form(self.language, n) for n in range(200))
        return [k for k, t in self._messages.items() if not isinstance(t, str) and len(t) < needed]
