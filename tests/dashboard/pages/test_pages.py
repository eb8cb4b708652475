"""The content of pages, without a browser."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from sqlalchemy import text

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.queries import Scope
from stackrank.db.writes.store import Store
from tests.dashboard.page_parts import drawn, linked, texts
from tests.dashboard.seed import HOSTILE, seed
from tests.dashboard.trace_parts import given
from tests.support.databases import Databases

ROOT = Path(__file__).parents[3]


def test_query_finds_episodes_and_steps(visit: Any, seeded: SimpleNamespace) -> None:
    app = visit(seeded.url, "episodes", ep_query="-tool:pdb verdict:resolved")
    name = "qwen3-coder / rewrite"
    assert linked(app.dataframe[0].value["Entrant"]) == {name: "episodes?ep_entrant=qwen3-coder+%2F+rewrite"}
    app = visit(seeded.url, "episodes", ep_query='task:account-transfer text:"passed in" verdict:resolved', run="1")
    table = app.dataframe[0].value
    steps = table["At step"].tolist()
    assert min(steps) > 0, "of the reset, which all begin with, nothing is told"
    assert steps and all("passed in" in text for text in table["Found"])
    ends = zip(linked(table["Episode"]).items(), steps, strict=True)
    assert all(link == f"episode?run=1&id={episode}&step={step}" for (episode, link), step in ends)
    app = visit(seeded.url, "episodes", ep_query="verdict:<b>good</b>")
    assert "does not exist; choose resolved, unresolved or error." in texts(app) and not app.dataframe
    app.text_input(key="ep_query_widget").set_value("text:xyzzy").run()
    assert "No episode matches" in texts(app)
    app = visit(seeded.url, "episodes", ep_query='text:"passed in"')
    assert "100 episodes found on this page; the texts of " in texts(app) and " of 163 episodes are searched" in texts(
        app
    )
    assert app.get("download_button")[0].proto.label == "Download all matching episodes (CSV)"


def test_the_overview(visit: Any, seeded: SimpleNamespace) -> None:
    app = visit(seeded.url, "overview")
    board, reasons = (table.value for table in app.dataframe)
    front = queries.front_page(seeded.store.engine, Scope(benchmark="bugs"))
    for sentence in (front["lead"], front["evidence"], *front["debugger"]):
        assert sentence in texts(app)
    counts = r"No clear difference for any entrant; \d+ task results got worse, \d+ got better\."
    assert re.search(counts, texts(app))
    assert len(board) == 3
    assert reasons["What failed"].tolist() == ["The sandbox did not answer within 60 s."]
    links = [part.proto.query_string for part in app.get("page_link")]
    going_on = {
        part.proto.label: part.proto.query_string for part in app.get("page_link") if "running" in part.proto.label
    }
    assert list(going_on.values()) == [f"id={seeded.made.live_run}"]
    for tip in front["traces"]:
        step = "" if tip["step"] is None else f"&step={tip['step']}"
        assert f"id={tip['episode']['id']}{step}" in links
    saved = [part.proto.label for part in app.get("download_button")]
    assert saved == ["Download errors (CSV)"]


def test_pages_show_a_first_run_while_it_is_played(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'first.db'}"
    store = Store(connect(url))
    seed(store.engine, runs=1, tasks=6)
    for page in ("overview", "leaderboard", "compare", "tool_sets", "failures", "tasks"):
        app = visit(url, page)
        assert "Provisional: bugs b1, run 1 (running" in texts(app), page
        assert (given(app, "grid") if page == "tasks" else app.dataframe) and not app.info, page
    assert "So far: " in texts(visit(url, "overview"))


def test_one_scope_is_carried_by_every_link(visit: Any, seeded: SimpleNamespace) -> None:
    for page in ("overview", "leaderboard", "tasks", "runs", "episodes", "run"):
        query = {"id": str(seeded.made.runs[0])} if page == "run" else {}
        app = visit(seeded.url, page, owner="ada", last="1", lb_pick="1,2", **query)
        links = [part.proto.query_string for part in app.get("page_link")]
        assert links and all("owner=ada" in link and "last=1" in link for link in links if "run=" not in link), page
        hrefs = [str(cell) for table in app.dataframe for cell in table.value.to_numpy().flat if "?" in str(cell)]
        assert all("owner=ada&" in cell or "last=1&" in cell for cell in hrefs if "id=" in cell), page
    board = visit(seeded.url, "leaderboard", run=str(seeded.made.runs[0]))
    assert f"run {seeded.made.runs[0]} (finished" in texts(board)
    assert not visit(seeded.url, "episodes", owner="eve").dataframe[0].value.empty, "nobody: the filter is ignored"


def test_filters_that_leave_nothing_say_so_and_can_be_cleared(visit: Any, seeded: SimpleNamespace) -> None:
    app = visit(seeded.url, "episodes", ep_text="no such task", ep_verdict="error")
    assert "No episode matches these filters." in texts(app)
    next(button for button in app.button if button.label == "Show all episodes").click().run()
    assert "1–100 of 163 episodes." in texts(app) and len(app.dataframe[0].value) == 100
    assert app.get("download_button")[0].proto.label == "Download all episodes (CSV)"
    app = visit(seeded.url, "runs", runs_name="no such run")
    next(button for button in app.button if button.label == "Show all runs").click().run()
    assert len(app.dataframe[0].value) == 3


def test_a_run_with_few_verdicts_is_not_drawn(visit: Any, tmp_path: Path, databases: Databases) -> None:
    url, contents = databases.seeded(tmp_path / "x.db", runs=3, live=False, tasks=6)
    few = "UPDATE episode SET verdict = 'error' WHERE run_id = :run AND id NOT IN (SELECT max(id) FROM episode)"
    with connect(url).begin() as connection:
        connection.execute(text(few), {"run": contents.runs[2]})
    app = visit(url, "runs")
    assert "% of 1 episode with a verdict; against the run before: " in texts(app)
    assert "Not drawn: 1 run with few verdicts." in texts(app) and len(app.dataframe[0].value) == 3
    [figure] = app.get("vega_lite_chart")
    assert "nightly #2" in figure.proto.spec and "nightly #3" not in figure.proto.spec


def test_the_leaderboard_compares_two(visit: Any, seeded: SimpleNamespace) -> None:
    ids = seeded.made.entrants
    pick = f"{ids['qwen3-coder / debug']},{ids['llama-3.3-70b / debug']}"
    app = visit(seeded.url, "leaderboard", lb_pick=pick, runs="All")
    board = app.dataframe[0].value
    assert list(linked(board["Entrant"]))[-1] == "llama-3.3-70b / debug" and board["Rank"].tolist()[-1] == "3"
    assert board["Cost per resolved"].isna().tolist() == [False, False, True]
    assert "points ahead of llama-3.3-70b / debug" in texts(app) and "in 80% of cases" in texts(app)
    rows = queries.leaderboard(seeded.store.engine, Scope(benchmark="bugs"))
    assert queries.leader_sentence(rows) in texts(visit(seeded.url, "leaderboard"))
    app = visit(seeded.url, "leaderboard", last="1", runs="All")
    assert app.dataframe[0].value["Episodes"].max() < board["Episodes"].min()


@pytest.mark.parametrize("tab", ["Ranking", "Cost against rate", "Budget", "Reliability", "Abilities", "Numbers"])
def test_tabs_of_the_leaderboard(visit: Any, seeded: SimpleNamespace, tab: str) -> None:
    app = visit(seeded.url, "leaderboard", lb_tab=tab)
    assert drawn(app) == {"Numbers": 0, "Reliability": 2}.get(tab, 1)
    saved = [button.label for button in app.get("download_button")]
    assert saved[0] == "Figure for a paper (SVG)" and len(saved[1:]) == {"Ranking": 0, "Abilities": 4}.get(tab, 1)


def test_compare_several_entrants(visit: Any, seeded: SimpleNamespace) -> None:
    engine, scope = seeded.store.engine, Scope(benchmark="bugs")
    # The best last: a sentence is about the better of two.
    three, two, first_id = (row["entrant_id"] for row in queries.leaderboard(engine, scope))
    app = visit(seeded.url, "compare", cmp_pick=f"{three},{first_id},{two}")
    pairs = app.dataframe[0].value
    assert len(pairs) == 3 and pairs["Tasks"].tolist() == [20, 20, 20]
    comparisons = queries.compare_all(engine, [first_id, two, three], scope)
    assert pairs["Points"].tolist() == [row["difference"] for row in comparisons]
    assert queries.headline(comparisons[0]) in texts(app)
    app.selectbox(key="cmp_pair_widget").set_value(app.selectbox(key="cmp_pair_widget").options[2]).run()
    assert not app.exception and queries.headline(comparisons[2]) in texts(app)
    of_run = Scope(run=seeded.made.runs[0])
    page = visit(seeded.url, "compare", cmp_pick=f"{first_id},{two}", cmp_show="second", run=str(of_run.run))
    by_rate = [row["entrant_id"] for row in queries.leaderboard(engine, of_run)]
    worse, better = sorted((first_id, two), key=by_rate.index, reverse=True)
    (comparison,) = queries.compare_all(engine, [worse, better], of_run)
    shown = page.dataframe[0].value
    assert sorted(linked(shown["Task"])) == comparison["only_second"]
    assert shown["Points"].is_monotonic_decreasing, "the greatest difference first"
    forest = visit(seeded.url, "compare", cmp_pick=f"{first_id},{two}", cmp_tab="By category")
    assert drawn(forest) == 1 and len(forest.dataframe[0].value) == 5
    differs = visit(seeded.url, "compare", cmp_pick=f"{two},{three}", cmp_tab="What differs").dataframe[0].value
    assert (
        differs["Setting"].tolist() == ["tools", "tool list"]
        and "view, rewrite, eval, grep, pdb" in differs["2"].values
    )
    app = visit(seeded.url, "compare", cmp_pick=f"{first_id},{two}", cmp_tab="Effort")
    (effort,) = queries.effort(engine, [(first_id, two)], scope)
    taken, needed = (table.value.set_index("What") for table in app.dataframe)
    assert "Tokens" in taken.index and list(needed.index) == ["Steps"], "only steps are limited"
    row = needed.loc["Steps"]
    assert (row["Difference"], row["If unresolved"]) == (f"{-(effort['saved'] or 0):+.1f}", f"{effort['budget']:.0f}")
    assert queries.effort_sentence(
        comparisons[0]["first"]["entrant"], comparisons[0]["second"]["entrant"], effort
    ) in texts(app)


def test_tool_sets(visit: Any, seeded: SimpleNamespace) -> None:
    app = visit(seeded.url, "tool_sets", ts_entrant="qwen3-coder / rewrite")
    taken, needed, sets, use = (table.value for table in app.dataframe)
    differences = queries.tool_sets(seeded.store.engine, Scope(benchmark="bugs"))
    (worth, *_) = queries.tool_worth(seeded.store.engine, differences, Scope(benchmark="bugs"))
    assert list(taken) == ["What", "rewrite", "debug", "Difference", "95% interval"]
    spent, effort = worth["spending"]["steps"], worth["effort"]["steps"]
    assert taken["debug"][0] == f"{spent['second']:.1f}"
    assert taken["Difference"][0] == f"{-(spent['saved'] or 0):+.1f}"
    assert needed["What"].tolist() == [
        noun
        for noun, unit in (("Steps", "steps"), ("Tokens", "tokens"), ("Cost", "cost_usd"))
        if worth["effort"][unit]["is_limited"]
    ]
    assert needed["If unresolved"][0] == f"{effort['budget']:.0f}"
    assert list(linked(sets["Tool set"])) == ["rewrite", "debug"]
    assert queries.headline(differences[0]) in texts(app)
    turned = visit(seeded.url, "tool_sets", ts_base="debug", ts_models="qwen3-coder")
    (turned_pair,) = queries.tool_sets(seeded.store.engine, Scope(benchmark="bugs"), base="debug")
    assert turned_pair["difference"] == -differences[0]["difference"] and queries.headline(turned_pair) in texts(turned)
    assert set(use["Tool"]) == {"view", "grep", "eval", "rewrite"}


@pytest.mark.parametrize("tab", ["How far", "Where it went wrong", "Not the entrant's fault"])
def test_tabs_of_failure_points(visit: Any, seeded: SimpleNamespace, tab: str) -> None:
    app = visit(seeded.url, "failures", fp_tab=tab, fp_point="wrong_fix", runs="All")
    everything = Scope(finished_only=False)
    assert drawn(app) == (tab != "Not the entrant's fault")
    assert len(app.dataframe) == (1 if drawn(app) else 3)
    if not drawn(app):
        _, by_entrant, by_run = (table.value for table in app.dataframe)
        assert by_entrant["Excluded"].sum() == by_run["Excluded"].sum() > 0
        assert f"{by_run['Excluded'].sum()} of {by_run['Episodes'].sum()} episodes" in texts(app)
        assert by_entrant["Share"].is_monotonic_decreasing
    if tab == "How far":
        assert queries.funnel_sentence(queries.funnel(seeded.store.engine, everything)) in texts(app)
    if tab == "Where it went wrong":
        assert queries.failures_sentence(queries.failure_points(seeded.store.engine, everything)) in texts(app)
        links = [part.proto.query_string for part in app.get("page_link")]
        assert sum("id=" in link or "ep_" in link for link in links) == 6  # five examples and all of them


def test_tasks(visit: Any, seeded: SimpleNamespace) -> None:
    app = visit(seeded.url, "tasks", tk_category="logic", tk_tab="Table")
    rates = app.dataframe[0].value
    assert len(rates) == 5 and "5 of 20 tasks" in texts(app)
    assert "1 of 200 wrong changes accepted" in texts(app) and "with version b0" in texts(app)
    task_id = rates["Task"][0].rpartition("=")[2]
    page = visit(seeded.url, "task", id=task_id)
    assert len(page.dataframe[0].value) == 3 and "leaves out the first item" in texts(page)
    assert "There is no task" in visit(seeded.url, "task", id="4711").warning[0].value


def test_notes_and_tags(visit: Any, databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_OWNER", "ada")
    url, contents = databases.seeded(tmp_path / "x.db", runs=1, live=False, tasks=2)
    app = visit(url, "run", id=str(contents.runs[0]))
    app.text_area[0].set_value(HOSTILE)
    next(button for button in app.button if button.label == "Add note").click().run()
    assert not app.exception
    (note,) = queries.notes(connect(url))
    assert (note["author"], note["body"], note["episode_id"]) == ("ada", HOSTILE, None)
    assert HOSTILE in [part.value for part in app.text]
    next(button for button in app.button if button.label == "Remove").click().run()
    assert not app.exception and queries.notes(connect(url)) == []


def test_run_shows_regressions_and_a_repeat_command(visit: Any, databases: Databases, tmp_path: Path) -> None:
    url, contents = databases.seeded(tmp_path / "x.db", runs=1, live=False, tasks=2)
    engine = connect(url)
    with engine.begin() as connection:
        regressions = json.dumps([{"entrant": "e", "what": "rate", "sentence": "It <b>fell</b> by 9 points."}])
        connection.execute(text("UPDATE run SET regressions = :r, schedule = 'nightly'"), {"r": regressions})
    for page in ("run", "overview"):
        app = visit(url, page, id=str(contents.runs[0]), run_tab="Specification")
        assert "It <b>fell</b> by 9 points." in texts(app)
    app = visit(url, "run", id=str(contents.runs[0]), run_tab="Specification")
    command = next(block.value for block in app.code if "stackrank run" in block.value)
    completed = subprocess.run(
        ["bash", "-c", command.replace("stackrank run", "cat")], cwd=tmp_path, capture_output=True
    )
    assert yaml.safe_load(completed.stdout) == queries.run(engine, contents.runs[0])["spec"]


@pytest.mark.parametrize("tab", ["Entrants", "Failure points", "Episodes", "Errors", "Specification"])
def test_tabs_of_a_run(visit: Any, seeded: SimpleNamespace, tab: str) -> None:
    app = visit(seeded.url, "run", id=str(seeded.made.runs[0]), run_tab=tab)
    assert "Run nightly" in texts(app)
    if tab == "Specification":
        assert "- agent: tool_calls\n  model: llama-3.3-70b\n  tools: debug\n" in texts(app), "who played"
        assert "benchmark: bugs" in texts(app) and "\nstackrank run run-1.yaml" in texts(app)


@pytest.mark.parametrize("point", [None, "wrong_location"])
def test_examples_match_the_counts(visit: Any, seeded: SimpleNamespace, point: str | None) -> None:
    engine, run = seeded.store.engine, seeded.made.runs[0]
    rows = queries.failure_points(engine, Scope(run=run))
    row = next(row for row in rows if point is None or point in row["failure_points"])
    examples = queries.examples(engine, point, Scope(run=run), entrant=row["entrant"], limit=1000)
    assert len(examples) == (row["failure_points"][point] if point else row["resolved"])
    assert {(example["run_id"], example["entrant"]) for example in examples} == {(run, row["entrant"])}
    query = {"run_point": point} if point else {}
    app = visit(seeded.url, "run", id=str(run), run_tab="Failure points", run_entrant=row["entrant"], **query)
    links = [part.proto.query_string for part in app.get("page_link") if part.proto.query_string]
    assert f"id={examples[0]['id']}" in links[0] and f"run={run}" in links[-1]


def test_stalled_run(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    engine = connect(url)
    store = Store(engine)
    benchmark = store.save_benchmark(name="b", digest="d", license="", source="", tasks=[])
    run = store.create_run(name="silent", benchmark_id=benchmark.id, spec={})
    store.start_run(run)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE run SET heartbeat_at = '2020-01-01 00:00:00'")
    app = visit(url, "run", id="silent")
    assert f"`stackrank resume {run}`" in app.warning[0].value
    store.end_run(run, "failed", "No sandbox.")
    assert "No sandbox." in [part.value for part in visit(url, "run", id="silent").text]


def test_filters_of_episodes(visit: Any, seeded: SimpleNamespace) -> None:
    run = str(seeded.made.runs[0])
    app = visit(seeded.url, "episodes", run=run)
    assert len(app.dataframe[0].value) == 60
    app.pills(key="ep_verdict_widget").set_value(["error"]).run()
    errors = app.dataframe[0].value
    assert 0 < len(errors) < 10 and set(errors["Verdict"]) == {"! error"}
    app.text_input(key="ep_text_widget").set_value("no such task").run()
    assert not app.dataframe and "No episode matches" in texts(app)
    paged = visit(seeded.url, "episodes", ep_after="50")
    numbers = {str(number): f"episode?id={number}" for number in range(49, 0, -1)}
    assert linked(paged.dataframe[0].value["Episode"]) == numbers
    by_address = visit(seeded.url, "episodes", run=run, ep_tool="pdb", ep_entrant="qwen3-coder / debug")
    assert len(by_address.dataframe[0].value) == 20


def test_known_fix_is_hidden_behind_a_toggle(visit: Any, seeded: SimpleNamespace) -> None:
    app = visit(seeded.url, "episode", id="5", trace_tab="Known fix")
    assert "@@ -12,5" not in texts(app)
    app.toggle(key="trace_spoiler").set_value(True).run()
    assert "@@ -12,5" in texts(app) and "Book.total, lines 14" in texts(app)


def test_no_page_has_a_text_that_stands_alone() -> None:
    """Streamlit would draw it, also one that documents a constant."""
    pages = [*ROOT.glob("dashboard/app_pages/*.py"), *ROOT.glob("extensions/*/app_pages/*.py")]
    scripts = [ROOT / "dashboard/app.py", *pages]
    texts = [
        f"{script.name}:{statement.lineno}"
        for script in scripts
        for statement in ast.parse(script.read_text(encoding="utf-8")).body[1:]
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    ]
    assert len(scripts) > 10 and not texts, "write a comment"
