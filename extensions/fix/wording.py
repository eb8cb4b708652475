"""How the evidence for a proposal is shown to people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stackrank.wording import count_of, interval, one_line, percent


def plain_verdict(evidence: Mapping[str, Any]) -> str:
    """Say what a proposed change does: which targets pass, what else of the same bug fails, and what it touches."""
    target, failing = evidence["target"], evidence["still_failing"]
    passed = sum(outcome == "passed" for _, outcome in target.values())
    targets = count_of(len(target), "target")
    parts = [f"fixes {targets}" if passed == len(target) else f"fixes {passed} of {targets}"]
    if failing:
        parts.append(f"{count_of(len(failing), 'other test')} of what it changes still failing")
    if evidence["regressions"]:
        parts.append(count_of(len(evidence["regressions"]), "regression"))
    if (variants := evidence.get("variants")) and variants["accepted"]:
        parts.append(describe_accepted(variants))
    return "; ".join([*parts, f"touches {', '.join(evidence['touches'])}"])


def describe_accepted(variants: Mapping[str, Any]) -> str:
    """Say how many other changes of the same lines the tests would take for a fix as well, and name one."""
    text = f"the tests accept {len(variants['accepted'])} of {count_of(variants['tried'], 'variant')} of the change"
    return text + (f" as well, such as `{variants['accepted'][0]}`" if variants["accepted"] else "")


def evidence_lines(proposal: Mapping[str, Any], *, stops: bool = True) -> list[str]:
    """Return the evidence for a proposal, as lines of text. `stops`: also where the debugger stopped."""
    evidence = proposal["evidence"]
    suite_before, suite_after, size = evidence["suite_before"], evidence["suite_after"], evidence["size"]
    lines = [f"Verdict: {plain_verdict(evidence)}"]
    lines += [
        f"{test}: {old_outcome} before, {new_outcome} after"
        for test, (old_outcome, new_outcome) in evidence["target"].items()
    ]
    targets = evidence.get("targets")
    unnamed = evidence.get("unnamed")
    no_others = "" if unnamed else ", and no others"
    what_ran = f"Tests in {', '.join(targets)}{no_others}" if targets else "Suite"
    lines.append(
        f"{what_ran}: {suite_before['passed']} passed and {suite_before['failed']} failed before, "
        f"{suite_after['passed']} passed and {suite_after['failed']} failed after; "
        f"{count_of(len(evidence['regressions']), 'regression')}"
    )
    if unnamed:
        result = f" (no result: {unchecked})" if (unchecked := evidence.get("unchecked")) else ""
        lines.append(f"Also run, because they import what it touches: {', '.join(unnamed)}{result}")
    if unread := suite_after["unread"]:
        lines.append(f"Not run: the tests in {count_of(unread, 'file')}, which need a module that is not installed")
    lines += [f"Regression: {test}" for test in evidence["regressions"]]
    lines += [f"Still fails, and runs what was changed: {test}" for test in evidence["still_failing"]]
    if further_tests := [test for test in evidence["fixed"] if test not in evidence["target"]]:
        suffix = f" and {len(further_tests) - 5} more" if len(further_tests) > 5 else ""
        lines.append(f"Also fixed: {', '.join(further_tests[:5])}{suffix}")
    if len(covers := evidence["covers"]) > 1:
        lines.append(f"Covers {count_of(len(covers), 'problem')}: {', '.join(covers)}")
    lines.append(f"Size: {count_of(size['files'], 'file')}, +{size['added']} -{size['removed']}")
    if evidence["lines"]:
        lines.append(
            f"Changed statements that a test runs: {evidence['lines']['run']} of {evidence['lines']['changed']}"
        )
    elif evidence["unmeasured"]:
        lines.append(f"Changed statements that a test runs: not known ({one_line(evidence['unmeasured'])})")
    if variants := evidence.get("variants"):
        sentence = describe_accepted(variants)
        lines.append(sentence[0].upper() + sentence[1:])
    lines += [
        f"Debugger at {stop['place']} (step {stop['step']}): {one_line(stop['shown'])[:160]}"
        for stop in (evidence["debugger"] if stops else ())
    ]
    lines += [f"Unusual: {finding['file']}:{finding['line']}: {finding['what']}" for finding in evidence["suspicious"]]
    agreement, record = evidence["agreement"], evidence["record"]
    lines.append(f"Episodes that ended with this same change: {agreement['same']} of {agreement['played']}")
    if record and record["rate"] is not None:
        around = interval(record["ci_low"], record["ci_high"])
        lines.append(
            f"By {proposal['entrant']}, which resolves {percent(record['rate'])} ({around}) of "
            f"{count_of(record['tasks'], 'such problem')}"
        )
    return lines
