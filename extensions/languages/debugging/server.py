"""Connects the tool with the session in the sandbox."""

from __future__ import annotations

import functools
import json
from importlib import import_module
from pathlib import Path
from typing import Any

from stackrank.env.sandbox.base import BadReply
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.replies.debugger import Debugged
from stackrank.env.sandbox.replies.decoder import decode
from stackrank.env.tools.base import ToolError
from stackrank.extensions.languages.guest import MODULES

NAME = "debugger"
"""The name of the session among the sandbox's servers."""
MOST = 8 << 20
GRACE_S = 45.0
"""How much longer than its time limit a session may take: it starts the program first, and interrupts it in the end."""
_LOADER = """
import json, os, sys, types
for name, source in json.loads(os.environ.pop("DEBUGGER_MODULES")):
    parts = name.split(".")
    for end in range(1, len(parts)):
        sys.modules.setdefault(".".join(parts[:end]), types.ModuleType(".".join(parts[:end])))
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, name, "exec"), module.__dict__)
module.run()
"""


@functools.cache
def _modules() -> str:
    sources = []
    for name in MODULES:
        file = import_module(name).__file__
        assert file is not None
        sources.append((name, Path(file).read_text(encoding="utf-8")))
    return json.dumps(sources)


def open_session(sandbox: Sandbox) -> None:
    """Start the session's process; the first request starts the program. Raises Refused, SandboxError."""
    environment = {"DEBUGGER_LOADER": _LOADER, "DEBUGGER_MODULES": _modules(), "XDG_CONFIG_HOME": "/tmp/.config"}
    command = ["/bin/sh", "-c", 'exec "$TASK_PYTHON" -I -c "$DEBUGGER_LOADER"']
    sandbox.serve(NAME, command, environment, None, traces=True)


def ask(sandbox: Sandbox, request: dict[str, Any]) -> Debugged | None:
    """Return the session's answer; None if it needs a program first. Raises ToolError if the session is lost."""
    data = json.dumps(request).encode() + b"\n"
    reply, lines = sandbox.exchange(NAME, data, request["timeout_s"] + GRACE_S, MOST)
    if not lines or reply.ended or reply.flooded:
        close_session(sandbox)
        last = (reply.complaints.strip().splitlines() or ["it did not answer"])[-1]
        raise ToolError(
            f"the debugger was lost ({last[:300]}); its breakpoints are gone, the next command starts it again"
        )
    line = lines.splitlines()[-1]
    if line.strip() == b'{"needs_program": true}':
        return None
    try:
        return decode(Debugged, line)
    except BadReply:  # only a program in the sandbox that took the session's place writes this
        close_session(sandbox)
        raise ToolError("the debugger was lost: a program wrote in its place") from None


def close_session(sandbox: Sandbox) -> None:
    """End the session with its program."""
    sandbox.stop(NAME)
