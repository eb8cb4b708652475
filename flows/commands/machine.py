"""Commands about this machine: doctor, gc."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from typing import Any

from db.engine import connect, default_url
from db.errors import DatabaseError, masked
from env.sandbox import registry
from env.sandbox.python_env import is_current, sandbox_python
from flows.background import ServerError
from flows.output import print_json, print_table
from flows.server import configured_server, server_status


def doctor(as_json: bool) -> int:
    """Say what is ready and what to do about what is not. Returns 0 when runs can be played."""
    checks = [_python(), *_sandboxes(), _sandbox_python(), _git(), _database(), _prefect(), _model()]
    needed = {check["check"]: check["ok"] for check in checks}
    always = ("python", "git", "database", "prefect server")
    ready = all(needed[name] for name in always) and (needed["docker"] or needed["bubblewrap"])
    if as_json:
        print_json({"ready": ready, "checks": checks})
    else:
        shown = [{**check, "ok": "ok" if check["ok"] else "-"} for check in checks]
        print_table(shown, {"check": "check", "ok": "", "detail": "detail"}, "")
        print("\nReady to play runs." if ready else "\nNot ready: see above.")
    return 0 if ready else 1


def _check(name: str, ok: bool, detail: str) -> dict[str, Any]:
    return {"check": name, "ok": ok, "detail": detail}


def _python() -> dict[str, Any]:
    return _check("python", sys.version_info >= (3, 11), f"Python {platform.python_version()}, 3.11 or newer is needed")


def _sandboxes() -> list[dict[str, Any]]:
    checks = []
    for name, kind in registry.BACKENDS.items():
        if name == "local":
            continue
        problem = kind().problem()
        checks.append(_check(name, problem is None, problem or "sandboxes can be made"))
    return checks


def _sandbox_python() -> dict[str, Any]:
    detail = str(sandbox_python()) if is_current() else "made at the first bubblewrap sandbox (some ten seconds)"
    return _check("sandbox python", is_current(), detail)


def _git() -> dict[str, Any]:
    found = shutil.which("git")
    return _check("git", found is not None, found or "install it (Debian, Ubuntu: apt-get install git)")


def _database() -> dict[str, Any]:
    try:
        connect().dispose()
    except DatabaseError as error:
        return _check("database", False, str(error))
    return _check("database", True, masked(default_url()))


def _prefect() -> dict[str, Any]:
    try:
        if configured := configured_server():
            return _check("prefect server", True, f"{configured} (from PREFECT_API_URL or a Prefect profile)")
    except ServerError as error:
        return _check("prefect server", False, str(error))
    status = server_status()
    if status is None:
        return _check("prefect server", True, "not running; the first run starts it, `stackrank down` ends it")
    answers = "" if status["healthy"] else " (it does not answer; the next run waits for it, or starts another)"
    return _check("prefect server", True, f"{status['url']}, process {status['pid']}{answers}")


def _model() -> dict[str, Any]:
    names = ("OPENAI_API_KEY", "OPENAI_API_KEY_FILE", "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT")
    given = [name for name in names if os.environ.get(name)]
    return _check("model endpoint", bool(given), ", ".join(given) or "set OPENAI_API_KEY to use the agent `llm`")


def gc(as_json: bool) -> None:
    """Remove the sandboxes that dead workers left."""
    removed = registry.reap()
    if as_json:
        print_json({"removed": removed})
    else:
        print(f"removed {len(removed)}: {', '.join(removed)}" if removed else "nothing was left behind")
