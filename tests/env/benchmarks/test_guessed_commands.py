"""What is guessed of a project: how its tests run, and what they need, from the files of the tools that it uses."""

from __future__ import annotations

import shlex
import subprocess
import sys
import textwrap
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path

import pytest

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.python_project.compiled import require_python
from stackrank.env.benchmarks.python_project.guess_setup import declared_requirements, project_alone, setup_of
from stackrank.env.benchmarks.python_project.pytest_command import default_command, project_command
from stackrank.env.benchmarks.python_project.requirements import find_added

PROJECT = b"[project]\nname = 'a'\n"


@pytest.mark.parametrize(
    ("names", "option"),
    [
        (("tests/testwords.py", "words.py"), "-o python_files='test*.py'"),
        (("shop/tests.py", "manage.py"), "-o python_files='test*.py'"),
        (("shop/tests.py", "tests/test_all.py"), ""),
        (("words.py",), ""),
        (("tests/testwords.py", "pytest.ini"), ""),
    ],
)
def test_names_that_only_unittest_looks_for(names: tuple[str, ...], option: str) -> None:
    files = {name: b"[pytest]\npython_files = check*.py\n" if name == "pytest.ini" else b"" for name in names}
    command = default_command(files)
    assert option in command and ("python_files" in command) == bool(option)


@pytest.mark.parametrize(
    ("files", "settings"),
    [
        (
            {"tox.ini": b"[testenv]\ncommands = python -m django test --settings=tests.conf\n", "tests/conf.py": b""},
            "tests.conf",
        ),
        (
            {"runtests.py": b"environ['DJANGO_SETTINGS_MODULE'] = 'a.settings'", "a/settings/__init__.py": b""},
            "a.settings",
        ),
        ({"manage.py": b'environ.setdefault("DJANGO_SETTINGS_MODULE", "site.conf")', "site/conf.py": b""}, "site.conf"),
        ({"manage.py": b'environ.setdefault("DJANGO_SETTINGS_MODULE", "elsewhere.conf")'}, ""),
        ({"tox.ini": b"[pytest]\nDJANGO_SETTINGS_MODULE = tests.conf\n", "tests/conf.py": b""}, ""),
        ({"Makefile": b"test:\n\tpytest --ds=tests.conf\n", "tests/conf.py": b""}, ""),
    ],
)
def test_tests_of_djangos_own_runner(files: dict[str, bytes], settings: str) -> None:
    files |= {"setup.py": b"", "a/test_views.py": b"", "a/tests.py": b""}
    command, (setup,) = default_command(files), setup_of(files)
    assert command.startswith(f"DJANGO_SETTINGS_MODULE={settings} python" if settings else "python")
    assert ("python_files='test*.py'" in command) == bool(settings)
    assert ("pytest-django django" in setup) == (bool(settings) or b"[pytest]" in files.get("tox.ini", b""))


_TESTS = {"tests/test_cart.py": b"def test_total(): pass", "tests/unit/test_tax.py": b"def test_tax(): pass"}


@pytest.mark.parametrize("given", ["", "pytest -q tests"])
@pytest.mark.parametrize(
    "settings",
    [
        {"tests/pytest.ini": b""},
        {"tests/pytest.ini": b"[pytest]\naddopts = -p no:doctest", "tox.ini": b"[pytest]\ntestpaths = tests"},
        {"tests/unit/pyproject.toml": b"[tool.pytest.ini_options]\nminversion = '6'", "conftest.py": b""},
        {"tests/setup.cfg": b"[tool:pytest]\npython_functions = test_*"},
    ],
)
def test_settings_in_a_folder_leave_ids_alone(settings: dict[str, bytes], given: str, tmp_path: Path) -> None:
    files = {**_TESTS, **settings}
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    command = project_command(given, files)
    lines = [command.whole("--collect-only"), *(command.on([path], "--collect-only") for path in _TESTS)]
    listings = [
        subprocess.run([sys.executable, *shlex.split(line)[1:]], cwd=tmp_path, capture_output=True, text=True).stdout
        for line in lines
    ]
    whole, *single = [[line for line in listing.splitlines() if "::" in line] for listing in listings]
    assert whole == ["tests/test_cart.py::test_total", "tests/unit/test_tax.py::test_tax"]
    assert single == [[test] for test in whole]


@pytest.mark.parametrize(
    ("settings", "plugin"),
    [
        ({"tests/pytest.ini": b"[pytest]\nasyncio_mode = auto"}, "pytest-asyncio"),
        ({"tests/tox.ini": b"[pytest]\naddopts = -n 2", "conftest.py": b""}, "pytest-xdist"),
        ({"tests/pytest.ini": b"[pytest]\ntimeout = 9", "pytest.ini": b""}, ""),
        ({"tests/unit/pytest.ini": b"[pytest]\ntimeout = 9"}, ""),
    ],
)
def test_settings_around_all_tests_are_those_of_the_project(settings: dict[str, bytes], plugin: str) -> None:
    (setup,) = setup_of({"setup.py": b"", **_TESTS, **settings}, str)
    assert (f" {plugin}" in setup) if plugin else ("pytest-" not in setup)


_SCRIPT = b'environ.setdefault("DJANGO_SETTINGS_MODULE", "site.conf")'


@pytest.mark.parametrize(
    ("files", "variables"),
    [
        ({"tests/manage.py": _SCRIPT, "tests/site/conf.py": b""}, "PYTHONPATH=tests DJANGO_SETTINGS_MODULE=site.conf"),
        ({"my app/runtests.py": _SCRIPT, "my app/site/conf.py": b""}, "PYTHONPATH='my app' DJANGO_SETTINGS_MODULE="),
        ({"a/manage.py": _SCRIPT, "a/site/conf.py": b"", "site/conf.py": b""}, "DJANGO_SETTINGS_MODULE=site.conf"),
        ({"b/manage.py": _SCRIPT, "a/site/conf.py": b"", "b/site/conf.py": b""}, "PYTHONPATH=b DJANGO"),
        (
            {"tox.ini": b"[testenv]\ncommands = django-admin test --settings=conf\n", "tests/deep/conf.py": b""},
            "PYTHONPATH=tests/deep DJANGO_SETTINGS_MODULE=conf",
        ),
        ({"a/b/c/manage.py": _SCRIPT, "a/b/c/site/conf.py": b""}, "python"),  # too deep to be the project's own
        ({"tests/manage.py": _SCRIPT, "tests/website/conf.py": b""}, "python"),
        ({"run.sh": b"export DJANGO_SETTINGS_MODULE=conf\n", "conf.py": b""}, "DJANGO_SETTINGS_MODULE=conf python"),
        ({"test.sh": b"unset X\ndjango-admin test --settings=a.b\n", "a/b.py": b""}, "DJANGO_SETTINGS_MODULE=a.b"),
        ({"run.sh": b"export DJANGO_SETTINGS_MODULE= && cd shop\n", "conf.py": b""}, "python"),
    ],
)
def test_settings_that_are_found_from_a_folder(files: dict[str, bytes], variables: str) -> None:
    assert default_command({"setup.py": b"", "a/tests.py": b"", **files}).startswith(variables)


@pytest.mark.parametrize("version", ["", "1.2"])
@pytest.mark.parametrize("requires", [["meson-python>=0.15", "Cython"], ["meson-python"]])
def test_what_builds_at_each_import_is_not_isolated(version: str, requires: list[str]) -> None:
    scm = ["setuptools-scm"] * bool(version)
    table = f"[project]\nname = 'a'\n[build-system]\nrequires = {requires + scm}\nbuild-backend = 'mesonpy'\n"
    (setup,) = setup_of({"pyproject.toml": table.encode()}, lambda: version)
    first, second, third = setup.split(" && ")
    assert shlex.split(first)[4:] == ["-q", "ninja", *requires, *scm]
    pip = "SETUPTOOLS_SCM_PRETEND_VERSION=1.2 " * bool(version) + "python -m pip install -q "
    once, never = "--no-build-isolation --config-settings=build-dir=build/editable", "--config-settings=compile-args=-n"
    assert second == f"{pip}{once} -e ." and third == f"{pip}--no-deps {once} {never} -e ."
    assert project_alone(setup) == f"{pip}--no-deps {once} -e . && {third}"


_CORE = "[project]\nname = 'shop.core'\ndependencies = ['shop-base>1', 'attrs']\n"


@pytest.mark.parametrize(
    ("table", "editable"),
    [
        ("[project]\nname = 'shop'\ndependencies = ['Shop_Core', 'click']\n", ["./base", "./packages/core", "."]),
        ("[project]\nname = 'shop'\n[dependency-groups]\ntest = ['shop-base']\n", ["./base", "."]),
        ("[build-system]\nrequires = []\n[tool.poetry]\nname = 'shop'\n[tool.poetry.dependencies]\n"
         "shop-core = {path = 'packages/core'}\n", ["./base", "./packages/core", "."]),
        ("[project]\nname = 'shop'\ndependencies = ['click']\n", ["."]),
        ("[project]\nname = 'shop'\ndependencies = ['shop-sample']\n", ["."]),
    ],
)  # fmt: skip
def test_packages_of_the_same_repository_are_installed_from_it(table: str, editable: list[str]) -> None:
    files = {
        "pyproject.toml": table.encode(),
        "packages/core/pyproject.toml": _CORE.encode(),
        "base/pyproject.toml": b"[tool.poetry]\nname = 'shop-base'\n",
        "tests/sample/pyproject.toml": b"[project]\nname = 'shop-sample'\n",
    }
    (setup,) = setup_of(files)
    words = shlex.split(setup)
    assert [after for word, after in pairwise(words) if word == "-e"] == editable
    assert project_alone(setup) == f"python -m pip install -q --no-deps -e {' -e '.join(editable)}"
    assert not {"Shop_Core", "shop-base"} & {*declared_requirements(files)}


@pytest.mark.parametrize("others", ["", "  plain: respx>=1\n  new: Respx<3 ; python_version > '3.9'\n"])
def test_of_alternatives_for_several_environments_pip_takes_what_suits(others: str) -> None:
    deps = f"[testenv]\ndeps =\n  dj52: django>=5.2,<5.3\n  dj60: Django>=6.0,<6.1\n  dj42: Django~=4.2.0\n{others}"
    files = {"setup.py": b"", "tox.ini": deps.encode(), "tests/test_a.py": b"import django\nimport respx\n"}
    (command,) = setup_of(files)
    assert shlex.split(command)[7:] == ["django", *["respx"] * bool(others)]


@pytest.mark.parametrize(
    ("file", "text", "needs"),
    [
        (
            "pyproject.toml",
            "[tool.hatch.envs.default]\ndependencies = ['pytest', 'trustme>=1']",
            ["pytest", "trustme>=1"],
        ),
        (
            "pyproject.toml",
            "[tool.hatch.envs.hatch-test]\nextra-dependencies = ['a @ {root:uri}', 'pyfakefs']\n"
            "[tool.hatch.envs.docs]\ndependencies = ['sphinx']",
            ["pyfakefs"],
        ),
        ("pyproject.toml", '[tool.tox]\nlegacy_tox_ini = "[testenv]\\ndeps = respx"', ["respx"]),
        ("pyproject.toml", "[tool.tox.env_run_base]\ndeps = ['pytest-timeout>=2', 'mypy']", ["pytest-timeout>=2"]),
        ("tox.toml", "[env_run_base]\ndeps = ['respx', 'mypy']", ["respx"]),
        (
            "noxfile.py",
            """
            @nox.session
            def tests(session):
                session.install("-e", ".", "respx", "ruff")
                session.install("pytest-cov", *MORE)
            """,
            ["respx", "pytest-cov"],
        ),
        (
            "requirements-dev.txt",
            "-r base.txt\nrespx==1.0  # for tests\npytest-mock --hash=sha256:00 \\\nblack\n",
            ["respx==1.0", "pytest-mock"],
        ),
        ("requirements/dev.txt", "Respx\n", ["Respx"]),
        ("noxfile.py", "session.install(", []),
    ],
)
def test_what_tests_need_is_in_the_files_of_many_tools(file: str, text: str, needs: list[str]) -> None:
    content = textwrap.dedent(text).encode()
    files = {"pyproject.toml": PROJECT, "tests/test_a.py": b"import respx\nimport trustme\n"}
    files[file] = PROJECT + content if file == "pyproject.toml" else content
    (command,) = setup_of(files)
    assert shlex.split(command)[:7] == ["python", "-m", "pip", "install", "-q", "-e", "."]
    assert shlex.split(command)[7:] == needs


@pytest.mark.parametrize(
    ("file", "text", "needs"),
    [
        (
            "tox.ini",
            "[testenv]\nextras =\n    cli\n    py311: old\n[testenv:docs]\nextras = docs\n",
            ["faker>1", "moto"],
        ),
        ("tox.ini", "[testenv]\nextras = cli,absent\n", ["faker>1"]),
        ("pyproject.toml", "[tool.tox.env_run_base]\nextras = ['old']\n", ["moto"]),
        ("pyproject.toml", "[tool.hatch.envs.hatch-test]\nfeatures = ['cli']\n", ["faker>1"]),
    ],
)
def test_of_extras_that_a_runner_names_what_the_program_imports_is_installed(
    file: str, text: str, needs: list[str]
) -> None:
    extras = "cli = ['faker>1', 'mysqlclient']\nold = ['moto']\ndocs = ['trustme']\n"
    project = PROJECT + f"[project.optional-dependencies]\n{extras}".encode()
    files = {
        "pyproject.toml": project,
        "shop/cli.py": b"import faker\nimport moto\nimport trustme\n",
        "tests/test_cli.py": b"from shop.cli import main\n",
    }
    (command,) = setup_of({**files, file: project + text.encode() if file == "pyproject.toml" else text.encode()})
    assert shlex.split(command)[6:] == [".", *needs]
    (command,) = setup_of(files)
    assert shlex.split(command)[6:] == ["."]


def test_only_what_the_named_tests_load_is_installed() -> None:
    extras = b'[project.optional-dependencies]\nml = ["torch", "trustme", "respx", "faker", "moto"]\n'
    files = {
        "pyproject.toml": PROJECT + extras,
        "tests/__init__.py": b"",
        "tests/conftest.py": b"pytest_plugins = ['tests.plugs.certificates']\n",
        "tests/plugs/certificates.py": b"import trustme\n",
        "tests/unit/test_a.py": b"from ..helpers import (names, clouds)\n",
        "tests/helpers/names.py": b"    import faker\n",
        "tests/helpers/clouds.py": b"from . import base\n",
        "tests/helpers/base.py": b"import moto as m\n",
        "tests/slow/test_models.py": b"import torch\n",
    }

    def needs(*targets: str) -> set[str]:
        (command,) = setup_of(files, targets=targets)
        return set(shlex.split(command)[7:])

    assert needs("./tests/unit/") == needs("tests/unit/test_a.py::test[x]") == {"trustme", "faker", "moto"}
    assert needs() == needs("docs") == {"trustme", "faker", "moto", "torch"}


@pytest.mark.parametrize(
    ("declared", "chosen", "expected"),
    [
        ("dependencies = ['a>=1', 'b[x]<2; python_version > \"3\"']", [], ["a>=1", 'b[x]<2; python_version > "3"']),
        ("dependencies = ['a>=1', 'A.b']", ["a_b==2"], ["a_b==2", "a>=1"]),
        (
            "dependencies = ['c @ file:///x', 'd @ {root:uri}/d', 'e @ ./e', 'f @ https://localhost/f.whl']",
            [],
            ["f @ https://localhost/f.whl"],
        ),
        (
            "optional-dependencies = {dev = ['me[one, two]', 'c'], one = ['Me[two]', 'd'], two = ['e']}",
            [],
            ["c", "d", "e"],
        ),
        ("optional-dependencies = {test = ['me[test]', 't'], docs = ['sphinx']}", [], ["t"]),
        ("dynamic = ['dependencies']", ["x"], ["x"]),
    ],
)
def test_what_a_project_declares_is_shared_by_its_commits(
    declared: str, chosen: list[str], expected: list[str]
) -> None:
    files = {"pyproject.toml": f"[project]\nname = 'ME'\n{declared}\n".encode()}
    assert declared_requirements(files, chosen) == expected


def test_what_is_no_table_of_a_project_declares_nothing() -> None:
    assert [declared_requirements(files) for files in ({}, {"pyproject.toml": b"[project"}, {"setup.py": b""})] == [
        []
    ] * 3


@pytest.mark.parametrize(
    ("plug_in", "is_taken"),
    [
        ("pytest-ruff>=0.2", False),
        ("pytest_mypy; python_version > '3'", False),
        ("pytest-mypy-plugins", True),
        ("pytest-mock", True),
    ],
)
def test_plug_ins_that_run_linters_are_not_needed(plug_in: str, is_taken: bool) -> None:
    files = {"setup.py": f"setup(extras_require={{'check': [{plug_in!r}]}})".encode(), "test_a.py": b""}
    (command,) = setup_of(files)
    assert (plug_in in shlex.split(command)) == is_taken


@pytest.mark.parametrize(
    ("file", "old", "new", "added"),
    [
        (
            "pyproject.toml",
            "[dependency-groups]\ntest = ['pytest']",
            "[dependency-groups]\ntest = ['respx']",
            ["respx"],
        ),
        ("pyproject.toml", "dependencies = []", "dependencies = ['a', 'respx>1', 'c @ ./c']", ["respx>1"]),
        (
            "pyproject.toml",
            "optional-dependencies = {dev = ['respx']}",
            "optional-dependencies = {dev = ['Respx>=2', 'moto']}",
            ["moto"],
        ),
        ("setup.cfg", "[options]", "[options]\ninstall_requires =\n  respx\n  moto", ["respx", "moto"]),
        ("requirements/tests.txt", "pytest\n", "pytest\n-r base.txt\nrespx==1  # new\n", ["respx==1"]),
        ("tests/test_b.py", "import faker\n", "import trustme\n", ["trustme"]),
        ("tests/test_b.py", "import respx\n", "import moto\n", []),
    ],
)
def test_what_a_later_commit_needs_besides(file: str, old: str, new: str, added: list[str]) -> None:
    files = {"pyproject.toml": PROJECT, "noxfile.py": b"session.install('trustme', 'faker')"}
    before, after = (
        {**files, file: (PROJECT if file == "pyproject.toml" else b"") + text.encode()} for text in (old, new)
    )
    assert find_added(before, after) == added


@pytest.mark.parametrize(
    ("test", "needs"),
    [("import bson", ["pymongo>=4"]), ("from serial.tools import x", ["pyserial", "libusb"]), ("import shop", [])],
)
def test_an_extra_named_after_a_module_that_tests_import_is_installed(test: str, needs: list[str]) -> None:
    extras = "bson = ['pymongo>=4']\nserial = ['pyserial', 'libusb', 'a[bson]']\ndocs = ['sphinx']\n"
    project = PROJECT + f"[project.optional-dependencies]\n{extras}".encode()
    (command,) = setup_of({"pyproject.toml": project, "tests/test_a.py": test.encode() + b"\n"})
    assert shlex.split(command)[7:] == needs


@pytest.mark.parametrize(
    ("program", "compiled"),
    [
        (["src/lib.rs", "noxfile.py", "docs/conf.py"], "src/lib.rs"),
        (["shop/_speed.pyx", "setup.py", "a.c"], "a.c"),
        (["src/lib.rs", "python/shop/__init__.py"], ""),
        (["README.md"], ""),
    ],
)
def test_a_program_without_python_files_is_refused_at_once(program: list[str], compiled: str) -> None:
    refusal = pytest.raises(BenchmarkError, match=f"shop has no program in Python.* {compiled}")
    with refusal if compiled else nullcontext():
        require_python("shop", [*program, "tests/test_a.py", "tests/a.c"])
