"""`stop` in a run specification."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class StopSpec(BaseModel):
    """When a run stops early: as soon as it is decided, for every pair of entrants, which of the two is better.

    The run plays all attempts at one task before the next, with those tasks early that tell most about who is better
    (`order`). An entrant
    whose comparisons are all decided stops playing; the others play everything. See [Before and after a
    run](../guide/before-and-after.md).
    """

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    decided: float = Field(0.05, gt=0, le=0.5)
    """The chance that any decision of the run is wrong, however often you look."""
    equal_within: float | None = Field(None, gt=0, lt=1)
    """Two entrants that differ by less than this (0.05: 5 points) can also be decided, as equal. Absent: never."""
    order: Literal["informative", "random"] = "informative"
    """`informative`: tasks that tell entrants apart come early, the same for all entrants. Which tasks these are is
    predicted from earlier results of any entrants; `seed` fixes what is random. Without earlier results, and with
    `random`, tasks come in a random order."""
    telling: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(default_factory=dict)
    """How much each task tells, in any unit. Empty: predicted when the run is created, and stored with the run."""
    against: str = ""
    """Decide only about comparisons with this entrant. Empty: about all pairs without reference entrants."""
