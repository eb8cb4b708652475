"""What tokens cost. The cost of a model that is in no table is unknown, never 0."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from stackrank.agents.episode.protocol import SetupError
from stackrank.settings import settings

_BUILT_IN = Path(__file__).with_name("prices.toml")
_DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8})$")


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens."""

    input: Decimal
    cached_input: Decimal
    cache_write: Decimal
    output: Decimal

    def of(self, tokens_in: int, tokens_cached: int, tokens_out: int, tokens_written: int = 0) -> float:
        """USD for one answer. Of the `tokens_in`, `tokens_cached` came from the endpoint's cache and `tokens_written`
        went into it."""
        fresh = tokens_in - tokens_cached - tokens_written
        cached = tokens_cached * self.cached_input + tokens_written * self.cache_write
        return float((fresh * self.input + cached + tokens_out * self.output) / 1_000_000)


def find_price(model: str, configured: Mapping[str, float] | None = None) -> Price | None:
    """Return the price of a model; None if it is unknown. `configured` replaces the tables. Raises SetupError."""
    if configured is not None:
        return _price(configured, "the config's price")
    table = dict(_table(_BUILT_IN))
    if user_table := settings().prices:
        table |= _table(user_table)
    # Routers put the provider before the name: `openai/gpt-4.1`.
    for name in dict.fromkeys((model, model.rpartition("/")[2])):
        for candidate in (name, _DATED.sub("", name)):
            if candidate in table:
                return table[candidate]
    return None


@functools.cache
def _table(path: Path) -> dict[str, Price]:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SetupError(
            f"the price table {path} cannot be read ({error}): correct it or unset STACKRANK_PRICES"
        ) from None
    return {name: _price(row, f"the price of {name} in {path}") for name, row in raw.items()}


def _price(row: Any, label: str) -> Price:
    try:
        full = Decimal(str(row["input"]))
        cached, cache_write = (Decimal(str(row.get(name, full))) for name in ("cached_input", "cache_write"))
        return Price(full, cached, cache_write, Decimal(str(row["output"])))
    except (KeyError, TypeError, ArithmeticError, AttributeError):
        raise SetupError(f"{label} must give `input` and `output` in USD per million tokens") from None
