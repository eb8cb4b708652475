"""Cards: what is published follows from the facts, whatever the board, and whoever derives it."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas
import pytest
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.queries import Scope
from stackrank.db.writes.labels import Labels
from stackrank.errors import UsageError
from stackrank.extensions.cards.card import PROGRAM, check_card, write_card
from stackrank.extensions.cards.program.facts import FACTS, PUBLISHED
from stackrank.terms import ErrorsAre, Label
from stackrank.wording import fixed
from tests.extensions.cards.made_runs import make_runs
from tests.fixtures.calls import CommandLine
from tests.support.databases import Databases
from tests.support.session import sample

pytestmark = pytest.mark.slow  # by its time


@pytest.fixture(scope="module")
def demo(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Path]]:
    """The demo set, and its card."""
    url, _ = databases.seeded(tmp_path_factory.mktemp("demo") / "x.db")
    engine, folder = connect(url), tmp_path_factory.mktemp("cards") / "card"
    write_card(engine, Scope(), folder)
    yield engine, folder
    engine.dispose()


@pytest.fixture
def copy(demo: tuple[Engine, Path], tmp_path: Path) -> Path:
    """A copy of the demo's card, to be damaged."""
    for file in demo[1].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def derive(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the card's own program, which must not find stackrank."""
    hide = "import runpy, sys; sys.modules['stackrank'] = None; del sys.argv[0]"
    program = f"{hide}; runpy.run_path(sys.argv[0], run_name='__main__')"
    command = [sys.executable, "-I", "-c", program, str(folder / PROGRAM)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def edit(file: Path, change: Callable[[list[list[str]]], None]) -> None:
    with file.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    change(rows)
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)


FEW_TABLES = ("board", "pairs", "costs")


@pytest.mark.parametrize("table", sample(PUBLISHED, FEW_TABLES))
def test_a_changed_number_is_found(copy: Path, table: str) -> None:
    def change(rows: list[list[str]]) -> None:
        row, cell = next((row, cell) for row in (1, -1) for cell in range(-1, -9, -1) if rows[row][cell][:1].isdigit())
        last = rows[row][cell][-1]
        rows[row][cell] = rows[row][cell][:-1] + str((int(last) + 1) % 10)

    edit(copy / f"{table}.csv", change)
    _, differences, _ = check_card(copy)
    assert len(differences) == 1 and f"{table}.csv" in differences[0]


@pytest.mark.parametrize("table", sample(PUBLISHED, FEW_TABLES))
def test_a_missing_row_is_found(copy: Path, table: str) -> None:
    edit(copy / f"{table}.csv", lambda rows: rows.pop())
    _, differences, _ = check_card(copy)
    assert len(differences) == 1 and differences[0].endswith("missing")


def test_a_missing_episode_is_found(copy: Path) -> None:
    edit(copy / "episodes.csv", lambda rows: rows.pop(1))
    assert len(check_card(copy)[1]) > 3
    outcome = derive(copy)
    assert outcome.returncode == 1 and "board.csv, entrant 1" in outcome.stdout


@pytest.mark.parametrize(
    ("table", "change", "sentence"),
    [
        ("episodes", lambda rows: rows.append([str(10**6), *rows[1][1:]]), "counts an attempt twice"),
        ("episodes", lambda rows: rows.append(rows[1]), "has episode 1 twice"),
        ("episodes", lambda rows: rows[1].__setitem__(1, "77"), "names run 77"),
        ("episodes", lambda rows: rows[1].__setitem__(rows[0].index("counted"), "yes"), "says 'yes' for counted"),
        ("episodes", lambda rows: rows[1].__setitem__(rows[0].index("steps"), "many"), "steps"),
        ("rules", lambda rows: rows.clear(), "rules.csv"),
        ("rules", lambda rows: rows[0].reverse(), "rules.csv"),
        ("rules", lambda rows: rows.pop(4), "rules.csv"),
    ],
)
def test_facts_that_contradict_each_other(
    copy: Path, table: str, change: Callable[[list[list[str]]], None], sentence: str
) -> None:
    edit(copy / f"{table}.csv", change)
    count, differences, _ = check_card(copy)
    assert count == 0 and len(differences) == 1 and sentence in differences[0]


@pytest.mark.parametrize("name", [*(f"{table}.csv" for table in (*FACTS, *PUBLISHED) if table != "board"), "README.md"])
def test_a_missing_table_is_said(copy: Path, name: str) -> None:
    (copy / name).unlink()
    assert any(name in sentence for sentence in check_card(copy)[1])


def test_another_program_is_said_and_not_run(copy: Path) -> None:
    (copy / PROGRAM).write_text("raise SystemExit('run')")
    count, differences, is_own = check_card(copy)
    assert count > 300 and not differences and not is_own


def test_the_demo_is_derived_again(demo: tuple[Engine, Path]) -> None:
    engine, folder = demo
    outcome = derive(folder)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    board = queries.leaderboard(engine)
    published = pandas.read_csv(folder / "board.csv").set_index("entrant")
    for row in board:
        assert published.rate[row["entrant_id"]] == pytest.approx(row["rate"], abs=5e-7)
        assert f"{fixed(100 * (row['rate'] or 0), 1)} %" in (folder / "README.md").read_text("utf-8")
    assert check_card(folder)[1:] == ([], True)


@pytest.mark.parametrize("seed", sample(range(6), (2, 3)))  # several attempts; several runs and faults
def test_any_board_is_derived_again(engine: Engine, tmp_path: Path, seed: int) -> None:
    sizes = {"attempts": 1 + seed % 3, "runs": 1 + seed % 2, "tasks": (14, 3, 40)[seed % 3], "faults": (1, 7)[seed > 2]}
    make_runs(engine, seed, entrants=1 + seed % 5, **sizes)
    scopes = [Scope(), Scope(errors=ErrorsAre.AS_FAILURES), Scope(benchmark="bugs", finished_only=False)]
    for number, scope in enumerate(scopes):
        assert write_card(engine, scope, tmp_path / str(number)) > 50
    texts = [file.read_text("utf-8") for file in (tmp_path / "0").iterdir() if file.name != PROGRAM]
    assert not [text for text in texts if "inside.example" in text or "secret" in text or "private" in text]


def test_disputed_tasks(engine: Engine, tmp_path: Path) -> None:
    make_runs(engine, 1)
    task = queries.tasks(engine, "bugs")[3]
    Labels(engine).put(Label.DISPUTED, person="ada", task_id=task["id"], episode_id=None, reason="no", is_set=True)
    for without in (False, True):
        assert write_card(engine, Scope(without_disputed=without), tmp_path / str(without)) > 50
        left_out = (tmp_path / str(without) / "left_out.csv").read_text("utf-8")
        assert ("excluded" if without else "still counted") in left_out and "ada" not in left_out


def test_the_commands(stackrank: CommandLine, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_DATABASE_URL", engine.url.render_as_string(hide_password=False))
    folder = tmp_path / "card"
    assert stackrank("leaderboard", "--card", str(folder)).status == 2
    make_runs(engine, 2)
    result = stackrank("leaderboard", "--card", str(folder), "--json")
    assert result.status == 0 and result.json()["entrants"] and "published numbers" in result.err
    repeated = stackrank("leaderboard", "--card", str(folder))
    assert repeated.status == 2 and "not empty" in repeated.sentence()
    checked = stackrank("check-card", str(folder), "--json")
    assert checked.status == 0 and checked.json()["differences"] == [] and checked.json()["own_program"]
    edit(folder / "board.csv", lambda rows: rows.pop())
    assert stackrank("check-card", str(folder)).status == 1
    assert stackrank("check-card", str(tmp_path)).status == 2


def test_no_card_without_a_run(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="run"):
        write_card(engine, Scope(), tmp_path / "card")
    assert not list(tmp_path.glob("card*"))


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_20_000_episodes_are_derived_again(tmp_path: Path) -> None:
    engine = connect(f"sqlite:///{tmp_path / 'x.db'}")
    make_runs(engine, 5, runs=1, tasks=100, entrants=10, attempts=20, with_others=False)
    folder = tmp_path / "card"
    assert write_card(engine, Scope(), folder) > 2_000
    assert len(pandas.read_csv(folder / "episodes.csv")) > 20_000 * 0.95
    outcome = derive(folder)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    engine.dispose()
