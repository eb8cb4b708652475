"""The documentation builds, its links resolve, and the reference is up to date."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.registry import backend
from stackrank.env.tools import Bench, ToolError
from tests.support.waiting import missing

ROOT = Path(__file__).parents[1]
PAPERS = [*ROOT.glob("*.md"), ROOT / "deploy" / "README.md", *(ROOT / "docs").rglob("*.md")]
ROOMS = ("agents/", "dashboard/", "db/", "deploy/", "docs/", "env/", "extensions/", "flows/", "src/", "tests/")
README_WORDS = 1300


def named(paper: Path) -> str:
    return str(paper.relative_to(ROOT))


def prose(paper: Path) -> str:
    """The text without blocks of code."""
    return re.sub(r"^```.*?^```", "", paper.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(paper: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose(paper), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("paper", PAPERS, ids=named)
def test_links_resolve(paper: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(paper)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (paper.parent / path).resolve() if path else paper
        assert target.exists(), f"{link}: there is no such file"
        assert not anchor or anchor in anchors(target), f"{link}: there is no such title"


@pytest.mark.parametrize("paper", PAPERS, ids=named)
def test_mentioned_files_exist(paper: Path) -> None:
    for name in re.findall(r"`([\w./-]+)`", prose(paper)):
        if name.startswith(ROOMS) and not name.startswith("deploy/compose/secrets"):
            assert (ROOT / name).exists(), f"`{name}`: there is no such file"


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= README_WORDS


def test_reference_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr


def test_forms_and_workflows_are_yaml() -> None:
    files = [*(ROOT / ".github").rglob("*.y*ml")]
    assert files and all(isinstance(yaml.safe_load(file.read_text(encoding="utf-8")), dict) for file in files)
    workflow = (ROOT / ".github" / "workflows" / "ci.yaml").read_text(encoding="utf-8")
    assert "run: .ci/run\n" in workflow and (ROOT / ".ci" / "run").exists()
    release = (ROOT / ".github" / "workflows" / "release.yaml").read_text(encoding="utf-8")
    assert 'tags: ["v*"]' in release and "id-token: write" in release and "://" not in release


class Fetched(HTMLParser):
    """What a browser fetches by itself to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.addresses += [attributes["src"] or ""] if "src" in attributes else []
        if tag == "link" and attributes.get("rel") in ("stylesheet", "preconnect", "preload", "icon"):
            self.addresses.append(attributes.get("href") or "")


def test_site_builds_and_pages_load_no_external_files(tmp_path: Path) -> None:
    if importlib.util.find_spec("mkdocs") is None:
        missing("MkDocs is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    completed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) >= len(list((ROOT / "docs").rglob("*.md")))
    for page in pages:
        fetched = Fetched()
        fetched.feed(page.read_text(encoding="utf-8"))
        assert fetched.addresses and not [
            address for address in fetched.addresses if address.startswith(("http", "//"))
        ], page


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def test_guide_tool_works() -> None:
    task = load_benchmark("bugs").tasks()[0]
    module: dict[str, Any] = {}
    exec(blocks("guide/tools.md", "python")[0], module)
    tool = module["Outline"]()
    with Sandbox(backend("local"), SandboxSpec()) as sandbox:
        sandbox.put({"a.py": b"class A:\n    def f(self): ...\n", "b.txt": b"def g\n"})
        observation = tool(Bench(sandbox, task), tool.arguments())
        with pytest.raises(ToolError, match="defines no class"):
            tool(Bench(sandbox, task), tool.arguments(path="b.txt"))
    assert observation.text == "a.py:1: class A:\na.py:2:     def f(self): ..."


@pytest.mark.slow
def test_guide_loop_prints_the_documented_output() -> None:
    (loop,) = [block for block in blocks("guide/trajectories.md", "python") if "DebugEnv(" in block]
    completed = subprocess.run([sys.executable, "-c", loop], capture_output=True, text=True, check=False)
    if "no sandbox can be started" in completed.stderr:
        missing(completed.stderr.splitlines()[-1])
    assert completed.stdout == blocks("guide/trajectories.md", "text")[-1], completed.stderr


@pytest.mark.parametrize(
    ("page", "folder"), [("guide/write-an-agent.md", "agent"), ("guide/write-a-benchmark.md", "benchmark")]
)
def test_shown_packages_are_those_of_the_examples(page: str, folder: str) -> None:
    place = ROOT / "docs" / "examples" / folder
    (module,) = place.glob("*.py")
    assert blocks(page, "python") == [module.read_text(encoding="utf-8")]
    assert blocks(page, "toml") == [(place / "pyproject.toml").read_text(encoding="utf-8")]
