"""Starting programs on this machine, in folders that somebody else filled."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackrank.db.connection.engine import default_url
from stackrank.home import home
from stackrank.host import programs

NAMES = (
    "token.py",
    "keyword.py",
    "sitecustomize.py",
    "usercustomize.py",
    "json.py",
    "venv.py",
    "pip.py",
    "git",
    "bwrap",
)


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, and a relative part of every search path. The file `ran` appears in it if any of it runs."""
    folder = tmp_path / "trap"
    folder.mkdir()
    for name in NAMES:
        code = f"#!{sys.executable}\nopen({str(folder / 'ran')!r}, 'a').write({name!r})\n"
        (folder / name).write_text(code)
        (folder / name).chmod(0o755)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}:")
    monkeypatch.setenv("PYTHONPATH", f".:{folder}")
    monkeypatch.setenv("PYTHONSTARTUP", str(folder / "token.py"))
    monkeypatch.setenv("PYTHONWARNINGS", "error::token.Warning")
    yield folder
    assert not (folder / "ran").exists(), (folder / "ran").read_text()


def test_python_imports_nothing_of_the_current_folder(trap: Path) -> None:
    code = "import os, sys, token, keyword, json; print(os.getcwd(), sys.path[0])"
    ended = programs.run(programs.python("-c", code))
    assert ended.status == 0 and ended.text.startswith("/ ") and str(trap) not in ended.text, ended.error_text
    assert programs.run(programs.python("-m", "pip", "--version")).status == 0
    # And so does a Python that another program starts.
    shell = f"cd {trap} && exec {sys.executable} -m json.tool"
    assert programs.run(["/bin/sh", "-c", shell], stdin=b"[1]").text.split() == ["[", "1", "]"]
    with programs.start([sys.executable, "-c", "import token"], folder=trap) as child:
        assert child.wait(60) == 0


def test_programs_are_looked_up_in_absolute_folders(trap: Path) -> None:
    assert programs.run(["git", "--version"]).text.startswith("git version")
    assert programs.run(["/bin/sh", "-c", "git --version"]).text.startswith("git version")
    for name in ("./git", "trap/git", "no-such-program"):
        with pytest.raises(FileNotFoundError, match=name):
            programs.run([name])


def test_a_sandbox_gets_the_given_variables_only(trap: Path) -> None:
    given = {"PATH": f".:{trap}:/bin", "PYTHONPATH": ".", "PYTHONHASHSEED": "0", "MARK": "x"}
    with programs.start_sandbox(
        ["/usr/bin/env"], env=given, stdin=programs.DEVNULL, stdout=programs.PIPE, stderr=programs.DEVNULL
    ) as child:
        lines = set((child.communicate(timeout=60)[0] or b"").decode().split())
    assert lines == {f"PATH={trap}:/bin", "PYTHONHASHSEED=0", "MARK=x"}


def test_paths_in_variables_mean_the_same_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    relative = {"HOME": "here", "SECRETS": "s.toml", "ALLOWED_PATHS": "a:/b", "DATABASE_URL": "sqlite:///x.db"}
    for name, text in relative.items():
        monkeypatch.setenv(f"STACKRANK_{name}", text)
    before = home(), default_url()
    expected = {"HOME": "here", "SECRETS": "s.toml", "ALLOWED_PATHS": "a:/b", "DATABASE_URL": "x.db"}
    variables = programs.environment()
    for name, text in expected.items():
        assert variables[f"STACKRANK_{name}"].endswith(f"{tmp_path}/{text}")
    with programs.outside_user_folder(tmp_path / "own"):
        assert (Path.cwd(), (home(), default_url())) == (tmp_path / "own", before)
    assert Path.cwd() == tmp_path


def test_the_users_folder_may_be_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "short-lived").mkdir()
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "short-lived")
    with programs.outside_user_folder(tmp_path):
        (tmp_path / "short-lived").rmdir()
    assert programs.run(["git", "--version"]).status == 0
    monkeypatch.chdir(tmp_path)
