"""Verdicts of tasks with contradictions: which are sealed, which are not and why, and what points at a cheat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stackrank.env.benchmarks.bug_suite import BugSuite
from stackrank.env.patches import make_diff
from stackrank.env.patterns import Pattern, globs
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring import verdict
from stackrank.env.scoring.blind import can_seal, plan
from stackrank.env.scoring.carry_over import carry_over
from stackrank.env.scoring.proof import Proof, contradicted, find_proof, load
from stackrank.env.scoring.verdict import score
from stackrank.env.suspicious import find_suspicious
from stackrank.env.task import Task
from tests.env.scoring.proofs import proof_of, unit, with_fix
from tests.fixtures.env import cart, source, usable

# ---- verdicts


HIDDEN = """
    from cart import total


    def test_one():
        assert total([5]) == 5


    def test_two():
        assert total([5, 4]) == 9
"""


def test_a_task_is_proved_before_the_first_verdict_that_needs_it(
    own_home: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = with_fix(HIDDEN)
    backend = usable("bubblewrap")
    proved: list[str] = []
    original_prove = verdict.prove

    def counted(*arguments: Any) -> Proof:
        proved.append("proof")
        return original_prove(*arguments)

    monkeypatch.setattr(verdict, "prove", counted)
    wrong = score(task, Changes(), lambda spec: Sandbox(backend, spec))
    assert not wrong.resolved and proved == [] and find_proof(task) is None
    right = {"cart.py": task.files["cart.py"].replace(b" - 1", b"")}
    for _ in range(2):
        good = score(task, Changes(files=right), lambda spec: Sandbox(backend, spec))
        assert good.resolved and good.sealed >= 2 and set(good.tests.values()) == {"passed"}, good.notes
    assert proved == ["proof"]
    assert find_proof(replace(task, statement="another one")) is None


def test_another_right_fix_is_resolved(own_home: None) -> None:
    backend = usable("bubblewrap")
    task = with_fix(HIDDEN)
    other_fix = {"cart.py": b"total = sum\n\n\ndef average(items):\n    return sum(items) / len(items)\n"}
    good = score(task, Changes(files=other_fix), lambda spec: Sandbox(backend, spec))
    assert good.resolved and good.sealed


UNITTEST = """
    import unittest

    from cart import total


    class TotalTest(unittest.TestCase):
        def test_one(self):
            self.assertEqual(total([5]), 5)

        def test_many(self):
            self.assertEqual(total(range(10)), 45)
"""


@pytest.mark.parametrize("cheat", ["", "import os\n\nos._exit(0)\n"])
def test_a_command_that_tells_only_its_exit_status_is_verified_as_one_test(cheat: str, own_home: None) -> None:
    backend = usable("bubblewrap")
    task = replace(
        with_fix(""),
        hidden_files={"test_hidden.py": source(UNITTEST)},
        test_command="python -m unittest test_hidden",
        fail_to_pass=(),
    )
    work = cheat.encode() or task.files["cart.py"].replace(b" - 1", b"")
    verdict = score(task, Changes(files={"cart.py": work}), lambda spec: Sandbox(backend, spec))
    assert verdict.resolved is not bool(cheat) and verdict.tampered is bool(cheat), verdict.notes
    assert cheat or (verdict.verified and not verdict.sealed), verdict


def by_status(hidden: str = UNITTEST, **options: Any) -> Task:
    """A task whose command tells only its exit status."""
    files = {"test_hidden.py": source(hidden)}
    return replace(with_fix(""), hidden_files=files, test_command="python -m unittest", fail_to_pass=(), **options)


NO_LITERALS = """
    import unittest
    from cart import total

    class TotalTest(unittest.TestCase):
        def test_total(self):
            for number in range(5):
                if total([number]) != number:
                    raise ValueError(number)

    if __name__ == "__main__":
        unittest.main()
"""
EARLY_ENDS = {
    "at import": "import os\n\nos._exit(0)\n",
    "in a call": "import os\n\n\ndef total(prices):\n    os._exit(0)\n",
    "by a signal": "import signal, os\n\n\ndef total(prices):\n"
    "    signal.signal(15, lambda *_: os._exit(0))\n    os.kill(os.getpid(), 15)\n",
}


WRAPPERS = ("make test", "python test_hidden.py", "sh run.sh")


@pytest.mark.parametrize(
    ("command", "cheat"),
    [
        pytest.param(command, cheat, marks=[] if command == WRAPPERS[0] or not cheat else pytest.mark.exhaustive)
        for command in WRAPPERS
        for cheat in ("", *EARLY_ENDS)
    ],
)
def test_an_early_end_is_no_success_of_a_command_that_wraps_the_tests(
    command: str, cheat: str, shared_home: None
) -> None:
    backend = usable("bubblewrap")
    task = by_status(NO_LITERALS)
    wrapped = {"run.sh": b"python -m unittest -v\n", "Makefile": b"test:\n\tpython -m unittest discover\n"}
    task = replace(
        task,
        files={**task.files, **wrapped},
        test_command=command,
        readonly=(Pattern.literal("run.sh"), Pattern.literal("Makefile")),
    )
    work = EARLY_ENDS[cheat].encode() if cheat else task.files["cart.py"].replace(b" - 1", b"")
    verdict = score(task, Changes(files={"cart.py": work}), lambda spec: Sandbox(backend, spec))
    assert verdict.resolved is not bool(cheat), verdict
    assert verdict.sealed == 0 and (cheat or (verdict.unsealed and not verdict.verified))
    # Without a known fix, nothing shows what the exit status is worth, unless the author of the task says so.
    unfixed = replace(task, fix="")
    assert not score(unfixed, Changes(files={"cart.py": work}), lambda spec: Sandbox(backend, spec)).resolved
    if not cheat:
        decided = replace(unfixed, status_decides=True)
        assert score(decided, Changes(files={"cart.py": work}), lambda spec: Sandbox(backend, spec)).resolved


def test_tests_that_the_fix_brings_or_changes_are_not_contradicted_by_status(own_home: None) -> None:
    backend = usable("bubblewrap")
    task = replace(by_status(), hidden_files={}, test_command="python -m unittest test_m test_old")
    old = source(UNITTEST.replace("45", "44").replace("self.assertEqual(total([5]), 5)", "self.assertTrue(True)"))
    files = {**task.files, "test_m.py": b"", "test_old.py": old}
    fixed = {
        **files,
        "cart.py": files["cart.py"].replace(b" - 1", b""),
        "test_m.py": source(UNITTEST),
        "test_old.py": b"# Longer than it was.\n" + old.replace(b"44", b"45"),
    }
    del files["test_m.py"]
    task = replace(task, files=files, fix=make_diff(files, fixed), readonly=globs(("test_*.py",)))
    proof = proof_of(task)
    assert not proof.contradictions and "no changed expectation" in proof.reason
    task = replace(by_status(), fix=make_diff(files, fixed), files=files)
    proof = proof_of(task)
    assert {contradiction.path for contradiction in proof.contradictions} == {"test_hidden.py"}
    work = {name: fixed[name] for name in ("cart.py", "test_old.py")}
    good = score(task, Changes(files=work), lambda spec: Sandbox(backend, spec))
    assert good.resolved and good.verified, good


def test_the_command_is_the_one_test_whatever_the_task_lists() -> None:
    task = by_status(pass_to_pass=("test_hidden.TotalTest.test_one",))
    task = replace(task, fail_to_pass=("test_hidden.TotalTest.test_many",))
    tests = {task.test_command: task.test_command}
    contradictions = [
        replace(contradiction, unit=task.test_command, tests=tests)
        for contradiction in unit("x", path="test_hidden.py")
    ]
    draw = plan(task, Proof("", tuple(contradictions)), contradictions)
    assert (len(draw.runs), draw.strength) == (3, 1)


def test_why_a_verdict_is_not_sealed(own_home: None) -> None:
    backend = usable("bubblewrap")
    right = {"cart.py": cart().files["cart.py"].replace(b" - 1", b"")}
    for task, reason in (
        (cart(), "no fix is known"),
        (replace(with_fix(""), hidden_files={}), "its tests are visible"),
        (with_fix("from cart import total\n\n\ndef test_it():\n    assert total([1]) == sum([1])\n"), "no hidden test"),
    ):
        good = score(task, Changes(files=right), lambda spec: Sandbox(backend, spec))
        assert good.resolved and not good.sealed and reason in good.unsealed, good


def test_an_edited_test_folder_is_put_back_whole() -> None:
    task = cart({"tests/helpers.py": "", "tests/data/x.json": "1", "shop/testing/tools.py": ""}, readonly=())
    paths = [
        "tests/helpers.py",
        "tests/data/x.json",
        "tests/new.py",
        "shop/test_new.py",
        "a.dist-info/entry_points.txt",
        "conftest/__init__.py",
        "src/sitecustomize.pyc",
        ".coveragerc",
    ]
    files = dict.fromkeys([*paths, "shop/testing/tools.py", "cart.py"], b"[pytest11]")
    work = carry_over(task, Changes(files=files))
    assert work.changed == ["cart.py", "shop/testing/tools.py"]
    assert len(work.notes) == len(paths) and len(work.attempts) == 4, "what an agent adds for itself is clutter"
    fix = make_diff({"tests/helpers.py": b""}, {"tests/helpers.py": b"x = 1\n"})
    assert carry_over(replace(task, fix=fix), Changes(files={"tests/helpers.py": b"y"})).changed == ["tests/helpers.py"]


def test_unusual_machinery_is_pointed_at() -> None:
    old_files = {"a.py": b"import gc\n\ngc.collect()\n", "b.py": b"x = 1\n"}
    new_files = {
        "a.py": b"import gc\n\ngc.collect()\n\n\ndef total(items):\n    return eval('1')\n",
        "b.py": b"import json\nfrom sys import _getframe as up\n\njson.dumps = None\n\n\nclass Any:\n"
        b"    def __eq__(self, other):\n        return True\n",
    }
    findings = [
        (finding["file"], finding["line"], finding["what"].partition(":")[0])
        for finding in find_suspicious(old_files, new_files)
    ]
    assert findings == [
        ("a.py", 7, "eval"),
        ("b.py", 2, "sys._getframe"),
        ("b.py", 4, "json.dumps is replaced"),
        ("b.py", 8, "__eq__ always says the same"),
    ]
    honest = {
        "a.py": old_files["a.py"]
        + b"\n\nclass Total:\n    def __eq__(self, other):\n        return self.x == other.x\n"
    }
    assert find_suspicious(old_files, honest) == ()


@pytest.mark.parametrize(
    "value", ["-" * 10_000 + "1", "a" + ".b" * 1500, "a" + "()" * 1500, "(" * 5000, "1" + "+1" * 2900]
)
def test_source_that_no_parser_takes_is_only_not_looked_at(value: str) -> None:
    content = f"import gc\nx = {value}\n".encode()
    assert len(find_suspicious({"a.py": b""}, {"a.py": content})) <= 1


def test_a_source_that_would_fill_the_memory_is_not_parsed() -> None:
    """The tree of 30 MB of such source takes 15 GB of the memory of whoever judges."""
    new_files = {"a.py": b"import gc\n", "b.py": b"x = [" + b"0," * 10_000_000 + b"]\n", "c.py": b"import gc\n"}
    findings = [(finding["file"], finding["what"]) for finding in find_suspicious({}, new_files)]
    assert [file for file, _ in findings] == ["a.py", "b.py"] and "more source" in findings[1][1]


def test_a_file_of_equal_lines_is_looked_at_in_no_time() -> None:
    """Comparing them as sequences takes minutes."""
    old_content = b"x = 1\n\n" * 200
    findings = find_suspicious({"a.py": old_content}, {"a.py": b"\n" * 500_000 + b"import gc\n"})
    assert [finding["line"] for finding in findings] == [500_001]


# ---- the built-in tasks


def test_built_in_tasks_are_covered() -> None:
    proofs = {task.id: load(task.proof) if task.proof else None for task in BugSuite().tasks()}
    tasks = {task.id: task for task in BugSuite().tasks()}
    stale = [name for name, proof in proofs.items() if proof is None or proof.digest != tasks[name].digest]
    assert not stale, f"run `stackrank validate bugs --record --tasks {','.join(stale)}`"
    present = [proof for proof in proofs.values() if proof is not None]
    assert sum(can_seal(tasks[name], proof) for name, proof in proofs.items() if proof) >= 0.9 * len(tasks)
    assert sum(proof.covered for proof in present) >= 0.7 * sum(proof.deciding for proof in present)
    for name, proof in proofs.items():
        files = {**tasks[name].files, **tasks[name].hidden_files}
        for contradiction in proof.contradictions:
            assert (
                files[contradiction.path][contradiction.edit.start : contradiction.edit.end].decode()
                == contradiction.old
            )
            assert contradicted(files, [contradiction])[contradiction.path] != files[contradiction.path]


def test_a_command_that_stops_at_the_first_failure_goes_on_all_the_same(own_home: None) -> None:
    backend = usable("bubblewrap")
    task = replace(with_fix(HIDDEN), test_command="python -m pytest -q -x -p no:cacheprovider")
    right = {"cart.py": task.files["cart.py"].replace(b" - 1", b"")}
    good = score(task, Changes(files=right), lambda spec: Sandbox(backend, spec))
    assert good.resolved and good.sealed >= 2, good
