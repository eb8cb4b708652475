"""Environments, in every backend that has them. What can go wrong first."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import uuid
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stackrank.env.benchmarks.base import Source
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import Backend, BuildError, SandboxSpec, silent, spec_for
from stackrank.env.sandbox.bubblewrap import environments, unprivileged
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.environments import archive, find_interpreter, find_reason
from stackrank.env.sandbox.python_env import REQUIREMENTS
from stackrank.env.task import Limits, Task
from stackrank.flows.runs.preparing.environments import build_environments
from tests.fixtures.env import cart, usable
from tests.support.repository import REMEDY, SECRET, instance, make_repository, write, write_lines

pytestmark = pytest.mark.slow

WRONG = {
    "set-up that fails": (
        Environment(setup=("echo 'error: no compiler'; exit 4",)),
        "cannot be built: error: no compiler",
    ),
    "part of a set-up that fails": (
        Environment(setup=("true", "{ echo 'error: no header'; false; } && echo built && true", "echo done")),
        "cannot be built: error: no header",
    ),
    "no such package": (Environment(requirements=("stackrank-has-no-such-package==1",)), "cannot be built: ERROR"),
    "no such Python": (Environment(python="3.2"), "needs Python 3.2"),
    "image that cannot be had": (
        Environment(prebuilt="127.0.0.1:1/acme/none:1", repository="/testbed"),
        "127.0.0.1:1/acme",
    ),
}


def spec(environment: Environment) -> SandboxSpec:
    return SandboxSpec(environment=environment, limits=Limits(timeout_s=60, memory_mb=512))


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_built_is_one_sentence(sandbox_backend: Backend, name: str) -> None:
    environment, part = WRONG[name]
    with pytest.raises(BuildError) as caught:
        sandbox_backend.prepare(spec(environment))
    assert part in str(caught.value) and "\n" not in str(caught.value)


PIP = """\
  error: subprocess-exited-with-error
  × Getting requirements to build editable did not run successfully.
  ╰─> [3 lines of output]
      Traceback (most recent call last):
      LookupError: no version
      More about it.
      [end of output]
error: subprocess-exited-with-error
"""


@pytest.mark.parametrize(
    ("output", "messages"),
    [
        (PIP, "LookupError: no version"),
        (PIP.replace("LookupError: ", ""), "More about it."),
        ("building\nERROR: no such package\nbye\n", "ERROR: no such package"),
        ("", ""),
        (
            "error: failed to get `a` for `b`\n\nCaused by:\n  [6] Could not resolve host: crates.example\n",
            "it downloads from crates.example, which cannot be reached (error: failed to get `a` for `b`)",
        ),
        (
            "OSError: HTTPSConnectionPool(host='files.example', port=443): Max retries exceeded\n",
            "it downloads from files.example, which cannot be reached "
            "(OSError: HTTPSConnectionPool(host='files.example', port=443): Max retries exceeded)",
        ),
        (
            "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>\n",
            "it downloads from a host, which cannot be reached "
            "(urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>)",
        ),
        ("WARNING: Retrying: Failed to connect to a.example\nerror: no compiler\n", "error: no compiler"),
    ],
)
def test_what_a_failed_build_said(output: str, messages: str) -> None:
    assert find_reason(output) == messages


def test_files_of_an_environment_have_a_date_that_a_wheel_can_have() -> None:
    with tarfile.open(fileobj=io.BytesIO(archive({"/a/b": b"x"}))) as tar:
        (member,) = tar.getmembers()
    zipfile.ZipInfo("b", time.gmtime(member.mtime)[:6])  # refuses what is before 1980


def test_the_others_go_on(sandbox_backend: Backend) -> None:
    broken = cart(id="broken", environment=WRONG["set-up that fails"][0])
    sound = cart(id="sound", environment=Environment(setup=("true",)).with_source({"a": b""}))
    problems = build_environments(sandbox_backend, [broken, sound, cart(id="plain")], 2, lambda message: None)
    assert list(problems) == ["broken"]


def test_local_has_none() -> None:
    with pytest.raises(BuildError, match="local sandbox has no environments"):
        Sandbox(usable("local"), spec(Environment(requirements=("six",))))


def test_built_once_with_variables_and_what_the_set_up_made(sandbox_backend: Backend) -> None:
    nonce = uuid.uuid4().hex[:8]
    environment = Environment(
        setup=("mkdir made && echo $COLOUR > made/colour && echo changed > given",),
        variables=(("COLOUR", f"blue-{nonce}"),),
    ).with_source({"given": b"given\n"})
    messages: list[str] = []
    sandbox_backend.prepare(spec(environment), messages.append)
    count = len(messages)
    sandbox_backend.prepare(spec(environment), messages.append)
    assert count and len(messages) == count
    with Sandbox(sandbox_backend, spec(environment)) as sandbox:
        sandbox.put({"given": b"given\n"})
        result = sandbox.run("cat made/colour given; echo $COLOUR; touch /opt/environment/x || echo kept", 20).output
        assert result.startswith(f"blue-{nonce}\ngiven\nblue-{nonce}\n") and result.endswith("kept\n")
        assert "passed" not in sandbox.run("python -m pytest --version", 20).output
        search = r"find / \( -path /proc -o -path '*/environment*' \) -prune -o -name _pytest -print 2>/dev/null"
        assert sandbox.run(search, 60).output == ""  # of another version, perhaps one with the fix of a task
        sandbox.run("echo red > made/colour", 10)
        assert sandbox.changes().files == {}


@pytest.fixture
def wheels() -> Iterator[Path]:
    """A folder that builds can read, unlike pytest's own, whatever user they run as."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def publish_wheels(folder: Path, monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    """Let pip find wheels of these packages, each with one module, and nothing else."""
    for name, version in versions.items():
        with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
            about = f"{name}-{version}.dist-info"
            wheel.writestr(f"{name}.py", f"__version__ = {version!r}\n")
            wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", f"{name}.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    for variable in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))


PINNED = dict(re.findall(r"^([\w-]+)==(\S+)", REQUIREMENTS.read_text(encoding="utf-8"), re.M))
VERSIONS = "python -c 'from importlib.metadata import version as v; print(*map(v, \"{}\".split()))'"


def test_only_requirements_are_fetched(sandbox_backend: Backend, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nonce = uuid.uuid4().int % 10**9
    publish_wheels(wheels, monkeypatch, tinydep=f"1.{nonce}", packaging="1.0")
    environment = Environment(requirements=(f"tinydep==1.{nonce}", "packaging==1.0"))
    with Sandbox(sandbox_backend, spec(environment)) as sandbox:
        sandbox.put({})
        # The tests' own tools come before other versions of the same packages.
        command = VERSIONS.format("tinydep packaging pytest coverage")
        expected = [f"1.{nonce}", *(PINNED[name] for name in ("packaging", "pytest", "coverage"))]
        assert sandbox.run(command, 20).output.split() == expected
        scripts = sandbox.run("pip --version; pytest --version; head -1 $(which pytest) $(which pip)", 20).output
        assert f"pytest {PINNED['pytest']}" in scripts and "/opt/environment/" in scripts.split("pytest ")[0]
        assert scripts.count("#!/opt/environment/bin/python") == 2
        sandbox.put({"test_it.py": b"import tinydep\n\ndef test_it():\n    assert tinydep.__version__\n"})
        assert sandbox.test("python -m pytest -q", 20, os.urandom(32), score=True).exit == 0


def test_a_pytest_of_the_task_stays(sandbox_backend: Backend, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = f"0.{uuid.uuid4().int % 10**9}"
    publish_wheels(wheels, monkeypatch, pytest=own)
    with Sandbox(sandbox_backend, spec(Environment(requirements=(f"pytest=={own}",)))) as sandbox:
        sandbox.put({})
        result = sandbox.run(f"{VERSIONS.format('pytest coverage')}; python -c 'import iniconfig'", 20).output
        assert result.split()[:2] == [own, PINNED["coverage"]] and "No module named 'iniconfig'" in result


@pytest.fixture
def prebuilt() -> Iterator[str]:
    """An image as SWE-bench's are: the repository in /testbed with history, installed in place, other things beside."""
    usable("docker")
    name = f"stackrank-test-prebuilt:{uuid.uuid4().hex[:8]}"
    lines = [
        "FROM stackrank-sandbox:latest", "USER root",
        "RUN mkdir -p /testbed/src && cd /testbed && git init -q . && echo 'X = 1' > src/shop.py && git add . "
        "&& git -c user.name=a -c user.email=a@b commit -qm one "
        f"&& echo '# {REMEDY}' >> src/shop.py && git -c user.name=a -c user.email=a@b commit -qam two "
        "&& git checkout -q HEAD~1 && echo 'Y = 2' > src/built.py "
        "&& echo /testbed/src > $(python3 -c 'import site; print(site.getsitepackages()[0])')/shop.pth",
    ]  # fmt: skip
    command = ["docker", "build", "-q", "-t", name, "-"]
    subprocess.run(command, input="\n".join(lines), text=True, check=True, capture_output=True)
    yield name
    subprocess.run(["docker", "rmi", "-f", name], check=False, capture_output=True)


def test_a_prebuilt_image_is_adopted(prebuilt: str) -> None:
    backend = usable("docker")
    environment = Environment(prebuilt=prebuilt, repository="/testbed").with_source({})
    with Sandbox(backend, spec(environment)) as sandbox:
        sandbox.put({"src/shop.py": b"X = 10\n"})
        result = sandbox.run("python -c 'import shop, built; print(shop.X, built.Y)'; ls -a /testbed/", 20).output
        assert result.startswith("10 2\n") and ".git" not in result
        assert sandbox.changes().files == {}
        assert REMEDY not in sandbox.run("git log -p --all 2>&1", 60).output


# Everything that can be read, names of files; then whether there is any history.
SEARCH = "LC_ALL=C grep -rIl --exclude-dir=proc --exclude-dir=sys -e %s / 2>/dev/null; git log --all 2>&1 | head -1"


def _tasks(folder: Path) -> list[Task]:
    """One of each kind of benchmark whose data has a fix that could be found."""
    clone = make_repository(folder / "repos" / "acme__shop", package=True)
    rows = write_lines(folder / "rows.jsonl", [instance(clone)])
    overrides = folder / "environments.json"
    overrides.write_text('{"acme__shop-1": {"setup": ["python -m pip list > /dev/null"]}}')
    source = Source(rows, repos=folder / "repos", environments=overrides)
    tasks = load_benchmark("swebench", source).tasks()
    write(folder, {"fix.patch": clone.fix, "tests.patch": clone.test_patch})
    origin = f"source: {{git: repos/acme__shop, commit: '{clone.buggy_commit}'}}"
    entry = f"{origin}, fix: fix.patch, test_patch: tests.patch"
    planted = "source: {path: repos/acme__shop}, apply: back.patch, hidden: [tests/]"
    fields = "hidden_tests: true, test: pytest, setup: ['true']"
    text = f"tasks:\n - {{id: a, {entry}, {fields}}}\n - {{id: b, {planted}, test: pytest}}"
    reverse = subprocess.run(
        ["git", "diff", clone.fixed_commit, clone.buggy_commit, "--", "src"],
        cwd=clone.path,
        text=True,
        capture_output=True,
        check=True,
    )
    write(folder, {"tasks.yaml": f"schema: 1\n{text}\n", "back.patch": reverse.stdout})
    return [*tasks, *load_benchmark("repo", Source(folder)).tasks()]


def test_the_fix_the_hidden_tests_and_history_are_nowhere(sandbox_backend: Backend, tmp_path: Path) -> None:
    for task in _tasks(tmp_path):
        secrets = [REMEDY, *([SECRET] if task.hidden_files else [])]
        assert REMEDY in task.fix
        with Sandbox(sandbox_backend, spec_for(task)) as sandbox:
            sandbox.put({**task.files, "found.txt": REMEDY.encode()})
            result = sandbox.run(SEARCH % " -e ".join(secrets), 400)
            # It finds what there is, and nothing else.
            assert result.output.startswith("/workspace/found.txt\nfatal: not a git repository"), (task.id, result)


def test_a_shim_of_pyenv_without_that_python_is_no_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shim = tmp_path / "python3.42"
    shim.write_text("#!/bin/sh\necho 'pyenv: python3.42: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(BuildError, match=r"it needs Python 3.42, which this machine does not have"):
        find_interpreter(Environment("3.42"))
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    assert find_interpreter(Environment("3.42")) == Path(sys.executable).resolve()


APPENDING = 'echo "# more" >> "$VIRTUAL_ENV/bin/activate"'
REPLACING = 'sed -i "s/^deactivate/leave/" "$VIRTUAL_ENV/bin/activate"'


@pytest.mark.skipif(not unprivileged.is_host_root(), reason="only root builds as another user")
@pytest.mark.parametrize(("command", "linked"), [(REPLACING, True), (APPENDING, False)])
def test_a_set_up_shares_files_with_its_base_and_changes_none_of_them(command: str, linked: bool) -> None:
    usable("bubblewrap")
    bwrap = shutil.which("bwrap") or ""
    base = Environment(variables=(("VIRTUAL_ENV", "/opt/environment"),))
    original = environments.build(bwrap, base, silent)
    before = (original / "bin/activate").read_bytes()
    built = environments.build(bwrap, replace(base, setup=(command,)).with_source({"a.py": b""}), silent)
    assert (original / "bin/activate").read_bytes() == before != (built / "bin/activate").read_bytes()
    assert (original / "pyvenv.cfg").samefile(built / "pyvenv.cfg") is linked
