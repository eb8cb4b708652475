"""The tasks that the guide shows, with real compilers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stackrank.env.benchmarks.base import Source
from stackrank.env.benchmarks.repo import Repo
from stackrank.env.patches import make_diff
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.validate import validate
from stackrank.extensions.languages.toolchains import TOOLCHAINS, problem_of
from tests.extensions.languages.test_exercises import FILES
from tests.fixtures.env import usable
from tests.support.repository import git, write
from tests.support.waiting import missing

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "languages.md"
CMAKE = """\
cmake_minimum_required(VERSION 3.5)
project(doubled CXX)
enable_testing()
add_executable(doubled doubled.cpp doubled_test.cpp)
add_test(NAME doubles COMMAND doubled)
"""
JAVA = {
    "Doubled.java": "class Doubled { static int of(int x) { return x; } }\n",
    "DoubledTest.java": "class DoubledTest {\n    public static void main(String[] words) {\n"
    "        assert Doubled.of(2) == 4;\n    }\n}\n",
}
FIXES = {
    "cpp": ("doubled.cpp", "return x;", "return 2 * x;"),
    "go": ("doubled.go", "return x", "return 2 * x"),
    "java": ("Doubled.java", "return x;", "return 2 * x;"),
    "javascript": ("doubled.js", "(x) => x", "(x) => 2 * x"),
    "rust": ("src/lib.rs", "    x\n", "    2 * x\n"),
}


def files_of(language: str) -> dict[str, str]:
    """Return the files of an exercise, with what its benchmark would add."""
    files = {name: text for name, text in FILES[language].items() if "." in name and not name.startswith(".meta")}
    if language == "cpp":
        return {**files, "CMakeLists.txt": CMAKE}
    if language == "java":
        return JAVA
    replaced = {name: text.replace("xtest", "test").replace("#[ignore]\n", "") for name, text in files.items()}
    preset = "module.exports = { presets: [['@babel/preset-env', { targets: { node: 'current' } }]] };\n"
    return {**replaced, "babel.config.js": preset} if language == "javascript" else replaced


@pytest.mark.exhaustive
@pytest.mark.parametrize("language", TOOLCHAINS)
def test_the_tasks_of_the_guide_are_valid(language: str, tmp_path: Path) -> None:
    backend = usable("bubblewrap")
    if problem := problem_of(language, "bubblewrap"):
        missing(problem)
    (text,) = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "tasks.yaml").write_text(text)
    for each in TOOLCHAINS:
        files = files_of(each)
        for name, content in files.items():
            (tmp_path / f"{each}-doubled" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / f"{each}-doubled" / name).write_text(content)
        path, old, new = FIXES[each]
        fix = make_diff({path: files[path].encode()}, {path: files[path].replace(old, new).encode()})
        (tmp_path / f"{each}-doubled.patch").write_text(fix)
    benchmark = Repo(Source(tmp_path))
    assert benchmark.excluded() == {}
    (task,) = (task for task in benchmark.tasks() if task.toolchain == language)
    result = validate(task, lambda spec: Sandbox(backend, spec), rounds=1)
    assert result.valid, result.reason
    assert len(result.fail_to_pass) == (language != "java")  # of which only the exit status is read


MAKEFILE = "/tmp/build/tests: *.cpp\n\tmkdir -p /tmp/build && g++ -g -o $@ *.cpp\n"


@pytest.mark.exhaustive
def test_a_commit_that_fixed_a_bug_becomes_a_task(tmp_path: Path) -> None:
    from_commit = pytest.importorskip("stackrank.extensions.authoring.from_commit")
    new_task = pytest.importorskip("stackrank.extensions.authoring.new_task")
    backend = usable("bubblewrap")
    if problem := problem_of("cpp", "bubblewrap"):
        missing(problem)
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "--quiet")
    files = {**files_of("cpp"), "Makefile": MAKEFILE}
    path, old, new = FIXES["cpp"]
    before = {name: text for name, text in files.items() if name != "doubled_test.cpp"}
    for tree in (before, {**files, path: files[path].replace(old, new)}):
        write(repository, tree)
        git(repository, "add", ".")
        git(repository, "commit", "--quiet", "-m", "Next")
    options = from_commit.TaskOptions(toolchain="cpp", results="junit", test="make -s && /tmp/build/tests")
    entry = new_task.make_task(str(repository), "HEAD", tmp_path / "out", options, backend, print)
    assert entry.fail_to_pass == ["::doubles"] and not entry.pass_to_pass
    (task,) = Repo(Source(tmp_path / "out")).tasks()
    assert (task.toolchain, task.log_format) == ("cpp", "junit")
    assert not task.may_edit("doubled_test.cpp") and task.may_edit(path)
