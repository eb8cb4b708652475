"""`stackrank inject`, from the project to a proved benchmark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import pytest

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.python_project.guess_setup import build_guessed
from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import Backend, BuildError, SandboxSpec, Say, silent
from stackrank.extensions.authoring.inject.plant import list_versions, plant
from tests.extensions.authoring.inject.test_inject import PROJECT, project
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import usable

BOX = ("--sandbox", "bubblewrap")


@pytest.mark.parametrize(
    ("folder", "options", "words"), [("none", [], ["none", "folder"]), (".", ["--test", "make"], ["make", "pytest"])]
)
def test_a_bad_call_is_one_sentence(
    stackrank: CommandLine, tmp_path: Path, folder: str, options: list[str], words: list[str]
) -> None:
    (tmp_path / "shop.py").write_text("x = 1\n")
    result = stackrank("inject", str(tmp_path / folder), *options)
    assert result.status == 2 and all(word in result.sentence() for word in words)


@pytest.mark.slow
def test_from_a_project_to_a_proved_benchmark(stackrank: CommandLine, tmp_path: Path) -> None:
    shop, out = tmp_path / "shop", tmp_path / "shop" / "bugs"
    files = project({**PROJECT, "build/lib/shop/stock.py": "answer = 1\n", ".git/config": "x\n"})
    for path, content in files.items():
        (shop / path).parent.mkdir(parents=True, exist_ok=True)
        (shop / path).write_bytes(content)
    call = ("inject", str(shop), "-n", "1", "--out", str(out), *BOX)
    document = stackrank(*call, "--json").json()
    assert document["tasks"] == 1 and sum(document["categories"].values()) == 1
    paths = sorted(path.relative_to(out).as_posix() for path in (out / "source").rglob("*") if path.is_file())
    assert paths == sorted(f"source/{path}" for path in PROJECT)  # nothing that was built, no history
    first_tasks = (out / "tasks.yaml").read_text()
    repeated = stackrank(*call)  # what it wrote is no part of the project
    assert (repeated.status, (out / "tasks.yaml").read_text()) == (0, first_tasks)
    assert "1 bug" in repeated.out and "stackrank validate repo" in repeated.out
    refused = stackrank(*call, "--seed", "2")
    assert refused.status == 2 and "already has tasks" in refused.sentence() and "--out" in refused.sentence()
    assert (out / "tasks.yaml").read_text() == first_tasks
    proved = stackrank("validate", "repo", "--path", str(out), "--rounds", "1", "--json", *BOX).json()
    assert (proved["valid"], proved["invalid"], proved["errors"]) == (1, 0, 0)
    rows = stackrank("tasks", "repo", "--path", str(out), "--json").json()
    assert [row["validated"] for row in rows] == ["valid"]
    assert all(row["fault_files"] == ["src/shop/stock.py"] for row in rows)
    (stored,) = [row for row in stackrank("benchmarks", "--json").json() if row["benchmark"] == "repo"]
    assert stored["validated"] == "1 of 1"


def test_a_project_without_tests(stackrank: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("x = 1\n")
    result = stackrank("inject", str(tmp_path), "--out", str(tmp_path / "bugs"), *BOX)
    assert result.status == 2
    assert "no tests were found" in result.sentence() and str(tmp_path) in result.sentence()
    assert not (tmp_path / "bugs" / "tasks.yaml").exists()


class _Unbuildable:
    """A kind of sandbox that can build no environment."""

    def prepare(self, spec: SandboxSpec, say: Say) -> None:
        raise BuildError("the environment cannot be built: no index has it")


@pytest.mark.parametrize("files", [{"setup.py": ""}, {"pyproject.toml": "[project]\nname = 'shop'\n"}])
def test_a_guessed_environment_that_cannot_be_built_names_the_remedy(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in {**files, "shop.py": "", "tests/test_shop.py": ""}.items():
        path = tmp_path / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with pytest.raises(BenchmarkError, match="no index has it: state with --setup how the project is installed"):
        plant(
            tmp_path / "shop", count=1, seed=0, out=tmp_path / "out", test=None, environment=Environment(), guess=True,
            timeout_s=60, workers=1, backend=cast("Backend", _Unbuildable()), say=silent, on_tally=lambda tally: None,
        )  # fmt: skip
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wheel", "distribute", "words"])
def test_versions_of_what_builds_packages_are_listed_as_well(name: str) -> None:
    packages = "$(python -c 'import sysconfig; print(sysconfig.get_path(\"purelib\"))')"
    described = f"Metadata-Version: 2.1\\nName: {name}\\nVersion: 99.1\\n"
    folder = f"{packages}/{name}-99.1.dist-info"
    environment = Environment(setup=(f"mkdir {folder} && printf '{described}' > {folder}/METADATA",))
    backend, spec = usable("bubblewrap"), SandboxSpec(environment=environment.with_source({"a.py": b""}))
    backend.prepare(spec, silent)
    versions = list_versions(backend, spec)
    assert f"{name}==99.1" in versions and not any(version.startswith("pip==") for version in versions)


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        *(
            (reason, f"if {name} is another package of the repository, name the whole repository as the project")
            for reason, name in (
                ("Could not find a version that satisfies the requirement api==2.0.dev (from versions: 1.0)", "api"),
                ("Could not find a version that satisfies the requirement till (from versions: none)", "till"),
                ("desk/words is not a valid editable requirement. It should either be a path", "desk/words"),
            )
        ),
        ("ERROR: Package 'till' requires a different Python: 3.11.7 not in '>=3.13'", "--python 3.13"),
        ("ERROR: Package 'till' requires a different Python: 3.11.7 not in '<3.11,>=3.8'", "--python 3.8"),
        ("meson-python: error: The package requires Python version >=3.12, running on 3.11.7", "--python 3.12"),
    ],
)
def test_a_failed_installation_names_its_remedy(reason: str, remedy: str) -> None:
    class Unbuildable:
        def prepare(self, spec: SandboxSpec, say: Say) -> None:
            raise BuildError(reason)

    with pytest.raises(BenchmarkError, match=re.escape(remedy)):
        build_guessed(cast("Backend", Unbuildable()), SandboxSpec(), silent)
