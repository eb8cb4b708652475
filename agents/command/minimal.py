"""A small agent that runs inside a sandbox: a model, a shell, and nothing but the standard library."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from typing import Any, Dict, List

RULES = """You debug a Python program from its folder, by shell commands. Find the root cause and fix it in the files; \
tests are read-only. Every answer calls a tool. Call submit when the tests pass."""
SHELL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS = [
    {"name": "bash", "description": "Run a shell command in the workspace.", "parameters": SHELL},
    {"name": "submit", "description": "Hand in.", "parameters": {"type": "object", "properties": {}}},
]
MOST = 8000


def ask(messages: List[Dict[str, Any]]) -> Dict[str, Any]:
    """The model's next message."""
    tools = [{"type": "function", "function": each} for each in TOOLS]
    body = json.dumps({"model": os.environ["AGENT_MODEL"], "messages": messages, "tools": tools}).encode()
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        message: Dict[str, Any] = json.load(answer)["choices"][0]["message"]
        return message


def bash(arguments: str) -> str:
    """What a command prints, its end where that is long."""
    try:
        command = json.loads(arguments)["command"]
    except (ValueError, TypeError, KeyError):
        return 'The arguments are wrong: bash takes {"command": TEXT}.'
    try:
        done = subprocess.run(
            command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60
        )
    except subprocess.TimeoutExpired:
        return "[stopped after 60 s]"
    output = done.stdout.decode("utf-8", "replace")
    cut = f"[{len(output) - MOST:,} characters omitted]\n" if len(output) > MOST else ""
    return f"{cut}{output[-MOST:]}[exit status {done.returncode}]"


def main() -> None:
    """Ask and do, until the model hands in or calls nothing."""
    with open(os.path.join(os.environ["AGENT_DIR"], "task.md"), encoding="utf-8") as file:
        task = file.read()
    messages: List[Dict[str, Any]] = [{"role": "system", "content": RULES}, {"role": "user", "content": task}]
    while True:
        message = ask(messages)
        messages.append(message)
        calls = message.get("tool_calls") or []
        if not calls or any(each["function"]["name"] == "submit" for each in calls):
            return
        for each in calls:
            name, arguments = each["function"]["name"], each["function"]["arguments"]
            said = bash(arguments) if name == "bash" else f"There is no tool {name}: there are bash and submit."
            messages.append({"role": "tool", "tool_call_id": each["id"], "content": said})


if __name__ == "__main__":
    main()
