"""Exercises in other languages: loading them, and their verdicts with real compilers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stackrank.env.benchmarks.aider import Aider
from stackrank.env.benchmarks.base import BenchmarkError, Source
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task
from stackrank.env.tools.run_tests import run_visible_tests
from stackrank.env.validate import validate
from stackrank.extensions.languages import exercises
from stackrank.extensions.languages.toolchains import TOOLCHAINS, checks, problem_of
from tests.extensions.languages.images import build_image
from tests.fixtures.env import usable
from tests.support.waiting import missing

SANDBOX = "bubblewrap"

_CATCH = """\
#include <cstring>
#include <iostream>
inline int doubled_test(int (*f)(int)) {
    bool good = f(2) == 4;
    std::cout << "<?xml version=\\"1.0\\"?>\\n<testsuite><testcase name=\\"doubles\\">" << (good ? "" : "<failure/>")
              << "</testcase></testsuite>\\n";
    return good ? 0 : 1;
}
"""
"""Catch2's own header is large; what matters here is how a program is built, and how its report is read."""

FILES: dict[str, dict[str, str]] = {
    "cpp": {
        "solution": "doubled.cpp doubled.h", "test": "doubled_test.cpp", "example": ".meta/example.cpp",
        "doubled.cpp": '#include "doubled.h"\nint doubled(int x) { return x; }\n',
        "doubled.h": "#pragma once\nint doubled(int x);\n",
        ".meta/example.cpp": '#include "doubled.h"\nint doubled(int x) { return 2 * x; }\n',
        "doubled_test.cpp": '#include "doubled.h"\n#include "test/catch.hpp"\n'
        "int main() { return doubled_test(doubled); }\n",
        "test/catch.hpp": _CATCH,
    },
    "go": {
        "solution": "doubled.go", "test": "doubled_test.go", "example": ".meta/example.go",
        "go.mod": "module doubled\n\ngo 1.18\n",
        "doubled.go": "package doubled\n\nfunc Doubled(x int) int { return x }\n",
        ".meta/example.go": "package doubled\n\nfunc Doubled(x int) int { return 2 * x }\n",
        "doubled_test.go": 'package doubled\n\nimport "testing"\n\nfunc TestDoubled(t *testing.T) {\n'
        '\tif Doubled(2) != 4 {\n\t\tt.Error("wrong")\n\t}\n}\n',
    },
    "java": {
        "solution": "src/main/java/Doubled.java", "test": "src/test/java/DoubledTest.java",
        "example": ".meta/src/reference/java/Doubled.java .meta/src/reference/java/Twice.java",
        "build.gradle": "",
        "src/main/java/Doubled.java": "class Doubled { static int of(int x) { return x; } }\n",
        ".meta/src/reference/java/Doubled.java": "class Doubled { static int of(int x) { return Twice.of(x); } }\n",
        ".meta/src/reference/java/Twice.java": "class Twice { static int of(int x) { return 2 * x; } }\n",
        "src/test/java/DoubledTest.java": "import static org.assertj.core.api.Assertions.assertThat;\n"
        "import org.junit.jupiter.api.*;\n\nclass DoubledTest {\n    @Disabled(\"Remove to run test\")\n    @Test\n"
        "    void doubles() { assertThat(Doubled.of(2)).isEqualTo(4); }\n}\n",
    },
    "javascript": {
        "solution": "doubled.js", "test": "doubled.spec.js", "example": ".meta/proof.ci.js",
        "package.json": "{}",
        "doubled.js": "export const doubled = (x) => x;\n",
        ".meta/proof.ci.js": "export const doubled = (x) => 2 * x;\n",
        "doubled.spec.js": "import { doubled } from './doubled';\n\nxtest('doubles', () => {\n"
        "  expect(doubled(2)).toBe(4);\n});\n",
    },
    "rust": {
        "solution": "src/lib.rs Cargo.toml", "test": "tests/doubled.rs", "example": ".meta/example.rs",
        "Cargo.toml": '[package]\nname = "doubled"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "pub fn doubled(x: i32) -> i32 {\n    x\n}\n",
        ".meta/example.rs": "pub fn doubled(x: i32) -> i32 {\n    2 * x\n}\n",
        "tests/doubled.rs": "#[test]\n#[ignore]\nfn doubles() {\n    assert_eq!(doubled::doubled(2), 4);\n}\n",
    },
}  # fmt: skip
TESTS = {
    "cpp": "doubles",
    "go": "doubled::TestDoubled",
    "java": "DoubledTest::doubles()",
    "javascript": "doubled.spec.js::doubles",
    "rust": "tests/doubled.rs::doubles",
}
ENDS = {
    "cpp": {"doubled.cpp": '#include "doubled.h"\n#include <cstdlib>\nint doubled(int) { exit(0); }\n'},
    "go": {
        "doubled.go": 'package doubled\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n\n'
        "func Doubled(x int) int { return 4 }\n"
    },
    "java": {"src/main/java/Doubled.java": "class Doubled { static int of(int x) { System.exit(0); return 4; } }\n"},
    "javascript": {"doubled.js": "export const doubled = (x) => process.exit(0);\n"},
    "rust": {"src/lib.rs": "pub fn doubled(_: i32) -> i32 {\n    std::process::exit(0)\n}\n"},
}
"""Programs that end the process of the tests with status 0."""


def write_exercise(checkout: Path, language: str) -> Path:
    """Write a small exercise of a language into a checkout of the polyglot exercises."""
    folder = checkout / language / "exercises" / "practice" / "doubled"
    lists = {name: FILES[language][name].split() for name in ("solution", "test", "example")}
    contents = {name: text for name, text in FILES[language].items() if name not in lists}
    contents |= {".meta/config.json": json.dumps({"files": lists}), ".docs/instructions.md": "Double it.\n"}
    for name, text in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def no_tools_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exercises, "problem_of", lambda language, sandbox: "")


def load(checkout: Path, language: str, sandbox: str = SANDBOX) -> Task:
    (task,) = (task for task in Aider(Source(checkout, sandbox=sandbox)).tasks() if task.id == f"{language}/doubled")
    return task


def test_a_language_without_a_tool_chain_is_left_out_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for language in FILES:
        write_exercise(tmp_path, language)
    reason = "bubblewrap sandboxes lack go: install golang-go"
    monkeypatch.setattr(exercises, "problem_of", lambda language, sandbox: reason if language == "go" else "")
    benchmark = Aider(Source(tmp_path))
    assert benchmark.excluded() == {"go/doubled": reason}
    assert [task.id for task in benchmark.tasks()] == [f"{name}/doubled" for name in FILES if name != "go"]


@pytest.mark.usefixtures("no_tools_needed")
def test_a_damaged_exercise_costs_one_task(tmp_path: Path) -> None:
    for language in FILES:
        write_exercise(tmp_path, language)
    practice = tmp_path / "go" / "exercises" / "practice" / "doubled"
    (practice / ".meta" / "example.go").write_bytes((practice / "doubled.go").read_bytes())
    (tmp_path / "rust/exercises/practice/doubled/.meta/example.rs").unlink()
    other = write_exercise(tmp_path, "cpp")
    (other / ".meta" / "config.json").write_text(
        json.dumps({"files": {"solution": ["doubled.cpp"], "test": ["doubled_test.cpp"], "example": ["doubled.h"]}})
    )
    reasons = Aider(Source(tmp_path)).excluded()
    assert "is the same as what agents are given" in reasons["go/doubled"]
    assert ".meta/example.rs, which" in reasons["rust/doubled"]
    assert "its solution no file of that kind" in reasons["cpp/doubled"]
    (practice / "doubled.go").rename(practice / "doubled.zig")
    config = practice / ".meta" / "config.json"
    config.write_text(config.read_text().replace('"doubled.go"', '"doubled.zig"'))
    assert "no plug-in plays exercises whose files end with .zig" in Aider(Source(tmp_path)).excluded()["go/doubled"]


@pytest.mark.usefixtures("no_tools_needed")
@pytest.mark.parametrize("language", FILES)
def test_agents_edit_the_solution_and_see_neither_the_reference_nor_switched_off_tests(
    language: str, tmp_path: Path
) -> None:
    write_exercise(tmp_path, language)
    task = load(tmp_path, language)
    entries = FILES[language]
    assert all(map(task.may_edit, entries["solution"].split()))
    tests = entries["test"].split()
    assert not any(map(task.may_edit, [*tests, "Makefile", "classpath.args", "babel.config.js", ".cargo/config.toml"]))
    assert not any(path.startswith(".meta") for path in task.files)
    assert all(word not in task.files[test] for test in tests for word in (b"Disabled(", b"xtest"))
    assert task.toolchain == language and "Double it." in task.statement


@pytest.mark.usefixtures("no_tools_needed")
def test_a_refactoring_is_left_out_whatever_its_language(tmp_path: Path) -> None:
    folder = write_exercise(tmp_path, "java")
    folder.rename(folder.with_name("ledger"))
    write_exercise(tmp_path, "go")
    benchmark = Aider(Source(tmp_path))
    assert [task.id for task in benchmark.tasks()] == ["go/doubled"]
    assert "refactoring" in benchmark.excluded()["java/ledger"]


@pytest.mark.usefixtures("no_tools_needed")
def test_a_reference_takes_the_version_of_a_library_that_debian_has(tmp_path: Path) -> None:
    manifest = write_exercise(tmp_path, "rust") / ".meta" / "Cargo-example.toml"
    manifest.write_text('[dependencies]\nregex = "0.2"\n\n[package]\nname = "doubled"\nversion = "1.2.3"\n')
    (change,) = (part for part in load(tmp_path, "rust").fix.split("diff --git") if "+++ b/Cargo.toml" in part)
    assert '+version = "1.2.3"' in change and '+regex = "*"' in change


@pytest.mark.usefixtures("no_tools_needed")
def test_a_track_of_exercism_is_a_checkout_too(tmp_path: Path) -> None:
    write_exercise(tmp_path, "go")
    assert [task.id for task in Aider(Source(tmp_path / "go")).tasks()] == ["doubled"]
    assert [task.id for task in Aider(Source(tmp_path / "go" / "exercises" / "practice")).tasks()] == ["doubled"]
    with pytest.raises(BenchmarkError, match="contains no exercise"):
        Aider(Source(tmp_path / "go" / "exercises" / "practice" / "doubled"))


def prove(task: Task, language: str, sandbox: str = SANDBOX) -> None:
    """The reference passes, the stub and a program that ends the tests' process do not, and each test has a result."""

    def new(spec: SandboxSpec) -> Sandbox:
        return Sandbox(backend, spec)

    backend = usable(sandbox)
    result = validate(task, new, rounds=1)
    assert result.valid, result.reason
    assert result.fail_to_pass == (TESTS[language],)
    assert result.proof is not None and result.proof.cases
    ended = score(task, Changes(files={path: text.encode() for path, text in ENDS[language].items()}), new)
    assert not ended.resolved
    with new(SandboxSpec(toolchain=language, limits=task.limits, warm=False)) as opened:
        opened.put(task.files)
        state = run_visible_tests(opened, task).state
    assert state["kind"] == "tests" and not state["solved"]
    if language != "cpp":  # whose report for people is that of the real Catch2
        assert state["tests"]["ids"] == {TESTS[language]: "failed"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("language", FILES)
def test_the_reference_passes_and_a_forger_does_not(language: str, tmp_path: Path) -> None:
    usable(SANDBOX)
    if problem := problem_of(language, SANDBOX):
        missing(problem)
    write_exercise(tmp_path, language)
    prove(load(tmp_path, language), language)


@pytest.mark.exhaustive
def test_the_image_of_a_tool_chain_is_made_and_used(tmp_path: Path) -> None:
    # The smallest one; the others are made in the same way.
    usable("docker")
    assert build_image("javascript") == "stackrank-toolchain-javascript:latest"
    assert problem_of("javascript", "docker") == ""
    write_exercise(tmp_path, "javascript")
    prove(load(tmp_path, "javascript", "docker"), "javascript", "docker")


@pytest.mark.slow
def test_doctor_says_which_languages_there_are() -> None:
    usable(SANDBOX)
    ((name, ok, detail),) = checks([SANDBOX])
    assert name == "bubblewrap languages" and ok == (not any(problem_of(language, SANDBOX) for language in TOOLCHAINS))
    for language, toolchain in TOOLCHAINS.items():
        problem = problem_of(language, SANDBOX)
        assert (problem or toolchain.title) in detail
        assert not problem or toolchain.packages in problem
