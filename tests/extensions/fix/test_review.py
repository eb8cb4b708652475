"""`stackrank review`: what leaves and what does not, who decides, and what is kept of it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import update

from stackrank.db import queries
from stackrank.db.connection.transactions import DECISION, PROPOSAL
from stackrank.db.decision_seal import DecisionRefused, digest_of
from stackrank.db.models.runs import Step
from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.repo_schema import read_tasks
from stackrank.extensions.fix.comment import write_comment
from stackrank.extensions.fix.evidence import debugger_stops
from stackrank.extensions.fix.finding.folder import MARKER, claim
from stackrank.extensions.fix.publish import BRANCH, publish
from tests.extensions.fix.desk import Desk
from tests.fixtures.calls import CommandLine
from tests.support.shop import (
    BROKEN,
    FIX,
    OTHER_FIX,
    SECOND_FIX,
    evidence,
    git,
    repository,
    tree,
    write,
)

pytestmark = pytest.mark.slow  # by its time


def test_only_what_was_approved_leaves(desk: Desk, tmp_path: Path) -> None:
    tree_before = tree(desk.shop)
    first, two, three = desk.propose(FIX), desk.propose(SECOND_FIX), desk.propose(OTHER_FIX)
    assert desk.publish().patches == {} and [path.name for path in desk.out.iterdir()] == [MARKER]
    # What would end a message for `git am`, in a person's words and in an agent's.
    desk.decide(first, "approved", "Right.\n---\ndiff --git a/x b/x\nFrom nobody")
    desk.decide(two, "rejected")
    publication = desk.publish()
    assert (
        list(publication.patches) == [first]
        and publication.patches[first].name.startswith(f"{first:04}-")
        and not publication.conflicts
    )
    clean = tmp_path / "clean"
    git(tmp_path, "clone", "-q", str(desk.shop), str(clean))
    git(clean, "am", "-q", str(publication.patches[first]))
    assert (clean / "shop/cart.py").read_text() == BROKEN.replace("range(1, len", "range(0, len")
    message = git(clean, "log", "-1", "--format=%B")
    assert (
        "    diff --git a/x b/x" in message and message.endswith("episode 1\nApproved-by: ann") and "1 of 2" in message
    )
    assert git(desk.out / "clone", "rev-list", "--count", f"main..{BRANCH}") == "1"
    desk.decide(three, "approved")  # of the same lines: both cannot be in one branch
    republication = desk.publish()
    assert list(republication.patches) == [first, three] and list(republication.conflicts) == [three]
    assert git(desk.out / "clone", "rev-list", "--count", f"main..{BRANCH}") == "1"
    assert tree(desk.shop) == tree_before


def test_nothing_leaves_by_a_forged_decision(desk: Desk) -> None:
    first, two = desk.propose(FIX), desk.propose(SECOND_FIX)
    desk.decide(first, "approved")
    patch = desk.publish().patches[first]
    desk.decide(two, "rejected")
    for statement in (
        update(DECISION).where(DECISION.c.proposal_id == two).values(kind="approved"),
        update(PROPOSAL).where(PROPOSAL.c.id == first).values(diff=OTHER_FIX),
    ):
        with desk.engine.connect().execution_options(write=True) as connection, connection.begin():
            connection.execute(statement)
        with pytest.raises(DecisionRefused):
            desk.publish()
        assert [path.name for path in desk.out.glob("*.patch")] == [patch.name]  # as it was
    assert digest_of("a", "b", "c") != digest_of("a", "bc", "")


def test_who_decides_about_one_of_several_changes_decides_about_all(desk: Desk, stackrank: CommandLine) -> None:
    test_names = ["tests/test_cart.py::test_total", "tests/test_cart.py::test_discount"]
    first = desk.propose(FIX, evidence=evidence(fixed=test_names, covers=["a", "b"]))
    identical, part, larger = (
        desk.propose(diff, tests=tests)
        for diff, tests in (
            (OTHER_FIX, test_names),
            (f"{OTHER_FIX} ", test_names[:1]),
            (SECOND_FIX, [*test_names, "another"]),
        )
    )
    assert {row["status"] for row in queries.proposals(desk.engine)} == {"open"}
    desk.decide(first, "approved")
    rows = {row["id"]: row for row in queries.proposals(desk.engine)}
    assert [rows[number]["status"] for number in (first, identical, part, larger)] == [
        "approved",
        "covered",
        "covered",
        "open",
    ]
    assert next(iter(rows)) == larger and rows[identical]["covered_by"] == first
    assert "Covers 2 problems: a, b" in stackrank("review", str(first)).out
    assert f"Proposal {first}, which is approved, fixes everything" in stackrank("review", str(identical)).out
    desk.decide(identical, "rejected", "Another way.")  # for what is learnt from it
    assert queries.proposal(desk.engine, identical)["status"] == "rejected"


def test_a_comment_cannot_be_left_by_what_is_in_it(desk: Desk, tmp_path: Path) -> None:
    number = desk.propose(FIX.replace("+    for", "+    # ``` </details> <img src=x>\n+    for"))
    text = write_comment("shop", queries.proposals(desk.engine), {"p": "why"}, tmp_path).read_text()
    assert f"### Proposal {number} (open)" in text and "````diff" in text


def test_a_comment_is_as_long_as_a_forge_takes_it_and_not_there_without_news(desk: Desk, tmp_path: Path) -> None:
    long = FIX.replace("+    for", f"+    # {'x' * 50_000}\n+    for")
    first, two = desk.propose(long), desk.propose(long.replace("xxx", "yyy"))
    text = write_comment("shop", queries.proposals(desk.engine), {"p": "why"}, tmp_path).read_text()
    assert len(text) < 65_536 and f"### Proposal {first} " in text and f"### Proposal {two} " not in text
    assert f"Too long for a comment: proposal {two}." in text and "p: why" in text
    assert not write_comment("shop", [], {}, tmp_path).exists()  # the old one goes


def test_where_the_repository_is_by_now(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = desk.propose(FIX)
    desk.decide(number, "approved")
    moved = desk.shop.rename(tmp_path / "moved")
    with pytest.raises(BenchmarkError, match="name a clone that has it with --repo"):
        desk.publish()
    monkeypatch.chdir(moved)
    for place, out in ((moved, desk.out), (Path(), Path("../fixes"))):
        publication = publish(queries.proposals(desk.engine), out, place)
        assert list(publication.patches) == [number] and not publication.conflicts and list(out.glob("*.patch"))


def test_solved_problems_are_tasks_with_a_known_fix(desk: Desk) -> None:
    test = "tests/test_cart.py::test_total"
    source = {"git": str(desk.shop), "commit": git(desk.shop, "rev-parse", "HEAD")}
    older = {"git": str(desk.shop), "commit": "1" * 40}
    tasks = [
        {"id": name, "source": place, "test": "python -m pytest -q", "fail_to_pass": entry_status}
        for name, place, entry_status in (
            ("total", source, [test]),
            ("both", source, [test, "tests/test_cart.py::test_largest"]),
            ("old", older, [test]),
            ("without", source, []),
        )
    ]
    claim(desk.out, desk.shop)
    (desk.out / "tasks.yaml").write_text(json.dumps({"schema": 1, "name": "fix-shop", "tasks": tasks}))
    number = desk.propose(FIX)
    desk.decide(number, "rejected")
    desk.publish()
    assert not (desk.out / "solved").exists()
    number = desk.propose(OTHER_FIX)
    desk.decide(number, "approved")
    desk.publish()
    content, problems = read_tasks(desk.out / "solved" / "tasks.yaml")
    assert [(path.id, path.fix) for path in content.tasks] == [("total", OTHER_FIX)] and not problems


def test_reviews_that_cannot_be(stackrank: CommandLine) -> None:
    for arguments, words in (
        (("--approve",), "name the proposal"),
        (("1", "--approve"), "There is no proposal 1"),
        (("1", "--approve", "--reject"), "cannot be combined"),
        (("1", "--pull-request", "o/n"), "--push"),
    ):
        result = stackrank("review", *arguments)
        assert result.status == 2 and words in result.sentence()
    assert stackrank("review", "--list", "--json").json() == {"proposals": [], "acceptance": []}
    assert "There are no proposals" in stackrank("review", "--stats").out


@pytest.mark.parametrize(
    "file_name", ["clone/mine.py", "0007-mine.patch", "tasks.yaml", "solved/a", "tests/a", "comment.md"]
)
def test_what_is_somebody_s_own_in_the_folder_stays(desk: Desk, stackrank: CommandLine, file_name: str) -> None:
    number = str(desk.propose(FIX))
    write(desk.out, {file_name: "mine", "notes.md": "mine"})
    tree_before = tree(desk.out)
    for arguments in (
        ("review", number, "--approve"),
        ("review", number, "--reject", "--reason", "No."),
        ("fix", str(desk.shop), "--agent", "random", "--out", str(desk.out), "--sandbox", "bubblewrap"),
    ):
        refused = stackrank(*arguments)
        assert refused.status == 2 and f"contains {file_name.partition('/')[0]}, which `fix`" in refused.sentence()
        assert tree(desk.out) == tree_before
    assert queries.proposal(desk.engine, int(number))["status"] == "open"
    (desk.out / file_name).rename(desk.out / "elsewhere")  # what is called otherwise is in nobody's way
    if "/" in file_name:
        (desk.out / file_name).parent.rmdir()
    assert stackrank("review", number, "--approve").status == 0
    assert (desk.out / "elsewhere").read_text() == (desk.out / "notes.md").read_text() == "mine"


def test_a_folder_is_for_one_repository(desk: Desk, stackrank: CommandLine, tmp_path: Path) -> None:
    first, other_repository = desk.propose(FIX), repository(tmp_path / "other")
    second = str(desk.propose(FIX, repository=str(other_repository), base=git(other_repository, "rev-parse", "HEAD")))
    desk.decide(first, "approved")
    publish(queries.proposals(desk.engine, repository=str(desk.shop)), desk.out)
    tree_before = tree(desk.out)
    agent = ("--agent", "random", "--sandbox", "bubblewrap")
    for arguments in (("review", second, "--approve"), ("fix", str(other_repository), "--out", str(desk.out), *agent)):
        refused = stackrank(*arguments)
        assert (
            refused.status == 2
            and f"is for {desk.shop}, and this is {other_repository}: name another" in refused.sentence()
        )
    assert tree(desk.out) == tree_before and queries.proposal(desk.engine, int(second))["status"] == "open"
    result = stackrank("review", second, "--approve", "--out", str(tmp_path / "more"), "--json").json()
    assert list(result["patches"]) == [second] and tree(desk.out) == tree_before


def test_what_a_debugger_showed_is_for_a_person(desk: Desk) -> None:
    session_text = "(Pdb) c\n> /workspace/shop/cart.py(3)total()\n-> result += prices[index]"
    stops = [
        ("c", f"[started: the tests that failed last, t.py::a[1] and 23 more]\n{session_text}", "shop/cart.py"),
        ("!exec('x' * 9)\np 1", "(Pdb) !exec('x' * 9)", "shop/cart.py"),
        ("p index", "(Pdb) p index\n1", "shop/cart.py"),
        ("p x", "(Pdb) p x\n2", "shop/other.py"),
    ]
    for index, (command, observation, file) in enumerate(stops):
        state: Any = {"kind": "debugger", "file": file, "line": 3}
        step: dict[str, Any] = {"tool": "pdb", "arguments": {"command": command}, "state": state}
        desk.store.add_step(Step(episode_id=desk.episode, index=index, observation=observation, **step))
    assert debugger_stops(desk.engine, desk.episode, {"shop/cart.py"}) == [
        {"step": 0, "place": "shop/cart.py:3", "shown": session_text},
        {"step": 2, "place": "shop/cart.py:3", "shown": "(Pdb) p index\n1"},
    ]


def test_decisions_on_another_machine(desk: Desk, stackrank: CommandLine, tmp_path: Path) -> None:
    number = str(desk.propose(FIX, repository="/elsewhere/shop"))
    refused = stackrank("review", number, "--approve")
    assert refused.status == 2 and "is not on this machine: name a folder with --out" in refused.sentence()
    assert queries.proposal(desk.engine, number)["status"] == "open" and not desk.out.exists()
    out = tmp_path / "fixes"
    result = stackrank("review", number, "--approve", "--repo", str(desk.shop), "--out", str(out), "--json").json()
    assert list(result["patches"]) == [number] and list(out.glob("0001-*.patch"))
    assert "approved by" in stackrank("review", number).out and not desk.out.exists()  # reading it writes nothing


def test_the_example_for_ci(stackrank: CommandLine, tmp_path: Path) -> None:
    example = yaml.safe_load((Path(__file__).parents[3] / "deploy/examples/fix.yml").read_text())
    steps = {line.split()[0]: line for step in example["jobs"]["fix"]["steps"] if (line := step.get("run"))}
    values = {"$BASE": "main", "$RUNNER_TEMP": str(tmp_path)}
    words = [re.sub(r"\$[A-Z_]+", lambda name: values[name[0]], word) for word in shlex.split(steps["stackrank"])]
    place = words.index(".")
    refused = stackrank(*words[1:place], str(tmp_path / "no-such"), *words[place + 1 :])
    assert "no-such is not a folder" in refused.sentence()  # all of its options are known
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text('#!/bin/sh\necho "$@" >> "$RUNNER_TEMP/asked"\n')
    gh.chmod(0o755)
    (comment,) = (text for text in steps.values() if "gh pr comment" in text)
    path = f"{gh.parent}:{os.environ['PATH']}"
    for has_comment in (False, True):
        if has_comment:
            write_comment("shop", [], {"p": "why"}, tmp_path / "proposals")
        subprocess.run(
            ["bash", "-eo", "pipefail", "-c", comment],
            env={"PATH": path, "RUNNER_TEMP": str(tmp_path), "NUMBER": "7"},
            check=True,
        )
        assert (tmp_path / "asked").exists() == has_comment
    assert (tmp_path / "asked").read_text() == f"pr comment 7 --body-file {tmp_path}/proposals/comment.md\n"


def test_what_people_made_of_proposals(desk: Desk, stackrank: CommandLine) -> None:
    desk.decide(desk.propose(FIX), "approved")
    desk.decide(desk.propose(SECOND_FIX), "rejected", "Too broad.")
    desk.propose(OTHER_FIX)
    (board,) = stackrank("review", "--stats", "--json").json()["acceptance"]
    assert (board["approved"], board["rejected"], board["rate"]) == (1, 1, 0.5) and board["ci_low"] < 0.5
    output = stackrank("review", "--stats").out
    assert "50.0%" in output and "one, rejected: Too broad." in output
