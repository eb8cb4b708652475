"""The tool `debug` with real debuggers, in each language. What can go wrong comes first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from stackrank.agents.human.commands import read_action, usage
from stackrank.env.actions import Observation
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Limits, Task
from stackrank.env.tools.base import Bench, ToolError
from stackrank.env.tools.registry import tool_set
from stackrank.extensions.languages.debugging.targets import LANGUAGES, target_of
from stackrank.extensions.languages.debugging.tool import Debug, DebugArguments
from stackrank.extensions.languages.toolchains import examine
from tests.extensions.languages.images import build_image
from tests.fixtures.env import usable
from tests.support.waiting import missing, wait_for

LIMITS = Limits(timeout_s=60, memory_mb=2048, pids=512, disk_mb=512)
HURRIED = Limits(timeout_s=3, memory_mb=2048, pids=512, disk_mb=512)
"""A command may take three seconds."""

CPP = """\
#include <cstdio>
#include <cstdlib>
#include <string>

int grow(int x) {
    int y = x;
    y += 1;
    return y;
}

int main(int argc, char** argv) {
    std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "loud") for (;;) puts("noise");
    volatile int turns = 0;
    while (mode == "hang") turns = turns + 1;
    if (mode == "crash") abort();
    int sum = 0;
    for (int i = 0; i < 4; i++) sum = grow(sum);
    printf("sum %d\\n", sum);
    return 3;
}
"""
GO = """\
package main

import (
	"fmt"
	"os"
)

func grow(x int) int {
	y := x
	y += 1
	return y
}

func main() {
	mode := ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	for mode == "loud" {
		fmt.Println("noise")
	}
	turns := 0
	for mode == "hang" {
		turns++
	}
	if mode == "crash" {
		panic("crash")
	}
	sum := 0
	for i := 0; i < 4; i++ {
		sum = grow(sum)
	}
	fmt.Println("sum", sum)
	os.Exit(3)
}
"""
JAVA = """\
class Main {
    static int grow(int x) {
        int y = x;
        y += 1;
        return y;
    }

    public static void main(String[] words) {
        String mode = words.length > 0 ? words[0] : "";
        while (mode.equals("loud")) System.out.println("noise");
        long turns = 0;
        while (mode.equals("hang")) turns++;
        if (mode.equals("crash")) throw new IllegalStateException("crash");
        int sum = 0;
        for (int i = 0; i < 4; i++) sum = grow(sum);
        System.out.println("sum " + sum);
        System.exit(3);
    }
}
"""
JAVASCRIPT = """\
const grow = (x) => {
  let y = x;
  y += 1;
  return y;
};

const mode = process.argv[2] || '';
while (mode === 'loud') require('fs').writeSync(1, 'noise\\n');
let turns = 0;
while (mode === 'hang') turns += 1;
if (mode === 'crash') throw new Error('crash');
let sum = 0;
for (let i = 0; i < 4; i++) sum = grow(sum);
console.log('sum', sum);
process.exitCode = 3;
"""
RUST = """\
fn grow(x: i32) -> i32 {
    let mut y = x;
    y += 1;
    assert!(y > 0);
    y
}

#[test]
fn sums() {
    let mut sum = 0;
    for _ in 0..4 {
        sum = grow(sum);
    }
    println!("sum {}", sum);
    assert_eq!(sum, 4);
}

#[test]
fn loud() {
    loop {
        println!("noise");
    }
}

#[test]
fn hang() {
    let mut turns = 0u64;
    loop {
        turns = turns.wrapping_add(1);
    }
}

#[test]
fn crash() {
    panic!("crash");
}
"""
FILES = {
    "cpp": {"main.cpp": CPP, "Makefile": "/tmp/build/tests: main.cpp\n\tmkdir -p /tmp/build && g++ -g -o $@ $<\n"},
    "go": {"main.go": GO, "go.mod": "module m\n\ngo 1.18\n"},
    "java": {"Main.java": JAVA},
    "javascript": {"main.js": JAVASCRIPT},
    "rust": {"src/lib.rs": RUST, "Cargo.toml": '[package]\nname = "m"\nversion = "0.1.0"\nedition = "2021"\n'},
}
PROGRAM = {"cpp": "main.cpp", "go": "main.go", "java": "Main.java", "javascript": "main.js", "rust": "src/lib.rs"}
TEST = {"cpp": "{}", "go": "./ {}", "java": "./Main {}", "javascript": "./main.js {}", "rust": "src/lib.rs::{}"}
GROWN = {"cpp": 7, "go": 10, "java": 4, "javascript": 3, "rust": 3}
"""The line of `y += 1`."""
ADAPTER = {"cpp": "lldb-dap", "go": "dlv", "java": "java", "javascript": "node", "rust": "lldb-dap"}
STATUS = {"cpp": 3, "go": 3, "java": 3, "javascript": 3, "rust": 0}


class Played:
    """A sandbox with the program of one language, and the tool."""

    def __init__(self, sandbox: Sandbox, language: str, limits: Limits) -> None:
        files = {path: text.encode() for path, text in FILES[language].items()}
        task = Task("t", "b", "", files, test_command="true", toolchain=language, limits=limits)
        sandbox.put(files)
        self.language = language
        self.bench = Bench(sandbox, task)

    def __call__(self, *commands: str, mode: str | None = None, test: str | None = None) -> tuple[str, dict[str, Any]]:
        test = test if mode is None else TEST[self.language].format(mode)
        observation: Observation = Debug()(self.bench, DebugArguments(command="\n".join(commands), test=test))
        return observation.text, dict(self.bench.with_changes(observation).state)

    def build(self) -> None:
        commands = {"cpp": "make -s", "rust": "CARGO_TARGET_DIR=/tmp/build cargo test --offline --no-run"}
        commands["go"] = "go build -gcflags '-N -l' -o /tmp/build/debugged ."
        commands["java"] = target_of(self.bench.task, "./Main").prepare
        self.bench.sandbox.run(commands.get(self.language, ""), 100)

    def running(self) -> str:
        """Return the names of the debugger's processes and of the program's."""
        command = f"ps -A -o stat=,comm= | grep -v '^Z' | grep -E '{ADAPTER[self.language]}|debugged|tests$| m-|lldb'"
        return self.bench.sandbox.run(command, 10).output

    def wait_until_ended(self) -> None:
        """Wait for the end of what was killed, which takes a moment."""
        wait_for(lambda: not self.running(), self.running, timeout_s=60)


def opened(language: str, limits: Limits = LIMITS, sandbox: str = "bubblewrap") -> Iterator[Played]:
    backend = usable(sandbox)
    if sandbox == "docker":
        build_image(language)
    tests, debugger = examine(sandbox)[language]
    # Scripts are debugged without Jest, which only `make test-exhaustive` installs.
    if problem := debugger or ("" if language == "javascript" else tests):
        missing(problem)
    with Sandbox(backend, SandboxSpec(toolchain=language, limits=limits, warm=False)) as opened_sandbox:
        yield Played(opened_sandbox, language, limits)


EVERY = [
    # Node is there wherever the tests run; the others need packages that only `make test-exhaustive` installs.
    pytest.param(language, marks=pytest.mark.slow if language == "javascript" else pytest.mark.exhaustive)
    for language in LANGUAGES
]


@pytest.fixture(params=EVERY)
def played(request: pytest.FixtureRequest) -> Iterator[Played]:
    yield from opened(request.param)


@pytest.fixture(params=EVERY)
def hurried(request: pytest.FixtureRequest) -> Iterator[Played]:
    # The compiler has the same time, and Java's takes a second of a processor's.
    yield from opened(request.param, replace(HURRIED, timeout_s=10) if request.param == "java" else HURRIED)


def normal_mode(language: str) -> str:
    return "sums" if language == "rust" else "normal"


def test_what_cannot_be_done_is_said_and_loses_nothing(played: Played) -> None:
    mode = normal_mode(played.language)
    file = PROGRAM[played.language]
    for command, words in {
        "p x": "is not paused",
        "b nowhere.c:3": "there is no file nowhere.c",
        f"b {file}:9999": "lines",
        "b": "No breakpoints.",
        "cl 7": "there is no breakpoint 7",
        "w": "is not paused",
    }.items():
        text, state = played(command, mode=mode)
        assert words in text and not state["alive"], command
    text, state = played(f"b {file}:{GROWN[played.language]}", "c", "p no_such_name")
    assert "***" in text and "no_such_name" in text and state["alive"] and state["line"] == GROWN[played.language]
    assert played("u", "d", "d")[0].count("*** this is the newest frame") == 1


def test_a_hanging_program_is_interrupted_where_it_hangs(hurried: Played) -> None:
    hurried.build()
    for _ in range(8):
        text, state = hurried("c", mode="hang")
        assert state["timed_out"] and state["alive"] and state["event"] == "interrupted", text
        if state["file"] == PROGRAM[hurried.language]:
            break  # on a busy machine the program may still be starting
    assert state["file"] == PROGRAM[hurried.language] and "turns" in state["locals"]
    assert hurried("p turns > 0")[0].startswith("true")
    hurried("q")
    hurried.wait_until_ended()


@pytest.mark.exhaustive
def test_in_an_image_rust_shows_the_thread_that_hangs_and_where_it_panics() -> None:
    # The image's compiler may be another than this machine's.
    for played in opened("rust", replace(HURRIED, timeout_s=20), "docker"):
        played.build()
        text, state = played("c", mode="hang")
        assert state["timed_out"] and state["file"] == "src/lib.rs" and int(state["locals"]["turns"]) > 0, text
        text, state = played("c", mode="crash")
        assert (state["event"], state["file"], state["line"]) == ("exception", "src/lib.rs", 35), text


def test_endless_output_is_cut_and_the_session_goes_on(hurried: Played) -> None:
    hurried.build()
    text, state = hurried("c", mode="loud")
    assert state["timed_out"] and "noise" in text and "characters omitted" in text
    assert len(text) < 10_000
    text, state = hurried(
        f"b {PROGRAM[hurried.language]}:{GROWN[hurried.language]}", "c", mode=normal_mode(hurried.language)
    )
    assert state.get("line") == GROWN[hurried.language], text


def test_a_crash_is_shown_where_it_happens(played: Played) -> None:
    text, state = played("c", mode="crash")
    assert state["alive"] and state["event"] == "exception" and state["exception"], text
    assert state["file"] == PROGRAM[played.language]
    assert "crash" in FILES[played.language][state["file"]].splitlines()[state["line"] - 1]
    assert state["debug_events"][-1]["event"] == "raised"


def test_a_lost_debugger_is_said_and_the_next_command_starts_again(played: Played) -> None:
    place = f"{PROGRAM[played.language]}:{GROWN[played.language]}"
    assert played(f"b {place}", "c", mode=normal_mode(played.language))[1]["alive"]
    played.bench.sandbox.run(f"pkill -9 '{ADAPTER[played.language]}'", 10)
    text, state = played("n")
    assert not state["alive"] and "starts it again" in text
    assert played("c")[1]["line"] == GROWN[played.language]
    # Even the session's own process may be killed: then its breakpoints are gone, and this is said.
    played.bench.sandbox.run("pkill -9 -f DEBUGGER_MODULES", 10)
    with pytest.raises(ToolError, match="the debugger was lost"):
        played("n")
    assert played(f"b {place}", "c", mode=normal_mode(played.language))[1]["line"] == GROWN[played.language]


def test_a_program_that_cannot_be_built_shows_the_compilers_words(played: Played) -> None:
    if played.language == "javascript":
        pytest.skip("nothing is built")
    played.bench.sandbox.edit(PROGRAM[played.language], "nonsense;\n", GROWN[played.language], GROWN[played.language])
    with pytest.raises(ToolError, match=r"(?s)cannot be built.*nonsense"):
        played("c", mode=normal_mode(played.language))


def test_an_edit_starts_the_program_again(played: Played) -> None:
    file, line = PROGRAM[played.language], GROWN[played.language]
    assert played(f"b {file}:{line + 1}", "c", mode=normal_mode(played.language))[1]["locals"]["y"] == "1"
    source = FILES[played.language][file].splitlines()[line - 1]
    played.bench.sandbox.edit(file, source.replace("1", "5"), line, line)
    text, state = played("c")
    assert state["restarted"] and "files have changed" in text and state["locals"]["y"] == "5"


def test_a_person_steps_through_a_program(played: Played) -> None:
    file, line, language = PROGRAM[played.language], GROWN[played.language], played.language
    text, state = played(f"b {file}:{line} if x == 2", "b", mode=normal_mode(language))
    assert f"1: {file}:{line} if x == 2" in text
    assert state["debug_events"] == [{"event": "watched", "file": file, "line": line, "hits": 0}]
    text, state = played("c")
    assert (state["event"], state["file"], state["line"]) == ("line", file, line)
    assert state["locals"]["x"] == state["locals"]["y"] == "2" and state["depth"] >= 2
    assert state["function"].rpartition("::")[2].rpartition(".")[2] == "grow"
    assert [call["function"] for call in state["stack"] if call["current"]] == [state["function"]]
    assert state["debug_events"][-1]["event"] == "paused" and state["breakpoints"][0]["hits"] == 1
    text, state = played("n")
    assert state["line"] == line + 1 and state["locals"]["y"] == "3"
    assert played("p x + y")[0].startswith("5") and played("y")[0].startswith("3")
    assert "x = 2" in played("locals")[0] and f"({line + 1}) " in played("w")[0]
    text, state = played("r")
    assert state["file"] == file and state["function"] != "grow" and "x" not in state["locals"]
    text, state = played("cl 1", "c")
    assert state["ended"] == "finished" and state["exit"] == STATUS[language], text
    assert "sum 4" in text and not state["alive"]
    text, state = played("inspect grow")
    assert state["locals"]["x"] == "0" and state["breakpoints"] == []
    played("q")
    played.wait_until_ended()


def test_what_else_is_printed_while_cargo_builds_is_passed_over() -> None:
    artifact = {
        "executable": "/tmp/build/shop",
        "profile": {"test": True},
        "target": {"kind": ["test"], "src_path": "/a.rs"},
    }
    odd = [
        {**artifact, "executable": None},
        {**artifact, "profile": []},
        {**artifact, "target": {"kind": 3}},
        {"a": "\ud800"},
    ]
    lines = [*map(json.dumps, odd), "{", '{"executable": ' + "[" * 100_000, f"{{{'9' * 5000}: 1}}"]
    built = target_of(Task("t", "b", "", {}, test_command="true", toolchain="rust"), "")
    launched = built.launch("\n".join([*lines, json.dumps(artifact), *lines]))
    assert launched["arguments"]["program"] == "/tmp/build/shop"
    with pytest.raises(ToolError, match="cargo built no test program"):
        built.launch("\n".join(lines))


def test_python_tasks_have_pdb_behind_the_same_words() -> None:
    assert Debug().name not in tool_set("debug").tools
    for name in ("debug", "debug5", "inspect", "bash-debug"):
        assert tool_set(name).for_toolchain("go").tools.count("debug") == 1
        assert "pdb" not in tool_set(name).for_toolchain("go").tools
    assert tool_set("debug5").for_toolchain("rust").locked("debug", 1) == 4
    assert tool_set("debug").for_toolchain("java").tools.count("debug") == 1


def test_a_person_types_commands_as_they_are() -> None:
    tools = tool_set("debug").for_toolchain("go")
    assert usage("debug", tools) == "debug [test=VALUE] [limit=VALUE] COMMAND"
    action = read_action('debug test="./ hang" b main.go:3 if x == "a b"', tools, str)
    assert action.arguments == {"test": "./ hang", "command": 'b main.go:3 if x == "a b"'}
