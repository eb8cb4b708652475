"""Benchmarks whose data comes from elsewhere, on small data of our own in the same layouts. Bad data first."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stackrank.env.benchmarks.aider import Aider
from stackrank.env.benchmarks.base import BenchmarkError, Source
from stackrank.env.benchmarks.bug_suite import DATA
from stackrank.env.benchmarks.mini_nightmare import MiniNightmare, reads_network
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.patches import apply_patch, make_diff
from stackrank.env.sandbox.base import Backend, SandboxSpec
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task
from stackrank.env.validate import validate

pytestmark = pytest.mark.slow

BROKEN, FIXED = (
    "def double(x):\n    return x + x + 1\n",
    "def double(x):\n    return 2 * x  # the remedy of the nightmare\n",
)
CHECK = "from double_code import double\n\n\ndef test_double():\n    assert double(2) == 4\n"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


@pytest.fixture
def nightmare(tmp_path: Path) -> Path:
    """Two tasks, one of them with a known fix, and a page of hints."""
    for name in ("double", "triple"):
        files = {f"{name}_code.py": BROKEN, "test.py": CHECK.replace("double_code", f"{name}_code")}
        files |= {".debugignore": "*.log\nsecret/\n", ".debugreadonly": "*test*.py\n", "secret/answer.txt": FIXED}
        write(tmp_path / "data" / name, files)
    write(tmp_path, {"data/mini_nightmare.md": "a hint at the nightmare"})
    fix = make_diff({"double_code.py": BROKEN.encode()}, {"double_code.py": FIXED.encode()})
    write(tmp_path, {"fixes/double.patch": fix})
    return tmp_path


@pytest.fixture
def exercises(tmp_path: Path) -> Path:
    """A checkout with one exercise."""
    config = {"files": {"solution": ["two_fer.py"], "test": ["two_fer_test.py"], "example": [".meta/example.py"]}}
    files = {
        ".meta/config.json": json.dumps(config),
        ".meta/example.py": "def two_fer(name='you'):\n    return f'One for {name}, one for me.'\n",
        ".docs/instructions.md": "# Two fer\n\nShare.\n",
        ".docs/instructions.append.md": "Use a default.\n",
        ".approaches/a/content.md": "an approach to the exercise",
        "two_fer.py": "def two_fer(name):\n    pass\n",
        "two_fer_test.py": "from two_fer import two_fer\n\n\ndef test_you():\n    assert 'you' in two_fer()\n",
        "test_utils.py": "HELP = 1\n",
    }
    write(tmp_path / "exercises" / "practice" / "two-fer", files)
    return tmp_path


@pytest.mark.parametrize("name", ["aider", "mini_nightmare"])
def test_a_path_is_needed_and_has_to_hold_data(name: str, tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="needs --path"):
        load_benchmark(name)
    with pytest.raises(BenchmarkError, match=str(tmp_path)):
        load_benchmark(name, Source(tmp_path)).tasks()


def _remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_remove("test.py"), "has no test.py"),
        (_remove("triple_code.py"), "no program"),
        (lambda folder: (folder / ".debugignore").write_text("test.py\n"), "hides test.py"),
        (
            lambda folder: (folder / "triple_code.py").write_text("import pd\nu = 'https://x/y.csv'\npd.read_csv(u)\n"),
            "network",
        ),
    ],
)
def test_a_damaged_task_does_not_stop_the_others(nightmare: Path, damage: Callable[[Path], None], words: str) -> None:
    damage(nightmare / "data" / "triple")
    benchmark = MiniNightmare(Source(nightmare / "data"))
    assert [task.id for task in benchmark.tasks()] == ["double"]
    assert words in benchmark.excluded()["triple"]


def test_a_fix_that_does_not_apply_is_said(nightmare: Path) -> None:
    write(nightmare, {"fixes/double.patch": (nightmare / "fixes" / "double.patch").read_text().replace("+ 1", "+ 9")})
    benchmark = MiniNightmare(Source(nightmare / "data", nightmare / "fixes"))
    assert "does not apply" in benchmark.excluded()["double"]


def test_mini_nightmare_shows_what_it_should(nightmare: Path) -> None:
    benchmark = MiniNightmare(Source(nightmare / "data", nightmare / "fixes"))
    double, triple = benchmark.tasks()
    assert set(double.files) == {"double_code.py", "test.py"}
    assert double.may_edit("double_code.py") and not double.may_edit("test.py")
    assert double.faults[0].lines == (2,) and double.faults[0].functions == ("double",)
    assert double.fix and not triple.fix
    (nightmare / "data" / "triple").rename(nightmare / "data" / "shopping_cart")
    assert [task.tags for task in MiniNightmare(Source(nightmare / "data")).tasks()] == [(), ("doubtful",)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"get('http://x')", True),
        (b"u = 'https://x'\nurlopen(u)", True),
        (b"BASE = 'http://x'\nprint(BASE)", False),
        (b"d.get('key')", False),
        (b"(", False),
    ],
)
def test_reads_network(source: bytes, expected: bool) -> None:
    assert reads_network(source) is expected


def test_aider_shows_what_it_should(exercises: Path) -> None:
    (task,) = Aider(Source(exercises)).tasks()
    assert set(task.files) == {"two_fer.py", "two_fer_test.py", "test_utils.py"}
    assert task.may_edit("two_fer.py")
    assert not any(map(task.may_edit, ("two_fer_test.py", "test_utils.py", "sub/two_fer.py")))
    assert "Share." in task.statement and "Use a default." in task.statement and "two_fer.py" in task.statement
    assert b"One for" in apply_patch(task.files, task.fix)["two_fer.py"]
    assert task.faults[0].functions == ("two_fer",)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("{", "config.json cannot be used"),
        ("{}", "files"),
        ('{"files": {"solution": ["a.py"], "test": ["two_fer_test.py"], "example": [".meta/example.py"]}}', "a.py"),
        ('{"files": {"solution": ["two_fer.py"], "test": [], "example": []}}', "files.test"),
        (
            '{"files": {"solution": ["two_fer.py"], "test": ["two_fer_test.py"], "example": ["../../../../passwd"]}}',
            "passwd",
        ),
        ('{"files": {"solution": ["two_fer.py"], "test": ["two_fer_test.py"], "example": ["a", "b"]}}', "2 reference"),
    ],
)
def test_a_damaged_exercise_is_said(exercises: Path, config: str, words: str) -> None:
    write(exercises, {"exercises/practice/two-fer/.meta/config.json": config})
    benchmark = Aider(Source(exercises))
    assert benchmark.tasks() == ()
    assert words in benchmark.excluded()["two-fer"]


def test_text_that_is_none_costs_one_task(nightmare: Path, exercises: Path) -> None:
    practice = exercises / "exercises" / "practice"
    shutil.copytree(practice / "two-fer", practice / "sound")
    for file in (practice / "two-fer" / ".docs" / "instructions.md", nightmare / "fixes" / "double.patch"):
        file.write_bytes(b"\xff\xfe")
    for benchmark in (Aider(Source(exercises)), MiniNightmare(Source(nightmare / "data", nightmare / "fixes"))):
        assert len(benchmark.tasks()) == 1
        (reason,) = benchmark.excluded().values()
        assert "is not UTF-8 text (byte 0): download it again" in reason or "it is not a unified diff" in reason


def test_refactorings_are_left_out(exercises: Path) -> None:
    (exercises / "exercises" / "practice" / "two-fer").rename(exercises / "exercises" / "practice" / "ledger")
    assert "refactoring" in Aider(Source(exercises)).excluded()["ledger"]


def _prove(task: Task, backend: Backend) -> None:
    """It holds, and neither doing nothing nor taking the tests away solves it."""

    def new(spec: SandboxSpec) -> Sandbox:
        return Sandbox(backend, spec)

    result = validate(task, new, rounds=1)
    assert result.valid, result.reason
    assert not score(task, Changes(), new).resolved
    tests = tuple(path for path in task.files if "test" in path)
    assert tests
    assert not score(task, Changes(deleted=tests), new).resolved
    emptied = Changes(files=dict.fromkeys(tests, b"def test_nothing():\n    pass\n"))
    assert not score(task, emptied, new).resolved


def test_they_validate(nightmare: Path, exercises: Path, sandbox_backend: Backend) -> None:
    double, triple = MiniNightmare(Source(nightmare / "data", nightmare / "fixes")).tasks()
    _prove(double, sandbox_backend)
    _prove(Aider(Source(exercises)).tasks()[0], sandbox_backend)
    unproved = validate(triple, lambda spec: Sandbox(sandbox_backend, spec), rounds=1)
    assert not unproved.valid and "no fix is known" in unproved.reason


def secrets(task: Task) -> list[str]:
    """Lines of the known fix and of the hidden tests that are nowhere in what agents see."""
    added = re.findall(r"^\+(?!\+\+ )(.*)$", task.fix, re.M)
    hidden = [line for content in task.hidden_files.values() for line in content.decode().splitlines()]
    visible = b"\n".join(task.files.values()).decode()
    return [line for line in map(str.strip, [*added, *hidden]) if len(line) > 20 and line not in visible]


def test_nothing_of_a_fix_is_anywhere_in_a_sandbox(
    nightmare: Path, exercises: Path, sandbox_backend: Backend, tmp_path: Path
) -> None:
    shutil.copytree(DATA / "club-ledger", tmp_path / "suite" / "club-ledger")
    data = (Source(nightmare / "data", nightmare / "fixes"), Source(exercises), Source(tmp_path / "suite"))
    names = ("mini_nightmare", "aider", "bugs")
    tasks = [load_benchmark(name, source).tasks()[0] for name, source in zip(names, data, strict=True)]
    files = {f"{task.benchmark}/{path}": content for task in tasks for path, content in task.files.items()}
    secret_lines = [line for task in tasks for line in secrets(task)]
    assert all(map(secrets, tasks))
    secret_lines += ["a hint at the nightmare", "an approach to the exercise"]
    # Not where only Python and the system are: another test looks there for the suite's own folder.
    search = r"find / \( -path /proc -o -path /sys -o -path /usr -o -name 'python3*' \) -prune -o -type f -print0"
    with Sandbox(sandbox_backend, SandboxSpec()) as sandbox:
        sandbox.put({**files, "wanted": "\n".join(secret_lines).encode()})
        # It finds what there is, and nothing else.
        matches = sandbox.run(f"{search} 2>/dev/null | LC_ALL=C xargs -0 grep -IlF -f wanted 2>/dev/null", 100)
        assert matches.output == "/workspace/wanted\n"
