"""The tool that ends the episode."""

from __future__ import annotations

from stackrank.env.actions import Observation
from stackrank.env.state import SubmittedState
from stackrank.env.tools.base import Arguments, Bench


class SubmitArguments(Arguments):
    """`submit` takes no arguments."""


class Submit:
    """Submits the work."""

    name = "submit"
    version = "1"
    description = "Submit the files as they are now. This ends the episode."
    arguments = SubmitArguments

    def __call__(self, bench: Bench, arguments: SubmitArguments) -> Observation:
        """The environment ends the episode when it sees this tool."""
        return Observation("Submitted.", state=SubmittedState(kind="submitted", submitted=True))
