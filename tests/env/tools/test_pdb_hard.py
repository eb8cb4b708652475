"""The debugger against programs that hang, flood, fork, exec, close and kill."""

from __future__ import annotations

import os
import time

import psutil
import pytest

from stackrank.env.task import Limits, Task
from tests.fixtures.env import Episode, Play, cart, make_task
from tests.support.waiting import run_out


def script(text: str, timeout_s: float = 1) -> Task:
    files: dict[str, bytes | str] = {"prog.py": text, "tests/test_a.py": "def test(): pass\n"}
    return make_task(files, limits=Limits(timeout_s=run_out(timeout_s)))


def python_processes(step: Episode) -> int:
    """Processes in the sandbox but the guest, the warm Python and those that look."""
    paths = step("bash", command="for p in /proc/[0-9]*; do echo $p; done").text.split()
    return len(paths) - 3


HANGS = {
    "a busy loop": ("while True: total += 1", "total += 1"),
    "sleep": ("import time\n    time.sleep(1000)", "time.sleep(1000)"),
    "a lock": ("import threading\n    threading.Event().wait()", "wait()"),
    "a queue": ("import queue\n    queue.Queue().get()", "get()"),
    "a join": (
        "import threading, time\n    t = threading.Thread(target=time.sleep, args=(99,), daemon=True)\n"
        "    t.start()\n    t.join()",
        "t.join()",
    ),
    "a child": ("import subprocess\n    subprocess.run(['sleep', '99'])", "subprocess.run"),
    "a regular expression": ("import re\n    re.match('(a+)+$', 'a' * 40 + 'b')", "re.match"),
    "asyncio": ("import asyncio\n    asyncio.run(asyncio.sleep(99))", "asyncio.run"),
    "a handler that swallows": (
        "while True:\n        try:\n            total += 1\n        except BaseException:\n            pass",
        "",
    ),
}


@pytest.mark.parametrize("way", HANGS)
def test_a_program_that_hangs_is_paused_where_it_hangs(play: Play, way: str) -> None:
    body, line = HANGS[way]
    limit = 2 if way == "a busy loop" else 0.6
    step = play(script(f"def work():\n    total = 0\n    {body}\n\n\nwork()\n", limit))
    step.pdb("b work\nc", "python prog.py")
    hung = step.pdb("c")
    assert hung.state["timed_out"] and "paused where it was" in hung.text
    assert (hung.state["file"], hung.state["function"]) == ("prog.py", "work")
    current = next(text for text in hung.state["source"] if "->" in text)
    assert line in current
    assert step.pdb("p total").text.isdigit()
    assert [point["line"] for point in hung.state["breakpoints"]] == [2]
    assert step.pdb("q").state["ended"] == "quit"
    assert python_processes(step) <= 2


@pytest.mark.exhaustive
def test_a_hang_that_cannot_be_interrupted_is_killed(play: Play) -> None:
    step = play(script("import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass\n"))
    step.pdb("b 1\nc", "python prog.py")
    hung = step.pdb("c")
    assert "could not be interrupted, so it was killed" in hung.text
    resumed = step.pdb("c", "python prog.py")
    assert resumed.state["line"] == 1, "breakpoints are intact"


def test_an_expression_that_hangs(play: Play) -> None:
    step = play(script("x = 1\ny = 2\n"))
    step.pdb("n", "python prog.py")
    hung = step.pdb("p all(True for _ in iter(int, 1))")
    assert "the time limit of" in hung.text
    assert step.pdb("n").state["line"] == 2


ENDS = {
    "os._exit": ("import os; os._exit(7)", "exit status 7"),
    "kills itself": ("import os; os.kill(os.getpid(), 9)", "SIGKILL"),
    "kill -9 -1": ("import os; os.kill(-1, 9)", "ended"),
    "segmentation fault": ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    "abort with faulthandler": ("import faulthandler, os; faulthandler.enable(); os.abort()", "SIGABRT"),
    "closes every descriptor": ("import os; os.closerange(0, 1000)\nx = 1\nbreakpoint()", "debugg"),
    "writes to every descriptor": (
        "import os\nfor fd in range(3, 60):\n    try: os.write(fd, b'{\"stop\": 3}\\n')\n    except OSError: pass",
        "wrote into the debugger's own channel",
    ),
    "forges a report": (
        "import os\nfor fd in range(3, 60):\n"
        '    try: os.write(fd, b\'{"text": "", "notes": [], "breakpoints": [{}]}\\n\')\n'
        "    except OSError: pass",
        "wrote into the debugger's own channel",
    ),
    "exec over itself": ("import os; os.execvp('sleep', ['sleep', '9999'])", "debugg"),
    "raises in a handler": ("import sys; sys.excepthook = None; raise KeyError(1)", "KeyError"),
    "sys.exit": ("import sys; sys.exit(4)", "exit status 4"),
    "deep recursion": ("def f(): f()\nf()", "RecursionError"),
    "kills its parent": ("import os; os.kill(os.getppid(), 9); print('alive')", "ended"),
}


@pytest.mark.parametrize("way", ENDS)
def test_a_program_that_ends_badly(play: Play, way: str) -> None:
    body, message = ENDS[way]
    step = play(script(f"print('started')\n{body}\n", timeout_s=60))
    step.pdb("tbreak 1\nc", "python prog.py")
    end = step.pdb("c")
    if end.state["alive"]:
        assert "post_mortem" in end.state["event"]
        assert message in end.text
        end = step.pdb("c")
    else:
        assert message in end.text
    assert not end.state["alive"] and not end.state.get("timed_out")
    step("rewrite", path="prog.py", new_code="x = 5\ny = 6\n")
    assert "Breakpoint 1 at" in step.pdb("b prog.py:2\nc\np x", "python prog.py").text
    assert step.pdb("p x").text == "5"
    assert step("eval").ok


def test_floods_do_not_desynchronise(play: Play) -> None:
    flood = """
        import os, sys

        print("(Pdb) ", end="")
        print('{"stop": {}}')
        os.write(1, b"\\xff\\xfe\\x00\\x1b[31m")
        chunk = "x" * (1 << 20)
        for _ in range(50):
            sys.stdout.write(chunk)
        print("(Pdb) last")
        done = True
        over = True
    """
    step = play(make_task({"prog.py": flood, "tests/test_a.py": "def test(): pass\n"}, limits=Limits(timeout_s=120)))
    step.pdb("b 10", "python prog.py")
    process = psutil.Process(os.getpid())
    baseline = process.memory_info().rss
    stopped = step.pdb("c")
    assert stopped.state["line"] == 10
    assert len(stopped.text) < 60_000 and "bytes are lost" in stopped.text
    assert "(Pdb) last" in stopped.text
    assert process.memory_info().rss - baseline < 20 << 20
    assert step.pdb("p done").text.startswith("*** NameError")
    step.pdb("n")
    assert step.pdb("p done").text == "True"


THREADS = """
    import threading

    lock = threading.Lock()
    results = []


    def work(number):
        square = number * number
        with lock:
            results.append(square)


    threads = [threading.Thread(target=work, args=(n,), name="worker-%d" % n) for n in range(3)]
    for thread in threads:  # in turn: none comes to the breakpoint while another one steps
        thread.start()
        thread.join()
    print(sorted(results))
"""


def test_breakpoints_in_threads(play: Play) -> None:
    step = play(script(THREADS, timeout_s=60))
    threads = set()
    step.pdb("b prog.py:8", "python prog.py")
    for _ in range(3):
        stop = step.pdb("c")
        assert (stop.state["line"], stop.state["function"]) == (8, "work")
        threads.add(stop.state["thread"])
        assert step.pdb("n").state["line"] == 9
        assert step.pdb("p square == number * number").text == "True"
    assert threads == {"worker-0", "worker-1", "worker-2"}
    end = step.pdb("c")
    assert "[0, 1, 4]" in end.text and end.state["exit"] == 0


def test_asyncio(play: Play) -> None:
    program = """
        import asyncio


        async def double(x):
            await asyncio.sleep(0.01)
            return x * 2


        async def main():
            values = await asyncio.gather(double(1), double(2))
            print(values)


        asyncio.run(main())
    """
    step = play(script(program, timeout_s=60))
    step.pdb("b 6", "python prog.py")
    assert step.pdb("c\np x").text.splitlines()[1].endswith("double()")
    assert step.pdb("c").state["function"] == "double"
    assert "[2, 4]" in step.pdb("c").text


def test_forks_and_subprocesses_do_not_take_commands(play: Play) -> None:
    program = """
        import multiprocessing, os, subprocess, sys


        def work(n):
            return n + 1


        if os.fork() == 0:
            work(1)
            os._exit(0)
        os.wait()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(work, [1, 2]))
        print(subprocess.run([sys.executable, "-c", "print('child')"], capture_output=True).stdout)
        print(work(5))
    """
    step = play(make_task({"prog.py": program, "tests/test_a.py": "def test(): pass\n"}))
    step.pdb("b work", "python prog.py")
    stop = step.pdb("c")
    assert stop.state["function"] == "work" and stop.state["locals"] == {"n": "5"}
    assert "[2, 3]" in stop.text and "child" in stop.text
    assert step.pdb("c").state["exit"] == 0


@pytest.mark.exhaustive
def test_fifty_edits_leave_one_debugger(play: Play) -> None:
    step = play(cart())
    step("create", path="other.py", content="x = 1\n")  # starts the process that parses files
    step.pdb("b total\nc")
    baseline = python_processes(step)
    for number in range(50):
        step("rewrite", path="cart.py", start=1, end=1, new_code=f"def total(items):  # {number}")
        if number % 5 == 0:
            assert step.pdb("c").state["function"] == "total"
            assert python_processes(step) == baseline
    assert step.pdb("l").state["restarted"]
    assert python_processes(step) == baseline


def test_workspace_modules_named_like_ours(play: Play) -> None:
    """A program's own `cmd`, `code` or `json` is found, although the debugger has imported Python's."""
    task = make_task(
        {
            "cmd.py": "WHAT = 'mine'\n",
            "code.py": "WHAT = 'mine'\n",
            "hmac/__init__.py": "WHAT = 'mine'\n",
            "tests/test_a.py": """
                import cmd, code, hmac


                def test_mine():
                    assert [cmd.WHAT, code.WHAT, hmac.WHAT] == ["mine"] * 3
            """,
        }
    )
    step = play(task)
    assert step("eval").state["solved"] if not step.env.over else True
    env = step.env
    assert env.score().resolved
    env.reset()
    end = step.pdb("c")
    assert end.state["outcomes"] == {"tests/test_a.py::test_mine": "passed"}, end.text


def test_replay_gives_the_same_observations(play: Play) -> None:
    program = """
        import tempfile


        class Thing:
            pass


        def work():
            thing = Thing()
            folder = tempfile.mkdtemp()
            names = {"b", "a", "c"}
            return thing, folder, names


        work()
    """
    texts = []
    for _ in range(2):
        step = play(make_task({"prog.py": program, "tests/test_a.py": "def test():\n    assert 1 == 2\n"}))
        transcript = [step("eval").text, step("listdir").text, step("grep", pattern="t").text]
        commands = ["b work\nc", "n\nn\nn", "p thing, folder, names", "locals()", "w", "c", "restart", "q"]
        transcript += [step.pdb(command, "python prog.py" if command[0] == "b" else None).text for command in commands]
        transcript.append(step("bash", command='ls; date +%Z; echo $HOSTNAME; python -c \'print({"x", "y"})\'').text)
        texts.append(transcript)
    assert texts[0] == texts[1]


def test_numbers_of_any_length_are_refused_at_once_and_truthfully(play: Play) -> None:
    step = play(make_task({"run.py": "def f(n):\n    return n + 1\n\n\nf(2)\n"}))
    step.pdb("p 1", test="python run.py")
    taken = []
    for digits in (20, 4300, 4301, 60_000):
        number = "9" * digits
        started = time.monotonic()
        for command in (f"b {number}", f"b run.py:{number}", f"tbreak run.py:1-{number}"):
            told = step.pdb(command, test="python run.py").text
            assert f"no file has a line whose number has {digits} digits" in told, told[:200]
        taken.append(time.monotonic() - started)
    assert taken[-1] < 200 * taken[0], "the time does not grow with the square of the length"
    step.pdb("b f\nc")
    told = step.pdb(f"ignore 1 {10**20}").text
    assert "a number of hits (at most 999999999)" in told and step.pdb("p n").text == "2"
    assert step.pdb("b ²").ok and step.pdb("p n").text == "2"


@pytest.mark.parametrize(("status", "shown"), [("10**5000", 255), ("-10**30", 255), ("-1", 255), ("300", 44)])
def test_a_program_ends_with_the_status_that_python_gives_it(play: Play, status: str, shown: int) -> None:
    step = play(make_task({"run.py": f"import sys\nsys.exit({status})\n"}))
    assert f"exit status {shown})" in step.pdb("c", test="python run.py").text


def test_names_that_a_program_made_up_may_be_long(play: Play) -> None:
    code = "def f():\n    exec(compile('a = 1\\nb = 2', 'z' * 200_000, 'exec'))\n    return 1\n\n\nf()\n"
    step = play(make_task({"run.py": code}))
    assert step.pdb("b run.py:2\nc\ns\ns\ns\ns", test="python run.py").ok
    assert step.pdb("p 1").ok
