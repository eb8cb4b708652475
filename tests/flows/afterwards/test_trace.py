"""What `stackrank trace` prints for people."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.db.connection.engine import connect
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import Store
from stackrank.flows.cli.results import MOST_LINES, trace
from tests.dashboard.traces import EVIL, finish, new_episode

pytestmark = pytest.mark.slow


def test_actions_of_several_lines_are_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    monkeypatch.setenv("STACKRANK_DATABASE_URL", url)
    store = Store(connect(url))
    episode = new_episode(store)
    script = "b cart.py:4\nc\np 'x'\n" + "n\n" * MOST_LINES
    store.add_step(Step(episode_id=episode, index=0, observation="failing", milestones=["reproduced"]))
    arguments = {"command": script, "test": "python x.py", "other": None}
    store.add_step(
        Step(episode_id=episode, index=1, tool="pdb", arguments=arguments, thought=EVIL, observation=EVIL, env_ms=12)
    )
    store.add_step(Step(episode_id=episode, index=2, observation="Your answer contains no action.", ok=False))
    finish(store, episode, steps=2, error=EVIL, diff=EVIL)
    trace(str(episode), as_json=False, first=0, limit=None)
    out = capsys.readouterr().out
    assert "--- step 0: reset()  [0 ms]  reproduced\nfailing\n" in out
    assert "--- step 1: pdb(test='python x.py')  [12 ms]\ncommand:\n  | b cart.py:4\n  | c\n  | p 'x'\n" in out
    assert "--- step 2: malformed action  [0 ms]\nYour answer contains no action.\n" in out
    assert "  [3 more lines: --json has them]\nthought: <script>" in out
    assert "␛[31mred" in out and "\x1b" not in out
