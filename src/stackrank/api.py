"""What an author of an extension needs: the protocols, what they take and return, and where to register.

An extension is a Python package that is installed beside stackrank and registers objects under entry point groups.
The extensions in `stackrank.extensions` do the same. The name of an entry point is the name that users write.

    [project.entry-points."stackrank.tools"]        # stackrank run --tools count,rewrite
    count = "my_package:Count"
    [project.entry-points."stackrank.agents"]       # stackrank run --agent careful
    careful = "my_package:Careful"
    [project.entry-points."stackrank.benchmarks"]   # stackrank run --benchmark mine
    mine = "my_package:Mine"
    [project.entry-points."stackrank.sandboxes"]    # stackrank run --sandbox microvm
    microvm = "my_package:MicroVm"
    [project.entry-points."stackrank.commands"]     # stackrank greet
    greet = "my_package:greet"
    [project.entry-points."stackrank.pages"]        # /review on the dashboard
    review = "my_package:REVIEW"
    [project.entry-points."stackrank.exporters"]    # stackrank export --format ids
    ids = "my_package:IDS"

A tool is a class with a `name`, a `version`, a `description`, and `arguments`, a Pydantic model:

    class Count:
        name, version, description = "count", "1", "Count the lines of a file."
        arguments = CountArguments  # class CountArguments(Arguments): path: str

        def __call__(self, bench: Bench, arguments: CountArguments) -> Observation:
            return Observation(f"{len(bench.sandbox.read(arguments.path).splitlines())} lines")

A tool that shows the running program adds `state={"debug_events": [DebugEvent(event="paused", file="a.py", line=3)]}`.

An agent is a subclass of `Agent` with a `version`; each episode has a new one:

    class Careful(Agent):
        version = "1"

        def begin(self, briefing: Briefing, observation: Observation) -> None: ...

        def act(self, observation: Observation) -> Decision:
            return Decision(Action("eval"), thought="Run the tests first.")

A benchmark is a function or class that takes a `Source`, which holds the paths that the user gave, and returns a
`Benchmark`:

    class Mine:
        name, license, source = "mine", "MIT", "my project"

        def __init__(self, source: Source) -> None: ...

        def tasks(self) -> Sequence[Task]:
            return [Task("double", "mine", "double() triples.", files, readonly=(Pattern.literal("test_double.py"),))]

        def excluded(self) -> Mapping[str, str]:
            return {}

A sandbox is a class that satisfies `Backend`; its `start` returns a `Channel` to the guest program:

    class MicroVm:
        name = "microvm"

        def problem(self) -> str | None: ...
        def prepare(self, spec: SandboxSpec, say: Say = silent) -> None: ...
        def start(self, spec: SandboxSpec) -> Channel: ...
        def reap(self) -> list[str]: ...

A command is a function that typer can call, or a typer application. A module that defines commands must be cheap to
import, because `stackrank --help` imports it. A name such as `validate.attack` answers an option of a core command:

    def greet(name: str) -> None:
        \"""Greet somebody.\"""

A page is a `Page`, with the Streamlit script that draws it:

    REVIEW = Page(
        title="Review", icon="rule", description="Changes to review.", file=Path(__file__).with_name("review.py")
    )

An exporter is an `Exporter`, with a function that yields records of an `ExportSource`, and the type of a record:

    class Id(TypedDict):
        episode: int

    IDS = Exporter(lambda source: ({"episode": row["id"]} for row in source.rows()), Id, "the number of an episode")

Three groups take functions: `stackrank.log_formats` (output of tests -> outcomes), `stackrank.exercises` (exercise of
`aider` -> a task) and `stackrank.checks` (kinds of sandboxes -> checks of `stackrank doctor`).

An extension may import this module and those in `PUBLIC_MODULES`. They are imported when a name is used, so importing
`stackrank.api` is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackrank.agents.episode.protocol import Agent as Agent
    from stackrank.agents.episode.protocol import Briefing as Briefing
    from stackrank.agents.episode.protocol import Decision as Decision
    from stackrank.agents.episode.protocol import EndpointError as EndpointError
    from stackrank.agents.episode.protocol import GaveUp as GaveUp
    from stackrank.agents.episode.protocol import MalformedAction as MalformedAction
    from stackrank.agents.episode.protocol import OutOfTime as OutOfTime
    from stackrank.agents.episode.protocol import Setup as Setup
    from stackrank.agents.episode.protocol import SetupError as SetupError
    from stackrank.agents.episode.step import Exchange as Exchange
    from stackrank.agents.episode.step import Usage as Usage
    from stackrank.dashboard.pages import Page as Page
    from stackrank.debug_events import DebugEvent as DebugEvent
    from stackrank.env.actions import Action as Action
    from stackrank.env.actions import Observation as Observation
    from stackrank.env.benchmarks.base import Benchmark as Benchmark
    from stackrank.env.benchmarks.base import BenchmarkError as BenchmarkError
    from stackrank.env.benchmarks.base import Source as Source
    from stackrank.env.patterns import Pattern as Pattern
    from stackrank.env.sandbox.base import Backend as Backend
    from stackrank.env.sandbox.base import Channel as Channel
    from stackrank.env.sandbox.base import SandboxError as SandboxError
    from stackrank.env.sandbox.base import SandboxSpec as SandboxSpec
    from stackrank.env.sandbox.base import Say as Say
    from stackrank.env.sandbox.base import silent as silent
    from stackrank.env.task import Task as Task
    from stackrank.env.tools.base import Arguments as Arguments
    from stackrank.env.tools.base import Bench as Bench
    from stackrank.env.tools.base import Tool as Tool
    from stackrank.env.tools.base import ToolError as ToolError
    from stackrank.flows.cli.plugin_commands import Command as Command
    from stackrank.flows.runs.afterwards.export.exporter import Exporter as Exporter
    from stackrank.flows.runs.afterwards.export.source import ExportSource as ExportSource

_MODULES = {
    "stackrank.agents.episode.protocol": (
        "Agent",
        "Briefing",
        "Decision",
        "EndpointError",
        "GaveUp",
        "MalformedAction",
        "OutOfTime",
        "Setup",
        "SetupError",
    ),
    "stackrank.agents.episode.step": ("Exchange", "Usage"),
    "stackrank.dashboard.pages": ("Page",),
    "stackrank.debug_events": ("DebugEvent",),
    "stackrank.env.actions": ("Action", "Observation"),
    "stackrank.env.benchmarks.base": ("Benchmark", "BenchmarkError", "Source"),
    "stackrank.env.sandbox.base": ("Backend", "Channel", "SandboxError", "SandboxSpec", "Say", "silent"),
    "stackrank.env.patterns": ("Pattern",),
    "stackrank.env.task": ("Task",),
    "stackrank.env.tools.base": ("Arguments", "Bench", "Tool", "ToolError"),
    "stackrank.flows.cli.plugin_commands": ("Command",),
    "stackrank.flows.runs.afterwards.export.exporter": ("Exporter",),
    "stackrank.flows.runs.afterwards.export.source": ("ExportSource",),
    "stackrank": ("curriculum", "make", "make_vec", "task_names"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

PUBLIC_MODULES: dict[str, str] = {
    "stackrank.api": "this page",
    "stackrank.debug_events": "what debugging tools saw of a program",
    "stackrank.errors": "the tree of errors",
    "stackrank.fields": "tables of the fields of Pydantic models",
    "stackrank.host.programs": "starting programs on this machine, outside sandboxes",
    "stackrank.home": "the folder of stackrank on this machine, and locks",
    "stackrank.host.listening": "sockets to listen on",
    "stackrank.host.wall_clock": "the time of day, and the age of stored moments",
    "stackrank.host.scratch": "temporary folders that are removed even if their process is killed",
    "stackrank.host.underway": "a line for what takes long, and for how long it has been going on",
    "stackrank.patches": "changes of files: reading and writing patches, and what kinds of files they contain",
    "stackrank.plugins": "finding and loading plug-ins",
    "stackrank.settings": "settings from the environment",
    "stackrank.source": "parsing Python",
    "stackrank.storable": "text and JSON that every database can store",
    "stackrank.terms": "closed vocabularies: verdicts, stop reasons, failure points",
    "stackrank.wording": "numbers, times and JSON for people; printing",
    "stackrank.yaml_text": "reading YAML",
    "stackrank.agents.episode": "the agent protocol, and the referee that plays an episode",
    "stackrank.agents.llm": "models: endpoints, prompts, syntaxes of tool calls, recorded requests",
    "stackrank.agents.outside": "the agent that a program outside of stackrank plays",
    "stackrank.dashboard.address": "widgets whose values are in a page's address",
    "stackrank.dashboard.data": "cached queries for pages",
    "stackrank.dashboard.pages": "pages of plug-ins",
    "stackrank.dashboard.parts": "parts that pages are made of",
    "stackrank.db.connection": "connections to the database, its errors and transactions",
    "stackrank.db.decision_seal": "the seal of a person's decision about a proposed fix",
    "stackrank.db.models": "tables",
    "stackrank.db.queries": "read queries",
    "stackrank.db.stats": "statistics",
    "stackrank.db.writes": "writes",
    "stackrank.env.actions": "actions and observations",
    "stackrank.env.benchmarks": "benchmarks, and reading tasks from files and git repositories",
    "stackrank.env.debug_env": "one debugging environment: reset and step",
    "stackrank.env.environment": "what a task's environment needs: Python, packages, commands",
    "stackrank.env.git": "running git so that a repository cannot make it run programs",
    "stackrank.env.difficulty": "measured difficulties of tasks",
    "stackrank.env.localisation": "which tests run which lines, and how suspicious lines are",
    "stackrank.env.mutation": "small changes of Python programs, and the operators that propose them",
    "stackrank.env.patterns": "patterns of paths",
    "stackrank.env.patches": "applying and making patches",
    "stackrank.env.sandbox.base": "the protocols of sandboxes",
    "stackrank.env.sandbox.client": "working with the files and processes of a sandbox",
    "stackrank.env.sandbox.environments": "files that say how environments are built",
    "stackrank.env.sandbox.guest": "values that are exchanged with the guest program",
    "stackrank.env.sandbox.pool": "warm sandboxes",
    "stackrank.env.sandbox.python_env": "Python environments in sandboxes",
    "stackrank.env.sandbox.registry": "sandboxes by name",
    "stackrank.env.sandbox.replies": "the types of what sandboxes say, and their decoder",
    "stackrank.env.scoring": "verdicts and their proofs",
    "stackrank.env.suspicious": "signs that a change tampers with tests",
    "stackrank.env.state": "the state after a step",
    "stackrank.env.task": "the task",
    "stackrank.env.tools": "tools and tool sets",
    "stackrank.env.validate": "validation of tasks",
    "stackrank.flows.cli.options": "options that several commands have",
    "stackrank.flows.cli.output": "printing tables and JSON",
    "stackrank.flows.cli.playing": "playing a run within a command",
    "stackrank.flows.cli.progress": "progress on standard error",
    "stackrank.flows.cli.plugin_commands": "commands of plug-ins",
    "stackrank.flows.runs.afterwards.export": "exporting runs",
    "stackrank.flows.runs.playing": "playing episodes",
    "stackrank.flows.runs.preparing": "checking and saving runs",
    "stackrank.flows.runs.specification": "the specification of a run",
}
"""The modules of the core that an extension may import, with what is in them. A package stands for all its modules."""

__all__ = ["PUBLIC_MODULES", *sorted(_MODULE_OF)]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
