# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""All experiments."""
from __future__ import annotations

from collections import Counter
from typing import Dict, Iterable, List

from splits.experiment import Experiment


class Lab:
    """Experiments, of which a user takes part in at most one of each layer."""

    def __init__(self) -> None:
        self._layers: Dict[str, List[Experiment]] = {}

    def add(self, layer: str, experiment: Experiment) -> None:
        """Add an experiment; earlier ones of the layer take their users first."""
        self._layers.setdefault(layer, []).append(experiment)

    def variants(self, user: str) -> Dict[str, str]:
        """The variants of a user by experiment."""
        found: Dict[str, str] = {}
        for experiments in self._layers.values():
            for experiment in experiments:
                variant = experiment.variant(user)
                if variant is not None:
                    found[experiment.name] = variant
                    break
        return found

    def count(self, users: Iterable[str]) -> Dict[str, Dict[str, int]]:
        """How many of the users get each variant of each experiment."""
        counts: Dict[str, Counter] = {}
        for user in users:
            for name, variant in self.variants(user).items():
                counts.setdefault(name, Counter())[variant] += 1
        return {name: dict(counter) for name, counter in counts.items()}
