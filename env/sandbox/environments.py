"""The parts of building environments that both backends share. Sandboxes see an environment as `/opt/environment`.

A shell script builds it in two parts: first the packages, which many tasks share, then the result of a task's set-up
commands, run on its source in `/workspace`. Files that the set-up creates there (metadata, compiled modules) are kept
next to the packages, and copied into every workspace before the task's own files.
"""

from __future__ import annotations

import functools
import io
import os
import re
import shlex
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

from stackrank.env.environment import Environment
from stackrank.env.local_packages import STAGE, missing_package, staged, staged_files
from stackrank.env.sandbox import kit
from stackrank.env.sandbox.base import BuildError
from stackrank.env.sandbox.guest.core.files import ARTEFACTS
from stackrank.env.sandbox.python_env import REQUIREMENTS
from stackrank.host import programs
from stackrank.patches.contents import Link, link_destination, runs_as_program

HOME = "/opt/environment"
SOURCE = "/workspace"
PREFIXES = "/opt/prefixes"
TIMEOUT_S = 1800
TOOLS = "/opt/stackrank-tools.txt"
KIT = "/opt/sandbox"
"""Where a build finds the sandbox's own Python environment, whose packages it copies (see `kit`)."""
_KIT_PROGRAM = "/opt/stackrank-kit.py"
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")

_PYTHON = """
python=$(command -v "python${WANTED:-3}" || true)
if [ -z "$python" ]; then
    echo "it needs Python $WANTED, and the sandbox has $(python3 -V)"
    exit 3
fi
"""

# Installs packages. If the requirements lack what tests and tools need, it is installed in stackrank's own versions.
_PACKAGES = (
    _PYTHON
    + """
"$python" -m venv --without-pip %(home)s
%(home)s/bin/python -I %(kit_program)s %(kit)s others %(tools)s || %(home)s/bin/python -m ensurepip --default-pip
pip() { %(home)s/bin/python -m pip "$@"; }
if [ -s /opt/stackrank-requirements.txt ]; then
    pip install -q -r /opt/stackrank-requirements.txt || {
        # A complete list of versions may hold together although its packages' own conditions say otherwise.
        if grep -qv == /opt/stackrank-requirements.txt; then exit 1; fi
        pip install -q --no-deps -r /opt/stackrank-requirements.txt
    }
fi
if %(home)s/bin/python -c "import pytest" 2>/dev/null; then only=coverage; else only=; fi
grep "^$only" %(tools)s > /opt/stackrank-missing.txt
%(home)s/bin/python -c "import pytest, coverage" 2>/dev/null \\
    || %(home)s/bin/python -I %(kit_program)s %(kit)s pinned /opt/stackrank-missing.txt \\
    || pip install -q --no-deps -r /opt/stackrank-missing.txt
rm -rf %(stage)s
"""
)

# Installs the packages of a program that is not part of the task, and no others.
_PREFIX = (
    _PYTHON
    + """
"$python" -m venv %(home)s
%(home)s/bin/python -m pip install -q %(requirements)s
rm -rf %(stage)s
"""
)

_END_IF_FAILED = "(exit $?)"
"""Ends a script with `set -e` if the command before has failed, which a shell itself does not after `a && b`."""

_SETUP = """
export PATH=%(home)s/bin:$PATH
git config --global --add safe.directory "*"
git init -q .
git add -A -f .
git -c user.name=stackrank -c user.email=stackrank@localhost commit -q --allow-empty --no-verify -m "As given"
%(commands)s
cd %(source)s
"""

# A prebuilt image has the repository elsewhere, installed in place. It is moved, and the old path becomes a link.
_ADOPT = """
if [ -d /opt/miniconda3/envs/testbed ]; then ln -s /opt/miniconda3/envs/testbed %(home)s
elif [ -x %(repository)s/.venv/bin/python ]; then mv %(repository)s/.venv %(home)s
else mkdir -p %(home)s; fi
cd %(repository)s
git config --global --add safe.directory "*"
"""
_MOVE = """
cd /
find / -xdev -path %(repository)s -prune -o \\( -name "*.pth" -o -name "*.egg-link" -o -name "__editable__*" \\) \\
    -type f -print0 | xargs -0 -r sed -i "s#%(repository)s#%(source)s#g"
rm -rf %(repository)s
ln -s %(source)s %(repository)s
"""

_KEEP = """
git ls-files --others -z > /tmp/others
grep -zv -e __pycache__ -e "^build/temp" /tmp/others > /tmp/artefacts || true
tar -cf %(artefacts)s --null -T /tmp/artefacts
"""


def build_timeout() -> BuildError:
    """Return the error for a build that was ended after `TIMEOUT_S`."""
    return BuildError(f"building the environment took longer than {TIMEOUT_S:g} s")


def run_build(command: list[str], *, env: Mapping[str, str] | None = None, pass_fds: tuple[int, ...] = ()) -> None:
    """Run a build on this machine, without input. Raises BuildError if it fails or takes too long."""
    try:
        ended = programs.run(command, env=env, merge=True, timeout_s=TIMEOUT_S, pass_fds=pass_fds)
    except programs.TimeoutExpired:
        raise build_timeout() from None
    if ended.status:
        raise BuildError(f"the environment cannot be built: {find_reason(ended.text)}")


def home_of(environment: Environment, part: str) -> str:
    """Return the folder in which sandboxes see the result of a part."""
    return f"{PREFIXES}/{environment.digest}" if part == "prefix" else HOME


def describe(environment: Environment, part: str) -> str:
    """Say what building a part of an environment waits for."""
    if part not in ("packages", "prefix"):
        return "set-up commands" if part == "setup" else environment.prebuilt
    names = [re.split(r"[\s;@]", requirement)[0] for requirement in environment.requirements]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"installing {', '.join(names[:3])}{more}" if names else "a Python without packages"


def build_script(environment: Environment, part: str, home: str = "", stage: str = STAGE) -> str:
    """Return the commands that build a part of an environment.

    `part`: `packages`; `setup`, on top of it; `adopt`, on a prebuilt image; or `prefix`. `home`: the folder to build
    in, if it is not `home_of`. `stage`: where the files of local packages are; it is emptied.
    """
    words = {
        "requirements": shlex.join(staged(requirement, stage) for requirement in environment.requirements),
        "stage": stage,
        "home": home or home_of(environment, part), "tools": TOOLS, "source": SOURCE, "artefacts": ARTEFACTS,
        "repository": shlex.quote(environment.repository),
        "commands": "".join(f"{command}\n{_END_IF_FAILED}\n" for command in environment.setup),
        "kit": KIT, "kit_program": _KIT_PROGRAM,
    }  # fmt: skip
    if part == "packages":
        text = _PACKAGES
    elif part == "prefix":
        text = _PREFIX
    elif part == "setup":
        text = _SETUP + _KEEP
    else:
        text = _ADOPT + _KEEP + _MOVE
    return f"set -e\nunset PYTHONDONTWRITEBYTECODE\nWANTED={shlex.quote(environment.python)}\n" + text % words


_OLDEST_S = 315_619_200
"""1980-01-02. A build may put these files into a wheel, which is a ZIP archive and cannot store earlier times."""


def build_context(environment: Environment, part: str) -> bytes:
    """Return a tar archive, relative to the root folder, of the files that the script reads.

    Raises BuildError if a local package is not there.
    """
    files: dict[str, bytes] = {}
    if part in ("packages", "prefix"):
        if problem := missing_package(environment.requirements):
            raise BuildError(f"the environment cannot be built: {problem}")
        files = {f"{STAGE}/{path}": content for path, content in staged_files(environment.requirements).items()}
    if part == "packages":
        lines = re.sub(r"\s*\\\n\s*--hash=\S+", "", REQUIREMENTS.read_text(encoding="utf-8"))
        files[TOOLS] = "\n".join(line for line in lines.splitlines() if "win32" not in line).encode() + b"\n"
        files[_KIT_PROGRAM] = Path(kit.__file__).read_bytes()
        files["/opt/stackrank-requirements.txt"] = "".join(
            f"{staged(requirement)}\n" for requirement in environment.requirements
        ).encode()
    elif part == "setup":
        files = {f"{SOURCE}/{path}": content for path, content in environment.source.items()}
    return archive(files)


def archive(files: Mapping[str, bytes], mtime: int = _OLDEST_S) -> bytes:
    """Return a tar archive of `files`, which maps paths to contents. Absolute paths become relative to the root.

    Scripts are executable, whether their mode is known or not. Links that leave the tree are left out.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path in sorted(files):
            info = tarfile.TarInfo(path.lstrip("/"))
            info.mtime = mtime
            content = files[path]
            if isinstance(content, Link):
                if link_destination(info.name, content.target) is None:
                    continue
                info.type, info.linkname = tarfile.SYMTYPE, os.fsdecode(content.target)
                tar.addfile(info)
                continue
            info.size = len(content)
            info.mode = 0o755 if runs_as_program(content) else 0o644
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def find_interpreter(environment: Environment) -> Path:
    """Return the interpreter on this machine that an environment is created with. Raises BuildError."""
    current = Path(os.path.realpath(sys.executable))
    if environment.python in ("", f"{sys.version_info[0]}.{sys.version_info[1]}"):
        return current
    executable = programs.find_program(f"python{environment.python}")
    # A file of that name may only be a shim of pyenv, which runs nothing if pyenv does not have that version.
    ended = programs.run([executable or "false", "-c", "import sys; print(sys.executable)"])
    if ended.status:
        raise BuildError(
            f"it needs Python {environment.python}, which this machine does not have: install it, or use an image"
        )
    return Path(os.path.realpath(ended.text.strip()))


_UNREACHABLE = re.compile(
    r"(?:[Cc]ould not resolve host: |[Ff]ailed to connect to |ENOTFOUND |\bhost=')(?P<host>[\w.-]+\w)"
    r"|Name or service not known|[Tt]emporary failure in name resolution|Network is unreachable|No route to host"
)


def find_reason(output: str) -> str:
    """Return the most informative line of a failed build's output, and which host could not be reached."""
    # pip ends with its own error. The output of the program that it called is in a block above that.
    blocks = re.findall(r"lines of output\]\n(.*?)\[end of output\]", output, re.DOTALL)
    lines = [line.strip() for line in (blocks[-1] if blocks else output).splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"[\w.]+(Error|Exception): ", line)]
    errors = [line for line in lines if re.match(r"(ERROR|error|fatal)\b", line)]
    line_found = (raised[-1:] or errors[:1] or lines[-1:] or [""])[0][:300]
    # What a tool only warns about, it may have done at a later try.
    final = [match for line in lines if not re.match("warning", line, re.I) for match in _UNREACHABLE.finditer(line)]
    if not final:
        return line_found
    host = next((match["host"] for match in final if match["host"]), "a host")
    return f"it downloads from {host}, which cannot be reached ({line_found})"


def pip_settings() -> tuple[dict[str, str], tuple[str, ...]]:
    """Return pip's configuration here: environment variables, and the local files and folders that they name.

    Both go into the sandbox that builds an environment, so that pip finds the same packages there as here.
    """
    own = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name in _PROXIES}
    return _read_pip_settings(frozenset(own.items()))


@functools.cache
def _read_pip_settings(_environment: frozenset[tuple[str, str]]) -> tuple[dict[str, str], tuple[str, ...]]:
    listing = programs.run(programs.python("-m", "pip", "config", "list")).text
    variables = {name: os.environ[name] for name in _PROXIES if name in os.environ}
    # Entries of files come first, the environment last, so that it wins, as in pip itself.
    entries = re.findall(r"^([\w-]+|:env:)\.([\w-]+)='(.*)'$", listing, re.M)
    for _section, name, value in sorted(entries, key=lambda entry: entry[0] == ":env:"):
        if name in ("target", "prefix", "user", "require-virtualenv", "no-deps", "cache-dir", "python"):
            continue
        variables["PIP_" + name.upper().replace("-", "_")] = value.replace("\\n", " ").strip()
    variables |= {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    words = [word.removeprefix("file://") for value in variables.values() for word in value.split()]
    folders = {Path(word) for word in words if word.startswith("/") and Path(word).exists()}
    # An index of files (`.../simple`) may link to folders next to it.
    places = {str(path.parent if path.name == "simple" else path) for path in folders}
    return variables, tuple(sorted(places))
