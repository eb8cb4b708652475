"""Whether the first green `eval` ends an episode is a condition of the run."""

from __future__ import annotations

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes import conditions
from stackrank.flows.runs.afterwards.replay import replay
from stackrank.flows.runs.preparing.prepared_run import check
from stackrank.flows.runs.specification.spec import make_spec
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


def test_the_usual_conditions_are_those_of_older_runs() -> None:
    spec = {"benchmark": "bugs", "sandbox": "bubblewrap", **ORACLE}
    usual, unusual = (check(make_spec({**spec, **fields}, "the test")) for fields in ({}, {"ends_when_solved": False}))
    completed = conditions.complete({**usual.conditions, "ends_when_solved": True})
    assert conditions.digest(conditions.complete(usual.conditions)) == conditions.digest(completed)
    assert conditions.digest(conditions.complete(unusual.conditions)) != conditions.digest(completed)
