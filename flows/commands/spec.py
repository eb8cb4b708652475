"""`stackrank spec`."""

from __future__ import annotations

from flows.output import print_json
from flows.spec import RunSpec
from flows.spec_help import describe


def spec(as_json: bool) -> None:
    """Print what a run specification can say: for people, or as JSON schema."""
    if as_json:
        print_json(RunSpec.model_json_schema())
    else:
        print(describe(), end="")
