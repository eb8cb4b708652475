"""The error rates of verdicts: files that are wrong first, then what counts and what `validate --rates` prints."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.env.benchmarks.base import BenchmarkError, Source
from stackrank.env.benchmarks.bug_suite import DATA, BugSuite, load_task
from stackrank.env.benchmarks.verdict_rates import CHANGES, RATES, ErrorRate, VerdictRates, load
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.extensions.authoring.rates.changes import Edit, LabelledChange, Reading, read_changes
from stackrank.extensions.authoring.rates.grading import Grade, grade
from stackrank.flows.cli.plugin_commands import find_option
from stackrank.wording import verdict_rates
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import usable

TASK = "club-ledger"
PATH = "ledger/accounts.py"
OLD = "    return account.startswith(group)"
RIGHT = "    return (account + SEPARATOR).startswith(group + SEPARATOR)"
BELOW = "    return account == group or account.rpartition(SEPARATOR)[0] == group"
ITSELF = "    return account == group"
WITNESS = "from ledger.accounts import is_within; print(is_within('a:b:c', 'a'))"
SAME = "from ledger.accounts import is_within; print(is_within('a', 'a'))"


def change(label: str, new: str, **fields: object) -> LabelledChange:
    """A change of one line of `club-ledger`."""
    edits = [{"path": PATH, "old": OLD, "new": new}]
    return LabelledChange.model_validate({"task": TASK, "label": label, "author": "ada", "edits": edits, **fields})


def written(file: Path, *changes: LabelledChange) -> Path:
    """A JSONL file of changes."""
    file.write_text("".join(each.model_dump_json(exclude_defaults=True) + "\n" for each in changes))
    return file


def test_a_line_that_is_no_change_is_named(tmp_path: Path) -> None:
    file = written(tmp_path / "changes.jsonl", change("right", RIGHT))
    for line, message in (
        ("{", "Invalid JSON"),
        ('{"task": "t", "label": "good", "author": "a", "diff": "x"}', "label"),
        ('{"task": "t", "label": "right", "author": "a"}', "either edits or a diff"),
        ('{"task": "t", "label": "right", "author": "a", "diff": "x", "colour": "red"}', "colour"),
    ):
        with file.open("a") as lines:
            lines.write(line + "\n")
        with pytest.raises(BenchmarkError, match=f"changes.jsonl:2: .*{message}"):
            read_changes(file)
        written(file, change("right", RIGHT))
    with pytest.raises(BenchmarkError, match="does not exist"):
        read_changes(tmp_path / "nowhere")


def test_an_edit_has_to_fit_once() -> None:
    task = load_task(DATA / TASK)
    for old, message in (("account", "times instead of once"), ("no such text", "0 times"), ("", "new file")):
        unfit = change("right", RIGHT).model_copy(update={"edits": (Edit(path=PATH, old=old, new=""),)})
        with pytest.raises(BenchmarkError, match=message):
            unfit.apply(task)
    added = change("right", RIGHT).model_copy(update={"edits": (Edit(path="ledger/new.py", old="", new="x = 1\n"),)})
    assert added.apply(task).files == {"ledger/new.py": b"x = 1\n"}


def test_people_may_hand_in_patches(tmp_path: Path) -> None:
    for name in ("right/ada/club-ledger.patch", "right/ada/club-ledger.2.patch", "wrong/bob/tax-bands.patch"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("--- a/x\n")
    found = [(each.task, each.label, each.author) for each in read_changes(tmp_path)]
    assert found == [("club-ledger", "right", "ada"), ("club-ledger", "right", "ada"), ("tax-bands", "wrong", "bob")]


def test_what_counts() -> None:
    right, wrong = change("right", RIGHT), change("wrong", BELOW)
    read = wrong.model_copy(update={"reading": Reading(by="bob", label="right", why="nothing says otherwise")})
    assert Grade(right, resolved=False).mistaken and not Grade(right, resolved=True).mistaken
    assert Grade(wrong, resolved=True).mistaken and not Grade(wrong).mistaken
    assert not Grade(read, resolved=True).mistaken and Grade(read).mistaken
    for uncounted in (
        Grade(right, error="the machine is busy"),
        Grade(wrong, plausible=False),
        Grade(wrong, resolved=True, proved=False),
    ):
        assert uncounted.reason and not uncounted.mistaken


def test_rates_of_an_earlier_version_say_so() -> None:
    side = ErrorRate(changes=200, errors=2, tasks=100, authors=1, rate=0.01, low=0.002, high=0.036)
    none = ErrorRate(changes=0, errors=0, tasks=0, authors=0, rate=None, low=None, high=None)
    rates = VerdictRates("abcdef0123456789", "2026-11-26", side, none)
    assert load(rates.dump()) == rates
    sentence = "; ".join(verdict_rates(rates.document(), "0123456789abcdef"))
    assert sentence == (
        "2 of 200 wrong changes accepted (1.0%, 95% interval 0.2–3.6%); 0 of 0 right repairs rejected; "
        "measured on 2026-11-26, with version abcdef01"
    )
    assert "version" not in "".join(verdict_rates(rates.document(), rates.digest))


def test_without_changes_the_remedy_is_named(stackrank: CommandLine, tmp_path: Path) -> None:
    shutil.copytree(DATA / TASK, tmp_path / "suite" / TASK)
    call = ("validate", "bugs", "--path", str(tmp_path / "suite"), "--rates")
    assert "name a JSONL file or a folder with --changes" in stackrank(*call).err
    stray = written(tmp_path / "stray.jsonl", change("right", RIGHT, task="no-such-task"))
    assert "no-such-task" in stackrank(*call, "--changes", str(stray)).err
    assert find_option("validate", "rates", "authoring")


@pytest.mark.exhaustive
@pytest.mark.slow
def test_both_rates_of_a_suite(stackrank: CommandLine, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    shutil.copytree(DATA / TASK, suite / TASK)
    written(
        suite / CHANGES,
        change("right", RIGHT),
        change("right", BELOW, note="a repair that the tests refuse"),
        change("wrong", BELOW, note="only accounts directly below"),
        change("wrong", RIGHT, witness=SAME, note="not shown to be wrong"),
        change("wrong", RIGHT, witness=WITNESS + "\nimport random; print(random.random())", note="shown to be wrong"),
        change("wrong", ITSELF, note="fails a visible test"),
    )
    result = stackrank("validate", "bugs", "--path", str(suite), "--rates", "--record", "--json").json()
    assert [result[side]["errors"] for side in ("false_accepts", "false_rejects")] == [1, 1]
    assert [result[side]["changes"] for side in ("false_accepts", "false_rejects")] == [2, 2]
    by_note = {each.get("note", ""): each for each in result["changes"]}
    refused = by_note["a repair that the tests refuse"]
    assert not refused["resolved"] and refused["tests"] and BELOW in refused["diff"]
    assert by_note["not shown to be wrong"]["reason"].startswith("its witness shows no difference")
    assert by_note["fails a visible test"]["reason"] == "it is wrong, and fails a visible test"
    assert by_note["shown to be wrong"]["resolved"] and not by_note["shown to be wrong"]["reason"]
    shipped = json.loads((suite / RATES).read_text())
    assert shipped["false_rejects"] == result["false_rejects"]
    name = BugSuite(Source(suite)).name
    assert queries.benchmark(connect(), name)["rates"] == shipped
    assert "1 of 2 right repairs rejected" in stackrank("benchmarks").out


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_right_repair_takes_the_place_of_a_fix_that_nobody_knows() -> None:
    task, box = replace(load_task(DATA / TASK), fix="", proof=""), usable("bubblewrap")
    same = change("wrong", RIGHT, witness=SAME)
    other = change("wrong", RIGHT, witness=f"{WITNESS}; import random; print(random.random())")

    def new_sandbox(spec: SandboxSpec) -> Sandbox:
        return Sandbox(box, spec)

    unproved, proved, right = grade(task, [same, other, change("right", RIGHT)], new_sandbox)
    assert unproved.reason.startswith("its witness shows no difference")
    assert proved.mistaken and right.resolved and not right.mistaken
    (alone,) = grade(task, [other], new_sandbox)
    assert "no known fix: add a right repair" in alone.error
