"""The Python environment of bubblewrap and local sandboxes: pytest and coverage, and nothing of the project.

stackrank's own interpreter is unsuitable, because hidden tests and known fixes can be imported from it.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from stackrank.errors import NotReady
from stackrank.home import home, locked
from stackrank.host import programs

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
_STAMP = ".stackrank-digest"
_INSTALL_TIMEOUT_S = 600.0


def sandbox_python() -> Path:
    """Return the path of the sandbox interpreter, which may not exist yet."""
    return home() / "sandbox-python" / "bin" / "python"


def is_current() -> bool:
    """Return whether the sandbox interpreter exists and has the packages that this version of stackrank needs."""
    python = sandbox_python()
    try:
        stamp = (python.parent.parent / _STAMP).read_text(encoding="utf-8")
    except OSError:
        return False
    # `exists` follows the link, so it is False if the Python that the environment was made from has been removed.
    return stamp == _digest() and python.exists()


def ensure_sandbox_python(*, say: Callable[[str], None] = lambda message: None) -> Path:
    """Create the sandbox interpreter if it is missing or out of date, and return its path.

    The first call takes about ten seconds and needs the network; later ones take a millisecond and no network. `say`
    gets one line if there is something to wait for. Safe to call from several processes at once.

    Raises:
        NotReady: it could not be created.
    """
    if is_current():
        return sandbox_python()
    target = sandbox_python().parent.parent
    with locked("sandbox-python"):
        if not is_current():  # another process may have created it while this one waited
            say("creating the sandbox's Python environment (about 10 s)")
            _make(target)
    return sandbox_python()


def _digest() -> str:
    digest = hashlib.sha256(REQUIREMENTS.read_bytes())
    digest.update(f"\0{sys.base_prefix}\0{sys.version_info[:2]}".encode())
    return digest.hexdigest()


def _make(target: Path) -> None:
    """Build next to `target` and rename, so that nobody sees an incomplete environment. Called with the lock held."""
    for leftover in target.parent.glob(".sandbox-python-*"):  # left by a process that was killed while building
        shutil.rmtree(leftover, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(prefix=".sandbox-python-", dir=target.parent))
    try:
        venv = scratch / "made"
        _run(
            programs.python("-m", "venv", str(venv)),
            remedy="install Python's venv module (on Debian and Ubuntu: apt-get install python3-venv)",
        )
        _run(
            [
                *(str(venv / "bin" / "python"), "-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
                *("--require-hashes", "--no-deps", "--only-binary=:all:", "-r", str(REQUIREMENTS)),
            ],
            remedy="check that pip reaches a package index",
        )
        _rewrite_scripts(venv / "bin", old=str(venv), new=str(target))
        (venv / _STAMP).write_text(_digest(), encoding="utf-8")
        if target.exists():
            target.rename(scratch / "replaced")
        venv.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def pip_variables() -> dict[str, str]:
    """Return the environment variables for pip, without the caller's that would install other packages or elsewhere."""
    dropped = ("PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REQUIREMENT", "PIP_CONSTRAINT")
    return {name: value for name, value in programs.environment().items() if name not in dropped}


def _run(command: list[str], *, remedy: str) -> None:
    try:
        ended = programs.run(command, env=pip_variables(), merge=True, timeout_s=_INSTALL_TIMEOUT_S)
    except programs.TimeoutExpired as error:
        message = f"The sandbox's Python environment was not ready after {_INSTALL_TIMEOUT_S:.0f} s: {remedy}."
        raise NotReady(message) from error
    if ended.status:
        lines = [line.strip() for line in ended.text.splitlines() if line.strip()]
        # pip's errors start with ERROR. Its warnings about the configuration around them only distract.
        reason = next((line for line in reversed(lines) if line.startswith("ERROR:")), lines[-1] if lines else "")
        raise NotReady(f"The sandbox's Python environment could not be created: {remedy} ({reason[:300]}).")


def _rewrite_scripts(folder: Path, *, old: str, new: str) -> None:
    """Change the first lines of `bin/pytest` and other scripts to the final path of the environment."""
    for script in folder.iterdir():
        if script.is_symlink() or not script.is_file():
            continue
        content = script.read_bytes()
        if old.encode() in content:
            script.write_bytes(content.replace(old.encode(), new.encode()))


if __name__ == "__main__":  # the set-up scripts call this
    try:
        print(ensure_sandbox_python(say=lambda message: print(message, file=sys.stderr)))
    except NotReady as failure:
        sys.exit(str(failure))
