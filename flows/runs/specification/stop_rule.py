"""`stop` in a run specification."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class StopSpec(BaseModel):
    """When a run stops early: as soon as it is decided, for every pair of entrants, which of the two is better.

    The run plays tasks in a random order, which `seed` fixes, with all attempts at one task before the next. An entrant
    whose comparisons are all decided stops playing; the others play everything. See [Before and after a
    run](../guide/before-and-after.md).
    """

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    decided: float = Field(0.05, gt=0, le=0.5)
    """The chance that any decision of the run is wrong, however often you look."""
    equal_within: float | None = Field(None, gt=0, lt=1)
    """Two entrants that differ by less than this (0.05: 5 points) can also be decided, as equal. Absent: never."""
    against: str = ""
    """Decide only about comparisons with this entrant. Empty: about all pairs without reference entrants."""
