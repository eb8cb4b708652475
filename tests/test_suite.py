"""Failed tests are repeated alone; repeated or frequent failures remain failures."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.suite import MOST
from tests.support.waiting import wait_for

CODE = "import sys; sys.path.insert(0, {!r}); from tests.support.suite import main; sys.exit(main(['-n2']))"
TESTS = """
import pathlib, pytest

@pytest.mark.parametrize("number", range({chance}))
def test_chance(number):
    before = pathlib.Path(f"seen-{{number}}")
    seen = before.exists()
    before.touch()
    assert seen

def test_certain():
    assert {certain}

def test_well():
    pass
"""


def suite(folder: Path, tests: str) -> subprocess.Popen[str]:
    (folder / "test_it.py").write_text(tests)
    code = CODE.format(str(Path(__file__).parents[1]))
    return subprocess.Popen([sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chance", "certain", "status", "named_count"),
    [
        (2, True, 0, 2),
        (1, False, 1, 0),
        *(
            pytest.param(*case, marks=pytest.mark.exhaustive)
            for case in ((0, True, 0, 0), (MOST, True, 0, MOST), (MOST + 1, True, 1, 0))
        ),
    ],
)
def test_failures_are_repeated_alone(tmp_path: Path, chance: int, certain: bool, status: int, named_count: int) -> None:
    session = suite(tmp_path, TESTS.format(chance=chance, certain=certain))
    output, _ = session.communicate()
    assert session.returncode == status, output
    report = output.partition("passed alone")[2]
    assert report.count("test_it.py::test_chance") == named_count
    is_repeated = 0 < chance <= MOST
    assert ("Once more" in output) is is_repeated
    passed = 1 + certain + (chance if is_repeated else 0)
    failed = (not certain) + (0 if is_repeated else chance)
    assert output.splitlines()[-1] == f"{passed} passed, {failed} failed, {int(chance == 0)} skipped"


@pytest.mark.slow
def test_sigterm_stops_without_repeating(tmp_path: Path) -> None:
    tests = "import pathlib, time\ndef test_long():\n    pathlib.Path('begun').touch()\n    time.sleep(600)\n"
    session = suite(tmp_path, tests)
    wait_for((tmp_path / "begun").exists, "the test begins")
    session.send_signal(signal.SIGTERM)
    output, _ = session.communicate()
    assert session.returncode != 0 and "Once more" not in output
