# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Bills."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Mapping

from billing.plans import Plan, charges


@dataclass(frozen=True)
class Line:
    """One position of a bill, in cents."""

    text: str
    cents: int


@dataclass
class Bill:
    """The positions of a bill and their sum."""

    lines: List[Line] = field(default_factory=list)

    @property
    def total(self) -> int:
        """The sum in cents."""
        return sum(line.cents for line in self.lines)

    def text(self) -> str:
        """The bill for printing, with the total as the last line."""
        rows = self.lines + [Line("total", self.total)]
        return "\n".join("%-24s %4d.%02d" % ((row.text,) + divmod(row.cents, 100)) for row in rows)


def make_bill(plan: Plan, usage: Mapping[str, int]) -> Bill:
    """The bill for a month. Meters the plan does not know raise KeyError;
    meters without usage are not mentioned."""
    bill = Bill()
    if plan.base:
        bill.lines.append(Line(plan.name, plan.base))
    for meter, units in usage.items():
        if units < 0:
            raise ValueError("negative usage: " + meter)
        for step, count in charges(plan.meters[meter], units):
            text = "%d %s" % (count, meter)
            if step.label:
                text += " (" + step.label + ")"
            bill.lines.append(Line(text, count * step.price))
    return bill


def cheapest(plans: List[Plan], usage: Mapping[str, int]) -> Plan:
    """The plan with the lowest total for the usage; of equals the first."""
    return min(plans, key=lambda plan: make_bill(plan, usage).total)
