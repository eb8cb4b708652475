"""How the successors of SWE-bench publish their rows: which of their fields is which field of an instance.

The names are those of the data sets' own cards and harnesses. A row with none of these layouts is read as SWE-bench's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stackrank.env.patches import PatchError, make_diff, reverse_patch, touched_files
from stackrank.env.sandbox.guest.testing.ids import parse_id, path_of
from stackrank.env.scoring.log_formats import log_formats, swebench_parsers
from stackrank.source import literal

Row = Mapping[str, Any]
Value = str | Callable[[Row], Any]
"""A field of the row, or a function that makes the value from the row."""


@dataclass(frozen=True)
class Layout:
    """The rows of one data set."""

    name: str
    told_by: frozenset[str]
    """The fields that identify its rows: they have all of these, and other rows do not."""
    fields: Mapping[str, Value]
    """Field of an instance -> where the row has it; other fields have the same name in both."""
    unused: frozenset[str] = field(default_factory=frozenset)
    """Fields that are known but not needed."""

    def read(self, row: Row) -> dict[str, Any]:
        """Return the row with an instance's field names. Raises ValueError, a sentence, if the row cannot be used."""
        return {**row, **{name: _value(row, source) for name, source in self.fields.items()}}

    def unknown(self, row: Row, known_fields: frozenset[str]) -> set[str]:
        """Return the fields that nothing reads."""
        mapped = {source for source in self.fields.values() if isinstance(source, str)}
        return set(row) - known_fields - _COMMON - self.told_by - self.unused - mapped


def _columns(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COMMON = _columns(
    "hints_text created_at environment_setup_commit language repo_language eval_type license license_name meta "
    "url issue_url pr_url"
)


def layout_of(row: Row) -> Layout:
    """Return the first layout whose fields the row has."""
    return next(layout for layout in LAYOUTS if layout.told_by <= row.keys())


def why_refused(row: Row) -> str:
    """Return why a row is not played: it is not Python, and names no format of results; empty if it is played."""
    if row.get("log_parser") in (*log_formats(), *swebench_parsers()):
        return ""
    language = str(row.get("repo_language") or row.get("language") or "").lower()
    if language and language not in ("python", "py", "python3"):
        return f"it is written in {language}: log_parser has to name the format of its results, such as go"
    try:
        paths = sorted({path for name in ("patch", "test_patch") for path in touched_files(str(row.get(name) or ""))})
    except PatchError:
        return ""  # reported later, for the field itself
    if language or not paths or any(path.endswith((".py", ".pyx", ".pyi")) for path in paths):
        return ""
    if ".py" in str(row.get("FAIL_TO_PASS")):
        return ""
    return f"no change of a Python file ({paths[0]}): log_parser has to name the format of its results, such as go"


def names(value: Any) -> Any:
    """Read a list of tests, which may be written as JSON or as a Python literal. Raises ValueError."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            try:
                value = literal(value)
            except (SyntaxError, ValueError):
                raise ValueError("it must be a JSON list of tests") from None
    if not isinstance(value, list | tuple):
        raise ValueError("it must be a list of tests")
    return list(value)


def _value(row: Row, source: Value) -> Any:
    return row.get(source) if isinstance(source, str) else source(row)


# ---- SWE-smith: bugs that were planted in upstream's code. `patch` plants one; the tests are upstream's own.


def _smith(row: Row) -> re.Match[str]:
    match = re.fullmatch(r"[\w.-]+/([\w.-]+)__([\w.-]+)\.([0-9a-f]{7,40})", str(row.get("repo")))
    if match is None:
        raise ValueError(f"repo is {row.get('repo')!r}, but must look like 'swesmith/OWNER__NAME.COMMIT'")
    return match


def _smith_fix(row: Row) -> str:
    try:
        return reverse_patch(str(row["patch"]))
    except PatchError as error:
        raise ValueError(f"patch: {error}") from None


def _passing_beside(row: Row) -> list[str]:
    """Return the passing tests in the files of the failing ones: its harness runs only these files, and so do we."""
    files = {path_of(test) for test in names(row["FAIL_TO_PASS"])}
    return [test for test in names(row["PASS_TO_PASS"]) if path_of(test) in files]


# ---- R2E-Gym: commits with tests of their own, whose outcomes are in the logs of both sides.


def _commit(row: Row) -> dict[str, Any]:
    commit: dict[str, Any] = json.loads(row["parsed_commit_content"])
    return commit


def _execution(row: Row) -> dict[str, Any]:
    execution: dict[str, Any] = json.loads(row["execution_result_content"])
    return execution


def _r2e_fix(row: Row) -> str:
    """Return the commit's changes except those of tests, because the row brings other tests."""
    old: dict[str, bytes] = {}
    new: dict[str, bytes] = {}
    for file_diff in _commit(row)["file_diffs"]:
        path = file_diff["header"]["file"]["path"]
        if file_diff.get("is_binary_file") or {"test", "tests"} & {part.lower() for part in path.split("/")[:-1]}:
            continue
        if re.search(r"(^|/)test_[^/]*$|_test\.py$", path):
            continue
        # A missing side is empty, or `/dev/null`.
        for side, files in (("old_file_content", old), ("new_file_content", new)):
            if file_diff.get(side) not in (None, "", "/dev/null"):
                files[path] = file_diff[side].encode()
    return make_diff(old, new)


def _r2e_tests(row: Row) -> str:
    executed = _execution(row)
    pairs = zip(executed["test_file_names"], executed["test_file_codes"], strict=True)
    return make_diff({}, {f"r2e_tests/{name}": code.encode() for name, code in pairs if code})


def _r2e_passed(log: Any) -> dict[str, str]:
    """Return test name, as in `expected_output_json`, -> test id, for the tests that passed according to a log."""
    text = re.sub(r"\x1b\[[0-9;]*m|\r", "", str(log or ""))
    ids = re.findall(r"^PASSED (\S+?::.+?)(?: - .*)?$", text, re.M)
    return {parse_id(test_id).qualified + parse_id(test_id).parameters: test_id for test_id in ids}


def _r2e_lists(row: Row) -> tuple[list[str], list[str]]:
    executed, expected = _execution(row), json.loads(row["expected_output_json"])
    passed_before, passed_after = (_r2e_passed(executed.get(f"{side}_commit_res_stdout")) for side in ("old", "new"))
    outcomes = {re.sub(r"\x1b\[[0-9;]*m", "", name).split(" - ")[0]: outcome for name, outcome in expected.items()}
    passing = {name: test_id for name, test_id in passed_after.items() if outcomes.get(name) == "PASSED"}
    return (
        [test_id for name, test_id in passing.items() if name not in passed_before],
        [test_id for name, test_id in passing.items() if name in passed_before],
    )


def _r2e_statement(row: Row) -> str:
    text = str(row.get("problem_statement") or "")
    match = re.search(r"\[ISSUE\](.*)\[/ISSUE\]", text, re.S)
    return (match[1] if match else text).strip()


_R2E_OWNERS = {
    "aiohttp": "aio-libs/aiohttp", "bokeh": "bokeh/bokeh", "coveragepy": "nedbat/coveragepy",
    "datalad": "datalad/datalad", "matplotlib": "matplotlib/matplotlib", "moto": "getmoto/moto",
    "numpy": "numpy/numpy", "orange3": "biolab/orange3", "pandas": "pandas-dev/pandas",
    "pillow": "python-pillow/Pillow", "pyramid": "Pylons/pyramid", "scrapy": "scrapy/scrapy",
    "statsmodels": "statsmodels/statsmodels", "sympy": "sympy/sympy", "tornado": "tornadoweb/tornado",
}  # fmt: skip


# ---- SWE-bench Pro and SWE-rebench: SWE-bench's fields, some renamed, and how an instance is built and tested.


def _pro_statement(row: Row) -> str:
    parts = {"": "problem_statement", "Requirements:\n": "requirements", "New interfaces introduced:\n": "interface"}
    return "\n\n".join(f"{title}{row[name]}" for title, name in parts.items() if row.get(name))


def _install(row: Row) -> dict[str, Any]:
    config = row["install_config"]
    document = json.loads(config) if isinstance(config, str) else config
    if not isinstance(document, dict):
        raise ValueError("install_config must be an object")
    return document


def _commands(commands: Any) -> str | None:
    """Return the whole test command: unlike for SWE-bench, no test files are added."""
    return " && ".join([commands] if isinstance(commands, str) else commands) if commands else None


def _pro_files(row: Row) -> list[str]:
    """Return the test files to run: those of the selected files that are Python files with tests."""
    files = [file for file in names(row["selected_test_files_to_run"]) if ".py" in file]
    return [file for file in files if re.search(r"(^|/)test_|_test\.py", file)] or files


LAYOUTS = (
    Layout(
        "R2E-Gym",
        frozenset({"parsed_commit_content", "execution_result_content"}),
        {
            "instance_id": lambda row: f"{row['repo_name']}-{row['commit_hash']}",
            "repo": lambda row: _R2E_OWNERS.get(row["repo_name"], f"{row['repo_name']}/{row['repo_name']}"),
            "base_commit": lambda row: _commit(row)["old_commit_hash"],
            "patch": _r2e_fix,
            "test_patch": _r2e_tests,
            "problem_statement": _r2e_statement,
            "FAIL_TO_PASS": lambda row: _r2e_lists(row)[0],
            "PASS_TO_PASS": lambda row: _r2e_lists(row)[1],
            "image": "docker_image",
        },
        _columns(
            "repo_name commit_hash env_type expected_output_json instance_id modified_entity_summaries modified_files "
            "num_non_test_files num_non_test_func_methods num_non_test_lines prompt relevant_files"
        ),
    ),
    Layout(
        "SWE-bench Pro",
        frozenset({"selected_test_files_to_run"}),
        {
            "problem_statement": _pro_statement,
            "FAIL_TO_PASS": lambda row: row.get("fail_to_pass", row.get("FAIL_TO_PASS")),
            "PASS_TO_PASS": lambda row: row.get("pass_to_pass", row.get("PASS_TO_PASS")),
            "test_files": _pro_files,
            "image": lambda row: f"jefzda/sweap-images:{row['dockerhub_tag']}" if row.get("dockerhub_tag") else None,
            "directory": lambda row: "/app",
        },
        _columns(
            "fail_to_pass pass_to_pass dockerhub_tag before_repo_set_cmd requirements interface issue_specificity "
            "issue_categories"
        ),
    ),
    Layout(
        "SWE-rebench V2",
        frozenset({"install_config", "image_name"}),
        {
            "install_config": _install,
            "command": lambda row: _commands(_install(row).get("test_cmd")),
            "image": "image_name",
            "directory": lambda row: f"/{str(row.get('repo')).rpartition('/')[2]}",
        },
        frozenset({"interface", "pr_description", "diff_languages"}),
    ),
    Layout(
        "SWE-rebench",
        frozenset({"install_config"}),
        {"install_config": _install, "image": lambda row: row.get("docker_image") or row.get("image")},
        frozenset({"docker_image", "requirements", "environment"}),
    ),
    Layout(
        "SWE-smith",
        frozenset({"image_name"}),
        {
            "repo": lambda row: "/".join(_smith(row).groups()[:2]),
            "base_commit": lambda row: _smith(row)[3],
            "planted": "patch",
            "patch": _smith_fix,
            "test_patch": lambda row: "",
            "PASS_TO_PASS": _passing_beside,
            "test_files": lambda row: sorted({path_of(test) for test in names(row["FAIL_TO_PASS"])}),
            "image": "image_name",
        },
        frozenset({"strategy"}),
    ),
    Layout("SWE-bench", frozenset(), {}),
)
