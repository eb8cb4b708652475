# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Make all mails of a campaign."""
from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional

from merge.customers import read_customers
from merge.footer import Footer
from merge.template import Template


class Mail(NamedTuple):
    """A mail ready to be sent."""

    to: str
    subject: str
    body: str


class Campaign:
    """A letter to all customers who have an address."""

    def __init__(self, subject: str, letter: str, footer: Optional[Footer] = None) -> None:
        self._subject = Template(subject)
        self._letter = Template(letter)
        self._footer = footer or Footer()

    def unknown_fields(self, customers: List[Dict[str, str]]) -> List[str]:
        """Fields of subject and letter that are no column of the table."""
        columns = set(customers[0]) if customers else set()
        names = self._subject.names() + self._letter.names()
        return sorted({name for name in names if name not in columns})

    def mails(self, table: str) -> List[Mail]:
        """The mails in the order of the table."""
        customers = [row for row in read_customers(table) if row.get("mail")]
        made = []
        for number, row in enumerate(customers, 1):
            body = self._letter.fill(row) + "\n" + self._footer.make(row, number, len(customers))
            made.append(Mail(row["mail"], self._subject.fill(row), body))
        return made
