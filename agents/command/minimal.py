"""A small agent that runs inside a sandbox: a model, a shell, and nothing but the standard library."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from typing import Any, Dict, List

RULES = """You debug a Python program in its folder, with shell commands. Find the root cause and fix it in the files; \
tests are read-only. Every answer must call a tool. Call submit when the tests pass."""
SHELL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS = [
    {"name": "bash", "description": "Run a shell command in the workspace.", "parameters": SHELL},
    {"name": "submit", "description": "Submit your changes.", "parameters": {"type": "object", "properties": {}}},
]
MAX_CHARS = 8000


def ask(messages: List[Dict[str, Any]]) -> Dict[str, Any]:
    """The model's next message."""
    tools = [{"type": "function", "function": tool} for tool in TOOLS]
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
        return 'Invalid arguments: bash takes {"command": TEXT}.'
    try:
        process = subprocess.run(
            command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60
        )
    except subprocess.TimeoutExpired:
        return "[stopped after 60 s]"
    output = process.stdout.decode("utf-8", "replace")
    cut = f"[{len(output) - MAX_CHARS:,} characters omitted]\n" if len(output) > MAX_CHARS else ""
    return f"{cut}{output[-MAX_CHARS:]}[exit status {process.returncode}]"


def main() -> None:
    """Ask and do, until the model hands in or calls nothing."""
    with open(os.path.join(os.environ["AGENT_DIR"], "task.md"), encoding="utf-8") as file:
        task = file.read()
    messages: List[Dict[str, Any]] = [{"role": "system", "content": RULES}, {"role": "user", "content": task}]
    while True:
        message = ask(messages)
        messages.append(message)
        calls = message.get("tool_calls") or []
        if not calls or any(call["function"]["name"] == "submit" for call in calls):
            return
        for call in calls:
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            output = bash(arguments) if name == "bash" else f"There is no tool {name!r}. Tools: bash, submit."
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})


if __name__ == "__main__":
    main()
