# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What stands below every mail."""
from __future__ import annotations

from typing import Mapping

from merge.template import Template

DEFAULT = "--\nTo [name|you] at [company|home]. Sent %d of %d."


class Footer:
    """A footer template with fields and, for the number of the mail and the count of mails, two %d."""

    def __init__(self, text: str = DEFAULT) -> None:
        self._text = text

    def make(self, values: Mapping[str, str], number: int, count: int) -> str:
        """The footer of one mail."""
        return Template(self._text).fill(values) % (number, count)
