"""The page of a run that an operator has paused and retuned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.acts import Acts
from tests.dashboard.page_parts import texts

BUTTONS = {"Pause the run", "Change the run", "Cancel the run"}


def operated(folder: Path) -> tuple[str, Acts, int]:
    """A run in progress: the address of its database, a writer, its number."""
    url = f"sqlite:///{folder / 'operated.db'}"
    acts = Acts(connect(url))
    rows = [{"name": "t", "digest": "d", "statement": "It fails."}]
    benchmark = acts.save_benchmark(name="bugs", digest="b", license="MIT", source="", tasks=rows)
    entrant = acts.save_entrant(digest="e", name="e", agent="a")
    cells = [(benchmark.task_ids["t"], entrant, 1)]
    run_id = acts.create_run(name="r", benchmark_id=benchmark.id, spec={"workers": 4}, cells=cells)
    acts.start_run(run_id)
    return url, acts, run_id


def press(app: Any, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception


def test_buttons_pause_change_retry_and_cancel_a_run(
    visit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKRANK_OWNER", "ada")
    monkeypatch.setattr("streamlit.get_option", {"server.address": "127.0.0.1"}.get)
    url, acts, run_id = operated(tmp_path)
    app = visit(url, "run", id=str(run_id))
    app.text_input(key="why_pause").set_value("the provider throttles")
    press(app, "Pause the run")
    press(app, "Continue the run")
    app.number_input(key="set_workers").set_value(2)
    app.number_input(key="set_budget_usd").set_value(1.5)
    press(app, "Change the run")
    told = [(act["kind"], act["person"], act["why"], act["change"]) for act in queries.acts(acts.engine, run_id)]
    assert told == [
        ("pause", "ada", "the provider throttles", {}),
        ("resume", "ada", "", {}),
        ("set", "ada", "", {"workers": [4, 2], "budget_usd": [None, 1.5]}),
    ]
    press(app, "Cancel the run")
    cancelled = queries.run(acts.engine, run_id)
    assert (cancelled["status"], cancelled["reason"]) == ("cancelled", "cancelled by ada")
    app = visit(url, "run", id=str(run_id))
    assert not BUTTONS & {button.label for button in app.button}
    assert f"`stackrank resume {run_id}`" in texts(app)


def test_who_may_not_operate_has_no_buttons(visit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url, _, run_id = operated(tmp_path)
    monkeypatch.setattr("streamlit.get_option", {"server.address": "0.0.0.0"}.get)
    app = visit(url, "run", id=str(run_id))
    assert not BUTTONS & {button.label for button in app.button}
    monkeypatch.setenv("STACKRANK_OPERATORS", "*")
    app = visit(url, "run", id=str(run_id))
    assert {button.label for button in app.button} >= BUTTONS


def test_the_page_of_a_run_shows_who_paused_it_and_why(visit: Any, tmp_path: Path) -> None:
    url, acts, run_id = operated(tmp_path)
    acts.tune(run_id, {"workers": 1}, person="bob")
    acts.pause(run_id, person="ada", why="the provider *throttles*")
    app = visit(url, "run", id=str(run_id))
    (warning,) = [part.value.replace("\\", "") for part in app.get("warning") if "paused" in part.value]
    assert warning.startswith("ada paused it at ") and "the provider *throttles*" in warning
    assert f"stackrank resume {run_id}" in warning
    assert [part.label for part in app.get("expander") if "operators" in part.label] == ["What operators did: 2 acts"]
    assert "bob set workers from 4 to 1" in texts(app)
