"""Only `stackrank.host.programs` starts programs on this machine: all of the product's code is searched for others."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STARTER = ROOT / "src/stackrank/host/programs.py"
GUEST = ROOT / "env/sandbox/guest"
AUDIT = ROOT / "extensions/authoring/audit/guest"
LANGUAGES = ROOT / "extensions/languages/guest"
IN_SANDBOXES = {
    ROOT / "agents/command/minimal.py",
    ROOT / "env/localisation/needs_plugin.py",
    ROOT / "extensions/fix/finding/reproduces.py",
    ROOT / "extensions/harbor/harbor_verdict.py",
    ROOT / "extensions/repair/probe.py",
}
"""Programs that are copied into a sandbox, as the guest is, and never imported."""
BORROWED = {"flows/engine/worker.py": {"runpy"}}
"""Prefect's worker runs in our process, after that has left the user's folder."""
MODULES = {
    "_posixsubprocess", "asyncio.subprocess", "code", "concurrent.futures.process", "ensurepip", "invoke",
    "mcp.client.stdio", "multiprocessing", "pexpect", "pip", "plumbum", "posix", "pty", "ptyprocess", "runpy", "sh",
    "subprocess", "venv", "webbrowser",
}  # fmt: skip
"""Modules whose purpose is to start programs, or to run one's files."""
HARMLESS = {"pexpect.exceptions", "pexpect.expect", "pexpect.spawnbase"}
STARTS = {
    *(f"exec{form}" for form in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
    *(f"spawn{form}" for form in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
    "Popen", "ProcessPoolExecutor", "create_subprocess_exec", "create_subprocess_shell", "fork", "forkpty",
    "open_process", "popen", "posix_spawn", "posix_spawnp", "run_process", "startfile", "subprocess_exec",
    "subprocess_shell", "system", "which",
}  # fmt: skip
"""Functions of `os`, asyncio, anyio, psutil and others that start a program, and `shutil.which`, which looks for one in
the current folder if PATH says so."""
WITH_THEIR_MODULE = {"typer": {"launch"}, "click": {"edit", "launch"}}
PLAIN = {"platform.system", "factory.fork"}
"""Other functions of such a name."""


def names_of(tree: ast.AST) -> dict[str, str]:
    """Local name -> dotted name of what it was imported from."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


def dotted(node: ast.AST, names: dict[str, str]) -> str:
    """The dotted name of an expression; `?` for the parts that are no names."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value, names)}.{node.attr}"
    return "?"


def is_module(name: str) -> bool:
    """Whether a dotted name is one of the modules, or in one."""
    if any(name == harmless or name.startswith(f"{harmless}.") for harmless in HARMLESS):
        return False
    return any(name == module or name.startswith(f"{module}.") for module in MODULES)


def starts(source: str) -> Iterator[str]:
    """Everything in a source text that starts a program, or that could."""
    tree = ast.parse(source)
    names = names_of(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if is_module(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if is_module(name) or alias.name in STARTS - {"which"} or name == "shutil.which":
                    yield name
        elif isinstance(node, ast.Attribute):
            name = dotted(node, names)
            base, _, last = name.rpartition(".")
            if name not in PLAIN and (
                last in STARTS - {"which"} or name == "shutil.which" or last in WITH_THEIR_MODULE.get(base, ())
            ):
                yield name
        elif isinstance(node, ast.Call):
            # By a name that is put together, or looked up.
            called = dotted(node.func, names).rpartition(".")[2]
            words = [word.value for word in node.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]
            if called in ("__import__", "import_module", "find_spec"):
                yield from (word for word in words if is_module(word))
            if called in ("getattr", "attrgetter", "methodcaller"):
                yield from (word for word in words if word in STARTS)
                holders = {"os", "posix", "asyncio", "psutil", "shutil"} & {dotted(word, names) for word in node.args}
                if holders and not words:
                    yield f"getattr({holders.pop()}, ...)"


def product() -> Iterator[Path]:
    """Every file of the product that runs on the host."""
    rooms = [ROOT / room for room in ("agents", "dashboard", "db", "env", "extensions", "flows")]
    files = [file for room in rooms for file in sorted(room.rglob("*.py"))]
    files += [*(ROOT / "src/stackrank").glob("*.py"), *(ROOT / "src/stackrank/host").glob("*.py")]
    bugs = ROOT / "env/benchmarks/bugs"
    for file in files:
        if not {bugs, GUEST, AUDIT, LANGUAGES} & set(file.parents) and file not in {*IN_SANDBOXES, STARTER}:
            yield file


def test_one_function_starts_every_program_on_the_host() -> None:
    files = list(product())
    others: dict[str, Set[str]] = {}
    for file in files:
        name = file.relative_to(ROOT).as_posix()
        if found := {*starts(file.read_text(encoding="utf-8"))} - BORROWED.get(name, set()):
            others[name] = found
    assert len(files) > 400 and not others
    assert {*starts(STARTER.read_text(encoding="utf-8"))} >= {"subprocess", "subprocess.Popen", "os.execve"}


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess as sp",
        "from subprocess import run as go",
        "import os as o\no.system('x')",
        "from os import execv as e",
        "import os\nos.posix_spawn('x', [], {})",
        "import os\nos.fork()",
        "import asyncio\nasyncio.create_subprocess_exec('x')",
        "from asyncio import create_subprocess_shell as c",
        "async def f(loop): await loop.subprocess_exec(None, 'x')",
        "import psutil as p\np.Popen(['x'])",
        "import pexpect\npexpect.spawn('x')",
        "from pexpect import spawn",
        "import pty",
        "import multiprocessing.pool",
        "from multiprocessing import get_context",
        "from concurrent.futures import ProcessPoolExecutor as P",
        "import concurrent.futures as c\nc.ProcessPoolExecutor()",
        "import importlib\nimportlib.import_module('subprocess')",
        "__import__('pty')",
        "import os\ngetattr(os, 'system')('x')",
        "import os\ngetattr(os, 'sys' + 'tem')('x')",
        "import operator, os\noperator.methodcaller('popen', 'x')(os)",
        "import anyio\nanyio.open_process(['x'])",
        "from mcp.client.stdio import stdio_client",
        "import shutil\nshutil.which('git')",
        "from shutil import which",
        "import click\nclick.launch('x')",
        "import webbrowser",
        "import runpy",
    ],
)
def test_the_search_finds(source: str) -> None:
    assert list(starts(source))


def test_the_search_lets_other_code_be() -> None:
    source = "import os, re, platform, shutil\nos.environ\nre.compile('x')\nplatform.system()\nshutil.rmtree('x')\n"
    assert not list(starts(source + "from pexpect.spawnbase import SpawnBase\nfrom pexpect.exceptions import EOF\n"))


def functions_that_start() -> set[str]:
    """Dotted names of the guest's functions and classes that start programs, by themselves or through another."""
    bodies: dict[str, str] = {}
    for file in GUEST.rglob("*.py"):
        module = "stackrank.env.sandbox." + file.relative_to(GUEST.parent).with_suffix("").as_posix().replace("/", ".")
        source = file.read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                bodies[f"{module}.{node.name}"] = ast.get_source_segment(source, node) or ""
    return {name for name, body in bodies.items() if "subprocess." in body or list(starts(body)) or "spawn(" in body}


def test_the_host_calls_no_function_of_the_guest_that_starts_programs() -> None:
    forbidden, wrong = functions_that_start(), {}
    for file in product():
        imported = {*names_of(ast.parse(file.read_text(encoding="utf-8"))).values()}
        if used := imported & forbidden:
            wrong[file.relative_to(ROOT).as_posix()] = used
    assert len(forbidden) > 5 and not wrong


def test_no_program_for_sandboxes_is_imported() -> None:
    names = {
        f"stackrank.{file.relative_to(ROOT).with_suffix('').as_posix().replace('/', '.')}" for file in IN_SANDBOXES
    }
    for file in product():
        imports = names_of(ast.parse(file.read_text(encoding="utf-8"))).values()
        assert not names & {*imports, *(name.rpartition(".")[0] for name in imports)}, file
