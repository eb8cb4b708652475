"""The page of a run that an operator has paused and retuned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stackrank.db.connection.engine import connect
from stackrank.db.writes.acts import Acts
from tests.dashboard.page_parts import texts


def test_the_page_of_a_run_shows_who_paused_it_and_why(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'operated.db'}"
    acts = Acts(connect(url))
    rows = [{"name": "t", "digest": "d", "statement": "It fails."}]
    benchmark = acts.save_benchmark(name="bugs", digest="b", license="MIT", source="", tasks=rows)
    run_id = acts.create_run(name="r", benchmark_id=benchmark.id, spec={"workers": 4})
    acts.start_run(run_id)
    acts.tune(run_id, {"workers": 1}, person="bob")
    acts.pause(run_id, person="ada", why="the provider *throttles*")
    app = visit(url, "run", id=str(run_id))
    (warning,) = [part.value.replace("\\", "") for part in app.get("warning") if "paused" in part.value]
    assert warning.startswith("ada paused it at ") and "the provider *throttles*" in warning
    assert f"stackrank resume {run_id}" in warning
    assert [part.label for part in app.get("expander") if "operators" in part.label] == ["What operators did: 2 acts"]
    assert "bob set workers from 4 to 1" in texts(app)
