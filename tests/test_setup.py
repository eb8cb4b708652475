"""The set-up scripts, and the sandbox's Python environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

from stackrank import home as homes
from stackrank.env.sandbox import python_env
from stackrank.errors import NotReady

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted([*ROOT.glob("deploy/*/*.sh"), ROOT / ".ci" / "run"])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_script_parses_and_stops_at_errors(script: Path) -> None:
    subprocess.run(["bash", "-n", str(script)], check=True)
    if script.name != "lib.sh":
        assert "set -euo pipefail" in script.read_text(encoding="utf-8")
        assert os.access(script, os.X_OK)


def test_pre_commit_hooks_are_local() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repo["repo"] for repo in config["repos"]] == ["local"]
    for hook in config["repos"][0]["hooks"]:
        assert (hook["language"], hook["entry"].startswith(".venv/bin/")) == ("system", True)


def run_script(name: str, *, path: Path, extra: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a set-up script with nothing on the path but the commands in `path`."""
    return subprocess.run(
        ["bash", str(ROOT / "deploy" / name)],
        env={"PATH": str(path), "HOME": str(path), **(extra or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A folder of commands without Docker, bubblewrap, git and apt-get, whose `id` says that this user is not root."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "dirname", "mkdir", "mktemp", "rm", "cat", "sha256sum", "cut", "timeout", "tail", "env"):
        completed = subprocess.run(["bash", "-c", f"command -v {name}"], capture_output=True, text=True, check=True)
        (folder / name).symlink_to(completed.stdout.strip())
    (folder / "id").write_text("#!/bin/sh\necho 1000\n")
    (folder / "id").chmod(0o755)
    return folder


def test_missing_packages_without_root(bare_path: Path) -> None:
    (bare_path / "apt-get").symlink_to("/bin/false")
    completed = run_script("setup/system.sh", path=bare_path)
    assert completed.returncode == 1
    assert completed.stderr.splitlines() == [
        "Missing packages, and this user is neither root nor may use sudo: ask for 'apt-get install git bubblewrap'."
    ]


def test_missing_packages_without_apt(bare_path: Path) -> None:
    completed = run_script("setup/system.sh", path=bare_path)
    assert completed.returncode == 1
    assert "Please install what Debian calls: git bubblewrap." in completed.stderr


def test_image_without_engine(bare_path: Path) -> None:
    completed = run_script("sandbox/build.sh", path=bare_path)
    assert (completed.returncode, completed.stdout) == (1, "")
    assert "No Docker engine answers" in completed.stderr


def test_python_too_old(bare_path: Path, tmp_path: Path) -> None:
    old = bare_path / "old-python"
    old.symlink_to("/bin/false")
    # A copy, because the script works on the .venv beside it.
    setup = tmp_path / "clone" / "deploy" / "setup"
    setup.mkdir(parents=True)
    for name in ("lib.sh", "python.sh"):
        (setup / name).write_bytes((ROOT / "deploy" / "setup" / name).read_bytes())
    command = ["bash", str(setup / "python.sh")]
    for environment, sentence in (
        ({"PYTHON": str(old)}, "is not a Python 3.11 or newer"),
        ({}, "Python 3.11 or newer is needed"),
    ):
        completed = subprocess.run(
            command, env={"PATH": str(bare_path), **environment}, capture_output=True, text=True, check=False
        )
        assert completed.returncode == 1
        assert sentence in completed.stderr


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, and requirements that can be met without a network: none."""
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("")
    monkeypatch.setattr(python_env, "REQUIREMENTS", requirements)
    return tmp_path / "home"


@pytest.mark.slow
@pytest.mark.exhaustive
def test_sandbox_python_is_made_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def ensure() -> None:
        python_env.ensure_sandbox_python(say=messages.append)

    threads = [threading.Thread(target=ensure) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(messages) == 1, "three callers, one made it"
    python = python_env.ensure_sandbox_python(say=pytest.fail)
    assert python == python_env.sandbox_python() == home / "sandbox-python" / "bin" / "python"
    assert sorted(path.name for path in home.iterdir()) == ["sandbox-python", "sandbox-python.lock"]

    # Nothing of the project, and scripts that know where they lie.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    project = subprocess.run([python, "-c", "import env"], cwd=home, env=environment, capture_output=True, check=False)
    assert b"ModuleNotFoundError" in project.stderr
    pip = subprocess.run([python.with_name("pip"), "--version"], env=environment, capture_output=True, check=False)
    assert pip.returncode == 0, pip.stderr

    # Other requirements make it stale; the old one stands until the new one is ready.
    python_env.REQUIREMENTS.write_text("# other\n")
    assert not python_env.is_current()
    assert python_env.ensure_sandbox_python(say=messages.append) == python
    assert len(messages) == 2
    python.unlink()
    assert not python_env.is_current(), "its interpreter is gone"


def test_sandbox_python_cannot_be_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(NotReady, match=re.escape("apt-get install python3-venv")):
        python_env.ensure_sandbox_python()
    assert not (home / "sandbox-python").exists()
    assert not list(home.glob(".sandbox-python-*"))


def test_sandbox_python_home_cannot_be_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.parent.joinpath("file").write_text("")
    monkeypatch.setenv("STACKRANK_HOME", str(home.parent / "file" / "below"))
    with pytest.raises(NotReady, match="STACKRANK_HOME"):
        python_env.ensure_sandbox_python()


def test_default_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STACKRANK_HOME", raising=False)
    assert homes.home().name == "stackrank"
    monkeypatch.setenv("STACKRANK_HOME", "~/elsewhere")
    assert homes.home() == Path.home() / "elsewhere"
