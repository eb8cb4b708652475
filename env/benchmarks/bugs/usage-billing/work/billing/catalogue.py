# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The plans on sale."""
from __future__ import annotations

from billing.plans import Plan, Step

BASIC = Plan("basic", 0, {
    "minutes": (Step(None, 9),),
    "texts": (Step(50, 7), Step(None, 4, "bulk")),
})
TALK = Plan("talk", 800, {
    "minutes": (Step(100, 0), Step(300, 5), Step(None, 3, "bulk")),
    "texts": (Step(None, 7),),
})
FLAT = Plan("flat", 2500, {
    "minutes": (Step(None, 0),),
    "texts": (Step(20, 5), Step(100, 0), Step(None, 2)),
})
PLANS = [BASIC, TALK, FLAT]
