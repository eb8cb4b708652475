"""Whether agents are shown the failing tests is a condition of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes import conditions
from stackrank.flows.runs.afterwards.replay import replay
from stackrank.flows.runs.preparing.prepared_run import check
from stackrank.flows.runs.specification.spec import SpecError, make_spec, read_spec
from tests.fixtures.playing import play_run
from tests.support.repository import write

ENTRANTS = [{"agent": "oracle", "tools": "rewrite"}, {"agent": "random", "tools": "debug"}]
TASKS = """
schema: 1
name: own
tasks:
- {id: told, source: {path: told}, test: python -m pytest -q, fix: fix.patch, statement: It is wrong.}
- {id: untold, source: {path: untold}, test: sh check.sh, fix: fix.patch, statement: It is wrong.}
"""
FIX = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"


def test_a_run_on_statements_alone() -> None:
    run = play_run(entrants=ENTRANTS, limit=1, steps=5, shows_failing_test=False, leaderboard="alone")
    engine = connect()
    rows = {row["entrant"]: row for row in queries.episodes(engine, run)}
    assert (rows["oracle (rewrite)"]["stop_reason"], rows["oracle (rewrite)"]["verdict"]) == ("submitted", "resolved")
    assert rows["random (debug)"]["verdict"] == "unresolved"
    stored = queries.run(engine, run)["conditions"]
    assert stored["shows_failing_test"] is False and conditions.describe(stored).endswith("failing test shown: no")
    for row in rows.values():
        assert replay(engine, row, "bubblewrap").result == "same", "a replay goes by it too"


def test_a_flag_or_a_file_withholds_the_failing_test_in_its_own_pool() -> None:
    spec = {"benchmark": "bugs", "sandbox": "bubblewrap", "entrants": ENTRANTS[:1], "limit": 1}
    usual, alone = (check(make_spec({**spec, **fields}, "the test")) for fields in ({}, {"shows_failing_test": False}))
    digests = [conditions.digest(conditions.complete(run.conditions)) for run in (usual, alone)]
    assert digests[0] != digests[1]
    assert read_spec(None, {"agent": ["random"], "shows_failing_test": False}).shows_failing_test is False


def test_tasks_whose_failing_test_cannot_be_withheld_are_left_out(tmp_path: Path) -> None:
    program = {"a.py": "x = 1\n"}
    write(tmp_path, {"tasks.yaml": TASKS, "fix.patch": FIX})
    write(tmp_path / "told", {**program, "test_a.py": "from a import x\n\n\ndef test_x():\n    assert x == 2\n"})
    write(tmp_path / "untold", {**program, "check.sh": "python -c 'import a; assert a.x == 2'\n"})
    spec = {"benchmark": "repo", "path": str(tmp_path), "sandbox": "local", "entrants": ENTRANTS[:1]}
    checked = check(make_spec({**spec, "shows_failing_test": False}, "the test"))
    assert [task.id for task in checked.tasks] == ["told"]
    assert "names no test file" in checked.left_out["untold"]
    with pytest.raises(SpecError, match="untold cannot be played without showing its failing test"):
        check(make_spec({**spec, "tasks": ["untold"], "shows_failing_test": False}, "the test"))
