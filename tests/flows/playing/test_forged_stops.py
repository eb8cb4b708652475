"""A program under test writes to the debugger's own channel, beside an honest entrant."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from tests.fixtures.env import usable
from tests.fixtures.playing import drive, make_run
from tests.support.openai_server import OpenAIServer, call

STOP: dict[str, Any] = {
    "event": "line", "file": "cart.py", "line": 3, "function": "f", "depth": 1, "thread": None, "exception": None,
    "locals": {}, "source": [], "stack": [], "stops": 1, "breakpoints": [],
}  # fmt: skip
FORGED = {
    "a negative line": {**STOP, "line": -3},
    "an unknown event": {**STOP, "event": "flying"},
    "calls of another shape": {**STOP, "stack": [3]},
    "values that are no text": {**STOP, "locals": {"x": {"y": []}}},
}
PROGRAM = """\
import os, stat
for fd in range(3, 256):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            os.write(fd, {line!r})
    except OSError:
        pass
"""


def test_a_forged_stop_ends_its_own_episode_and_no_other(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each attempt forges another stop."""
    usable("bubblewrap")
    forged = iter(FORGED.values())

    def answer(body: dict[str, Any]) -> Any:
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        if turn:
            return call("submit") if turn > 1 else call("pdb", command="n\nc", test="python forge.py")
        line = json.dumps({"text": "", "notes": [], "stop": next(forged)}).encode() + b"\n"
        return call("bash", command=f"cat > forge.py <<'END'\n{PROGRAM.format(line=line)}END\n")

    with OpenAIServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        entrants = [{"agent": "llm", "model": "forger", "tools": "bash-debug"}, {"agent": "oracle"}]
        run_id = make_run(tasks=["vat-table"], attempts=len(FORGED), entrants=entrants, sandbox="bubblewrap", workers=1)
        assert drive(run_id) == ""
    episodes = queries.episodes(connect(), run_id)
    endings = Counter(
        (row["entrant"].partition("/")[0].split()[0], row["verdict"], row["stop_reason"], row["error"])
        for row in episodes
    )
    assert endings == {
        ("llm", "unresolved", "sandbox_lost", ""): len(FORGED),
        ("oracle", "resolved", "solved", ""): len(FORGED),
    }
    for row in episodes:
        if row["entrant"].startswith("llm"):
            (note,) = queries.episode(connect(), row["id"])["score"]["notes"]
            assert "invalid answer to 'debug'" in note and "standing" in note
            last = queries.steps(connect(), row["id"])[-1]
            assert "took the place of stackrank's own, so the episode is over" in last["observation"]
