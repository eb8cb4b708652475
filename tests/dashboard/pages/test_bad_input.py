"""Pages with empty, broken or hostile databases and invalid parameters, without a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stackrank.dashboard.parts.show import escaped
from stackrank.dashboard.trace.texts import tree
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.models.runs import Step
from stackrank.db.writes.notes import Notes
from stackrank.db.writes.store import Store
from tests.dashboard.page_parts import texts
from tests.dashboard.seed import HOSTILE
from tests.dashboard.trace_parts import given
from tests.support.episodes import create_episodes, start

PAGES = [
    "overview",
    "leaderboard",
    "compare",
    "tool_sets",
    "failures",
    "tasks",
    "task",
    "runs",
    "run",
    "episodes",
    "episode",
]


@pytest.mark.parametrize("page", PAGES)
def test_an_empty_database_says_what_to_run(visit: Any, tmp_path: Path, page: str) -> None:
    app = visit(f"sqlite:///{tmp_path / 'new.db'}", page)
    assert "stackrank run --benchmark bugs" in texts(app)


@pytest.mark.parametrize("page", PAGES)
def test_file_that_is_not_a_database(visit: Any, tmp_path: Path, page: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database\n" * 300)
    app = visit(f"sqlite:///{file}", page, id="1")
    assert [part.value for part in app.error], "no message"
    assert "is not a database" in texts(app) and "STACKRANK_DATABASE_URL" in texts(app)


def test_a_password_is_not_shown(visit: Any) -> None:
    app = visit("postgresql://ada:pw-0@127.0.0.1:1/db", "leaderboard")
    assert "cannot be reached" in texts(app) and "pw-0" not in texts(app)


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("episode", {"id": "99999"}),
        ("episode", {"id": "<b>"}),
        ("episode", {"id": "99999999999999999999"}),
        ("run", {"id": "nothing"}),
        ("run", {"id": "-3"}),
        ("run", {"id": "é\0"}),
        ("episodes", {"run": "99999"}),
    ],
)
def test_unknown_ids_in_the_address(visit: Any, seeded: SimpleNamespace, page: str, query: dict[str, str]) -> None:
    app = visit(seeded.url, page, **query)
    assert "There is no" in app.warning[0].value
    assert "`stackrank" in app.warning[0].value


@pytest.mark.parametrize("step", ["999", "-1", "x", "1e3", "99999999999"])
def test_unknown_steps_in_the_address(visit: Any, seeded: SimpleNamespace, step: str) -> None:
    app = visit(seeded.url, "episode", id=str(seeded.made.hostile), step=step)
    assert ":gray[Steps]" in texts(app)
    ignored = [warning.value for warning in app.warning]
    assert step == "999" or "The link asks for step" in ignored[0], "the browser says that 999 is not there"


@pytest.mark.parametrize(
    "query",
    [
        {"benchmark": "none", "last": "7", "tags": "x", "lb_tab": "Nothing"},
        {"lb_pick": "1,2,3"},
        {"lb_pick": "a,,9,1,1"},
        {"series": "nobody's"},
    ],
)
def test_invalid_leaderboard_parameters(visit: Any, seeded: SimpleNamespace, query: dict[str, str]) -> None:
    assert len(visit(seeded.url, "leaderboard", **query).dataframe[0].value) == 3


def test_hostile_text_is_shown_as_text(visit: Any, seeded: SimpleNamespace) -> None:
    """Beside another episode."""
    hostile = seeded.made.hostile
    other_episode = next(
        row["id"]
        for row in queries.episodes(seeded.store.engine, task="account-transfer", limit=100)
        if row["id"] != hostile and row["steps"] > 2
    )
    app = visit(seeded.url, "diverge", a=str(hostile), b=str(other_episode), at="2")
    assert not any("<script>" in part.value or part.allow_html for part in app.markdown)
    steps = next(part["value"] for part in given(app, "feed") if (part["source"], part["name"]) == (hostile, "steps:0"))
    step = next(row for row in steps if row["step"] == 2)
    assert step["action"][0]["text"]["text"] == HOSTILE
    told = step["observation"]
    assert told["text"].startswith(HOSTILE) and len(told["text"]) < 21_000 < 30_000 < told["total"]
    # The thought is Markdown: it is bold where it says so, and what it says is markup or leads elsewhere stays text.
    thought = json.dumps(step["thought"])
    assert '["strong", "bold"]' in thought and "<script>" in thought and "[a](b)" in thought
    assert not re.search('\\["(script|img|a)"', thought)


def test_prose_is_limited_to_plain_markdown() -> None:
    branches_of_prose = tree(
        f"# {HOSTILE}\n\n1. a `b`\n2. **c**\nd\n\n```py\n<x>\n```\n![i](http://x) <http://y>\n***\n> q\n"
    )
    names = set()

    def walk(branches: list[Any]) -> None:
        for branch in branches:
            if isinstance(branch, list):
                names.add(branch[0])
                walk(branch[1:])

    walk(branches_of_prose)
    assert names == {"h1", "code", "strong", "ol", "li", "p", "br", "pre", "hr", "blockquote"}
    assert "<script>document.title='owned'</script>" in str(
        branches_of_prose[0]
    ) and "![i](http://x) <http://y>" in str(branches_of_prose)


@pytest.mark.slow
def test_hostile_names_are_escaped(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    benchmark = store.save_benchmark(
        name=HOSTILE, digest="d", license="", source="", tasks=[{"name": HOSTILE, "category": HOSTILE}]
    )
    agent = {"agent": HOSTILE, "model": HOSTILE}
    entrant = store.save_entrant(digest="e", name=HOSTILE, **agent)
    other_entrant = store.save_entrant(digest="f", name=HOSTILE + "2", tools=HOSTILE, tool_list=["pdb"], **agent)
    run = store.create_run(name=HOSTILE, benchmark_id=benchmark.id, spec={HOSTILE: HOSTILE}, tags=[HOSTILE])
    cells = [(benchmark.task_ids[HOSTILE], *cell) for cell in ((entrant, 1), (other_entrant, 1), (other_entrant, 2))]
    episode, second, broken = create_episodes(store, run, cells).values()
    store.start_run(run)
    start(store, broken)
    store.finish_episode(broken, verdict="error", stop_reason="error", error=HOSTILE)
    start(store, second)
    store.add_step(Step(episode_id=second, index=1, tool=HOSTILE))
    store.finish_episode(second, verdict="resolved", stop_reason="solved")
    Notes(store.engine).add(run, HOSTILE, author=HOSTILE, episode_id=episode, step_index=1)
    Notes(store.engine).tag_episode(episode, [HOSTILE[:60]])
    start(store, episode)
    store.add_step(
        Step(
            episode_id=episode,
            index=0,
            tool=HOSTILE,
            arguments={HOSTILE: [HOSTILE]},
            state={"locals": {HOSTILE: HOSTILE}},
        )
    )
    odd = {"file": HOSTILE, "line": HOSTILE, "tests": HOSTILE, "breakpoints": HOSTILE}
    store.add_step(Step(episode_id=episode, index=1, tool="pdb", state=odd))
    store.finish_episode(
        episode,
        verdict="unresolved",
        stop_reason="submitted",
        failure_point="wrong_fix",
        failure_step=1,
        error=HOSTILE,
        score={"tests": {HOSTILE: HOSTILE}, "notes": [HOSTILE]},
        milestones={"reproduced": 0, "localized": 1},
    )
    store.end_run(run, "failed", HOSTILE)
    for page in PAGES:
        for tab in (
            {"lb_pick": "1", "fp_tab": "Not the entrant's fault", "cmp_tab": "What differs"},
            {"lb_tab": "Reliability", "run_tab": "Failure points", "fp_tab": "Where it went wrong"},
            {"lb_pick": "1,2", "lb_tab": "Budget", "run_tab": "Specification", "cmp_tab": "By category"},
        ):
            app = visit(url, page, id="1", step="1", cmp_show="second", tk_text=HOSTILE[:9], **tab)
            for part in (*app.markdown, *app.title, *app.subheader, *app.caption, *app.warning, *app.info):
                assert "<script>" not in part.value and ":red[" not in part.value and "**bold**" not in part.value


def test_escaping() -> None:
    assert escaped("a *b* :red[c]\n# d") == r"a \*b\* \:red\[c\] \# d"


def test_ignored_parameters_are_reported(visit: Any, seeded: SimpleNamespace) -> None:
    app = visit(seeded.url, "leaderboard", benchmark="<b>none", last="10", lb_pick="1,77")
    warnings = [part.value.replace("\\", "") for part in app.warning]
    assert warnings == [
        "The link asks for benchmark = <b>none, which does not exist, so it was ignored.",
        "The link asks for lb_pick = 77, which does not exist, so it was ignored.",
    ]
    assert not visit(seeded.url, "leaderboard", last="10", lb_pick="1,2").warning


@pytest.mark.parametrize("pick", ["", "1", "1,1", "x,99", "1,2,3,1,2,3"])
def test_invalid_comparison_parameters(visit: Any, seeded: SimpleNamespace, pick: str) -> None:
    assert "tasks" in texts(visit(seeded.url, "compare", cmp_pick=pick))
