"""Checks what is ready on this machine."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from stackrank.db import queries
from stackrank.db.connection.engine import connect, default_url
from stackrank.db.connection.errors import DatabaseError
from stackrank.env.sandbox import registry
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.bubblewrap import cgroups, unprivileged
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.guest.core.files import FILES_LIMIT
from stackrank.env.sandbox.python_env import is_current, sandbox_python
from stackrank.env.task import Limits
from stackrank.errors import InfrastructureError, PluginError
from stackrank.flows.runs.operating.absence import is_played
from stackrank.flows.services.background import ServerError
from stackrank.flows.services.prefect_server import (
    configured_server,
    login_file,
    server_status,
)
from stackrank.home import home
from stackrank.host import programs
from stackrank.host.disk import free_bytes, is_full
from stackrank.host.programs import proxy_addresses
from stackrank.plugins import load_plugin, plugin_names
from stackrank.wording import masked, moment

Row = dict[str, Any]
GROUP = "stackrank.checks"
"""The entry point group of further checks: functions that take the usable kinds of sandboxes, and return for each check
its name, whether it passed, and a sentence. None of them decides whether runs can be played."""
_LITTLE_BYTES = 200 << 20
"""With less free space than this, a run soon ends: environments, logs and results need more."""


def examine() -> tuple[list[Row], bool]:
    """Return what is ready on this machine, what to do about the rest, and whether runs can be played."""
    sandboxes = [*_sandboxes(), *_guarantees(), *map(_isolation, usable_backends())]
    checks = [_python(), _disk(), _proxy(), *sandboxes, _sandbox_python(), _git(), *_database(), *_prefect(), _model()]
    checks += [check for name in plugin_names(GROUP) for check in _plugged_in(name)]
    passed = {check["check"]: check["ok"] for check in checks}
    always = ("python", "disk", "git", "database", "prefect server")
    return checks, all(passed[name] for name in always) and (passed["docker"] or passed["bubblewrap"])


def _check(name: str, ok: bool, detail: str) -> Row:
    return {"check": name, "ok": ok, "detail": detail}


def _plugged_in(name: str) -> list[Row]:
    """Return the checks of a plug-in."""
    try:
        check = load_plugin(GROUP, name)
        return [_check(*row) for row in check(usable_backends())] if check else []
    except (InfrastructureError, PluginError) as error:
        return [_check(name, False, str(error))]


def _python() -> Row:
    return _check("python", sys.version_info >= (3, 11), f"Python {platform.python_version()}, 3.11 or newer is needed")


def _disk() -> Row:
    """Check the space and the permissions of the folders to which stackrank writes."""
    problems: list[str] = []
    spaces: list[str] = []
    for folder in (home(), Path(tempfile.gettempdir())):
        free = free_bytes(folder)
        existing = next((place for place in (folder, *folder.parents) if place.exists()), folder)
        if free is not None and free < _LITTLE_BYTES:
            problems.append(
                f"{folder} has only {free >> 20} MB free: free some space, or set STACKRANK_HOME and TMPDIR"
            )
        elif not os.access(existing, os.W_OK):
            problems.append(f"{folder} cannot be written to: set STACKRANK_HOME and TMPDIR to folders you own")
        else:
            spaces.append(f"{folder}: {(free or 0) / 1e9:.1f} GB free")
    return _check("disk", not problems, "; ".join(problems or spaces))


def _proxy() -> Row:
    """Name the proxy of the environment, which models and package indexes are reached through."""
    proxies = ", ".join(proxy_addresses())
    detail = f"{proxies} for other machines; this machine is reached directly" if proxies else "none"
    return _check("proxy", True, detail)


def _sandboxes() -> list[Row]:
    checks = []
    for name in registry.backend_names():
        if name == "local":
            continue
        problem = registry.problem_of(name)
        checks.append(_check(name, problem is None, problem or "can start sandboxes"))
    return checks


def _guarantees() -> list[Row]:
    """Check the restrictions that bubblewrap's sandboxes can enforce on some machines only."""
    if registry.problem_of("bubblewrap") is not None:
        return []
    user = f"code runs under your own user id ({os.getuid()}), but cannot see your files"
    if unprivileged.is_host_root():
        uid, gid = unprivileged.host_ids()
        user = f"code runs as user {uid}, group {gid} of this machine, never as root"
    group = cgroups.make_cgroup(Limits())
    if group is None:
        limits = "memory and processes are limited for each process only: run as root, or delegate control groups"
    else:
        group.close()
        limits = "memory, processes and processors of each sandbox are limited by control groups"
    return [_check("bubblewrap's user", True, user), _check("bubblewrap's limits", group is not None, limits)]


_INSPECT = """
import json, os, shutil, socket
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
space = os.statvfs(".")
print(json.dumps({
    "network": sorted(name for _, name in socket.if_nameindex() if name != "lo"),
    "capabilities": int(status["CapEff"], 16),
    "privileges": status["NoNewPrivs"].strip() != "1",
    "calls": status["Seccomp"].strip() != "2",
    "system": [path for path in ("/", "/usr", "/etc", "/proc/sys/kernel/core_pattern") if os.access(path, os.W_OK)],
    "megabytes": space.f_blocks * space.f_frsize >> 20,
    "files": space.f_files,
    "lacks": [name for name in ("git", "make", "gcc", "node", "tar") if not shutil.which(name)],
}))
"""
"""A program that reports the restrictions that code sees in its sandbox; see proc_pid_status(5)."""


def usable_backends() -> list[str]:
    """Return the sandbox backends that isolate code and can be used on this machine."""
    names = [name for name in registry.backend_names() if name != "local"]
    return [name for name in names if registry.problem_of(name) is None]


def _isolation(name: str) -> Row:
    """Check which restrictions a sandbox of this machine enforces, as seen by code inside it."""
    try:
        with Sandbox(registry.backend(name), SandboxSpec(warm=False)) as sandbox:
            report = json.loads(sandbox.run(f"python3 -c {shlex.quote(_INSPECT)}", 30).output)
    except (InfrastructureError, ValueError) as error:
        return _check(f"{name} isolation", False, f"a sandbox could not be inspected from inside: {error}")
    restrictions = {
        "no network": not report["network"],
        "no capabilities": not report["capabilities"],
        "no new privileges": not report["privileges"],
        "system calls filtered": not report["calls"],
        "system and /proc read-only": not report["system"],
        f"disk limited to {report['megabytes']} MB": report["megabytes"] <= Limits().disk_mb + 1,
    }
    enforced, not_enforced = (
        [limit for limit, is_enforced in restrictions.items() if is_enforced is state] for state in (True, False)
    )
    lacks = f"; without {', '.join(report['lacks'])}" if report["lacks"] else ""
    missing = f"; NOT enforced: {', '.join(not_enforced)}" if not_enforced else ""
    return _check(
        f"{name} isolation",
        not not_enforced,
        f"{', '.join(enforced)}; files are counted, at most {FILES_LIMIT:,}{lacks}{missing}",
    )


def _sandbox_python() -> Row:
    detail = (
        str(sandbox_python())
        if is_current()
        else "will be created with the first bubblewrap sandbox (about ten seconds)"
    )
    return _check("sandbox python", is_current(), detail)


def _git() -> Row:
    path = programs.find_program("git")
    return _check("git", path is not None, path or "install it (Debian, Ubuntu: apt-get install git)")


def _database() -> list[Row]:
    """Check the database, its stalled runs, and the endpoints that runs wait for."""
    try:
        engine = connect()
        stalled = queries.health(engine)["stalled"]
        running = queries.runs(engine, status="running")
        folder = Path(engine.url.database).parent if engine.dialect.name == "sqlite" and engine.url.database else None
        engine.dispose()
    except DatabaseError as error:
        return [_check("database", False, str(error))]
    is_disk_full = folder is not None and is_full(folder)
    detail = masked(default_url()) + (": no result can be stored, free some space on its disk" if is_disk_full else "")
    paused = "; ".join(
        f"run {run['id']}: {out}" for run in running if (out := queries.describe_outages(run["outages"]))
    )
    names = ", ".join(f"{run['id']} ({run['name']}, silent since {moment(run['heartbeat_at'])})" for run in stalled)
    remedy = f"no worker plays {names}: `stackrank resume RUN`, or start a worker (`stackrank up`)"
    return [
        _check("database", not is_disk_full, detail),
        _check("stalled runs", not stalled, remedy if stalled else "none"),
        _check("endpoints of runs", not paused, paused or "no run waits for one"),
    ]


def _prefect() -> list[Row]:
    try:
        if configured := configured_server():
            return [_check("prefect server", True, f"{configured} (from PREFECT_API_URL or a Prefect profile)")]
    except ServerError as error:
        return [_check("prefect server", False, str(error))]
    status = server_status()
    if status is None:
        return [_check("prefect server", *_absent_server())]
    answers = "" if status["healthy"] else " (it does not answer; the next run waits for it, or starts another)"
    server = _check("prefect server", True, f"{status['url']}, process {status['pid']}{answers}")
    return [server, _check("prefect's login", True, f"user and password: {login_file()}")]


def _absent_server() -> tuple[bool, str]:
    """Return whether it is all right that no server runs, and why."""
    try:
        engine = connect()
        played = [str(run["id"]) for run in queries.runs(engine, status="running") if is_played(engine, run)]
        engine.dispose()
    except DatabaseError:  # which has a check of its own
        played = []
    if not played:
        return True, "not running; the first run starts it, `stackrank down` ends it"
    subject = f"run {played[0]} is" if len(played) == 1 else f"runs {', '.join(played)} are"
    return False, (
        f"it has ended while {subject} being played: episodes go on and results are stored, but Prefect's pages miss "
        "them; `stackrank up` starts it again"
    )


def _model() -> Row:
    names = ("OPENAI_API_KEY", "OPENAI_API_KEY_FILE", "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT", "ANTHROPIC_API_KEY")
    variables = [name for name in names if os.environ.get(name)]
    return _check(
        "model endpoint", bool(variables), ", ".join(variables) or "set OPENAI_API_KEY to use the agent `llm`"
    )
