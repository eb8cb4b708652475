"""Rows as SWE-smith, R2E-Gym, SWE-rebench, SWE-bench Pro and Multilingual publish them, of a repository of our own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from stackrank.env.benchmarks.base import Source
from stackrank.env.benchmarks.swebench.benchmark import SweBench, SweBenchDebug
from stackrank.env.patches import PatchError, apply_patch, make_diff, reverse_patch
from stackrank.env.sandbox.client import Changes
from stackrank.env.sandbox.pool import Pool
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task
from tests.fixtures.env import usable
from tests.support.repository import (
    BUGGY,
    FIXED,
    NEW_TEST,
    OLD_TEST,
    SECRET,
    SampleRepository,
    instance,
    make_repository,
)

FAILS, STAYS = "tests/test_cart.py::test_total", "tests/test_cart.py::test_type"
LOG = "== short test summary info ==\n"


def swebench(repo: SampleRepository) -> dict[str, Any]:
    return instance(repo)


def smith(repo: SampleRepository) -> dict[str, Any]:
    """The bug is planted in what upstream has, which is the second commit here."""
    elsewhere = "tests/test_other.py::test_other"
    return {
        "instance_id": f"acme__shop.{repo.fixed_commit[:8]}.func_pm_op_swap__a1b2c3d4",
        "repo": f"swesmith/acme__shop.{repo.fixed_commit[:8]}",
        "patch": reverse_patch(repo.fix), "FAIL_TO_PASS": [FAILS], "PASS_TO_PASS": [STAYS, elsewhere],
        "image_name": f"nobody.invalid/swesmith.x86_64.acme_1776_shop.{repo.fixed_commit[:8]}",
        "problem_statement": "Totals are wrong.", "created_at": "2026-01-01",
    }  # fmt: skip


def r2e(repo: SampleRepository) -> dict[str, Any]:
    """A commit with its files on both sides, tests of its own, and logs of both runs in colours."""

    def changed(path: str, old: str, new: str) -> dict[str, Any]:
        return {"header": {"file": {"path": path}}, "old_file_content": old, "new_file_content": new, "hunks": []}

    files = [changed("shop/cart.py", BUGGY, FIXED), changed("tests/test_cart.py", OLD_TEST, NEW_TEST)]
    files.append(changed("shop/new.py", "/dev/null", "x = 1\n"))
    files.append({**changed("logo.png", "", ""), "is_binary_file": True})
    passed = {"type": "\x1b[32mPASSED\x1b[0m r2e_tests/test_1.py::\x1b[1mtest_type\x1b[0m\n"}
    passed["total"] = "\x1b[32mPASSED\x1b[0m r2e_tests/test_1.py::\x1b[1mtest_total\x1b[0m\n"
    failed = "\x1b[31mFAILED\x1b[0m r2e_tests/test_1.py::\x1b[1mtest_total\x1b[0m - assert 2 == 3\n"
    executed = {
        "repo_name": "shop", "new_commit_hash": repo.fixed_commit, "setup_res_code": 0,
        "test_file_codes": [NEW_TEST, ""], "test_file_names": ["test_1.py", "__init__.py"],
        "new_commit_res_stdout": LOG + passed["type"] + passed["total"],
        "old_commit_res_stdout": LOG + passed["type"] + failed,
    }  # fmt: skip
    return {
        "repo_name": "shop", "docker_image": f"nobody.invalid/shop_final:{repo.fixed_commit}",
        "commit_hash": repo.fixed_commit,
        "parsed_commit_content": json.dumps({"file_diffs": files, "old_commit_hash": f"{repo.fixed_commit}^"}),
        "execution_result_content": json.dumps(executed),
        "expected_output_json": json.dumps({"\x1b[1mtest_total\x1b[0m": "PASSED", "test_type": "PASSED"}),
        "problem_statement": "An issue:\n[ISSUE]\nTotals are wrong.\n[/ISSUE]", "prompt": "holds the fix",
        "modified_files": ["shop/cart.py"], "relevant_files": ["shop/cart.py"], "num_non_test_lines": 2,
    }  # fmt: skip


def rebench(repo: SampleRepository) -> dict[str, Any]:
    install = {"python": "3.11", "packages": None, "pip_packages": ["pytest"], "pre_install": None, "install": "true",
               "test_cmd": "python -m pytest -rA", "log_parser": "parse_log_pytest"}  # fmt: skip
    image = "nobody.invalid/sweb.eval.x86_64.acme_1776_shop-1"
    return instance(repo, install_config=install, docker_image=image, meta={"llm_score": 1}, version=1.5)


def rebench_v2(repo: SampleRepository) -> dict[str, Any]:
    install = {"install": ["true"], "test_cmd": ["python -m pytest -rA tests"], "log_parser": "parse_log_pytest"}
    row = instance(repo, install_config=json.dumps(install), image_name="nobody.invalid/acme-shop:1")
    return {**row, "language": "python", "interface": "", "pr_description": "", "FAIL_TO_PASS": [FAILS]}


def pro(repo: SampleRepository) -> dict[str, Any]:
    row = instance(repo, instance_id=f"instance_acme__shop-{repo.fixed_commit}-vnan", repo_language="python")
    del row["FAIL_TO_PASS"], row["PASS_TO_PASS"], row["version"]
    return {
        **row, "fail_to_pass": f"['{FAILS}']", "pass_to_pass": f'["{STAYS}"]',  # as Python, and as JSON
        "selected_test_files_to_run": '["tests/test_cart.py", "tests/data.yml"]',
        "before_repo_set_cmd": f"git checkout {repo.fixed_commit} -- tests", "dockerhub_tag": "acme.shop-1",
        "requirements": "Totals are whole.", "interface": "No new ones.",
    }  # fmt: skip


LAYOUTS = {"swebench": swebench, "smith": smith, "r2e": r2e, "rebench": rebench, "rebench_v2": rebench_v2, "pro": pro}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> SampleRepository:
    return make_repository(tmp_path_factory.mktemp("repos") / "shop")


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(usable("bubblewrap"), size=1) as sandboxes:
        yield sandboxes


def load(
    repo: SampleRepository,
    folder: Path,
    rows: list[dict[str, Any]],
    *,
    parquet: bool = False,
    visible: bool = False,
) -> SweBench:
    file = folder / ("rows.parquet" if parquet else "rows.jsonl")
    if parquet:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "environments.json").write_text('{"acme/shop": {"setup": ["true"]}, "shop/shop": {"setup": ["true"]}}')
    source = Source(file, repos=repo.path.parent, environments=folder / "environments.json")
    return (SweBenchDebug if visible else SweBench)(source)


def only(benchmark: SweBench) -> Task:
    assert not benchmark.excluded()
    (task,) = benchmark.tasks()
    return task


@pytest.mark.slow
@pytest.mark.parametrize("parquet", [False, True], ids=["jsonl", "parquet"])
@pytest.mark.parametrize("row", LAYOUTS.values(), ids=LAYOUTS)
def test_the_known_fix_resolves_it_and_nothing_does_not(
    repo: SampleRepository, tmp_path: Path, row: Callable[[SampleRepository], dict[str, Any]], parquet: bool, pool: Pool
) -> None:
    benchmark = load(repo, tmp_path, [row(repo)], parquet=parquet)
    task = only(benchmark)
    assert benchmark.notes == ()
    assert "Totals are wrong." in task.statement and "holds the fix" not in task.statement
    assert task.files["shop/cart.py"] == BUGGY.encode()
    assert [fault.file for fault in task.faults if fault.file == "shop/cart.py"]
    hidden = {path: content for path, content in task.hidden_files.items() if SECRET.encode() in content}
    assert not any(SECRET.encode() in content for content in task.files.values()) or (task.shows_bug and not hidden)
    if parquet or row not in (smith, r2e, pro):
        return  # one of each kind is played
    fixed = apply_patch(task.files, task.fix)
    changed = {path: content for path, content in fixed.items() if task.files.get(path) != content}
    bare = replace(task, environment=None)  # that environments are built is seen elsewhere
    assert score(bare, Changes(files=changed), pool.take).resolved
    assert not score(bare, Changes(), pool.take).resolved


@pytest.mark.parametrize(
    ("row", "image", "place"),
    [
        (swebench, "swebench/sweb.eval.x86_64.acme_1776_shop-1:latest", "/testbed"),
        (smith, "nobody.invalid/swesmith.x86_64.acme_1776_shop.", "/testbed"),
        (r2e, "nobody.invalid/shop_final:", "/testbed"),
        (rebench, "nobody.invalid/sweb.eval.x86_64.acme_1776_shop-1", "/testbed"),
        (rebench_v2, "nobody.invalid/acme-shop:1", "/shop"),
        (pro, "jefzda/sweap-images:acme.shop-1", "/app"),
    ],
)
def test_images_are_those_of_the_rows(
    repo: SampleRepository, tmp_path: Path, row: Callable[[SampleRepository], dict[str, Any]], image: str, place: str
) -> None:
    environment = only(load(repo, tmp_path, [row(repo)])).environment
    assert environment is not None and environment.prebuilt.startswith(image) and environment.repository == place


def test_what_each_layout_says(repo: SampleRepository, tmp_path: Path) -> None:
    task = only(load(repo, tmp_path, [smith(repo)]))
    assert task.shows_bug and task.pass_to_pass == (STAYS,) and task.test_command.endswith(" tests/test_cart.py")
    assert not task.may_edit("tests/test_cart.py") and task.environment is not None
    assert task.environment.source["shop/cart.py"] == BUGGY.encode(), "what is built must not hold the fix"
    task = only(load(repo, tmp_path, [r2e(repo)]))
    assert task.fail_to_pass == ("r2e_tests/test_1.py::test_total",) and list(task.hidden_files) == [
        "r2e_tests/test_1.py"
    ]
    assert apply_patch(task.files, task.fix)["shop/new.py"] == b"x = 1\n" and task.id == f"shop-{repo.fixed_commit}"
    task = only(load(repo, tmp_path, [pro(repo)]))
    assert task.statement.endswith("Requirements:\nTotals are whole.\n\nNew interfaces introduced:\nNo new ones.")
    assert (task.score_command or task.test_command).endswith(" tests/test_cart.py")
    task = only(load(repo, tmp_path, [rebench_v2(repo)]))
    assert (task.score_command or task.test_command) == "python -m pytest -rA tests"


def test_columns_that_nothing_reads_are_named(repo: SampleRepository, tmp_path: Path) -> None:
    rows = [{**swebench(repo), "fim_prefix": "def", "fim_middle": "x"}, {**smith(repo), "fim_suffix": "y"}]
    benchmark = load(repo, tmp_path, rows)
    assert len(benchmark.tasks()) == 2
    assert benchmark.notes == (
        "columns that nothing reads (SWE-bench): fim_middle, fim_prefix",
        "columns that nothing reads (SWE-smith): fim_suffix",
    )


def test_what_cannot_be_played_is_a_sentence(repo: SampleRepository, tmp_path: Path) -> None:
    ruby = make_diff({"lib/a.rb": b"1\n"}, {"lib/a.rb": b"2\n"})
    rows = [
        instance(repo, instance_id="multi-1", patch=ruby, test_patch=ruby, FAIL_TO_PASS=["adds"], PASS_TO_PASS=[]),
        {**pro(repo), "instance_id": "pro-1", "repo_language": "go"},
        {**rebench_v2(repo), "instance_id": "v2-1", "language": "rust"},
        {**smith(repo), "instance_id": "smith-1", "repo": "acme/shop"},
        {**smith(repo), "instance_id": "smith-2", "patch": repo.fix},
        {**r2e(repo), "commit_hash": "0" * 40, "execution_result_content": "{}"},
        {**r2e(repo), "commit_hash": "1" * 40, "parsed_commit_content": "["},
        instance(repo, instance_id="silent-1", problem_statement=None),
    ]  # fmt: skip
    benchmark = load(repo, tmp_path, rows)
    assert not benchmark.tasks()
    for name, part in {
        "multi-1": "a Python file (lib/a.rb)", "pro-1": "written in go", "v2-1": "written in rust",
        "smith-1": "must look like 'swesmith/OWNER__NAME.COMMIT'", "smith-2": "planted: the patch does not apply",
        "line 6": "test_file_names is missing", "line 7": "Expecting value",
        "silent-1": "no problem statement",
    }.items():  # fmt: skip
        assert part in benchmark.excluded()[name], benchmark.excluded()
    visible = load(repo, tmp_path, [rows[-1]], visible=True)
    assert only(visible).statement.startswith("Some of its tests fail")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": b"1\n2\n3\n"}, {"a": b"1\n3\n4\n"}),
        ({"a": b"1\n"}, {"a": b"1"}),
        ({}, {"d/new": b"x\n"}),
        ({"gone": b"- x\n-- y\n"}, {}),
        ({"a": b"1\n", "b": b"-\n+\n"}, {"a": b"2\n", "b": b"+\n-\n"}),
    ],
)
def test_a_patch_is_reversed(old: dict[str, bytes], new: dict[str, bytes]) -> None:
    diff = make_diff(old, new)
    assert apply_patch(new, reverse_patch(diff)) == old
    assert apply_patch(old, reverse_patch(reverse_patch(diff))) == new


def test_a_patch_of_a_binary_file_is_not_reversed() -> None:
    with pytest.raises(PatchError, match=r"logo\.png, which is binary"):
        reverse_patch(
            "diff --git a/logo.png b/logo.png\nindex 1..2 100644\nBinary files a/logo.png and b/logo.png differ\n"
        )


def test_the_virtual_environment_of_an_image_moves_out_of_the_repository(tmp_path: Path) -> None:
    """R2E-Gym's images have it beside the code."""
    from stackrank.env.environment import Environment
    from stackrank.env.sandbox.environments import HOME, build_script

    text = build_script(Environment(prebuilt="x", repository="/testbed"), "adopt")
    assert f"mv /testbed/.venv {HOME}" in text
