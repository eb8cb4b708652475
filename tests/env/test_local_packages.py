"""Requirements that are on this machine: what is carried into an environment, and what identifies it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.env import local_packages
from stackrank.env.environment import Environment
from stackrank.env.local_packages import identify, local_path, missing_package, staged, staged_files
from stackrank.env.sandbox.base import BuildError
from stackrank.env.sandbox.environments import build_context, build_script


@pytest.fixture(autouse=True)
def fresh() -> None:
    local_packages._read.cache_clear()


@pytest.mark.parametrize(
    ("requirement", "path"),
    [
        ("/srv/my server", "/srv/my server"),
        ("/srv/tool[all]", "/srv/tool"),
        ("tool @ file:///srv/tool-1.0.tar.gz", "/srv/tool-1.0.tar.gz"),
        ("tool[x] @ /srv/tool ; python_version > '3'", "/srv/tool"),
        ("./here", "here"),
        ("tool==1.0", None),
        ("tool @ https://example.org/tool.zip", None),
        ("git+https://example.org/a/b", None),
        ("-r", None),
    ],
)
def test_which_requirements_are_paths(requirement: str, path: str | None) -> None:
    assert local_path(requirement) == (None if path is None else Path(path))
    assert (staged(requirement) == requirement) is (path is None)


def test_the_source_goes_along_and_what_is_built_from_it_stays(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "src/tool.py", "build/lib/tool.py", ".git/HEAD", "tool.egg-info/x", ".venv/bin/a"):
        (tmp_path / "tool" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tool" / name).write_text(name)
    files = staged_files([f"{tmp_path}/tool[x]", "six"])
    assert sorted(files.values()) == [b"pyproject.toml", b"src/tool.py"]
    folder = staged(f"{tmp_path}/tool[x]", "")
    assert folder.endswith("/tool[x]") and all(f"/{path}".startswith(folder.removesuffix("[x]")) for path in files)
    assert folder in build_script(Environment(requirements=(f"{tmp_path}/tool[x]",)), "prefix")


def test_what_changes_a_package_changes_its_environment(tmp_path: Path) -> None:
    wheel = tmp_path / "tool-1.0-py3-none-any.whl"
    digests = []
    for content in (b"one", b"two"):
        wheel.write_bytes(content)
        local_packages._read.cache_clear()
        digests.append(Environment(requirements=(str(wheel),)).digest)
    assert digests[0] != digests[1]
    assert identify(["six==1.0"]) == ["six==1.0"] and str(tmp_path) not in identify([str(wheel)])[0]


@pytest.mark.parametrize(
    ("requirement", "words"),
    [("tools/mine", "is a relative path: name the whole path"), ("/nowhere/at/all", "is not on this machine")],
)
def test_a_package_that_is_not_there_is_named(requirement: str, words: str) -> None:
    requirement = requirement if requirement.startswith("/") else f"./{requirement}"
    assert words in missing_package(["six", requirement])
    with pytest.raises(BuildError, match=words):
        build_context(Environment(requirements=(requirement,)), "prefix")
