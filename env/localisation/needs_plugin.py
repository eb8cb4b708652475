"""A pytest plug-in that runs inside the sandbox: runs some tests in other surroundings, and records what they ask for.

What a test asks of its surroundings and does not get is seen by an audit hook, and by wrappers where Python has no
audit event: it does not depend on what a test makes of it. The plug-in can rely only on Python 3.8 and pytest.
"""

from __future__ import annotations

import builtins
import datetime
import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

ASKED = json.loads(os.environ.get("MEASUREMENT", "{}"))
"""`result`: the file to write. `root`: the workspace. `only`: the tests to run; None: all. `shift_s`: seconds by which
the clock is moved."""

collected: list[str] = []
outcomes: dict[str, str] = {}
needs: dict[str, set[str]] = {}
current: list[str] = []

_LOCAL = ("", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::")
_BUILTINS = {"cd", "echo", "exit", "export", "set", "test", "true", "false", "[", ":", "exec", "eval", "printf", "read"}


def need(what: str) -> None:
    """Record that the current test asked for something that is not there."""
    if current:
        needs.setdefault(current[-1], set()).add(what)


# ---- what tests ask for


def audit(event: str, arguments: Any) -> None:
    """Look at what the process does. An error here must not reach the test."""
    check = CHECKS.get(event)
    if check is None or not current:
        return
    node = current.pop()  # what the check itself does is nobody's need
    try:
        what = check(*arguments)
    except Exception:
        what = None
    current.append(node)
    if what:
        need(what)


def host(name: Any) -> str | None:
    """Return the need for a network, unless the host is this one."""
    text = name.decode("ascii", "replace") if isinstance(name, bytes) else str(name or "")
    local = text in _LOCAL or text.startswith("127.") or text == os.uname().nodename or text.endswith(".localhost")
    return None if local else "a network (%s)" % text


def connect(socket: Any, address: Any) -> str | None:
    if isinstance(address, tuple):
        return host(address[0])
    path = os.fsdecode(address) if isinstance(address, (str, bytes)) else ""
    outside = path.startswith("/") and not in_sandbox(path)
    return "the socket %s" % path if outside and not os.path.exists(path) else None


def start(executable: Any, arguments: Any = (), folder: Any = None, environment: Any = None) -> str | None:
    words = [os.fsdecode(word) for word in ([arguments] if isinstance(arguments, (str, bytes)) else arguments)]
    program = os.fsdecode(executable) if executable else (words or [""])[0]
    if os.path.basename(program) in ("sh", "bash") and words[1:2] == ["-c"]:
        return shell(words[2] if len(words) > 2 else "")
    return lacking(program, words, os.fsdecode(folder) if folder else os.getcwd(), environment)


def shell(command: Any) -> str | None:
    lexer = shlex.shlex(os.fsdecode(command), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if set(word) <= set("();<>|&"):
            if words and words[0] not in _BUILTINS and "=" not in words[0]:
                missing = lacking(words[0], words, os.getcwd(), None)
                if missing:
                    return missing
            words = []
        else:
            words.append(word)
    return None


def lacking(program: str, words: list[str], folder: str, environment: Any) -> str | None:
    path = (environment or {}).get("PATH") if isinstance(environment, dict) else None
    absolute = os.path.join(folder, program) if os.sep in program else program
    if shutil_which(absolute, path=path) is None:
        return None if os.path.exists(absolute) and in_workspace(absolute) else "the program %s" % program
    if os.path.basename(program) == "git" and not in_repository(folder):
        return GIT
    return None


GIT = "git's metadata (a sandbox has the files of a commit, not its history)"


def in_repository(folder: str) -> bool:
    return any((parent / ".git").exists() for parent in [Path(folder).absolute(), *Path(folder).absolute().parents])


def opened(path: Any, mode: Any = None, flags: int = 0) -> str | None:
    if not isinstance(path, (str, bytes, os.PathLike)):
        return None
    name = os.path.abspath(os.fsdecode(os.fspath(path)))
    if name == "/dev/tty":
        return "a terminal"
    if ".git" in name.split(os.sep):
        return None if os.path.exists(name) else GIT
    if in_sandbox(name) or name.startswith("/proc/"):
        return None
    writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    if writes:
        return placed(name)
    return None if os.path.exists(name) else "the file %s" % shown(name)


def placed(path: Any, *rest: Any) -> str | None:
    name = os.path.abspath(os.fsdecode(os.fspath(path)))
    folder = os.path.dirname(name)
    if in_sandbox(name) or os.access(name if os.path.exists(name) else folder, os.W_OK):
        return None
    return "a place to write to (%s)" % shown(folder)


def shown(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if home not in ("", "/") and path.startswith(home + "/") else path


def in_workspace(path: str) -> bool:
    return (os.path.abspath(path) + "/").startswith(ASKED["root"].rstrip("/") + "/")


def in_sandbox(path: str) -> bool:
    """Whether a path is in the workspace, in a temporary folder or in Python's own folders."""
    places = ["/tmp", "/var/tmp", "/dev/null", "/dev/shm", "/dev/urandom", sys.prefix, sys.base_prefix]
    return in_workspace(path) or any((path + "/").startswith(place.rstrip("/") + "/") for place in places)


CHECKS: dict[str, Callable[..., str | None]] = {
    "socket.connect": connect,
    "socket.sendto": connect,
    "socket.getaddrinfo": lambda name, *rest: host(name),
    "socket.gethostbyname": lambda name, *rest: host(name),
    "socket.gethostbyaddr": lambda name, *rest: host(name),
    "subprocess.Popen": start,
    "os.posix_spawn": lambda path, arguments, environment=None: start(path, arguments, None, environment),
    "os.exec": lambda path, arguments, environment=None: start(path, arguments, None, environment),
    "os.system": shell,
    "open": opened,
    "os.mkdir": placed,
    "os.rename": lambda source, target, *rest: placed(target),
}


def wrap(module: Any, name: str, what: Callable[..., str], errors: Any = Exception) -> None:
    """Record a need if a function of the standard library fails, or finds nothing."""
    original = getattr(module, name, None)
    if original is None:
        return

    def wrapper(*arguments: Any, **options: Any) -> Any:
        try:
            result = original(*arguments, **options)
        except errors:
            need(what(*arguments))
            raise
        if result is None and name == "which":
            need(what(*arguments))
        return result

    setattr(module, name, wrapper)


def watch() -> None:
    """Watch what has no audit event."""
    import locale

    terminal = lambda *rest: "a terminal"  # noqa: E731
    wrap(shutil, "which", lambda program, *rest: "the program %s" % os.fsdecode(program))
    wrap(locale, "setlocale", lambda category, name=None: "the locale %s" % (name,), locale.Error)
    wrap(os, "get_terminal_size", terminal, OSError)
    wrap(os, "ttyname", terminal, OSError)
    for module in ("termios", "curses"):
        try:
            wrapped = __import__(module)
        except ImportError:
            continue
        for name in ("tcgetattr", "tcsetattr", "initscr", "setupterm"):
            wrap(wrapped, name, terminal)
    for module, names in (("pwd", ("getpwuid", "getpwnam")), ("grp", ("getgrgid", "getgrnam"))):
        for name in names:
            wrap(__import__(module), name, lambda key: "a user or group %s" % (key,), KeyError)
    try:
        import zoneinfo
    except ImportError:
        return
    original = zoneinfo.ZoneInfo

    class ZoneInfo(original):  # type: ignore[misc, valid-type]
        def __new__(cls, key: str) -> Any:
            try:
                return super().__new__(cls, key)
            except zoneinfo.ZoneInfoNotFoundError:
                need("data of the time zone %s" % key)
                raise

    zoneinfo.ZoneInfo = ZoneInfo  # type: ignore[misc]


# ---- the clock


def shift(seconds: float) -> None:
    """Move the clock of this process."""
    real_date: Any = datetime.date
    real_datetime: Any = datetime.datetime
    originals = {name: getattr(time, name) for name in ("time", "time_ns", "localtime", "gmtime", "ctime", "strftime")}

    class Kind(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, cls.__mro__[1])

        def __subclasscheck__(cls, kind: Any) -> bool:
            return issubclass(kind, cls.__mro__[1])

    class date(real_date, metaclass=Kind):  # type: ignore[misc]
        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(time.time())

    class datetime_(real_datetime, metaclass=Kind):  # type: ignore[misc]
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(time.time(), tz)

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(time.time())

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None)

    date.__name__, datetime_.__name__ = "date", "datetime"
    date.__qualname__, datetime_.__qualname__ = "date", "datetime"
    datetime.date, datetime.datetime = date, datetime_  # type: ignore[misc]
    time.time = lambda: originals["time"]() + seconds
    time.time_ns = lambda: originals["time_ns"]() + int(seconds * 1e9)
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _at_shifted(originals[name]))
    time.strftime = lambda form, moment=None: originals["strftime"](form, moment or time.localtime())


def _at_shifted(original: Any) -> Any:
    return lambda seconds=None: original(time.time() if seconds is None else seconds)


# ---- the run


def pytest_collection_modifyitems(session: Any, config: Any, items: list[Any]) -> None:
    """Record all tests, and run only those that are asked for."""
    collected.extend(item.nodeid for item in items)
    if ASKED["only"] is not None:
        wanted = set(ASKED["only"])
        items[:] = [item for item in items if item.nodeid in wanted]


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: Any, nextitem: Any) -> Generator[None, Any, None]:
    """Attribute what happens from here on to this test."""
    current.append(item.nodeid)
    yield
    current.clear()


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """Record the outcome of a test."""
    outcome = yield
    report = outcome.get_result()
    if report.outcome == "failed":
        outcomes[item.nodeid] = "failed"
    elif report.outcome == "skipped" or report.when == "call":
        outcomes.setdefault(item.nodeid, report.outcome)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_make_collect_report(collector: Any) -> Generator[None, Any, None]:
    """Attribute what happens while a file is imported to the file, and record whether it can be."""
    current.append(collector.nodeid)
    outcome = yield
    current.clear()
    if outcome.get_result().outcome == "failed":
        outcomes[collector.nodeid] = "failed"
    elif collector.nodeid.endswith(".py"):
        outcomes.setdefault(collector.nodeid, "passed")


def pytest_unconfigure(config: Any) -> None:
    """Write the result file."""
    current.clear()
    answer = {
        "collected": collected,
        "outcomes": outcomes,
        "needs": {test: sorted(whats) for test, whats in needs.items()},
    }
    with real_open(ASKED["result"], "w") as file:
        json.dump(answer, file)


real_open = builtins.open
shutil_which = shutil.which
if ASKED:
    if ASKED.get("record"):
        watch()
        sys.addaudithook(audit)
    if ASKED.get("shift_s"):
        shift(ASKED["shift_s"])
