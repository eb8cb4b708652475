"""A gate for pipelines: exit status, JUnit XML, and the line for a pull request."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from stackrank.db.connection.engine import connect
from stackrank.db.stats.noninferiority import judge_noninferiority
from stackrank.db.writes.store import Store
from tests.fixtures.calls import CommandLine
from tests.support.episodes import create_episodes

pytestmark = pytest.mark.slow  # by its time

ROOT = Path(__file__).parents[3]
CONDITIONS = {"steps": 50, "sandbox": "docker"}


def played(run: str, verdicts: dict[str, str], *, digests: str = "e", steps: int = 50) -> int:
    """A finished run. `verdicts`: entrant -> a sign per task, + resolved, - unresolved, ! error, a space for none."""
    store = Store(connect())
    tasks = max(map(len, verdicts.values()))
    rows = [{"name": f"t{n:03}", "digest": f"d{n}", "statement": "It fails."} for n in range(tasks)]
    benchmark = store.save_benchmark(name="bugs", digest=f"b{tasks}", license="MIT", source="", tasks=rows)
    entrants = {name: store.save_entrant(digest=f"{digests}-{name}", name=name, agent="scripted") for name in verdicts}
    run_id = store.create_run(
        name=run, benchmark_id=benchmark.id, spec={"benchmark": "bugs"}, conditions={**CONDITIONS, "steps": steps}
    )
    ids = list(benchmark.task_ids.values())
    cells = {
        (ids[n], entrants[name], 1): sign
        for name, signs in verdicts.items()
        for n, sign in enumerate(signs)
        if sign != " "
    }
    episodes = create_episodes(store, run_id, cells)
    for cell, sign in cells.items():
        if sign == "!":
            store.fail_episode(episodes[cell], stop_reason="error", error="gone")
        else:
            verdict = "resolved" if sign == "+" else "unresolved"
            store.finish_episode(episodes[cell], verdict=verdict, stop_reason="submitted")
    store.start_run(run_id)
    store.end_run(run_id, "finished")
    return run_id


def case(file: Path) -> ElementTree.Element:
    root = ElementTree.parse(file).getroot()
    suite = root.find("testsuite")
    assert root.tag == "testsuites" and suite is not None and suite.get("tests") == root.get("tests") == "1"
    kinds = {kind: len(suite.findall(f"testcase/{kind}")) for kind in ("failure", "error")}
    assert (suite.get("failures"), suite.get("errors")) == (str(kinds["failure"]), str(kinds["error"]))
    testcase = suite.find("testcase")
    assert testcase is not None
    return testcase


def test_not_worse_is_0_worse_is_1_and_not_known_is_3(stackrank: CommandLine, tmp_path: Path) -> None:
    good = "++-" * 40
    played("r", {"old": good, "same": good, "bad": "-" * 120, "alike": "-++" * 40})
    file = tmp_path / "gate.xml"
    passed = stackrank("compare", "old", "same", "--max-drop", "0.1", "--junit", str(file))
    assert passed.status == 0 and passed.out.startswith(":white_check_mark: same is not more than 10 points worse")
    assert passed.out.count("\n") == 1
    assert [child.tag for child in case(file)] == ["system-out"]
    failed = stackrank("compare", "old", "bad", "--max-drop", "0.1", "--junit", str(file))
    assert failed.status == 1 and failed.out.startswith(":x: bad is more than 10 points worse than old: -66.7 points")
    failure = case(file).find("failure")
    assert failure is not None and "66.7" in (failure.get("message") or "")
    assert "lost: t000" in (case(file).findtext("system-out") or "")
    unknown = stackrank("compare", "old", "alike", "--max-drop", "0.02", "--junit", str(file))
    assert unknown.status == 3 and "still unclear" in unknown.out and "would probably settle it" in unknown.out
    assert case(file).find("error") is not None  # a pipeline that reads nothing but the report does not pass either
    document = stackrank("compare", "old", "alike", "--max-drop", "0.02", "--json").json()
    assert document["outcome"] == "unknown" and document["more_tasks"] > 0
    assert (len(document["lost"]), len(document["won"])) == (40, 40)


def test_the_answer_is_the_interval_that_compare_shows(stackrank: CommandLine) -> None:
    played("r", {"old": "+" * 30 + "-" * 30, "new": "+" * 24 + "-" * 30 + "+" * 6})
    document = stackrank("compare", "old", "new", "--json").json()
    for max_drop in (0.01, 0.1, 0.2, 0.3, 0.5):
        judged = stackrank("compare", "old", "new", "--max-drop", str(max_drop), "--json")
        assert judged.status == (0 if document["ci_low"] > -max_drop else 3)
        assert (judged.json()["ci_low"], judged.json()["difference"]) == (document["ci_low"], document["difference"])


def test_an_entrant_is_judged_by_an_earlier_run(stackrank: CommandLine) -> None:
    monday = played("monday", {"agent": "+" * 100})
    tuesday = played("tuesday", {"agent": "-" * 60 + "+" * 40}, digests="new version")
    result = stackrank("compare", "agent", "--baseline", "monday", "--run", "tuesday", "--max-drop", "0.05", "--json")
    document = result.json()
    assert result.status == 1 and (document["baseline"], document["run"]) == (monday, tuesday)
    assert document["difference"] == pytest.approx(-0.6) and f"in run {monday}" in document["sentence"]
    newest = stackrank("compare", "agent", "--baseline", "monday", "--max-drop", "0.05")
    assert newest.status == 1  # the latest run where none is named
    # The other way round it got better.
    reverse = stackrank("compare", "agent", "--baseline", "tuesday", "--run", "monday", "--max-drop", "0.05")
    assert reverse.status == 0


def test_errors_are_reported_and_count_for_no_entrant(stackrank: CommandLine) -> None:
    played("r", {"old": "+" * 60, "new": "+" * 50 + "!" * 10})
    document = stackrank("compare", "old", "new", "--max-drop", "0.1", "--json").json()
    assert (
        document["tasks"] == 50 and document["errors"] == [0, 10] and "0 and 10 errors excluded" in document["sentence"]
    )
    assert document["outcome"] == "not_worse" and "-16.7 points" in document["warning"]
    assert "warning: With errors counted as failures" in stackrank("compare", "old", "new", "--max-drop", "0.1").err
    strict = stackrank("compare", "old", "new", "--max-drop", "0.1", "--errors", "as-failures", "--json")
    assert strict.status == 3 and strict.json()["tasks"] == 60 and not strict.json()["warning"]
    played("s", {"old": "+" * 60, "new": "+" * 60})
    over_time = ["compare", "new", "--baseline", "s", "--run", "r", "--max-drop", "0.1", "--json"]
    assert stackrank(*over_time).json()["warning"] and stackrank(*over_time, "--errors", "as-failures").status == 3


def test_tasks_that_the_candidate_did_not_play_are_reported(stackrank: CommandLine, tmp_path: Path) -> None:
    played("r", {"old": "-" * 20 + "+" * 60, "new": " " * 20 + "+" * 60})
    file = tmp_path / "gate.xml"
    result = stackrank("compare", "old", "new", "--max-drop", "0.1", "--junit", str(file))
    sentence = "The candidate did not play 20 of the 80 tasks of old, so these are not compared."
    assert result.status == 0 and sentence in result.err and sentence in (case(file).findtext("system-out") or "")
    assert not stackrank("compare", "new", "old", "--max-drop", "0.1", "--json").json()["warning"]


def test_without_a_common_task_the_outcome_is_unknown(stackrank: CommandLine, tmp_path: Path) -> None:
    played("r", {"old": "+" * 10 + "!" * 10, "new": "!" * 10 + "+" * 10})
    result = stackrank("compare", "old", "new", "--max-drop", "0.1", "--junit", str(tmp_path / "gate.xml"))
    assert result.status == 3 and "no counted task in common" in result.out
    assert case(tmp_path / "gate.xml").find("error") is not None


def test_names_cannot_break_the_report(stackrank: CommandLine, tmp_path: Path) -> None:
    name = "a\x1b[31m<&\"'>\n]]>"
    played("r", {name: "+" * 30, "new": "-" * 30})
    result = stackrank("compare", name, "new", "--max-drop", "0.1", "--junit", str(tmp_path / "gate.xml"))
    assert result.status == 1 and result.out.count("\n") == 1 and "\x1b" not in result.out
    assert "<&" in (case(tmp_path / "gate.xml").get("classname") or "")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (["compare", "one"], ["name the entrant to compare with"]),
        (["compare", "one", "--max-drop", "0.1"], ["--baseline"]),
        (["compare", "one", "two", "--junit", "x.xml"], ["--max-drop"]),
        (["compare", "one", "two", "--baseline", "r"], ["--max-drop"]),
        (["compare", "one", "--baseline", "no-such", "--max-drop", "0.1"], ["no-such", "stackrank runs"]),
        (["compare", "one", "--baseline", "r", "--run", "r", "--max-drop", "0.1"], ["itself", "--run"]),
        (["compare", "nobody", "--baseline", "r", "--run", "s", "--max-drop", "0.1"], ["nobody", "one"]),
    ],
)
def test_a_bad_call_is_one_sentence(stackrank: CommandLine, call: list[str], words: list[str]) -> None:
    played("r", {"one": "+-", "two": "-+"})
    played("s", {"one": "+-", "two": "-+"})
    result = stackrank(*call)
    assert result.status == 2
    for word in words:
        assert word in result.sentence()


def test_how_many_more_tasks_follows_the_distance_to_the_margin() -> None:
    gaps = [1.0, -1.0, *[0.0] * 18] * 3
    close, distant = (judge_noninferiority(gaps, -0.2, 0.2, margin).more_tasks for margin in (0.02, 0.1))
    assert close is not None and distant is not None and close > 20 * distant > 0
    assert judge_noninferiority(gaps, None, None, 0.1).outcome == "unknown"
    # So many tasks more of the same kind do tell, four times in five: here their mean is just what it is.
    assert judge_noninferiority([], None, None, 0.0).more_tasks is None


def test_the_workflow_is_one_that_github_reads() -> None:
    workflow = yaml.safe_load((ROOT / "deploy" / "examples" / "gate.yml").read_text())
    steps = workflow["jobs"]["gate"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert any("--max-drop" in step.get("run", "") and "pipefail" in step["run"] for step in steps)
