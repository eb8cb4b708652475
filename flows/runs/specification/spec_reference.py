"""The documentation of the run specification, generated from its model."""

from __future__ import annotations

import inspect

from stackrank.fields import table
from stackrank.flows.runs.specification.spec import PARTS, RunSpec

_HEAD = """\
# The run specification

<!-- Made by `make reference`; a test keeps it up to date. -->

A YAML file with these fields describes a run. The flags of `stackrank run` override the file, or replace it.
`stackrank spec --json` prints the JSON schema, for editors. `deploy/examples` contains examples.
"""


def describe() -> str:
    """Describe all fields in Markdown."""
    links = {kind: str(name) for name, kind in PARTS.items()}
    parts = [_HEAD, "## A run\n", table(RunSpec, links=links)]
    for name, kind in PARTS.items():
        parts += [f"## `{name}`\n", f"{inspect.getdoc(kind)}\n", table(kind, links=links)]
    parts.append(
        "The flags `--agent`, `--model` and `--tools` replace all entrants. What they do not set comes from the file's "
        "matrix:\n`stackrank run deploy/examples/paper.yaml --model MODEL --model ANOTHER`."
    )
    return "\n".join(parts) + "\n"
