"""The command in the folder of a project that wants to run on the host, with every file that a program could obey."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dashboard.serving import free_port, wait_until_it_serves
from tests.env.test_git import set_traps
from tests.support.repository import git, write

pytestmark = pytest.mark.slow

STACKRANK = Path(sys.executable).with_name("stackrank")
STANDARD = ("keyword", "operator", "queue", "runpy", "secrets", "token", "types")
"""These also are what they are called, because tests in a sandbox import them from the project."""
MODULES = (
    "antigravity", "click", "conftest", "dask", "ensurepip", "httpx", "noxfile", "pandas", "pip", "prefect", "pydantic",
    "ray", "rich", "setup", "sitecustomize", "sqlalchemy", "stackrank", "starlette", "streamlit", "typer",
    "usercustomize", "uvicorn", "venv",
)  # fmt: skip
PROGRAMS = ("git", "bwrap", "docker", "python3", "unshare", "cat", "sh")
BUG = {
    "acc/__init__.py": "",
    "acc/sums.py": "def total(items):\n    return sum(items[1:])\n",
    "test_sums.py": "from acc.sums import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n\n\n"
    "def test_empty():\n    assert total([]) == 0\n",
}


class HostileFolder:
    """The folder, and the command in it. `ran` exists as soon as anything of the folder has run on this machine."""

    def __init__(self, place: Path) -> None:
        self.folder, self.ran, self.home = place / "acc", place / "ran", place / "home"
        (place / "host").touch()  # what runs in a sandbox does not see it
        is_host, write_name = (
            f"os.path.isfile({str(place / 'host')!r})",
            f"open({str(self.ran)!r}, 'a').write(__file__)",
        )
        note = f"import os\nif {is_host}: {write_name}\n"
        as_usual = "exec(open(os.path.join(os.path.dirname(os.__file__), os.path.basename(__file__))).read())\n"
        logging = {
            "version": 1, "formatters": {"x": {"()": "os.system", "command": f"echo a log format >> {self.ran}"}},
        }  # fmt: skip
        settings = 'logging.config_path = "logging.json"\nhome = "prefect"\n'
        write(self.folder, BUG)
        write(self.folder, {f"{name}.py": note for name in MODULES})
        write(self.folder, {f"{name}.py": note + as_usual for name in STANDARD})
        write(self.folder, {name: f"#!/bin/sh\necho {name} >> {self.ran}\n" for name in PROGRAMS})
        write(
            self.folder,
            {
                "prefect.toml": settings,
                "pyproject.toml": "".join(f"[tool.prefect]\n{settings}"),
                ".env": "PREFECT_LOGGING_SETTINGS_PATH=logging.json\nPREFECT_HOME=prefect\nSTACKRANK_HOME=elsewhere\n",
                "logging.json": json.dumps(logging),
                ".streamlit/config.toml": '[server]\nbaseUrlPath = "evil"\n',
                ".streamlit/secrets.toml": "[auth\n",
                ".pdbrc": f"import os; os.system('echo pdbrc >> {self.ran}')\n",
                "pip.conf": "[global]\nindex-url = http://127.0.0.1:1/\n",
                "setup.cfg": "[install]\nprefix = elsewhere\n",
                "pytest.ini": "[pytest]\n",
            },
        )
        for name in PROGRAMS:
            (self.folder / name).chmod(0o755)
        git(self.folder, "init", "--quiet")
        git(self.folder, "add", ".")
        git(self.folder, "commit", "--quiet", "-m", "Broken")
        (self.folder / "acc/sums.py").write_text(BUG["acc/sums.py"].replace("[1:]", ""))
        write(self.folder, {"test_more.py": BUG["test_sums.py"].replace("[1, 2]) == 3", "[4]) == 4")})
        git(self.folder, "add", "test_more.py")
        git(self.folder, "commit", "--quiet", "-am", "Fixed")
        git(self.folder, "branch", "fixed")
        git(self.folder, "reset", "--quiet", "--hard", "HEAD~1")
        set_traps(self.folder / ".git", self.ran)
        kept = {name: text for name, text in os.environ.items() if not name.startswith(("STACKRANK_", "PREFECT_"))}
        self.environment = {
            **kept, "STACKRANK_HOME": str(self.home), "PATH": f".:{os.environ['PATH']}:", "PYTHONPATH": "",
        }  # fmt: skip

    def call(self, *arguments: str) -> str:
        """Run the command, and return all that it prints."""
        completed = subprocess.run(
            [STACKRANK, *arguments], cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        return completed.stdout + completed.stderr


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[HostileFolder]:
    place = HostileFolder(tmp_path)
    yield place
    place.call("down")
    assert not place.ran.exists(), place.ran.read_text()
    assert not {"elsewhere", "prefect", ".prefect", "ui"} & {entry.name for entry in place.folder.iterdir()}
    assert sorted(place.folder.rglob("__pycache__")) == []


@pytest.mark.exhaustive
def test_commands_of_a_fresh_home(hostile: HostileFolder) -> None:
    """The first command makes the sandbox's Python, starts Prefect's server, and plays a run."""
    found = hostile.call("fix", ".", "--out", "../out", "--agent", "repair", "--sandbox", "bubblewrap")
    assert "1 task " in found, found
    made = hostile.call("init-task", ".", "fixed", "--out", "../tasks", "--setup", "", "--sandbox", "bubblewrap")
    assert (hostile.folder.parent / "tasks/tasks.yaml").is_file(), made
    box = ("--sandbox", "bubblewrap")
    played = hostile.call("run", "--benchmark", "repo", "--path", "../tasks", "--agent", "oracle", "--json", *box)
    assert '"resolved": 1' in played, played
    assert "python" in hostile.call("doctor")
    assert "no tests" not in hostile.call("inject", ".", "--out", "../bugs", "-n", "1", "--setup", "", *box)
    assert "error" not in hostile.call("schedule", "list"), "Prefect reads files in the current folder"


@pytest.mark.exhaustive
def test_the_dashboard_takes_no_settings_from_the_folder(hostile: HostileFolder) -> None:
    hostile.call("runs")
    port = str(free_port())
    command = [STACKRANK, "dashboard", "--port", port]
    with subprocess.Popen(
        command, cwd=hostile.folder, env=hostile.environment, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            wait_until_it_serves(f"http://127.0.0.1:{port}", server)
        finally:
            server.send_signal(signal.SIGTERM)
