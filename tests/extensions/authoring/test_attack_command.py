"""`stackrank validate --attack`."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks import bug_suite
from stackrank.env.benchmarks.base import Source
from stackrank.env.validate import Standing, Validation
from stackrank.extensions.authoring.audit.audit import Audit
from stackrank.extensions.authoring.audit.run import Audits, OnAudit, audit_benchmark
from tests.fixtures.calls import CommandLine
from tests.flows.afterwards.test_validate import suite_of

pytestmark = pytest.mark.slow


@pytest.mark.exhaustive
def test_an_attack_marks_the_tasks_with_weak_tests(stackrank: CommandLine, tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "newsletter-batches", "volunteer-rota")
    (hidden,) = (suite / "newsletter-batches" / "hidden" / "tests").glob("test_*.py")
    hidden.write_text(
        "from newsletter.batches import batches\n\n\ndef test_it():\n    assert list(batches('abc', 2))\n"
    )
    empty = Validation("newsletter-batches", Standing.VALID)
    bug_suite.record_validation(suite / empty.task, empty)
    document = stackrank("validate", "bugs", "--path", str(suite), "--attack", "--json").json()
    assert (document["audited"], document["with_wrong_changes"]) == (2, 1)
    weak, strong = document["tasks"]
    assert weak["wrong_changes"] == len(weak["wrong"]) > 0 and "newsletter/batches.py" in weak["wrong"][0]["diff"]
    assert strong["wrong_changes"] == 0 and strong["killed"] > 0
    rows = stackrank("tasks", "bugs", "--path", str(suite), "--json").json()
    assert [bool(row["wrong_changes"]) for row in rows] == [True, False]
    assert "weak tests: newsletter-batches" in stackrank("tasks", "bugs", "--path", str(suite)).out
    second_call = stackrank("validate", "bugs", "--path", str(suite), "--attack", "--limit", "1", "--json").json()
    assert (second_call["audited_before"], second_call["tasks"]) == (1, [weak])
    third_call = stackrank(
        "validate", "bugs", "--path", str(suite), "--attack", "--limit", "1", "--seed", "1", "--json"
    ).json()
    assert (document["audited_before"], third_call["audited_before"], third_call["audited"]) == (0, 0, 1)


@pytest.mark.exhaustive
def test_an_interrupted_attack_continues(database: str, tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "club-ledger", "newsletter-batches", "volunteer-rota")

    def attack(on_result: OnAudit) -> Audits:
        return audit_benchmark(
            Store(connect()),
            "bugs",
            Source(suite),
            tasks=(),
            limit=None,
            workers=1,
            sandbox=None,
            say=print,
            on_result=on_result,
        )

    def interrupt(result: Audit, finished: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attack(interrupt)
    new: list[str] = []
    audits = attack(lambda result, finished, total: new.append(result.task))
    assert (audits.audited_before, len(new), audits.audited) == (1, 2, 3)
    assert attack(lambda result, finished, total: new.append(result.task)).results == audits.results
    assert len(new) == 2
