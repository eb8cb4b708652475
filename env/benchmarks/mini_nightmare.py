"""`mini_nightmare`: short programs that are hard to debug without a debugger, in the layout of debug-gym's data.

One folder per task: `<task>_code.py`, `test.py`, perhaps more files; `.debugignore` (hidden) and `.debugreadonly`
(visible, not editable) in gitignore syntax. https://github.com/microsoft/debug-gym, data/mini_nightmare.
The data has no known fixes: a folder of patches (`<task>.patch`) can add them; without one a task is unproven.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError, Source, TaskByTask
from stackrank.env.benchmarks.files import commit_of, read_patch, read_patterns, read_tree
from stackrank.env.patches import PatchError, apply_patch, find_faults, portable_patch
from stackrank.env.patterns import Pattern, globs
from stackrank.env.task import Limits, Task
from stackrank.source import parse_python

TEST = "test.py"
# `.debugignore` is a copy of a long .gitignore; these have to be hidden whatever it says.
ALWAYS_HIDDEN = globs((".debugignore", ".debugreadonly", "*.md", ".git/"))
# Its test wants 10.225 rounded to 10.23, which natural fixes do not do: a failure there says little about an entrant.
DOUBTFUL = ("shopping_cart",)
STATEMENT = "The program does not do what its tests expect."
# A call of one of these with an address cannot work in a closed sandbox.
READS_ADDRESSES = {"read_csv", "read_json", "read_html", "urlopen", "urlretrieve", "get"}


class MiniNightmare(TaskByTask):
    """Tasks of debug-gym's mini-nightmare layout."""

    name = "mini_nightmare"
    license = "MIT"

    def __init__(self, source: Source) -> None:
        """`source.path`: the folder of task folders; `source.fixes`: patches. Raises BenchmarkError."""
        if source.path is None:
            raise BenchmarkError("mini_nightmare needs --path: the folder data/mini_nightmare of a debug-gym checkout")
        if not source.path.is_dir():
            raise BenchmarkError(f"{source.path} is not a folder")
        self._path, self._fixes = source.path, source.fixes
        self.source = f"{source.path.name} {commit_of(source.path)}".strip()
        self.empty = f"{source.path} contains no task of mini_nightmare's layout"

    def _entries(self) -> Iterator[tuple[str, Callable[[], Task]]]:
        for folder in sorted(self._path.iterdir()):
            if folder.is_dir() and not folder.name.startswith("."):
                yield folder.name, functools.partial(load_task, folder, self._fixes)


def load_task(folder: Path, fixes: Path | None = None) -> Task:
    """Load one task. Raises BenchmarkError."""
    if not (folder / TEST).is_file():
        raise BenchmarkError(f"{folder} has no {TEST}")
    files = read_tree(folder, [*read_patterns(folder / ".debugignore"), *ALWAYS_HIDDEN])
    if TEST not in files:
        raise BenchmarkError(f"{folder}/.debugignore hides {TEST}, which agents have to see")
    code = [path for path in files if path.endswith(".py") and path != TEST]
    if not code:
        raise BenchmarkError(f"{folder} has no program beside {TEST}")
    if any(reads_network(files[path]) for path in code):
        raise BenchmarkError(
            "the program reads from the network, which a sandbox does not have: add the file to the task"
        )
    patch = fixes / f"{folder.name}.patch" if fixes else None
    fix = read_patch(patch, inside=fixes) if patch and patch.is_file() else ""
    try:
        if fix:
            apply_patch(files, fix)
            fix = portable_patch(files, fix)
        faults = find_faults(files, fix) if fix else ()
    except PatchError as error:
        raise BenchmarkError(f"{patch}: {error}") from None
    return Task(
        id=folder.name,
        benchmark=MiniNightmare.name,
        title=folder.name.replace("_", " "),
        statement=STATEMENT,
        difficulty="hard",
        tags=("doubtful",) if folder.name in DOUBTFUL else (),
        files=files,
        test_command=f"python -m pytest -q -p no:cacheprovider {TEST}",
        fix=fix,
        faults=faults,
        readonly=(*read_patterns(folder / ".debugreadonly"), Pattern.glob(TEST)),
        limits=Limits(timeout_s=60),
    )


def reads_network(source: bytes) -> bool:
    """Whether a program passes an address, literally or in a variable, to a function that reads from addresses."""
    try:
        nodes = list(ast.walk(parse_python(source)))
    except (SyntaxError, ValueError):
        return False

    def is_address(node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) and str(node.value).startswith(("http://", "https://"))

    assigned = [node for node in nodes if isinstance(node, ast.Assign) and is_address(node.value)]
    names = {target.id for node in assigned for target in node.targets if isinstance(target, ast.Name)}
    for call in (node for node in nodes if isinstance(node, ast.Call) and node.args):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in READS_ADDRESSES and (is_address(call.args[0]) or getattr(call.args[0], "id", "") in names):
            return True
    return False
