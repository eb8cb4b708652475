"""The architecture: which room may import which, and what may not be in the repository."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from stackrank.api import PUBLIC_MODULES

ROOT = Path(__file__).parents[1]
PACKAGE = "stackrank"
MAY_IMPORT = {
    "env": set[str](),
    "db": set[str](),
    "agents": {"env"},
    "flows/runs": {"env", "agents", "db"},
    "flows/engine": {"env", "agents", "db", "flows/runs", "flows/services"},
    "flows/services": {"env", "agents", "db", "flows/runs"},
    "extensions/training": {"env", "agents", "db", "flows/runs", "flows/cli"},
    "flows/cli": {"env", "agents", "db", "flows/runs", "flows/engine", "flows/services"},
    "dashboard": {"db"},
}
"""Room -> the rooms it may use. Every room may use the ground floor."""
MUST_NOT_IMPORT = {
    "env": {"prefect", "sqlmodel", "sqlalchemy", "openai", "streamlit"},
    "db": {"prefect", "openai", "streamlit", "docker"},
    "agents": {"prefect", "sqlmodel", "sqlalchemy", "streamlit"},
    "flows/runs": {"prefect", "streamlit"},
    "flows/engine": {"streamlit"},
    "flows/services": {"streamlit"},
    "extensions/training": {"prefect", "sqlmodel", "sqlalchemy", "streamlit"},
    "flows/cli": {"streamlit"},
    "dashboard": {"prefect", "openai", "docker"},
}
BUGS = ROOT / "env" / "benchmarks" / "bugs"
GUEST = ROOT / "env" / "sandbox" / "guest"
GROUND_FLOOR = [*(ROOT / "src" / PACKAGE).glob("*.py"), *(ROOT / "src" / PACKAGE / "host").glob("*.py")]


def sources(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*.py")) if BUGS not in path.parents)


def modules(path: Path, *, syntax: tuple[int, int] | None = None) -> set[str]:
    """Dotted names that a file imports absolutely, at any depth of its code."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path), feature_version=syntax)
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def imported(path: Path, *, syntax: tuple[int, int] | None = None) -> set[str]:
    """Top-level names of the packages that a file imports absolutely."""
    return {name.partition(".")[0] for name in modules(path, syntax=syntax)}


def rooms(path: Path) -> set[str]:
    """The rooms that a file imports from."""
    paths = {
        name.removeprefix(f"{PACKAGE}.").replace(".", "/") + "/" for name in modules(path) if name.startswith(PACKAGE)
    }
    return {room for room in MAY_IMPORT for name in paths if name.startswith(f"{room}/")}


def git(*arguments: str) -> list[str]:
    """Lines that a git command prints; skips the test outside a clone."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git clone")
    completed = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
    return completed.stdout.splitlines()


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_rooms_import_only_allowed_rooms(room: str) -> None:
    wrong = {}
    files = list(sources(ROOT / room))
    assert files
    for path in files:
        imports = imported(path) & MUST_NOT_IMPORT[room] | rooms(path) - MAY_IMPORT[room] - {room}
        if imports:
            wrong[str(path.relative_to(ROOT))] = sorted(imports)
    assert not wrong


def test_ground_floor_imports_no_room() -> None:
    # `api` names what it offers for type checkers, and imports it when it is used.
    files = [path for path in GROUND_FLOOR if path.name != "api.py"]
    assert files and not {path.name: rooms(path) for path in files if rooms(path)}
    for name in ("__init__", "api"):
        top_level = ast.parse((ROOT / "src" / PACKAGE / f"{name}.py").read_text(encoding="utf-8")).body
        imports = [ast.unparse(node) for node in top_level if isinstance(node, ast.Import | ast.ImportFrom)]
        assert not [line for line in imports if PACKAGE in line]


EXTENSIONS = sorted(path.name for path in (ROOT / "extensions").iterdir() if (path / "__init__.py").exists())
CORE = ("env", "db", "agents", "flows", "dashboard", f"src/{PACKAGE}")


def module_name(path: Path) -> str:
    """The dotted name by which a module is imported."""
    place = path.relative_to(ROOT).with_suffix("").as_posix().removeprefix(f"src/{PACKAGE}/")
    return f"{PACKAGE}.{place.replace('/', '.')}".removesuffix(".__init__")


def test_the_core_imports_no_extension() -> None:
    files = [path for room in CORE for path in sources(ROOT / room) if "extensions" not in path.parts]
    imports = {module_name(path): [name for name in modules(path) if "stackrank.extensions" in name] for path in files}
    assert len(files) > 300 and not {module: names for module, names in imports.items() if names}


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_an_extension_imports_itself_and_public_modules(extension: str) -> None:
    allowed = (*PUBLIC_MODULES, f"{PACKAGE}.extensions.{extension}")
    private = {
        f"{module_name(path)}: {name}"
        for path in sources(ROOT / "extensions" / extension)
        for name in modules(path)
        if name.startswith(f"{PACKAGE}.") and not any(f"{name}.".startswith(f"{public}.") for public in allowed)
    }
    assert not private


def test_public_modules_exist() -> None:
    files = {module_name(path) for room in CORE for path in sources(ROOT / room)}
    assert not PUBLIC_MODULES.keys() - files


USE_WITHOUT = """
import sys
from importlib.metadata import entry_points

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("stackrank.extensions."):
            raise ModuleNotFoundError(f"{name} is hidden", name=name)

sys.meta_path.insert(0, Hidden())
import stackrank.api
from stackrank.agents.registry import agent_names, find_agent
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.tools import find_tool, tool_names
from stackrank.flows.cli.main import app

for kind in ("tools", "agents", "benchmarks", "sandboxes", "commands", "pages", "exporters"):
    for point in entry_points(group=f"stackrank.{kind}"):
        if not point.module.startswith("stackrank.extensions."):
            point.load()
for name in stackrank.api.__all__:
    name in dir(stackrank) or getattr(stackrank.api, name)
load_benchmark("bugs").tasks()
for name in tool_names():
    find_tool(name)
find_agent("llm")
app(["runs", "--help"], standalone_mode=False)
app(["--help"], standalone_mode=False)
"""


def test_the_core_works_without_extensions() -> None:
    """All its plug-ins can be loaded, and commands can be called. No extension imports another, as seen above."""
    process = subprocess.run([sys.executable, "-c", USE_WITHOUT], capture_output=True, text=True, cwd=ROOT, check=False)
    assert process.returncode == 0, process.stderr[-2000:]
    assert all(line.startswith("warning: ") for line in process.stderr.splitlines())


def test_imports_have_no_cycles() -> None:
    """Imports inside functions count too."""
    files = {
        f"{PACKAGE}."
        + path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__"): path
        for room in (*MAY_IMPORT, "extensions")
        for path in sources(ROOT / room)
        if "guest" not in path.parts
    }
    graph: dict[str, set[str]] = {}
    for name, path in files.items():
        imports = {module if module in files else module.rpartition(".")[0] for module in modules(path)}
        graph[name] = imports & files.keys() - {name}
    assert len(list(TopologicalSorter(graph).static_order())) == len(files)


def test_flows_has_no_top_level_modules() -> None:
    """Every module of `flows/` is in one of its rooms."""
    assert [path.name for path in (ROOT / "flows").glob("*.py")] == ["__init__.py"]


def test_guest_runs_in_any_sandbox() -> None:
    """Old images have an old Python and nothing but its standard library.

    The guest may use the sandbox's pytest when it is asked to run tests, so only inside functions. That holds for its
    plug-in of pytest too, which cannot do without.
    """
    files = list(sources(GUEST))
    assert files
    for path in files:
        assert imported(path, syntax=(3, 8)) - set(sys.stdlib_module_names) <= {"pytest", "_pytest"}, path
        top_level = ast.parse(path.read_text(encoding="utf-8")).body
        at_start = [ast.unparse(node) for node in top_level if isinstance(node, ast.Import | ast.ImportFrom)]
        needs_pytest = [
            line for line in at_start if re.search(r"(import|from) _?pytest\b|\bpytest_determinism\b", line)
        ]
        assert needs_pytest == (["import pytest"] if path.stem == "pytest_determinism" else []), path


GUEST_PARTS = {"core": set[str](), "testing": {"core"}, "debugging": {"core", "testing"}}
"""Part of the guest -> the other parts that it may import. So a changed debugging tool changes no verdict."""


@pytest.mark.parametrize("part", GUEST_PARTS)
def test_guest_parts_import_only_allowed_parts(part: str) -> None:
    files = list(sources(GUEST / part))
    assert files
    for path in files:
        packages = path.relative_to(GUEST).parts[:-1]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                origin = (*packages[: len(packages) - node.level + 1], *(node.module or "").split("."))
                assert origin[0] in GUEST_PARTS[part] | {part}, f"{path}:{node.lineno}"


def test_guest_top_level_holds_only_entry_points() -> None:
    """The scorer's digest would not cover any other module there, although it could decide verdicts."""
    assert {path.name for path in GUEST.iterdir() if path.is_dir()} - {"__pycache__"} == set(GUEST_PARTS)
    assert {path.stem for path in GUEST.glob("*.py")} == {"__init__", "main", "factory", "berth", "holder", "child"}


# Split, so that this file does not contain the addresses itself.
ADDRESSES = re.compile(
    "|".join(
        (
            r"pypi\." + "org",
            "python" + r"hosted\.org",
            "npm" + r"js\.(org|com)",
            r"(deb|security|snapshot)\.debian\." + "org",
            r"archive\.ubuntu\." + "com",
            r"(registry-1|index)\.docker\." + "io",
        )
    )
)
# The image's own user has a home too.
HOMES = re.compile(r"(?<![\w.}])/(home/(?!agent\b)\w|Users/\w|work/|root/\.pyenv)")


def test_no_registry_addresses_or_machine_paths() -> None:
    matches = []
    for name in git("ls-files", "--cached", "--others", "--exclude-standard"):
        path = ROOT / name
        if not path.is_file() or path.is_symlink():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if path != Path(__file__) and (ADDRESSES.search(line) or HOMES.search(line)):
                matches.append(f"{name}:{number}: {line.strip()[:120]}")
    assert not matches, "\n".join(matches)


def test_gitignore_ignores_no_sources() -> None:
    """The usual Python .gitignore ignores env/; ours must not, nor a `build/` or `*.db` inside a built-in bug."""
    places = [*MAY_IMPORT, "extensions", "src", "deploy", "tests"]
    ignored = git("ls-files", "--others", "--ignored", "--exclude-standard", *places)
    assert not [name for name in ignored if not re.search(r"__pycache__|\.pyc$|\.egg-info/", name)]


def pins(name: str) -> dict[str, set[str]]:
    """Requirement -> the versions it is pinned to (several where Python versions differ)."""
    versions: dict[str, set[str]] = {}
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith((" ", "#")):
            match = re.match(r"([a-z0-9][a-z0-9-]*)==([^\s;]+)", line)
            assert match, f"{name}: not a pin: {line}"
            assert line.endswith("\\"), f"{name}: no hash: {line}"
            versions.setdefault(match[1], set()).add(match[2])
    return versions


REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "env/sandbox/requirements.txt")


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_requirements_are_pinned_without_an_index(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*-(?!-hash=)", text, flags=re.MULTILINE), "an option such as --index-url"
    assert pins(name)


def test_requirements_cover_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    runtime, dev = pins("requirements.txt"), pins("requirements-dev.txt")

    def names(specifiers: list[str]) -> set[str]:
        return {re.split(r"[^\w.-]", item)[0].lower().replace("_", "-") for item in specifiers}

    assert not names(project["dependencies"]) - set(runtime), "run 'make requirements'"
    extras = project["optional-dependencies"]
    # These are not for the environment of everyone who works on this (see pyproject.toml).
    uninstalled = ("swebench", "verifiers", "trl", "verl", "skyrl", "tokens")
    extra_names = names(
        [requirement for name, extra in extras.items() if name not in uninstalled for requirement in extra]
    ) - {project["name"]}
    assert not extra_names - set(dev), "run 'make requirements'"
    assert runtime.items() <= dev.items(), "one environment serves both"
    assert "setuptools" in runtime, "the project is built without fetching anything"
    assert pins("env/sandbox/requirements.txt").keys() >= {"pytest", "coverage"}


def test_version_lookups_name_installed_packages() -> None:
    """Tests run in an environment with more packages than users have."""
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE))
    lookups = {
        (path.relative_to(ROOT), name)
        for room in (*CORE, "extensions")
        for path in sources(ROOT / room)
        for name in re.findall(r"\bversion\(\"([\w.-]+)\"\)", path.read_text(encoding="utf-8"))
    }
    assert lookups and {lookup for lookup in lookups if lookup[1] not in pinned | {"stackrank"}} == set()


def test_python_is_parsed_only_in_source_module() -> None:
    """`ast.parse` and its callers are not safe in threads; `stackrank.source` is."""
    guest_folders = {GUEST, ROOT / "extensions" / "authoring" / "audit" / "guest"}
    files = [
        path for room in (*CORE, "extensions") for path in sources(ROOT / room) if not guest_folders & set(path.parents)
    ]
    files.remove(ROOT / "src" / PACKAGE / "source.py")
    assert not [
        str(path) for path in files if re.search(r"\bast\.(parse|literal_eval)\(", path.read_text(encoding="utf-8"))
    ]


def test_migrations_form_one_chain() -> None:
    """Two migrations written at the same time get the same number: the later one has to take the next."""
    files = sorted((ROOT / "db" / "migrations" / "versions").glob("[0-9]*.py"))
    numbers = [f"{number:04}" for number in range(len(files) + 1)]
    for previous, number, file in zip(numbers, numbers[1:], files, strict=False):
        text = file.read_text()
        assert file.name.startswith(f"{number}_") and f'\nrevision = "{number}"\n' in text, file.name
        assert f"\ndown_revision = {None if previous == '0000' else chr(34) + previous + chr(34)}\n" in text, file.name
    assert f'\nHEAD = "{numbers[-1]}"\n' in (ROOT / "db" / "connection" / "engine.py").read_text()
