"""Whether the first green `eval` ends an episode is a condition of the run."""

from __future__ import annotations

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.flows.runs.afterwards.replay import replay
from tests.fixtures.playing import play_run

ORACLE = {"entrants": [{"agent": "oracle", "tools": "rewrite"}], "limit": 1}


@pytest.mark.parametrize(("ends", "reason"), [(True, "solved"), (False, "submitted")])
def test_an_episode_ends_as_its_run_says(ends: bool, reason: str) -> None:
    run = play_run(**ORACLE, **({} if ends else {"ends_when_solved": False}))
    engine = connect()
    (row,) = queries.episodes(engine, run)
    assert (row["stop_reason"], row["verdict"]) == (reason, "resolved")
    assert queries.run(engine, run)["conditions"]["ends_when_solved"] is ends
    assert replay(engine, row, "bubblewrap").result == "same", "a replay goes by it too"
