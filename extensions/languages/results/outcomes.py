"""What the readers share: a test's worst outcome counts, and XML is read with care: a program may have written it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

_BEST_FIRST = ("passed", "xfailed", "skipped", "missing", "failed")
_DOCUMENT = re.compile(r"<\?xml\b[^>]*>\s*(?P<document>(?:<![^<]*)*<(?P<root>testsuites?)\b.*?</(?P=root)>)", re.DOTALL)


class Outcomes(dict[str, str]):
    """Test id -> outcome."""

    def add(self, test: str, outcome: str) -> None:
        """Add an outcome of a test. If it has several, the worst counts."""
        previous = self.get(test)
        if previous is None or _BEST_FIRST.index(outcome) > _BEST_FIRST.index(previous):
            self[test] = outcome


def xml_results(output: str) -> Iterator[tuple[str, str, str]]:
    """Yield class, name and outcome of each test case in the JUnit documents of an output.

    A document with a type definition is left out: its entities could grow without limit.
    """
    for match in _DOCUMENT.finditer(output):
        text = match["document"]
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            continue
        try:
            root = ElementTree.fromstring(text)
        except ElementTree.ParseError:
            continue
        for case in root.iter("testcase"):
            tags = {child.tag for child in case}
            off = "skipped" in tags or case.get("status") in ("disabled", "notrun")
            outcome = "failed" if tags & {"failure", "error"} else "skipped" if off else "passed"
            yield case.get("classname", ""), case.get("name", ""), outcome
