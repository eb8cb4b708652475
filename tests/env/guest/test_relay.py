"""The relay that runs beside an entrant's program, without a sandbox."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from stackrank.env.sandbox.guest.debugging import relay

PROGRAM = """
import http.client, json, os
from urllib.parse import urlsplit
at = urlsplit(os.environ["OPENAI_BASE_URL"])
def ask(method, path, body=None, headers={}):
    connection = http.client.HTTPConnection(at.hostname, at.port)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return [answer.status, json.loads(answer.read())]
told = {
    "chunked": ask("POST", "/v1/chat/completions", iter([b'{"messages"', b': []}'])),
    "models": ask("GET", "/v1/models"),
    "model": ask("GET", "/v1/models/a%2Fb"),
    "page": ask("GET", "/"),
    "put": ask("PUT", "/v1/chat/completions", b""),
    "length": ask("POST", "/v1/chat/completions", None, {"Content-Length": "-1"}),
    "task": [os.environ.get("AGENT_TASK"), os.path.getsize(os.path.join(os.environ["AGENT_DIR"], "task.md"))],
}
print(json.dumps(told))
"""


def run(folder: Path, answers: int, **options: Any) -> list[dict[str, Any]]:
    """What the relay tells, each question being answered by an empty object."""
    start = {"task": "Mend it.", "model": "a/b", "files": {"mine.py": PROGRAM}, "env": {}, **options}
    lines = [start, *([{"status": 200, "type": "application/json", "body": "{}"}] * answers)]
    process = subprocess.run(
        [sys.executable, "-I", "-c", Path(relay.__file__).read_text(encoding="utf-8")],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        env={"TMPDIR": str(folder), "PATH": "/usr/bin:/bin", "PYTHON": sys.executable},
        check=True,
    )
    return [json.loads(line) for line in process.stdout.splitlines()]


def test_what_clients_ask_in_other_ways(tmp_path: Path) -> None:
    question, ending = run(tmp_path, 1, command='"$PYTHON" "$AGENT_DIR/mine.py"', task="x" * 200_000)
    assert json.loads(question["body"]) == {"messages": []}
    assert ending["ended"] == 0, ending
    answers = json.loads(ending["output"])
    assert answers["chunked"] == [200, {}]
    assert answers["models"][0] == 200 and [model["id"] for model in answers["models"][1]["data"]] == ["a/b"]
    assert answers["model"][1]["id"] == "a/b"
    assert [answers[name][0] for name in ("page", "put", "length")] == [404, 501, 400]
    assert all("message" in answers[name][1]["error"] for name in ("page", "put", "length"))
    assert answers["task"] == [None, 200_000]


def test_a_command_that_cannot_be_run_is_told(tmp_path: Path) -> None:
    (ending,) = run(tmp_path, 0, command="true", env={"LONG": "x" * 200_000})
    assert ending["ended"] == 126 and "too long" in ending["output"]
