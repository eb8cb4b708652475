"""The tool `debug`: one debugger, whatever the program's language is."""

from __future__ import annotations

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.env.tools.debugging.pdb import Pdb, PdbArguments, debugger_state, debugger_text
from stackrank.env.tools.shown import limit
from stackrank.extensions.languages.debugging.server import NAME, ask, close_session, open_session
from stackrank.extensions.languages.debugging.targets import LANGUAGES, build, target_of


class DebugArguments(Arguments):
    """What to tell the debugger."""

    body = "command"

    command: str = Field(
        description="Commands, one a line, in pdb's words: `b file:line if CONDITION`, `b function`, `c`, `n`, `s`, "
        "`r`, `w`, `u`, `d`, `l`, `locals`, `p EXPRESSION`, `inspect PLACE` (run to it), `watch VARIABLE`, `restart`; "
        "or an expression, which is evaluated where the program is paused."
    )
    test: str | None = Field(
        None,
        description="The id of a test, or a program with its arguments (`./program 3`) or with its core dump "
        "(`./program core`). Default: the same as before, "
        "and at first the first failing test.",
    )
    limit: int = limit()


class Debug:
    """A real debugger of the program's language, behind one grammar."""

    name = "debug"
    version = "2"
    runs_program = True
    toolchains = LANGUAGES
    """The languages of tasks in which it takes the place of Python's debuggers."""
    description = (
        "Debug a test or a program. `b` sets breakpoints before anything runs, `c` builds and runs it to the next one. "
        "Breakpoints stay; after an edit, the next command builds and starts the program again."
    )
    arguments = DebugArguments

    def __call__(self, bench: Bench, arguments: DebugArguments) -> Observation:
        """Return what the debugger said, where the program stands, and what the program printed."""
        if not bench.task.toolchain:
            return Pdb()(bench, PdbArguments(**arguments.model_dump()))
        if bench.task.toolchain not in LANGUAGES:
            raise ToolError(f"there is no debugger for {bench.task.toolchain} in the sandbox")
        before = bench.paused.get(NAME)
        named = (arguments.test or "").strip()
        target = named or before or next(iter(bench.failing), "")
        if before is None:
            open_session(bench.sandbox)
        bench.paused[NAME] = target
        request = {
            "commands": arguments.command,
            "target": target,
            "timeout_s": bench.task.limits.timeout_s,
            "scripts": bench.task.toolchain == "javascript",
        }
        try:
            reply = ask(bench.sandbox, request)
            if reply is None:
                launch = build(bench.sandbox, bench.task, target_of(bench.task, target))
                reply = ask(bench.sandbox, {**request, "launch": launch})
            if reply is None:
                close_session(bench.sandbox)
                raise ToolError("the debugger did not start the program")
        except ToolError as error:
            if "lost" in str(error):
                bench.paused.pop(NAME, None)
            raise
        return Observation(debugger_text(reply, arguments.limit, "", "`c` runs it"), state=debugger_state(reply))
