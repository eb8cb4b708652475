"""Exercises of `aider` in other languages than Python: how each is built and tested, and where its reference is.

As in Aider's own harness, tests that an exercise's author switched off at first are switched on. What a language's
usual tools would fetch from the network comes from the sandbox: Catch2 is part of each exercise, and JUnit, Jest and
Rust's libraries are Debian's or npm's packages there. Programs are built outside of the workspace.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from stackrank.env.benchmarks.aider import Exercise
from stackrank.env.benchmarks.base import BenchmarkError, Source
from stackrank.env.patterns import Pattern
from stackrank.env.task import Limits, Task
from stackrank.extensions.languages.toolchains import CLASSES, CLASSPATH, NODE_PATH, problem_of

BUILD_S = 240
"""Seconds that building a program may take; its tests have the rest of the task's time."""
LIMITS = Limits(timeout_s=300, memory_mb=2048, pids=512, disk_mb=512)

_MAKEFILE = f"""\
# The tests of this exercise. `make -s` builds them in {CLASSES}.
CXXFLAGS = -std=c++17 -g -Wall -Wextra -Wpedantic -Werror -pthread -DEXERCISM_RUN_ALL_TESTS
objects = $(patsubst %.cpp,{CLASSES}/%.o,$(wildcard *.cpp test/*.cpp))

{CLASSES}/tests: $(objects)
\t$(CXX) -pthread -o $@ $^ @LIBRARIES@

{CLASSES}/%.o: %.cpp $(wildcard *.h test/*.h)
\t@mkdir -p $(@D)
\t$(CXX) $(CXXFLAGS) -c -o $@ $<
"""
_BABEL = """\
// Line numbers stay as they are, for debuggers.
module.exports = { presets: [['@babel/preset-env', { targets: { node: 'current' } }]], retainLines: true };
"""
_CARGO = """\
[source.crates-io]
replace-with = "debian"

[source.debian]
directory = "/usr/share/cargo/registry"
"""
_LIBRARIES = re.compile(rb"^\[dependencies\]\n[^\[]*", re.MULTILINE)
_VERSION = re.compile(rb'"[\d.]+"')
_DISABLED = re.compile(rb"^[ \t]*@Disabled\(.*\)[ \t]*\r?\n", re.MULTILINE)
_SWITCHED_OFF = re.compile(rb"\bx(test|it|describe)\(")


def cpp(exercise: Exercise, source: Source) -> Task:
    """Load an exercise in C++: Catch2's single header is one of its files. Raises BenchmarkError."""
    _require("cpp", source)
    uses_boost = b"Boost::date_time" in exercise.files.get("CMakeLists.txt", b"")
    makefile = _MAKEFILE.replace("@LIBRARIES@", "-lboost_date_time" if uses_boost else "").encode()
    build = f"timeout {BUILD_S} make -s"
    return _task(
        exercise,
        "cpp",
        {**exercise.files, "Makefile": makefile},
        _by_suffix(exercise),
        test_command=f"{build} && {CLASSES}/tests --durations yes",
        score_command=f"{build} && {CLASSES}/tests --reporter junit",
        log_format="catch2",
    )


def go(exercise: Exercise, source: Source) -> Task:
    """Load an exercise in Go. Raises BenchmarkError."""
    _require("go", source)
    command = f"timeout {BUILD_S} go test -count=1 %s ./..."
    return _task(
        exercise,
        "go",
        exercise.files,
        _by_suffix(exercise),
        test_command=command % "-v",
        score_command=command % "-json",
        log_format="go",
    )


def java(exercise: Exercise, source: Source) -> Task:
    """Load an exercise in Java: JUnit's console launcher takes Gradle's place. Raises BenchmarkError."""
    _require("java", source)
    files = {path: content for path, content in exercise.files.items() if not path.startswith("gradle")}
    files |= {test: _DISABLED.sub(b"", files[test]) for test in exercise.tests}
    files["classpath.args"] = f"-cp {CLASSPATH}\n".encode()
    build = f"timeout {BUILD_S} javac @classpath.args -g -nowarn -d {CLASSES} $(find src -name '*.java')"
    launch = "java @classpath.args org.junit.platform.console.ConsoleLauncher --disable-banner --disable-ansi-colors"
    launch += f" --scan-classpath {CLASSES} --details=tree --details-theme=ascii"
    reports = f"{CLASSES}.reports"
    sources = (path.removeprefix(".meta/src/reference/java/") for path in exercise.example)
    reference = {f"src/main/java/{name}": exercise.read(f".meta/src/reference/java/{name}") for name in sources}
    return _task(
        exercise,
        "java",
        files,
        reference,
        test_command=f"{build} && {launch}",
        score_command=f"{build} && {{ {launch} --reports-dir={reports}; s=$?; cat {reports}/*.xml; exit $s; }}",
        log_format="junit",
        # A class may have a file of its own.
        editable=(Pattern.glob("src/main/java/**"),),
    )


def javascript(exercise: Exercise, source: Source) -> Task:
    """Load an exercise in JavaScript: Jest with Babel's own preset. Raises BenchmarkError."""
    _require("javascript", source)
    files = {**exercise.files, "babel.config.js": _BABEL.encode()}
    files |= {test: _SWITCHED_OFF.sub(rb"\1(", files[test]) for test in exercise.tests}
    tests = shlex.join(exercise.tests)
    return _task(
        exercise,
        "javascript",
        files,
        dict(zip(exercise.solution, map(exercise.read, exercise.example), strict=False)),
        test_command=f"NODE_PATH={NODE_PATH} jest --verbose {tests}",
        score_command=f"NODE_PATH={NODE_PATH} jest --json {tests}",
        log_format="jest",
    )


def rust(exercise: Exercise, source: Source) -> Task:
    """Load an exercise in Rust: libraries come from Debian's packages. Raises BenchmarkError.

    Debian has one version of each library, and its own programs take that one, whatever their manifests ask for: so
    does the reference.
    """
    _require("rust", source)
    reference = _by_suffix(exercise)
    manifest = exercise.folder / ".meta" / "Cargo-example.toml"
    if manifest.is_file():
        reference["Cargo.toml"] = _LIBRARIES.sub(lambda part: _VERSION.sub(b'"*"', part[0]), manifest.read_bytes())
    files = {**exercise.files, ".cargo/config.toml": _CARGO.encode()}
    build = f"export CARGO_TARGET_DIR={CLASSES}; timeout {BUILD_S} cargo test -q --offline --no-run"
    return _task(
        exercise,
        "rust",
        files,
        reference,
        test_command=f"{build} && cargo test --offline --no-fail-fast -- --include-ignored",
        log_format="cargo",
        editable=tuple(Pattern.literal(path) for path in (*exercise.solution, "Cargo.lock")),
    )


def _require(language: str, source: Source) -> None:
    if problem := problem_of(language, source.sandbox):
        raise BenchmarkError(problem)


def _task(
    exercise: Exercise, language: str, files: Mapping[str, bytes], reference: Mapping[str, bytes], **fields: Any
) -> Task:
    """Return the task of an exercise. Raises BenchmarkError if its reference changes nothing."""
    if all(files.get(path) == content for path, content in reference.items()):
        raise BenchmarkError("its reference is the same as what agents are given")
    return exercise.task(reference, files=files, toolchain=language, limits=LIMITS, tags=(language,), **fields)


def _by_suffix(exercise: Exercise) -> dict[str, bytes]:
    """Return the reference: each of its files takes the place of the file of the solution with the same suffix."""
    places = {_suffix(path): path for path in reversed(exercise.solution)}
    return {places[_suffix(path)]: exercise.read(path) for path in _known(exercise.example, places)}


def _known(paths: Iterable[str], places: Mapping[str, str]) -> Iterable[str]:
    for path in paths:
        if _suffix(path) not in places:
            raise BenchmarkError(f"its reference has {path}, and its solution no file of that kind")
        yield path


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix
