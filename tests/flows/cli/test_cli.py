"""The command line: bad calls first, then what it prints. Nothing here needs Prefect."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.env.benchmarks.bug_suite import DATA, load_task
from stackrank.env.patches import make_diff
from stackrank.env.sandbox.base import SandboxError
from stackrank.env.sandbox.bubblewrap import memory
from stackrank.env.sandbox.registry import backend, default_backend
from stackrank.env.scoring.proof import find_proof
from stackrank.flows.services import prefect_server as server
from tests.dashboard.seed import seed
from tests.fixtures.calls import CommandLine

pytestmark = pytest.mark.slow  # by its time

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("call", "status", "words"),
    [
        ("run --agent nobody", 2, ["nobody", "oracle"]),
        ("run --agent oracle --benchmark nothing", 2, ["nothing", "bugs"]),
        ("run --agent oracle --tasks no-such-task", 2, ["no-such-task", "stackrank tasks"]),
        ("run --agent oracle --tools hammer", 2, ["hammer", "rewrite"]),
        ("run --agent oracle --tools view,hammer", 2, ["hammer", "grep"]),
        ("run --agent oracle --model gpt", 2, ["oracle", "no model"]),
        ("run --agent oracle --attempts 0", 2, ["attempts"]),
        (
            "run --agent random --tools bash --tools eval,view,listdir,grep,bash,rewrite,submit",
            2,
            ["the same entrant", "leave one out"],
        ),
        ("run --agent human", 2, ["human", "stackrank play"]),
        ("play no-such-task", 2, ["no-such-task"]),
        ("play club-ledger --tools hammer", 2, ["hammer"]),
        ("play club-ledger --benchmark nothing", 2, ["nothing"]),
        ("run --agent oracle --sandbox vm", 2, ["sandbox", "vm"]),
        ("run /no/such.yaml", 2, ["/no/such.yaml", "cannot be read"]),
        ("run --agent oracle --path /no/such", 2, ["/no/such"]),
        ("episodes 17", 2, ["17", "stackrank runs"]),
        ("episodes", 2, ["no run yet", "stackrank run"]),
        ("episodes --verdict solved", 2, ["--verdict solved", "resolved, unresolved or error"]),
        ("episodes --query verdct:x", 2, ["verdct:x", "choose entrant, model"]),
        ("export --verdict solved", 2, ["--verdict solved", "unresolved"]),
        ("trace 17", 2, ["17", "stackrank episodes"]),
        ("trace what", 2, ["what"]),
        ("runs --limit 99999999999999999999", 2, ["99999999999999999999 is too large"]),
        ("tasks nothing", 2, ["nothing", "bugs"]),
        ("validate nothing", 2, ["nothing", "bugs"]),
        ("validate bugs --tasks nope", 2, ["nope"]),
        ("compare a b", 2, ["a"]),
    ],
)
def test_a_bad_call_is_one_sentence(stackrank: CommandLine, call: str, status: int, words: list[str]) -> None:
    result = stackrank(*call.split())
    assert result.status == status
    sentence = result.sentence()
    assert [word for word in words if word not in sentence] == [], sentence
    assert result.out == ""


def test_a_wrong_setting_of_this_machine(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_HOST_MEMORY_MB", "8G")
    result = stackrank("run", "--agent", "oracle", "--limit", "1", "--sandbox", "bubblewrap")
    assert result.status == 2
    assert "STACKRANK_HOST_MEMORY_MB is '8G'" in result.sentence()


def test_version(stackrank: CommandLine) -> None:
    result = stackrank("--version")
    assert (result.status, result.out.strip()) == (0, f"stackrank {version('stackrank')}")


def test_wrong_options_exit_with_2(stackrank: CommandLine) -> None:
    assert stackrank("runs", "--no-such-option").status == 2
    assert stackrank("no-such-command").status == 2


def test_no_engine_with_sandbox_docker(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    from stackrank.env.sandbox import registry
    from stackrank.env.sandbox.docker import backend as docker

    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such.sock")
    docker.client.cache_clear()
    registry.backend.cache_clear()
    try:
        result = stackrank("run", "--agent", "oracle", "--sandbox", "docker")
    finally:
        docker.client.cache_clear()
        registry.backend.cache_clear()
    assert result.status == 1
    assert "no Docker engine answers" in result.sentence()
    assert "bubblewrap" in result.sentence()


def test_unreachable_database(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_DATABASE_URL", "postgresql://joe:secret@127.0.0.1:9/none")
    result = stackrank("runs")
    assert result.status == 1
    assert "127.0.0.1:9" in result.sentence()
    assert "secret" not in result.err


def test_no_permission_to_write(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STACKRANK_DATABASE_URL")
    monkeypatch.setenv("STACKRANK_HOME", "/proc/nowhere")
    result = stackrank("runs")
    assert result.status == 1
    assert "/proc/nowhere" in result.sentence()


def test_a_server_that_does_not_answer(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    result = stackrank("run", "--agent", "oracle", "--limit", "1", "--sandbox", "bubblewrap")
    assert result.status == 1
    assert "127.0.0.1:9" in result.sentence()
    assert stackrank("runs", "--json").json() == []


def test_a_fault_of_ours_says_so(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("surprise")

    monkeypatch.setattr("stackrank.db.queries.runs", broken)
    result = stackrank("runs")
    assert result.status == 1
    assert "bug in stackrank" in result.sentence()


def test_empty_lists_say_what_to_run(stackrank: CommandLine) -> None:
    assert "stackrank run" in stackrank("runs").out
    assert "stackrank run" in stackrank("leaderboard").out
    board = stackrank("leaderboard", "--json").json()
    assert (board["entrants"], board["reference"], board["scope"]["runs"]) == ([], [], [])
    assert "stackrank run" in board["scope"]["sentence"] and "stackrank run" in stackrank("failure-points").out


@pytest.mark.slow
def test_benchmarks_and_tasks(stackrank: CommandLine) -> None:
    (bugs,) = [row for row in stackrank("benchmarks", "--json").json() if row["benchmark"] == "bugs"]
    rows = stackrank("tasks", "bugs", "--json").json()
    assert bugs["tasks"] == len(rows) >= 40
    assert len(bugs["categories"]) == 10
    assert bugs["license"] == "MIT"
    assert all(row["fault_files"] and row["fail_to_pass"] for row in rows)
    assert rows[0]["task"] in stackrank("tasks", "bugs").out
    assert "bugs" in stackrank("benchmarks").out


@pytest.mark.slow
def test_validate_stores_its_result(stackrank: CommandLine) -> None:
    result = stackrank("validate", "bugs", "--tasks", "club-ledger", "--rounds", "1", "--json")
    document = result.json()
    assert (result.status, document["valid"], document["invalid"]) == (0, 1, 0)
    (bugs,) = [row for row in stackrank("benchmarks", "--json").json() if row["benchmark"] == "bugs"]
    assert bugs["validated"].startswith("1 of ")
    assert (
        "1 of 1 task of bugs fails as given"
        in stackrank("validate", "bugs", "--tasks", "club-ledger", "--rounds", "1").out
    )


def test_validate_finds_a_task_that_is_none(stackrank: CommandLine, tmp_path: Path) -> None:
    source, broken = DATA / "club-ledger", tmp_path / "suite" / "club-ledger"
    shutil.copytree(source, broken)
    files = load_task(source).files
    name = next(path for path in files if not path.startswith("tests/") and path.endswith(".py"))
    (broken / "fix.patch").write_text(make_diff(files, {**files, name: files[name] + b"# no fix\n"}))
    result = stackrank("validate", "bugs", "--path", str(tmp_path / "suite"), "--rounds", "1", "--json")
    assert result.status == 1
    assert result.json()["invalid"] == 1
    assert "with the fix" in result.json()["tasks"][0]["reason"]


def test_record_writes_the_lists(stackrank: CommandLine, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    shutil.copytree(DATA / "club-ledger", suite / "club-ledger")
    task_before = load_task(suite / "club-ledger")
    text = (suite / "club-ledger" / "task.toml").read_text()
    lists = f'fail_to_pass = [\n    "{task_before.fail_to_pass[0]}",\n]\n'  # of when there were fewer tests
    (suite / "club-ledger" / "task.toml").write_text(text[: text.index("fail_to_pass")] + lists)
    result = stackrank("validate", "bugs", "--path", str(suite), "--rounds", "1", "--record", "--json")
    document = result.json()
    assert result.status == 0 and document["sealable"] == 1  # by the lists that were written
    assert document["proofs"] == document["distinguishing"] == 1
    (row,) = stackrank("tasks", "bugs", "--path", str(suite), "--json").json()
    assert row["sealable"] and row["validated"] == "valid"
    assert row["distinguishing"] == document["tasks"][0]["distinguishing"] > 0
    sentence = (
        "1 of 1 task has a proof; verdicts of 1 can be sealed.\nWithout expected values, the hidden tests of 1 tell"
    )
    assert sentence in stackrank("tasks", "bugs", "--path", str(suite)).out
    task_after = load_task(suite / "club-ledger")
    assert sorted(task_after.fail_to_pass) == sorted(task_before.fail_to_pass)
    assert sorted(task_after.pass_to_pass) == sorted(task_before.pass_to_pass)
    proof = find_proof(task_after)
    assert proof and proof.deciding == len(
        {test.partition("[")[0] for test in (*task_after.must_pass, *task_after.must_stay)}
    )


def test_doctor(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "server_status", lambda: None)
    result = stackrank("doctor", "--json")
    checks = {check["check"]: check for check in result.json()["checks"]}
    assert checks["python"]["ok"]
    assert checks["database"]["ok"]
    assert result.status == (0 if result.json()["ready"] else 1)
    assert "check" in stackrank("doctor").out
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    result = stackrank("doctor", "--json")
    (prefect,) = [check for check in result.json()["checks"] if check["check"] == "prefect server"]
    assert "127.0.0.1:9/api does not answer: start that server" in prefect["detail"]
    assert (result.status, result.json()["ready"], prefect["ok"]) == (1, False, False)
    monkeypatch.delenv("PREFECT_API_URL")
    monkeypatch.setenv("STACKRANK_DATABASE_URL", "sqlite:////proc/nowhere/x.db")
    result = stackrank("doctor", "--json")
    assert (result.status, result.json()["ready"]) == (1, False)


def test_gc_with_nothing_to_do(stackrank: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine of its own: other tests leave folders of killed processes, and copies in memory, at any time."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(memory, "_machine_places", list)
    assert stackrank("gc", "--json").json() == {"removed": []}
    assert "nothing" in stackrank("gc").out


def test_a_query_finds_episodes_and_the_step(
    stackrank: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKRANK_DATABASE_URL", url := f"sqlite:///{tmp_path / 'seeded.db'}")
    engine = connect(url)
    run = seed(engine, tasks=4).runs[0]
    query = 'verdict:resolved text:"passed in"'
    rows = stackrank("episodes", str(run), "--query", query, "--json").json()
    assert rows and {row["verdict"] for row in rows} == {"resolved"}
    for row in rows:
        assert "passed in" in row["hit"]["excerpt"]
        assert "passed in" in queries.step_text(engine, row["id"], row["hit"]["step"], "observation", chars=10_000)
    engine.dispose()
    assert "at step" in stackrank("episodes", str(run), "--query", query).out
    rows = stackrank("episodes", str(run), "--query", "-tool:pdb", "--json").json()
    assert rows and not any("hit" in row for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("call", ["trace 1", "leaderboard", "runs", "episodes", "compare"])
def test_reading_commands_import_only_what_they_need(call: str, tmp_path: Path) -> None:
    """Nearly all that they cost are imports: see tests/bench/bench_commands.py."""
    engine = connect(url := f"sqlite:///{tmp_path / 'seeded.db'}")
    first, two, _ = seed(engine, tasks=4).entrants
    engine.dispose()
    code = (
        "import sys\nfrom stackrank.flows.cli.main import app\n"
        "heavy = {'prefect', 'docker', 'openai', 'streamlit', 'pandas', 'statsmodels', 'scipy.stats', 'alembic',\n"
        "    'jinja2', 'dask', *(['rich'] if sys.argv[-1] == '--json' else [])}\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    arguments = [call, first, two] if call == "compare" else call.split()
    environment = {**os.environ, "STACKRANK_DATABASE_URL": url}
    for flags in ([], ["--json"]):
        command = [sys.executable, "-c", code, *arguments, *flags]
        process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        assert process.stderr.strip() == "[]" and process.stdout.strip()


def test_help_imports_nothing_heavy() -> None:
    """Start-up time is what is imported: none of these may be, for `--help`."""
    code = (
        "import sys\nfrom stackrank.flows.cli.main import app\n"
        "heavy = {'prefect', 'sqlalchemy', 'sqlmodel', 'docker', 'openai', 'streamlit', 'scipy', 'pydantic'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    process = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"
    subprocess.run(
        [sys.executable, "-m", "stackrank.flows.cli.main", "--help"], cwd=ROOT, check=True, capture_output=True
    )


def test_a_terminal_without_unicode_gets_signs(tmp_path: Path) -> None:
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "STACKRANK_HOME": str(tmp_path)}
    call = [sys.executable, "-m", "stackrank.flows.cli.main", "benchmarks"]
    printed = subprocess.run(call, cwd=ROOT, env=ascii_only, capture_output=True, text=True, check=True).stdout
    assert "bugs" in printed
    assert "|     ? |" in printed  # a dash where there is no value


def test_an_image_of_ones_own_is_never_replaced_by_another_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_SANDBOX_IMAGE", "no-such-image:1")
    backend.cache_clear()
    with pytest.raises(SandboxError, match=r"STACKRANK_SANDBOX_IMAGE is set, but .*--sandbox bubblewrap"):
        default_backend()
