"""Temporary folders of killed processes are found and removed, and no others."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from stackrank.host.scratch import make_scratch, remove_abandoned, scratch

CODE = """
import sys, time
from stackrank.host.scratch import scratch
with scratch() as folder:
    (folder / "kept").write_text("x")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_folders_of_a_killed_process_are_removed(temporary: Path) -> None:
    own = make_scratch()
    with subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        assert remove_abandoned() == [] and left.is_dir(), "its process lives"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert remove_abandoned() == [str(left)]
    assert own.is_dir() and not left.exists()


@pytest.mark.parametrize("name", ["stackrank-", "stackrank-1-2", "stackrank-4026531836-x-1-abc", "stackrank-notes"])
def test_what_is_not_ours_stays(temporary: Path, name: str) -> None:
    (temporary / name).mkdir()
    (temporary / "stackrank-0-1-1-away").symlink_to(temporary / name)
    assert remove_abandoned() == []


def test_a_folder_is_gone_whatever_happens_in_it(temporary: Path) -> None:
    with pytest.raises(KeyError), scratch() as folder:
        (folder / "deep" / "er").mkdir(parents=True)
        raise KeyError
    assert list(temporary.iterdir()) == []
