"""Harbor's task directories: our own out and in again, and those of others."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import replace
from pathlib import Path

import pytest

from stackrank.env.benchmarks.base import BenchmarkError, Source
from stackrank.env.benchmarks.bug_suite import BugSuite
from stackrank.env.benchmarks.registry import load_benchmark, select
from stackrank.env.environment import Environment
from stackrank.env.patches import apply_patch, make_diff
from stackrank.env.patterns import globs
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task
from stackrank.extensions.harbor.benchmark import Harbor
from stackrank.extensions.harbor.dockerfile import Dockerfile
from stackrank.extensions.harbor.harbor_verdict import put_in_place, reward
from stackrank.extensions.harbor.write import write_task, write_tasks
from tests.fixtures.env import usable

SAMPLE = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of `bugs` as Harbor's tasks."""
    tasks_folder = tmp_path_factory.mktemp("harbor") / "tasks"
    for task in BugSuite().tasks():
        write_task(task, tasks_folder / task.id)
    return tasks_folder


def test_all_of_bugs_come_back_as_they_were(folder: Path) -> None:
    originals, read_back = BugSuite().tasks(), Harbor(Source(folder)).tasks()
    assert len(read_back) == 150 and not Harbor(Source(folder)).excluded()
    for original, copy in zip(originals, read_back, strict=True):
        assert copy.digest == original.digest, original.id
        assert replace(copy, benchmark="bugs") == original
    assert load_benchmark("harbor", Source(folder)).name == "harbor/tasks"


def test_a_task_has_what_harbor_reads(folder: Path) -> None:
    (task,) = select(BugSuite().tasks(), None, 1)
    task_folder = folder / task.id
    for name in ("task.toml", "instruction.md", "environment/Dockerfile", "tests/test.sh", "solution/solve.sh"):
        assert (task_folder / name).is_file(), name
    assert os.access(task_folder / "tests/test.sh", os.X_OK) and os.access(task_folder / "solution/solve.sh", os.X_OK)
    assert "COPY workspace/ /workspace/" in (task_folder / "environment/Dockerfile").read_text()
    names = [path.name for path in (task_folder / "environment").rglob("*")]
    assert not [path for path in task.hidden_files if Path(path).name in names], "what is hidden is not in the image"


def rewarded(task_folder: Path, at: Path, *, fixed: bool, tamper: bool = False) -> str:
    """The reward that test.sh writes, with other folders in the place of those in a container."""
    shutil.copytree(task_folder / "environment/workspace", at / "workspace")
    places = {
        "WORKSPACE": at / "workspace",
        "TESTS": task_folder / "tests",
        "LOGS": at / "logs",
        "SOLUTION": task_folder / "solution",
    }
    # A Python of its own, which test.sh puts its plug-in into, with the packages of this one.
    venv.create(at / "venv", symlinks=True, with_pip=False)
    ours, venv_packages = (
        sysconfig.get_path("purelib", vars={"base": str(base)}) for base in (sys.prefix, at / "venv")
    )
    (Path(venv_packages) / "ours.pth").write_text(f"{ours}\n")
    path = f"{at / 'venv/bin'}:{os.environ['PATH']}"
    env = {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1", **{name: str(place) for name, place in places.items()}}
    if fixed:
        subprocess.run(["sh", task_folder / "solution/solve.sh"], env=env, check=True)
    if tamper:
        for test in (at / "workspace/tests").glob("test_*.py"):
            test.write_text("def test_nothing():\n    pass\n")
    subprocess.run(["sh", task_folder / "tests/test.sh"], env=env, check=True, capture_output=True)
    return (at / "logs/reward.txt").read_text().strip()


@pytest.mark.exhaustive
@pytest.mark.slow
def test_the_reward_of_a_harness(folder: Path, tmp_path: Path) -> None:
    for task in select(BugSuite().tasks(), None, 3):
        task_folder, at = folder / task.id, tmp_path / task.id
        assert rewarded(task_folder, at / "fixed", fixed=True) == "1", task.id
        assert rewarded(task_folder, at / "given", fixed=False) == "0", task.id
        assert rewarded(task_folder, at / "tampered", fixed=False, tamper=True) == "0", task.id


def judged(task: Task, work: dict[str, bytes]) -> bool:
    """The verdict on a workspace."""
    kind = usable("bubblewrap")
    changed = {path: content for path, content in work.items() if task.files.get(path) != content}
    deleted = tuple(path for path in task.files if path not in work)
    return score(task, Changes(files=changed, deleted=deleted), lambda spec: Sandbox(kind, spec)).resolved


def wrong(task: Task) -> dict[str, bytes]:
    """The known fix with one of its files left as it was, or with a line of it lost: some wrong fix or other."""
    fixed = apply_patch(task.files, task.fix)
    name = random.Random(task.id).choice([path for path in fixed if task.files.get(path) != fixed[path]])
    return {**fixed, name: fixed[name] + b"\nraise RuntimeError('wrong')\n"}


@pytest.mark.exhaustive
@pytest.mark.slow
def test_equal_verdicts(folder: Path) -> None:
    read_back = {task.id: task for task in Harbor(Source(folder)).tasks()}
    for task in select(BugSuite().tasks(), None, SAMPLE):
        verdicts = []
        for version in (task, read_back[task.id]):
            works = (apply_patch(version.files, version.fix), dict(version.files), wrong(version))
            verdicts.append([judged(version, work) for work in works])
        assert verdicts == [[True, False, False]] * 2, task.id


def test_an_environment_comes_back(folder: Path, tmp_path: Path) -> None:
    (task,) = select(BugSuite().tasks(), None, 1)
    needs = Environment("3.12", ("attrs>=20; python_version<'4'",), ("echo 'é' \"x\"",), (("A", 'b"\x7f'),))
    with_environment = replace(
        task, environment=needs.with_source(task.files), editable=globs(("*.py",)), fix="", faults=(), proof=""
    )
    write_task(with_environment, tmp_path / "t" / with_environment.id)
    (read_back,) = Harbor(Source(tmp_path / "t" / with_environment.id)).tasks()
    assert read_back.digest == with_environment.digest and read_back.environment == with_environment.environment
    assert "FROM python:3.12-slim" in (tmp_path / "t" / with_environment.id / "environment/Dockerfile").read_text()


PLAIN = "FROM python:3-slim\nWORKDIR /app\nCOPY src/ /app/\n"
DOCKERFILE = PLAIN.replace("WORKDIR", "RUN pip install --no-cache-dir 'attrs>=20' \\\n  six\nWORKDIR")
TEST = "#!/bin/bash\ncd /app\nif python /tests/check.py; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"


def of_others(folder: Path, dockerfile: str = DOCKERFILE, environment: str = "") -> Path:
    files = {
        "task.toml": f'version = "1.0"\n[metadata]\ndifficulty = "easy"\n[verifier]\ntimeout_sec = 30\n{environment}',
        "instruction.md": "Mend /app/cart.py.",
        "environment/Dockerfile": dockerfile,
        "environment/src/cart.py": "total = 1\n",
        "tests/test.sh": TEST,
        "tests/check.py": "import sys\nsys.path.insert(0, '/app')\nimport cart\nsys.exit(cart.total != 2)\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.slow
def test_a_task_of_others_is_scored_by_its_reward(tmp_path: Path) -> None:
    (task,) = Harbor(Source(of_others(tmp_path / "theirs", PLAIN))).tasks()
    assert dict(task.files) == {"cart.py": b"total = 1\n"} and task.limits.timeout_s == 30
    works: list[dict[str, bytes]] = [
        {"cart.py": b"total = 1\n"},
        {"cart.py": b"total = 2\n"},
        {"cart.py": b"total = 1\n", ".harbor/logs/verifier/reward.json": b'{"reward": 1}'},
        {"cart.py": b"total = 1\n", "json.py": b"import os\n\nos._exit(0)\n"},
        # What the test itself is deceived by is not found out: docs/security.md says so.
        {"cart.py": b"raise SystemExit(0)\n"},
    ]
    assert [judged(task, work) for work in works] == [False, True, False, False, True]


@pytest.mark.slow
def test_a_test_script_may_run_pytest(tmp_path: Path) -> None:
    folder = of_others(tmp_path / "theirs", PLAIN)
    (folder / "tests/test_cart.py").write_text("import cart\n\n\ndef test_total():\n    assert cart.total == 2\n")
    (folder / "tests/test.sh").write_text(
        "#!/bin/bash\ncd /app\npython -m pytest /tests/test_cart.py\n"
        "if [ $? -eq 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
    )
    (task,) = Harbor(Source(folder)).tasks()
    assert [judged(task, {"cart.py": f"total = {total}\n".encode()}) for total in (1, 2)] == [False, True]
    write_task(task, tmp_path / task.id)
    assert Harbor(Source(tmp_path / task.id)).tasks()[0].status_decides


def test_folders_of_a_container_are_written_as_those_that_are_here(tmp_path: Path) -> None:
    file, places = tmp_path / "test.sh", {"/app": "/w", "/logs": "/w/l", "/tests": "/w/t"}
    text = (
        "#!/bin/bash\r\ncd /app; x=/app:/tests '/app/app/main.py' /app/tests/data.json >/logs/verifier/reward.txt\n"
        "/application /app-2 /app.py $APP/tests ${APP}/tests ./tests ../logs /tests."
    )
    file.write_bytes(text.encode())
    put_in_place(file, places)
    assert file.read_bytes().decode() == (
        "#!/bin/bash\r\ncd /w; x=/w:/w/t '/w/app/main.py' /w/tests/data.json >/w/l/verifier/reward.txt\n"
        "/application /app-2 /app.py $APP/tests ${APP}/tests ./tests ../logs /w/t."
    )
    file.write_bytes(b"\xff/app")
    put_in_place(file, places)
    assert file.read_bytes() == b"\xff/app"


@pytest.mark.parametrize(
    ("document", "text", "expected"),
    [
        ("", "1\n", 1.0),
        ("", "0.5", 0.5),
        ('{"reward": 1}', "0", 1.0),
        ("", "nan", 0.0),
        ('{"reward": NaN}', "1", 0.0),
        ('{"reward": 1e999}', "1", 0.0),
        ("", "", 0.0),
        ("[1]", "1", 0.0),
        ("no JSON", "1", 0.0),
        ("", "none", 0.0),
    ],
)
def test_a_reward_that_cannot_be_read_is_none(document: str, text: str, expected: float, tmp_path: Path) -> None:
    for name, content in (("reward.json", document), ("reward.txt", text)):
        if content:
            (tmp_path / name).write_text(content)
    assert reward(tmp_path) == expected


def read_dockerfile(text: str) -> Dockerfile:
    sources = {"Dockerfile": b"", "main.py": b"m", "src/cart.py": b"c", "src/data/Dockerfile": b"d"}
    dockerfile = Dockerfile(sources)
    dockerfile.read(text, image=False)
    return dockerfile


def test_a_dockerfile_is_read_in_the_order_of_its_lines() -> None:
    dockerfile = read_dockerfile(
        "FROM python:3.9-slim AS one\nCOPY src /app/\nWORKDIR /app/sub/..\nCOPY main.py src/data ./x/"
    )
    assert dockerfile.python == "3.9"
    assert dockerfile.workspace(False) == {
        "cart.py": b"c",
        "data/Dockerfile": b"d",
        "x/main.py": b"m",
        "x/Dockerfile": b"d",
    }
    dockerfile = read_dockerfile("FROM python:slim\n# ENV \\\nENV A=1 B='x y'\nenv C 2 3\nWORKDIR /app\nCOPY . .\n")
    assert dockerfile.python == "" and dockerfile.variables == {"A": "1", "B": "x y", "C": "2 3"}
    assert sorted(dockerfile.workspace(False)) == ["main.py", "src/cart.py", "src/data/Dockerfile"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FROM ubuntu:24.04", "FROM ubuntu"),
        ("FROM python:3.11\nFROM python:3.12", "FROM python:3.12"),
        ("FROM python:${V}", "FROM python:"),
        ("FROM python:3.11\nCOPY missing /app/", "COPY missing"),
        ("FROM python:3.11\nENV PATH=$PATH:/x", "ENV PATH"),
        ("FROM python:3.11\nENV A", "ENV A"),
        ("FROM python:3.11\nWORKDIR $HOME", "WORKDIR"),
        ("FROM python:3.11\nCOPY src /srv/\nWORKDIR /app", "/srv/cart.py is copied to outside the WORKDIR /app"),
        ("FROM python:3.11\nCOPY . .", "WORKDIR is missing"),
        ("FROM python:3.11\nWORKDIR /\nCOPY . .", "WORKDIR is missing"),
    ],
)
def test_what_a_dockerfile_says_in_vain_is_named(text: str, message: str) -> None:
    with pytest.raises(BenchmarkError, match=re.escape(message)):
        read_dockerfile(text).workspace(False)


def test_the_python_and_the_variables_of_others_are_kept(tmp_path: Path) -> None:
    text = "FROM python:3.9\nENV MODE=x\nWORKDIR /app\nCOPY src/ .\n"
    (task,) = Harbor(Source(of_others(tmp_path / "a", text))).tasks()
    assert task.environment == Environment("3.9", variables=(("MODE", "x"),))
    folder = of_others(tmp_path / "b", PLAIN)
    (folder / "environment/src/.harbor").mkdir()
    (folder / "environment/src/.harbor/x").write_text("")
    with pytest.raises(BenchmarkError, match=r"a folder \.harbor"):
        Harbor(Source(folder)).tasks()


def test_what_is_unusual_comes_back_or_is_left_out(tmp_path: Path) -> None:
    (task,) = select(BugSuite().tasks(), None, 1)
    files = {"a.py": b"x = 1\r\n", "__pycache__/a.pyc": b"\0", "test_a.py": b""}
    fix = make_diff(files, {**files, "a.py": b"x = 2\r\n"})
    odd = replace(
        task, statement="One.\r\nTwo.\rThree.\n", files=files, fix=fix, faults=(), proof="",
        hidden_files={"__pycache__/b.pyc": b"\0"}, fail_to_pass=(), pass_to_pass=(),
    )  # fmt: skip
    unnamed = [replace(odd, id=name) for name in ("..", ".", "-rf")]
    lost = replace(odd, id="lost", fix=fix.replace("x = 1", "x = 7"))
    left_out = write_tasks([lost, *unnamed, odd], tmp_path / "out")
    assert list(left_out) == ["lost", "..", ".", "-rf"] and "does not apply" in left_out["lost"]
    (read_back,) = Harbor(Source(tmp_path / "out")).tasks()
    assert read_back.digest == odd.digest and [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.slow
def test_the_reward_does_not_depend_on_pythonpath_and_allows_skips(tmp_path: Path) -> None:
    tests = "import pytest\nimport lib\n\n\ndef test_a():\n    assert lib.x == 2\n\n\n"
    tests += "@pytest.mark.skip\ndef test_b():\n    pass\n"
    task = Task(
        id="t", benchmark="b", statement="s", files={"src/lib.py": b"x = 1\n"},
        hidden_files={"test_lib.py": tests.encode()},
        test_command="PYTHONPATH=src python -m pytest -q test_lib.py",
        fail_to_pass=("test_lib.py::test_a",), pass_to_pass=("test_lib.py::test_b",),
        fix=make_diff({"src/lib.py": b"x = 1\n"}, {"src/lib.py": b"x = 2\n"}),
    )  # fmt: skip
    write_task(task, tmp_path / "t")
    assert rewarded(tmp_path / "t", tmp_path / "fixed", fixed=True) == "1"
    assert rewarded(tmp_path / "t", tmp_path / "given", fixed=False) == "0"
    write_task(replace(task, id="u", fail_to_pass=task.pass_to_pass, pass_to_pass=()), tmp_path / "u")
    assert rewarded(tmp_path / "u", tmp_path / "skipped", fixed=True) == "0"


def test_what_others_need_is_read_or_said(tmp_path: Path) -> None:
    (task,) = Harbor(Source(of_others(tmp_path / "a"))).tasks()
    assert task.environment is not None and task.environment.requirements == ("attrs>=20", "six")
    image = '[environment]\ndocker_image = "x/y:1"\n'
    (task,) = Harbor(
        Source(of_others(tmp_path / "b", "FROM x\nRUN make\nWORKDIR /app\nCOPY src /app\n", image))
    ).tasks()
    assert task.environment is not None and task.environment.prebuilt == "x/y:1"
    with pytest.raises(BenchmarkError, match=r"RUN apt-get.*docker_image"):
        Harbor(Source(of_others(tmp_path / "c", "FROM python:3.11\nRUN apt-get install x\n"))).tasks()
    broken = of_others(tmp_path / "d")
    (broken / "task.toml").write_text("version = ")
    with pytest.raises(BenchmarkError, match="not TOML"):
        Harbor(Source(broken)).tasks()
    with pytest.raises(BenchmarkError, match="--path"):
        Harbor(Source(tmp_path / "nowhere"))
