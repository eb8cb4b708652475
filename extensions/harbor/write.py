"""Write tasks as Harbor's task directories (https://harborframework.com/docs/tasks), for harnesses of others.

task.toml, instruction.md    what Harbor reads; `metadata.stackrank` holds the rest of the task
environment/                 Dockerfile, and workspace/ as the agent sees it
tests/                       test.sh writes the reward; hidden/ and visible/ are copied over the workspace before
solution/                    solve.sh puts the files of the known fix in place
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.environment import Environment
from stackrank.env.patches import PatchError, apply_patch
from stackrank.env.task import Task
from stackrank.extensions.harbor.benchmark import WORKSPACE, check_instructions, read_task
from stackrank.patches.contents import write_content

_VERIFIER = Path(__file__).with_name("harbor_verifier")
_AGENT_S = 3600.0
_SETTINGS = ("title", "test_command", "score_command", "log_format", "fail_to_pass", "pass_to_pass", "readonly")
_MORE = ("editable", "shows_bug", "lists_from_elsewhere", "status_decides", "image")


def write_tasks(tasks: Iterable[Task], out: Path) -> dict[str, str]:
    """Write each task into a folder of its own inside a new folder. Return the tasks that cannot be written, and why.

    The new folder gets its name once everything is in it. Raises BenchmarkError if it exists already, OSError.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BenchmarkError(f"{out} already exists and is not empty: name a new folder with --out")
    part = out.with_name(f"{out.name}.part")
    part.mkdir(parents=True)  # fails if a second process is writing there
    left_out: dict[str, str] = {}
    try:
        for task in tasks:
            try:
                write_task(task, part / task.id)
            except (BenchmarkError, PatchError) as error:
                left_out[task.id] = str(error)
        part.replace(out)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return left_out


def write_task(task: Task, folder: Path) -> None:
    """Write one task into a new folder, and read it back to check that it is the same task.

    Raises BenchmarkError for a task that this format cannot express, PatchError if its fix does not apply, OSError.
    """
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", task.id):
        raise BenchmarkError(f"{task.id} cannot be the name of a folder")
    if task.log_format:
        raise BenchmarkError("its results are read from a log, which only stackrank can do")
    if task.toolchain:
        raise BenchmarkError(f"its sandbox needs the tool chain {task.toolchain}, which this format cannot express")
    visible = {path: content for path, content in task.files.items() if not task.may_edit(path)}
    lists = {"fail_to_pass": task.fail_to_pass, "pass_to_pass": task.pass_to_pass}
    command = task.score_command or task.test_command
    contents: dict[str, bytes] = {
        "task.toml": _toml_file(task).encode(),
        "instruction.md": f"{task.statement}{check_instructions(task.test_command)}".encode(),
        "environment/Dockerfile": _dockerfile(task).encode(),
        "tests/command.sh": f"{command}\n".encode(),
        "tests/lists.json": (json.dumps(lists, indent=1, ensure_ascii=False) + "\n").encode(),
        **{f"tests/{file.name}": file.read_bytes() for file in sorted(_VERIFIER.iterdir()) if file.is_file()},
    }
    if task.proof:
        contents["tests/proof.json"] = task.proof.encode()
    if task.measured:
        contents["tests/difficulty.json"] = task.measured.encode()
    parts = {"environment/workspace": task.files, "tests/hidden": task.hidden_files, "tests/visible": visible}
    if task.fix:
        fixed = apply_patch(task.files, task.fix)
        changed = {path: content for path, content in fixed.items() if task.files.get(path) != content}
        deleted = sorted(path for path in task.files if path not in fixed)
        parts["solution/files"] = changed
        contents["solution/fix.patch"] = task.fix.encode()
        contents["solution/solve.sh"] = _solve(deleted).encode()
    scripts = [path for path in contents if path.endswith(".sh")]
    for place, files in parts.items():
        contents |= {f"{place}/{path}": files[path] for path in files}
    for path, content in contents.items():
        file = folder / path
        write_content(file, content)
        if path in scripts:
            file.chmod(0o755)
    try:
        if read_task(folder).digest != task.digest:
            raise BenchmarkError("reading it back gives a different task")
    except BenchmarkError:
        shutil.rmtree(folder)
        raise


def _dockerfile(task: Task) -> str:
    needs = task.environment or Environment()
    base = needs.prebuilt or task.image or f"python:{needs.python or '3.11'}-slim"
    install = " ".join(json.dumps(requirement) for requirement in ("pytest", "coverage", *needs.requirements))
    lines = [f"FROM {base}", *(f"ENV {name}={json.dumps(value)}" for name, value in needs.variables)]
    if not needs.prebuilt:
        lines.append(f"RUN python -m pip install --no-cache-dir {install}")
    lines += [f"WORKDIR {WORKSPACE}", f"COPY workspace/ {WORKSPACE}/"]
    if not needs.prebuilt:
        lines += [f"RUN {command}" for command in needs.setup]
    return "\n".join(lines) + "\n"


def _solve(deleted: Iterable[str]) -> str:
    removed = "".join(f"rm -f -- '{path.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}'\n" for path in deleted)
    head = '#!/bin/sh\nset -e\ncd "${WORKSPACE:-/workspace}"\n'
    return head + 'cp -R "${SOLUTION:-/solution}/files/." .\n' + removed


def _toml_file(task: Task) -> str:
    limits = task.limits
    fields = {name: getattr(task, name) for name in (*_SETTINGS, *_MORE)} | {"digest": task.digest}
    fields |= {name: [pattern.text for pattern in fields[name]] for name in ("readonly", "editable")}
    tables: dict[str, Mapping[str, Any]] = {
        "metadata": {"difficulty": task.difficulty, "category": task.category, "tags": task.tags},
        "metadata.stackrank": fields | {"benchmark": task.benchmark},
        "metadata.stackrank.limits": asdict(limits),
        "verifier": {"timeout_sec": max(3 * limits.timeout_s, 60.0)},
        "agent": {"timeout_sec": _AGENT_S},
        "environment": {
            "build_timeout_sec": 600.0,
            "cpus": max(1, round(limits.cpus)),
            "memory_mb": limits.memory_mb,
            "storage_mb": max(limits.disk_mb, 1024),
            "allow_internet": False,
        },
    }
    if task.environment is not None:
        names = ("python", "requirements", "setup", "prebuilt", "repository")
        environment = {name: getattr(task.environment, name) for name in names}
        tables["metadata.stackrank.environment"] = environment
        tables["metadata.stackrank.environment.variables"] = dict(task.environment.variables)
    text = 'version = "1.0"\n'
    for name, values in tables.items():
        lines = [f"{json.dumps(key)} = {_toml(value)}\n" for key, value in values.items() if value is not None]
        text += f"\n[{name}]\n{''.join(lines)}"
    return text


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):  # a JSON string is a TOML string, except for one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
