"""The terminal that stays open: what is typed, what is waited for, what is seen."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, cast

import psutil
import pytest
import regex

from stackrank.env.actions import Observation
from stackrank.env.sandbox.base import Backend, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.replies.programs import Typed
from stackrank.env.task import Limits
from stackrank.env.terminal.session import Session
from stackrank.env.tools.base import Bench, ToolError
from stackrank.env.tools.debugging.terminal import Terminal
from tests.fixtures.env import Play, cart, make_task, usable
from tests.support.waiting import run_out, wait_for

ASK = """
    import getpass

    name = input("name? ")
    secret = getpass.getpass("secret? ")
    print(f"{name} has {len(secret)} characters")
"""
FILES: dict[str, bytes | str] = {"ask.py": ASK, "keep.py": "x = 1\n"}

Say = Callable[..., Observation]


def opened(sandbox: Sandbox) -> Say:
    """What types into a terminal of this sandbox."""
    task = make_task(FILES, limits=Limits(timeout_s=60))
    sandbox.put(task.files)
    bench, tool = Bench(sandbox, task), Terminal()

    def say(text: str = "", **arguments: object) -> Observation:
        return bench.with_changes(tool(bench, tool.arguments.model_validate({"text": text, **arguments})))

    return say


@pytest.fixture
def say(sandbox_backend: Backend) -> Iterator[Say]:
    """A terminal in each backend."""
    with Sandbox(sandbox_backend, SandboxSpec(limits=Limits(timeout_s=60))) as sandbox:
        yield opened(sandbox)


def event(observation: Observation) -> object:
    return observation.state.get("event")


def test_terminal_keeps_directory_variables_and_programs(say: Say) -> None:
    assert say("mkdir -p inner && cd inner && X=five").text == "$ mkdir -p inner && cd inner && X=five\n$"
    assert say("basename $PWD; echo $X").text.split("\n")[1:] == ["inner", "five", "$"]
    question = say("cd ..; python -q")
    assert question.text.endswith(">>>\n[python waits for input]") and event(question) == "input"
    assert "[python waits" in say("total = 6 * 7").text
    assert "\n42\n" in say("total").text
    assert say(key="ctrl-d").text.endswith("$")


def test_questions_are_answered_in_the_terminal(say: Say) -> None:
    question = say("python ask.py")
    assert question.text == "$ python ask.py\nname?\n[python waits for input]"
    answered = say("Ada\nhush hush")
    assert answered.text == "name? Ada\nsecret?\nAda has 9 characters\n$"
    assert answered.state["kind"] == "terminal" and answered.state["program"] == "" and not answered.state["timed_out"]
    # All lines at once: each is typed when it is asked for.
    assert say("python ask.py\nBob\nxyz\necho $?").text.endswith("Bob has 3 characters\n$ echo $?\n0\n$")
    copied = say("cat > copy.txt\none\ntwo", key="enter ctrl-d")
    assert copied.text.endswith("$") and "+one\n+two\n" in str(copied.state["diff"])


def test_what_looks_like_a_prompt_is_none(say: Say) -> None:
    observation = say("printf '$ '; sleep 0.3; printf '\\033]0;$ \\007name? '; sleep 0.3; echo done")
    assert event(observation) == "prompt" and observation.text.endswith("done\n$")
    # The shell's own `read` is no prompt either.
    waited = say("read -r answer", wait="prompt", timeout_s=0.3)
    assert event(waited) == "time" and waited.state["timed_out"]
    assert say("yes, all").text.endswith("$")
    assert "\nyes, all\n" in say('echo "$answer"').text


def test_terminal_keys(say: Say) -> None:
    limit_s = round(run_out(0.3), 1)  # within it the shell has to start it
    assert f"[sleep is still running after {limit_s:g} s: wait again" in say("sleep 100", timeout_s=limit_s).text
    assert say(key="ctrl-c").text.endswith("^C\n$")
    assert "\noneXtwo\n" in say("echo one two", key="left left left backspace X enter").text
    assert say("cat kee", key="tab").text == "$ cat keep.py"
    assert "\nx = 1\n" in say(key="enter").text
    assert "Stopped" in say("sleep 100", key="enter ctrl-z").text
    with pytest.raises(ToolError, match="unknown key 'ctrl-nothing'"):
        say(key="ctrl-nothing")
    assert say("kill %1; wait").text.endswith("$")


def test_waiting_for_a_pattern_in_the_terminal(say: Say) -> None:
    loop = "for i in 1 2 3; do echo step $i; sleep 0.7; done"
    match = say(loop, pattern=r"^step \d$")  # what was typed is not what is waited for
    assert event(match) == "found" and match.text.startswith(f"$ {loop}\nstep 1") and "step 2" not in match.text
    assert say(wait="prompt").text.endswith("step 2\nstep 3\n$")
    # What follows the line of a match, and has come already, is shown by the next step.
    assert say("echo one; echo two; sleep 3; echo three", pattern="one").text.endswith("one\n[sleep is running]")
    assert say(wait="prompt").text == "two\nthree\n$"
    never = say("python -q", pattern="no such thing", timeout_s=50)
    assert event(never) == "idle" and "nothing is running that could print it]\n[python waits for input]" in never.text
    hard = say("print('a' * 1500 + '!')", pattern="(a+)+$")
    assert event(hard) == "hard" and "aaaa" in hard.text and "write a simpler one]" in hard.text
    assert say("exit()").text.endswith("$")
    with pytest.raises(ToolError, match="is not a valid regular expression"):
        say(pattern="(")


def test_patterns_in_a_line_that_is_drawn_anew(say: Say) -> None:
    """What a pattern may begin with stands in the first column of the screen, whatever stood there before."""
    draw = r"printf '10%%'; sleep 0.6; printf '\r20%%'; sleep 0.6; printf '\r\033[Kdone\nafter\n'; sleep 50"
    match = say(draw, pattern=r"^done$", timeout_s=50)
    assert event(match) == "found" and match.text.endswith("done\n[sleep is running]")
    assert say(key="ctrl-c").text.endswith("after\n^C\n$")
    draw = r"printf 'a\rb\rc\nd\n'; sleep 50"
    match = say(draw, pattern="^b$", timeout_s=50)
    assert event(match) == "found" and match.text.endswith("c\n[sleep is running]")


def test_patterns_in_what_comes_in_pieces(say: Say) -> None:
    slowly = "import os, time\nfor b in {!r}: os.write(1, bytes([b])); time.sleep(0.3)\ntime.sleep(20)\n"
    say(f"cat > slow.py <<'EOT'\n{slowly.format('日本 x'.encode())}EOT")
    assert event(say("python slow.py", pattern="日本 x", timeout_s=50)) == "found"
    say(key="ctrl-c")
    say(f"cat > slow.py <<'EOT'\n{slowly.format(b'a' + bytes([27]) + b'[31mb')}EOT")
    assert event(say("python slow.py", pattern="^ab$", timeout_s=50)) == "found"
    say(key="ctrl-c")


@pytest.mark.parametrize("pieces", [[b"a" * 2048, b"a" * 3000, b"!\r\n$ "], [b"a" * 9000 + b"!\r\n$ "]])
def test_a_line_ends_where_it_ends(pieces: list[bytes]) -> None:
    """And not where a piece of it does."""
    standing: dict[str, Any] = {
        "untyped": 0,
        "too_long": False,
        "started": False,
        "why": "",
        "program": "",
        "exit": None,
    }
    standing |= {"ok": True, "id": 1, "dropped": 0, "size": (40, 120), "changed_files": ()}

    class Told:
        def type(self, *_: object, **__: object) -> tuple[Typed, bytes]:
            data = pieces.pop(0) if pieces else b""
            return Typed(**standing, event="output" if data else "prompt", idle=not data), data

    step = Session(cast(Sandbox, Told())).step(["x\r"], (), pattern=regex.compile(r"a+$", regex.MULTILINE), timeout_s=5)
    assert step.event == "idle"


def test_a_character_that_is_cut_by_a_step(say: Say) -> None:
    code = "import os, time; os.write(1, bytes([0xe6, 0x97])); time.sleep(3); os.write(1, bytes([0xa5, 10]))"
    first = say(f"python -c '{code}'", wait="silence")
    assert event(first) == "silence" and "\ufffd" not in first.text
    assert say(wait="prompt").text == "日\n$"


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a{2000000000}", "repeats something more than"),
        ("((a{1000}){1000}){1000}", "repeats something more than"),
        ("(" * 450, "is not a valid regular expression"),
        ("(" * 5000, "longer than 500 characters"),
        ("(?R)", "is not a valid regular expression"),
        ("a{99999999999999999999}", "is not a valid regular expression"),
    ],
)
def test_patterns_that_would_take_all_memory(play: Play, pattern: str, reason: str) -> None:
    """They are looked for on the host's side."""
    refused = play(cart())("terminal", text="echo well", pattern=pattern)
    assert not refused.ok and reason in refused.text and "nothing was typed" in refused.text and len(refused.text) < 300


def test_waiting_for_silence_and_for_time(say: Say) -> None:
    quiet = say("echo one; sleep 30; echo two", wait="silence")
    assert event(quiet) == "silence" and quiet.text.endswith("one\n[sleep is running]")
    assert "[sleep is still running after 0.2 s: wait again" in say(timeout_s=0.2).text
    assert say(key="ctrl-c").text.endswith("$")
    # Processes in the background do not keep a step waiting.
    assert event(say("(while true; do :; done) &", timeout_s=50)) == "prompt"
    assert event(say("kill %1; wait", timeout_s=50)) == "prompt"


def test_screen_of_the_terminal(say: Say) -> None:
    assert "\n40 120\n" in say("stty size").text
    assert "\n10 60\n" in say("stty cols 60 rows 10; stty size").text
    assert f"\n{'x' * 200}\n" in say("""python -c 'print("x" * 200)'""").text
    say("stty cols 9999 rows 0")
    assert "\n2 400\n" in say("stty size").text
    say("stty cols 120 rows 40")
    wide = say("printf '日本語 e\\u0301 \\u200b👩 %s\\n' \"$(printf 'w%.0s' {1..130})\"").text
    assert f"\n日本語 é 👩 {'w' * 130}\n" in wide
    assert say("printf 'a\\rb\\tc\\n\\033[31mred\\033[0m\\n'").text.endswith("\nb       c\nred\n$")
    screen = say("seq 3; printf '\\033[2J\\033[5;3Hhere'; read x")
    assert screen.text.startswith("\n\n\n\n  here") and "waits for input" in screen.text
    assert say(key="enter").text.endswith("$")
    assert say("for i in $(seq 100); do echo $i; done").text.split("\n")[1:101] == [str(i) for i in range(1, 101)]


def test_shell_that_ends_is_followed_by_another(say: Say) -> None:
    assert "[the shell ended (exit status 3): the next step opens a new terminal]" in say("exit 3").text
    assert say("echo well").text == ("[a new terminal was opened, because its shell had ended]\n$ echo well\nwell\n$")
    say("trap '' INT QUIT TSTP; echo deaf; sleep 100; sleep 100", pattern="^deaf$")
    assert "still running" in say(key="ctrl-c ctrl-z", timeout_s=0.3).text
    assert say("echo well", restart=True).text == "$ echo well\nwell\n$"
    assert "killed" in say("kill -9 $$").text
    say("echo well")
    replaced = say("exec python -q")
    assert "[python waits" in replaced.text and event(replaced) == "input"


def test_lines_longer_than_a_terminal_takes_are_refused(say: Say) -> None:
    line = "x" * 5000
    assert "not typed: a program that reads lines gets at most 4,095" in say(f"cat\n{line}").text
    assert say(key="ctrl-d").text.endswith("$")
    assert f"\n{line[:100]}" in say(f"echo {line}").text  # the shell reads key by key


def test_terminal_beside_the_other_tools(play: Play) -> None:
    step = play(cart())
    assert "[python waits" in step("terminal", text="python -q").text
    assert not step("terminal", text="from cart import total").state.get("diff")
    assert step("bash", command="pgrep -c python || true").ok and not step("eval").state["solved"]  # type: ignore[typeddict-item]
    assert "\n5\n" in step("terminal", text="total([1, 2, 3])").text
    assert "Breakpoint 1" in step.pdb("b cart.py:4").text
    edited = step("terminal", text="exit()\nsed -i 's/result - 1/result/' cart.py; echo 'x = (' > new.py")
    assert "-    return result - 1" in edited.state["diff"] and "+x = (" in edited.state["diff"]
    assert "the program was restarted, because cart.py" in step.pdb("p 1").text
    observation = step("terminal", text="python -m pytest -q -p no:cacheprovider")
    assert "2 passed in 0.00s" in observation.text
    refused = step("terminal", wait="soon")
    assert not refused.ok and "Invalid arguments for terminal: wait" in refused.text
    assert step("eval").state["solved"]  # type: ignore[typeddict-item]


def test_same_keys_give_the_same_terminal(play: Play) -> None:
    actions: list[dict[str, object]] = [
        {"text": "ls -l; python -i -q cart.py"},
        {"text": "total([1, 2])\nobject()"},
        {"key": "ctrl-d"},
        {"text": "for i in 1 2 3; do echo $i; sleep 0.1; done", "pattern": "2"},
        {"wait": "prompt"},
        {"text": "python -m pdb cart.py\nb total\nc\nq"},
        {"text": "(sleep 0.2; echo late) & wait"},
    ]
    twice = []
    for _ in range(2):
        step = play(cart())
        twice.append([step("terminal", **action).text for action in actions])
    assert twice[0] == twice[1]


def test_nothing_of_the_terminal_outlives_its_sandbox() -> None:
    # Other sessions of tests on this machine have such processes too.
    marks = [f"sleep 4242.{os.getpid()}{number}" for number in range(3)]

    def alive() -> list[str]:
        commands = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
        return [line for line in commands if line in marks]

    with Sandbox(usable("local"), SandboxSpec(limits=Limits(timeout_s=60))) as sandbox:
        say = opened(sandbox)
        say(f"{marks[0]} & setsid {marks[1]} & disown; (setsid nohup {marks[2]} > /dev/null 2>&1 &)")
        wait_for(lambda: len(alive()) == 3, alive)  # the shell goes on before they are what it started
        # Other tools end only what they started themselves.
        sandbox.run("true", 5)
        assert len(alive()) == 3
        say("true", restart=True)
        wait_for(lambda: not alive(), alive)
        say(f"(setsid {marks[0]} &)", key="enter")
        wait_for(lambda: len(alive()) == 1, alive)
    wait_for(lambda: not alive(), alive)
