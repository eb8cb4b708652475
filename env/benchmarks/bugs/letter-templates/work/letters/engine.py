# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The engine."""
from __future__ import annotations

import re
from typing import Mapping

from .errors import MissingField
from .fields import PLACE, Place, place_of
from .filters import apply


def value_of(place: Place, values: Mapping[str, object]) -> str:
    """What is written at a place."""
    if place.name not in values:
        raise MissingField(place.name)
    return apply(str(values[place.name]), place.filters)


def render(template: str, values: Mapping[str, object]) -> str:
    """The template with the values in their places. Values are written as they are."""
    for match in list(PLACE.finditer(template)):
        place = place_of(match)
        template = re.sub(re.escape(place.text), value_of(place, values), template)
    return template
