"""A row of SWE-bench in JavaScript, in an image of its own that is named like SWE-bench's."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stackrank.env.benchmarks.base import BenchmarkError, Source
from stackrank.env.benchmarks.swebench.benchmark import SweBench
from stackrank.env.patches import make_diff
from stackrank.env.sandbox.base import SandboxError, SandboxSpec
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task
from stackrank.env.validate import validate
from tests.extensions.languages.images import build_image
from tests.fixtures.env import usable
from tests.support.repository import git, instance, make_repository, write

NAME = "swebench/sweb.eval.x86_64.acme_1776_doubled-{}:latest"
BUGGY = "exports.doubled = (x) => x;\n"
FIXED = "exports.doubled = (x) => 2 * x;\n"
TESTS = "const { doubled } = require('./shop');\ntest('zero', () => expect(doubled(0)).toBe(0));\n"
MORE = TESTS + "test('doubles', () => expect(doubled(2)).toBe(4));\n"


def patch(path: str, old: str, new: str) -> str:
    return make_diff({path: old.encode()}, {path: new.encode()})


def test_a_row_of_another_language_names_the_format_of_its_results(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "shop")

    def tasks(row: dict[str, Any]) -> Sequence[Task]:
        rows = tmp_path / "rows.jsonl"
        rows.write_text(json.dumps(row))
        return SweBench(Source(rows)).tasks()

    fix, test = (make_diff({}, {path: b"package shop\n"}) for path in ("shop.go", "shop_test.go"))
    row = instance(repo, instance_id="acme__shop-7", patch=fix, test_patch=test, FAIL_TO_PASS=["shop::TestAdds"])
    row |= {"PASS_TO_PASS": [], "log_parser": "go", "command": "go test -json ./..."}
    (task,) = tasks(row)
    assert (task.log_format, task.score_command or task.test_command) == ("go", "go test -json ./...")
    assert task.environment is not None
    assert task.environment.prebuilt == "swebench/sweb.eval.x86_64.acme_1776_shop-7:latest"
    with pytest.raises(BenchmarkError, match="log_parser has to name the format of its results, such as go"):
        tasks({**row, "log_parser": "no_such"})


@pytest.mark.exhaustive
def test_a_row_is_judged_in_its_image_and_a_missing_image_is_a_sentence(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    backend = usable("docker")
    base = build_image("javascript")
    clone = tmp_path / "repos" / "acme" / "shop"
    write(clone, {"shop.js": BUGGY, "shop.test.js": TESTS, "package.json": "{}"})
    git(clone, "init", "-q")
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "base")
    row = {
        "instance_id": "acme__doubled-1", "repo": "acme/shop", "base_commit": git(clone, "rev-parse", "HEAD").strip(),
        "patch": patch("shop.js", BUGGY, FIXED), "test_patch": patch("shop.test.js", TESTS, MORE),
        "problem_statement": "doubled(2) has to be 4", "log_parser": "jest",
        "FAIL_TO_PASS": ["shop.test.js::doubles"], "PASS_TO_PASS": ["shop.test.js::zero"],
        "command": "NODE_PATH=/usr/lib/node_modules:/usr/share/nodejs jest --json",
    }  # fmt: skip
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({**row, "instance_id": f"acme__doubled-{number}"}) + "\n" for number in (1, 2)))
    recipe = f"FROM {base}\nUSER root\nCOPY . /testbed\nRUN chown -R 1000:1000 /testbed\n"
    build = ["docker", "build", "-q", "-t", NAME.format(1), "-f", "-", str(clone)]
    subprocess.run(build, input=recipe, text=True, check=True, capture_output=True)
    request.addfinalizer(
        lambda: subprocess.run(["docker", "rmi", "-f", NAME.format(1)], check=True, capture_output=True)
    )

    def new(spec: SandboxSpec) -> Sandbox:
        return Sandbox(backend, spec)

    present, absent = SweBench(Source(rows, repos=tmp_path / "repos", sandbox="docker")).tasks()
    result = validate(present, new, rounds=1)
    assert result.valid, result.reason
    assert not score(present, Changes(files={"shop.js": b"exports.doubled = (x) => 4;\n"}), new).resolved
    with pytest.raises(SandboxError, match=f"the image {NAME.format(2)} cannot be pulled"):
        new(SandboxSpec(environment=absent.environment, limits=absent.limits, warm=False)).close()
