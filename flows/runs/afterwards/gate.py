"""A gate's answer in forms for CI pipelines: exit status, JUnit XML, one line for a pull request."""

from __future__ import annotations

from xml.etree import ElementTree

from stackrank.db.queries.comparisons.gate import GateReport
from stackrank.terms import GateOutcome
from stackrank.wording import one_line

STATUS = {GateOutcome.NOT_WORSE: 0, GateOutcome.WORSE: 1, GateOutcome.UNKNOWN: 3}
"""Outcome -> exit status. Status 2 is for usage errors."""
_SIGNS = {
    GateOutcome.NOT_WORSE: ":white_check_mark:",
    GateOutcome.WORSE: ":x:",
    GateOutcome.UNKNOWN: ":hourglass:",
}


def markdown_line(gate: GateReport) -> str:
    """Return the answer as one line of Markdown."""
    return f"{_SIGNS[GateOutcome(gate['outcome'])]} {one_line(gate['sentence'])}"


def junit(gate: GateReport) -> bytes:
    """Return the answer as a JUnit report with one test. `worse` is a failure, and `unknown` is an error, because an
    unknown outcome must not pass. The report has the format that CI systems read
    (https://github.com/testmoapp/junitxml)."""
    outcome = GateOutcome(gate["outcome"])
    counts = {
        "tests": "1",
        "failures": str(int(outcome is GateOutcome.WORSE)),
        "errors": str(int(outcome is GateOutcome.UNKNOWN)),
        "skipped": "0",
    }
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "stackrank compare", **counts})
    name = f"{one_line(gate['candidate'])} is at most {100 * gate['max_drop']:g} points worse"
    case = ElementTree.SubElement(suite, "testcase", {"classname": one_line(gate["reference"]), "name": name})
    sentence = one_line(gate["sentence"])
    if outcome is not GateOutcome.NOT_WORSE:
        kind = "failure" if outcome is GateOutcome.WORSE else "error"
        ElementTree.SubElement(case, kind, {"type": str(outcome), "message": sentence}).text = sentence
    lines = [sentence, *filter(None, [one_line(gate["warning"])])]
    lines += [
        f"{word}: {one_line(task)}" for word, tasks in (("lost", gate["lost"]), ("won", gate["won"])) for task in tasks
    ]
    ElementTree.SubElement(case, "system-out").text = "\n".join(lines)
    ElementTree.indent(suites)
    return bytes(ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True))
