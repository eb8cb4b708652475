"""`inject` installs a project in the version that its repository names."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.env.environment import Environment
from stackrank.extensions.authoring.inject.plant import plant
from tests.fixtures.env import usable
from tests.support.shop import git, repository

SCM = "[project]\nname = 'shop'\ndynamic = ['version']\n[build-system]\nrequires = ['setuptools-scm']\n"


class Said(Exception):
    """Ends the command at its first message."""


@pytest.mark.parametrize(("tag", "version"), [("v1.2", "1.2"), ("release-3.0.1", "3.0.1"), ("", "0")])
def test_a_project_gets_the_version_of_its_newest_tag(tmp_path: Path, tag: str, version: str) -> None:
    repo = repository(tmp_path / "shop", {"pyproject.toml": SCM, "shop.py": "x = 1\n"})
    if tag:
        git(repo, "tag", tag)

    def say(line: str) -> None:
        raise Said(line)

    with pytest.raises(Said, match=f"VERSION={version} python -m pip install"):
        plant(
            repo, count=1, seed=1, out=tmp_path / "out", test=None, environment=Environment(), guess=True,
            timeout_s=9, workers=1, backend=usable("bubblewrap"), say=say, on_tally=print,
        )  # fmt: skip
