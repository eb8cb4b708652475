"""The tool chain of each language: what a sandbox needs to build and test its programs, and whether it is there."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

from stackrank.env.sandbox.base import Backend, SandboxError, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.registry import chosen_backend

JARS = "/usr/share/java"
CLASSES = "/tmp/build"
"""Where Java's and C++'s programs are built: not in the workspace, whose files are the agent's work."""
_JUNIT = (
    "junit-jupiter-api", "junit-jupiter-engine", "junit-jupiter-params", "junit-platform-console",
    "junit-platform-commons", "junit-platform-engine", "junit-platform-launcher", "junit-platform-reporting",
    "opentest4j", "opentest4j-reporting-events", "opentest4j-reporting-schema", "apiguardian-api", "picocli",
)  # fmt: skip
_LIBRARIES = ("assertj-core", "byte-buddy", "json-latest")
CLASSPATH = ":".join([CLASSES, *(f"{JARS}/{name}.jar" for name in (*_JUNIT, *_LIBRARIES))])
CRATES = ("aho-corasick", "anyhow", "itertools", "num-bigint", "permutohedron", "rand", "regex", "thiserror", "time")
"""The libraries that exercises in Rust use, and what they need beyond what their packages name."""
NODE_PATH = "/usr/lib/node_modules:/usr/share/nodejs"
"""Where npm and Debian install packages for everybody."""


@dataclass(frozen=True)
class Toolchain:
    """What one language needs."""

    name: str
    title: str
    needs: str
    """A shell command that fails, and says what is missing, where tests cannot be run."""
    debugger: str
    """The same for the tool `debug`."""
    packages: str
    """Debian's packages."""
    remark: str = ""
    """What else has to be installed."""


def _programs(*names: str) -> str:
    return " && ".join(f"{{ command -v {name} >/dev/null || ! echo {name}; }}" for name in names)


def _any_of(*names: str) -> str:
    found = " || ".join(f"command -v {name} >/dev/null" for name in names)
    return f"{{ {found} || ! echo {names[-1]}; }}"


LLDB = (*(f"lldb-dap-{version}" for version in range(22, 17, -1)), "lldb-dap")
"""The programs that lldb's adapter may be called, the newest first."""
TOOLCHAINS = {
    toolchain.name: toolchain
    for toolchain in (
        Toolchain("cpp", "C and C++", _programs("g++", "make"), _any_of(*LLDB), "g++ make lldb-19"),
        Toolchain("go", "Go", _programs("go"), _programs("dlv"), "golang-go delve"),
        Toolchain(
            "java",
            "Java",
            f"{_programs('javac', 'java')} && {{ test -e {JARS}/junit-platform-console.jar || ! echo junit5; }}",
            _programs("java"),
            "openjdk-17-jdk-headless junit5 libassertj-core-java libandroid-json-org-java",
        ),
        Toolchain(
            "javascript",
            "JavaScript",
            _programs("node", "jest"),
            _programs("node"),
            "nodejs jest node-babel7",
            "where Node.js is not Debian's: npm install -g jest@29 @babel/core @babel/preset-env",
        ),
        Toolchain(
            "rust",
            "Rust",
            _programs("cargo", "rustc", "cc"),
            _any_of(*LLDB),
            f"cargo-web rustc-web gcc lldb-19 {' '.join(f'librust-{name}-dev' for name in CRATES)}",
        ),
    )
}


@functools.cache
def examine(sandbox: str | None = None) -> dict[str, tuple[str, str]]:
    """Return language -> why its tests cannot be run in sandboxes of a kind, and why its programs cannot be debugged.

    Empty texts: they can. Starts a sandbox for each language, once in a process.
    """
    backend = chosen_backend(sandbox)
    return {language: _examine(toolchain, backend) for language, toolchain in TOOLCHAINS.items()}


def _examine(toolchain: Toolchain, backend: Backend) -> tuple[str, str]:
    remedy = f"install {toolchain.packages}" + (f" ({toolchain.remark})" if toolchain.remark else "")
    if backend.name == "docker":
        remedy = f"run deploy/sandbox/build_toolchain.sh {toolchain.name}"
    try:
        with Sandbox(backend, SandboxSpec(toolchain=toolchain.name, warm=False)) as sandbox:
            results = [sandbox.run(command, 30) for command in (toolchain.needs, toolchain.debugger)]
    except SandboxError:
        return (message := f"{backend.name} has no tool chain for {toolchain.title}: {remedy}", message)
    tests, debugger = (" ".join(result.output.split()) if result.exit else "" for result in results)
    return (
        f"{backend.name} sandboxes lack {tests}: {remedy}" if tests else "",
        f"{backend.name} sandboxes lack {debugger}: {remedy}" if debugger else "",
    )


def problem_of(language: str, sandbox: str | None = None) -> str:
    """Return why tests of a language cannot be run here; empty if they can."""
    return examine(sandbox)[language][0]


def checks(sandboxes: Iterable[str]) -> list[tuple[str, bool, str]]:
    """Return what `stackrank doctor` says: for each kind of sandbox, which languages it can test and debug."""
    rows = []
    for sandbox in sandboxes:
        found = examine(sandbox)
        tested = [TOOLCHAINS[name].title for name, (problem, _) in found.items() if not problem]
        debugged = [TOOLCHAINS[name].title for name, problems in found.items() if not any(problems)]
        problems = [problem for problem, _ in found.values() if problem]
        source = "images" if sandbox == "docker" else "what this machine has"
        parts = [f"tests of {', '.join(tested)}" if tested else "no other language than Python"]
        parts += [f"debugs {', '.join(debugged)}"] if debugged else []
        rows.append((f"{sandbox} languages", not problems, "; ".join([*parts, *problems]) + f" (from {source})"))
    return rows
