"""The scorer's digest: what changes it, and what does not."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stackrank.env.scoring.digest import COVERED, covered_sources, digest_of, scorer_digest, without_wording
from stackrank.source import parse_python
from tests.env.guest.test_guest_parts import pythons
from tests.fixtures.env import usable

ROOT = Path(__file__).parents[3]
ENV = ROOT / "env"
SAMPLE = '''
"""What it is."""

from stackrank.env.sandbox.guest.core.messages import message

LIMIT = 3
"""How many."""


def judge(outcome, tests):
    # A comment.
    if outcome == "passed" and len(tests) < LIMIT:
        return message("all tests pass")
    if not tests:
        raise ValueError(f"no tests in {outcome}: {len(tests)}")
    return tests.get("missing", "")
'''
ALL_SYNTAX = r"""
from __future__ import annotations
type_of = {"a": 1, **{}, 2.5: -1j, None: ..., b"\xff": "\u0378\U0001f600"}
async def f(a: int, /, b=1, *c, d: str = "x", **e) -> list[int]:
    async with a as (x, y), b: pass
    return [await z async for z in c if z and not d or (lambda q: q)]
class C(dict, metaclass=type):
    x: int
    @property
    def p(self): yield from (i for i in range(3)); global g; del g
match [1, {"k": v}]:
    case [1, {"k": [*rest], **more}] | C(x=0) if rest: w = 1
    case _: w = f"{w!r:>{w}} {{}} {f'{w:.2f}'}" "tail" f"{w=}"
try: w += (y := 1)
except* (KeyError, ValueError) as error: raise RuntimeError("no") from error
else: x[1:2, ::3] @= w if w else -w
finally: print(*[], **{}, sep="")
while 1 < w <= 3: break
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# A comment.", "# Another comment."),
        ("    # A comment.\n", "\n\n"),
        ('"""What it is."""', '"""What it does."""'),
        ('"""How many."""\n', ""),
        ("    # A comment.", '    """Decide."""'),
        ("all tests pass", "every test passes"),
        ("no tests in {outcome}: {len(tests)}", "{len(tests)} tests in {outcome!r}"),
        ("no tests in {outcome}:", "nothing:"),
        ('ValueError(f"no tests in {outcome}: {len(tests)}")', 'ValueError("none: %d" % len(tests))'),
    ],
)
def test_wording_leaves_the_digest_as_it_is(old: str, new: str) -> None:
    assert old in SAMPLE
    assert digest_of({"m.py": SAMPLE.replace(old, new).encode()}) == digest_of({"m.py": SAMPLE.encode()})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("==", "!="),
        (" < ", " <= "),
        ('"passed"', '"failed"'),
        ("LIMIT = 3", "LIMIT = 4"),
        ('"missing", ""', '"missing", "failed"'),
        ('get("missing"', 'get("lost"'),
        ('message("all tests pass")', '"all tests pass"'),
        ("all tests pass", ""),
        ("{len(tests)}", "{tests.clear()}"),
        ("{len(tests)}", "{tests}"),
        ("ValueError", "KeyError"),
        ("not tests", "tests"),
    ],
)
def test_what_may_decide_changes_the_digest(old: str, new: str) -> None:
    assert old in SAMPLE
    assert digest_of({"m.py": SAMPLE.replace(old, new, 1).encode()}) != digest_of({"m.py": SAMPLE.encode()})
    assert digest_of({"n.py": SAMPLE.encode()}) != digest_of({"m.py": SAMPLE.encode()}), "names of modules count"


@pytest.mark.parametrize(
    ("path", "old", "new", "counts"),
    [
        ("scoring/judge.py", "not in (", "in (", True),
        ("scoring/blind.py", "ENOUGH = 3", "ENOUGH = 2", True),
        ("sandbox/guest/testing/pytest_child.py", "# pytest collects garbage", "# Python collects garbage", False),
        ("sandbox/guest/testing/pytest_child.py", '"finished": status', '"finished": 0', True),
        ("sandbox/guest/core/processes.py", "INTERRUPT_GRACE_S = 0.4", "INTERRUPT_GRACE_S = 4", True),
        ("scoring/judge.py", "this machine is too busy to judge", "busy", False),
        ("scoring/judge.py", '"""One run of the tests."""', '"""A run."""', False),
        ("sandbox/guest/core/files.py", "is a directory, not a file", "is a directory", False),
        ("sandbox/guest/debugging/pdb/debugger.py", "timed_out = False", "timed_out = True", False),
        ("sandbox/guest/debugging/requests.py", "1000", "10", False),
        ("tools/view.py", "import", "import os\nimport", False),
        ("suspicious.py", "import", "import os\nimport", False),
    ],
)
def test_the_digest_covers_what_decides_a_verdict(path: str, old: str, new: str, counts: bool, tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "benchmarks")
    shutil.copytree(ENV, tmp_path / "env", ignore=ignored)
    file = tmp_path / "env" / path
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(old, new), encoding="utf-8")
    assert (digest_of(covered_sources(tmp_path / "env")) != scorer_digest()) == counts


def test_message_is_what_its_name_says() -> None:
    """The digest knows calls of `message` by the name alone."""
    defined = {path: parse_python(content) for path, content in covered_sources().items()}
    for path, tree in defined.items():
        bound = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        functions = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "message"]
        origins = {
            node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and "message" in [alias.asname or alias.name for alias in node.names]
        }
        if path.endswith("core/messages.py"):
            assert functions == ["message"]
        else:
            assert "message" not in functions and not (calls and "message" in bound), path
            assert bool(origins) == bool(calls), path
            assert {str(origin).rpartition(".")[2] for origin in origins} <= {"messages"}, path


def test_the_digest_is_the_same_under_every_version_of_python() -> None:
    """It also guards against versions that this machine does not have."""
    assert digest_of({"sample.py": ALL_SYNTAX.encode()}) == "89c1ed15a10df639"
    program = (
        "import sys; from stackrank.env.scoring import digest\n"
        "print(digest.scorer_digest(), digest.digest_of({'sample.py': sys.stdin.buffer.read()}))"
    )
    for python in pythons():
        if int(python.parts[-3].split(".")[1]) >= 11:
            process = subprocess.run(
                [python, "-c", program],
                input=ALL_SYNTAX.encode(),
                env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                check=True,
            )
            assert process.stdout.decode().split() == [scorer_digest(), "89c1ed15a10df639"], python


@pytest.mark.exhaustive
@pytest.mark.slow
def test_verdicts_do_not_depend_on_what_the_digest_leaves_out(tmp_path: Path) -> None:
    """All docstrings and messages are blanked, and honest and forging changes get the same verdicts."""
    usable("bubblewrap")
    house = tmp_path / "stackrank"
    _link(ROOT / "src" / "stackrank", house, "env")
    _link(ENV, house / "env", "scoring", "sandbox")
    _link(ENV / "sandbox", house / "env" / "sandbox", "guest")
    _link(ENV / "sandbox" / "guest", house / "env" / "sandbox" / "guest", "core", "testing")
    for folder in COVERED:
        (house / "env" / folder).mkdir()
    blanked = {path: ast.unparse(without_wording(parse_python(source))) for path, source in covered_sources().items()}
    for path, text in blanked.items():
        (house / "env" / path).parent.mkdir(parents=True, exist_ok=True)
        (house / "env" / path).write_text(text, encoding="utf-8")
    assert digest_of({path: text.encode() for path, text in blanked.items()}) == scorer_digest()
    usual, changed = (_verdicts(path, tmp_path / "home") for path in (ROOT / "src", tmp_path))
    assert changed == usual
    assert usual.pop("fixed") == [True, False, False, True, False]
    assert not any(resolved for resolved, *_ in usual.values()) and any(tampered for _, tampered, *_ in usual.values())


def _link(source: Path, target: Path, *omitted: str) -> None:
    """Make a folder whose entries are links to another's, without some of them."""
    target.mkdir()
    for entry in source.iterdir():
        if entry.name not in (*omitted, "__pycache__"):
            (target / entry.name).symlink_to(entry.resolve())


def _verdicts(path: Path, home: Path) -> dict[str, list[bool]]:
    process = subprocess.run(
        [sys.executable, "-m", "tests.env.scoring.blanked"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(path), "STACKRANK_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    verdicts: dict[str, list[bool]] = json.loads(process.stdout)
    return verdicts
