# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The loading plan."""
from __future__ import annotations

from typing import List, NamedTuple, Optional

from ferry.deck import Lane, pick_lane
from ferry.vehicles import Vehicle


class Plan(NamedTuple):
    """Who goes where, who waits for the next ferry, and the last car put on board (it leaves last)."""

    lanes: List[Lane]
    left: List[Vehicle]
    weight: int
    last_car: Optional[str]


def make_plan(queue: List[Vehicle], lanes: List[Lane], max_weight: int) -> Plan:
    """Load vehicles in the order of arrival; who does not fit or is too heavy waits for the next ferry."""
    left: List[Vehicle] = []
    weight = 0
    for vehicle in queue:
        lane = pick_lane(lanes, vehicle)
        if lane is None or weight + vehicle.weight > max_weight:
            left.append(vehicle)
            continue
        lane.vehicles.append(vehicle)
        weight += vehicle.weight
        if vehicle.kind == "car":
            last_car = vehicle.plate
    return Plan(lanes, left, weight, last_car)


def show(plan: Plan) -> List[str]:
    """The plan as lines for the crew."""
    lines = ["lane %d: %s" % (lane.number, " ".join(v.plate for v in lane.vehicles) or "-") for lane in plan.lanes]
    lines.append("weight %.1f t" % (plan.weight / 10))
    lines.append("last car " + (plan.last_car or "none"))
    return lines + ["waits: " + v.plate for v in plan.left]
