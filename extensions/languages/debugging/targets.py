"""How the programs of each language are built for a debugger, and launched under it."""

from __future__ import annotations

import functools
import json
import re
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stackrank.env.sandbox.base import BadReply
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.replies.decoder import Few, File, Name, decode
from stackrank.env.task import Task
from stackrank.env.tools.base import ToolError
from stackrank.extensions.languages.toolchains import CLASSES, CLASSPATH, LLDB, NODE_PATH

_LLDB_SETTINGS = ["settings set target.disable-aslr false"]
"""The sandbox refuses the system call by which a program's addresses stay the same."""
_NO_LEAKS = ["ASAN_OPTIONS=detect_leaks=0", "LSAN_OPTIONS=detect_leaks=0"]
"""Leaks cannot be looked for under a debugger: the program would fail in the end."""
_ADAPTER = "/tmp/java-adapter"
_JDI = ["--add-exports", "jdk.jdi/com.sun.tools.example.debug.expr=ALL-UNNAMED"]
"""The JDK's own debugger reads expressions."""
_QUICK_JAVA = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
"""Programs that run briefly start sooner so."""
_JAVAC = "javac " + " ".join(f"-J{option}" for option in _QUICK_JAVA)
_FAILED_LINES = 30
"""How many lines of a compiler's output are shown from its beginning and from its end."""


@dataclass(frozen=True)
class Target:
    """A program to be debugged."""

    build: str
    """The shell command that builds it; empty if nothing has to be built."""
    launch: Callable[[str], dict[str, Any]] = field(repr=False)
    """Returns what the session needs, given what the build printed."""
    prepare: str = field(default="", repr=False)
    """The shell command that builds the debugger itself, if it is ours."""


def build(sandbox: Sandbox, task: Task, target: Target) -> dict[str, Any]:
    """Build a program, and return how it is launched. Raises ToolError with the compiler's words."""
    if target.prepare and (prepared := sandbox.run(target.prepare, task.limits.timeout_s)).exit:
        raise ToolError(f"the debugger cannot be built: {prepared.output.strip()[-1000:]}")
    if not target.build:
        return target.launch("")
    result = sandbox.run(target.build, task.limits.timeout_s)
    if result.exit or result.timed_out:
        lines = result.output.strip().splitlines()
        reason = f"it took longer than {task.limits.timeout_s:g} s" if result.timed_out else f"$ {target.build}"
        shown = [*lines[:_FAILED_LINES], *lines[_FAILED_LINES:][-_FAILED_LINES:]]
        raise ToolError("\n".join(["the program cannot be built", reason, *shown]))
    return target.launch(result.output)


def target_of(task: Task, test: str) -> Target:
    """Return what a test, or a program with its arguments, means in the task's language. Raises ToolError."""
    return _TARGETS[task.toolchain](task, test)


def _is_program(text: str) -> bool:
    return text.startswith(("./", "/"))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ToolError(f"{text!r} cannot be split into words: {error}") from None


def _lldb(program: str, arguments: list[str], stop_in: list[str], cwd: str = ".") -> dict[str, Any]:
    find = f"for name in {' '.join(LLDB)}; do command -v $name >/dev/null && exec $name; done; exit 127"
    return {
        "protocol": "dap",
        "adapter": ["/bin/sh", "-c", find],
        "over_socket": False,
        "cwd": cwd,
        "stop_in": stop_in,
        "arguments": {
            "program": program, "args": arguments, "cwd": cwd, "env": _NO_LEAKS,
            "disableASLR": False, "initCommands": _LLDB_SETTINGS,
        },
    }  # fmt: skip


def _cpp(task: Task, test: str) -> Target:
    """Debug the tests' program, `make`'s or CMake's, or another one that it builds."""
    if "Makefile" in task.files:
        command = "make -s"
    elif "CMakeLists.txt" in task.files:
        command = f"cmake -S . -B {CLASSES} -DCMAKE_BUILD_TYPE=Debug >/dev/null && cmake --build {CLASSES}"
    else:
        raise ToolError("the program needs a Makefile or a CMakeLists.txt to be built by")
    program, *arguments = _words(test) if _is_program(test) else [f"{CLASSES}/tests"]
    if test and not _is_program(test):
        arguments = [re.sub(r"([\\,\[])", r"\\\1", test)]  # characters that have a meaning in Catch2's patterns
    root = "/workspace"
    return Target(command, lambda _: _lldb(program if program[0] == "/" else f"{root}/{program}", arguments, [], root))


def _rust(task: Task, test: str) -> Target:
    """Debug one of the programs that `cargo test` builds."""
    command = f"CARGO_TARGET_DIR={CLASSES} timeout {task.limits.timeout_s:g} cargo test --offline --no-run"
    command += " --message-format=json-render-diagnostics"
    file, _, name = test.partition("::")
    if not test.partition("::")[1]:
        file, name = "", test
    arguments = ["--include-ignored", "--test-threads=1", "--nocapture", *([name, "--exact"] if name else [])]

    def launch(output: str) -> dict[str, Any]:
        programs = [artifact for artifact in _artifacts(output) if artifact.profile.test]
        chosen = [artifact.executable for artifact in programs if artifact.target.src_path.endswith(f"/{file}")]
        tests = [artifact.executable for artifact in programs if "test" in artifact.target.kind]
        if not (executables := chosen if file else tests or [artifact.executable for artifact in programs]):
            raise ToolError(f"cargo built no test program for {test or 'this package'}")
        return _lldb(executables[-1], arguments, ["rust_panic"], "/workspace")

    return Target(command, launch)


def _go(task: Task, test: str) -> Target:
    """Debug a package's tests, or its program (`./cmd/name ARGUMENTS`)."""
    program, flags = f"{CLASSES}/debugged", "-gcflags '-N -l'"
    if _is_program(test):
        package, *arguments = _words(test)
        command = f"go build {flags} -o {program} {shlex.quote(package)}"
        folder = "/workspace"
    else:
        package, _, name = test.rpartition("::")
        module = re.search(rb"^module\s+(\S+)", task.files.get("go.mod", b""), re.MULTILINE)
        below = package.removeprefix(module[1].decode()).strip("/") if module else ""
        arguments = [
            "-test.v",
            *(["-test.run", "/".join(f"^{re.escape(part)}$" for part in name.split("/"))] if name else []),
        ]
        command = f"mkdir -p {CLASSES} && go test -c {flags} -o {program} ./{shlex.quote(below)}"
        folder = f"/workspace/{below}".rstrip("/")
    about = {"mode": "exec", "program": program, "args": arguments, "cwd": folder}
    launch = {
        "protocol": "dap", "adapter": ["dlv", "dap", "--listen=127.0.0.1:0"], "over_socket": True, "cwd": folder,
        "stop_in": [], "arguments": about,
    }  # fmt: skip
    return Target(command, lambda _: launch)


def _java(task: Task, test: str) -> Target:
    """Debug a test with JUnit, or a class with a `main` (`./package/Main ARGUMENTS`)."""
    if _is_program(test):
        program, *arguments = _words(test)
        name = re.sub(r"^(\./|src/(main|test)/java/)*|\.java$", "", program).replace("/", ".")
        words = [name, *arguments]
    else:
        owner, _, name = test.partition("::")
        is_method = re.fullmatch(r"\w+(\(\))?", name)  # others have parameters, and are run with their class
        chosen = f"--select-method={owner}#{name.removesuffix('()')}" if is_method else f"--select-class={owner}"
        words = ["org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--disable-ansi-colors"]
        words += [chosen if test else f"--scan-classpath={CLASSES}", "--details=tree", "--details-theme=ascii"]
    about = {"cwd": "/workspace", "classes": CLASSES, "java": ["-ea", "-cp", CLASSPATH, *words]}
    launch = {
        "protocol": "dap", "adapter": ["java", *_QUICK_JAVA, *_JDI, "-cp", _ADAPTER, "Adapter"], "over_socket": False,
        "cwd": "/workspace", "stop_in": [], "arguments": about,
    }  # fmt: skip
    sources = "$(find . -name '*.java' -not -path './.git/*')"
    return Target(f"{_JAVAC} -g -nowarn -cp {CLASSPATH} -d {CLASSES} {sources}", lambda _: launch, _java_adapter())


@functools.cache
def _java_adapter() -> str:
    """Return the command that compiles the adapter, once in a sandbox."""
    folder = Path(__file__).parents[1] / "guest" / "java"
    files = [f"printf %s {shlex.quote(path.read_text())} >{_ADAPTER}/{path.name}" for path in folder.glob("*.java")]
    compiler = f"{_JAVAC} -proc:none {' '.join(_JDI)} -d {_ADAPTER} {_ADAPTER}/*.java"
    return f"test -e {_ADAPTER}/Adapter.class || {{ mkdir -p {_ADAPTER}; {'; '.join(files)}; {compiler}; }}"


def _javascript(task: Task, test: str) -> Target:
    """Debug a file of tests with Jest, or a script (`./script.js ARGUMENTS`)."""
    if _is_program(test):
        arguments = _words(test)
    else:
        file, _, name = test.partition("::")
        find = "require('child_process').execSync('command -v jest').toString().trim()"
        pattern = ["-t", re.escape(name.replace(" > ", " ")).replace("\\ ", " ")] if name else []
        words = json.dumps(["--runInBand", "--testTimeout=3600000", *([file] if file else []), *pattern])
        script = f"const jest = require('fs').realpathSync({find}); process.argv.splice(1, 0, jest, ...{words});"
        arguments = ["-e", f"{script} require(jest)"]
    launch = {"protocol": "inspector", "cwd": "/workspace", "arguments": arguments, "env": {"NODE_PATH": NODE_PATH}}
    return Target("", lambda _: launch)


@dataclass(frozen=True, slots=True)
class _Profile:
    """How cargo built a program."""

    test: bool


@dataclass(frozen=True, slots=True)
class _CargoTarget:
    """What cargo built a program from."""

    kind: Few[Name]
    src_path: File


@dataclass(frozen=True, slots=True)
class _Artifact:
    """A program that cargo built; see https://doc.rust-lang.org/cargo/reference/external-tools.html."""

    executable: File
    profile: _Profile
    target: _CargoTarget


def _artifacts(output: str) -> list[_Artifact]:
    """Return the programs that cargo names. Whatever it runs while it builds can write among its lines."""
    artifacts = []
    for line in output.splitlines():
        if line.startswith("{"):
            with suppress(BadReply):
                artifacts.append(decode(_Artifact, line.encode("utf-8", "replace")))
    return artifacts


_TARGETS: Mapping[str, Callable[[Task, str], Target]] = {
    "cpp": _cpp, "rust": _rust, "go": _go, "java": _java, "javascript": _javascript,
}  # fmt: skip
LANGUAGES = tuple(_TARGETS)
"""The languages whose programs can be debugged."""
