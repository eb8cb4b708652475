# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Circuits: gates, in an order in which each follows those that it needs."""
from __future__ import annotations

from typing import Dict, Iterable, List, Mapping, NamedTuple, Set, Tuple

from .gates import KINDS


class BadCircuit(ValueError):
    """A drawing that nobody can build."""


class Gate(NamedTuple):
    output: str
    kind: str
    inputs: Tuple[str, ...]


class Circuit:
    """`inputs`: wires that no gate feeds."""

    def __init__(self, drawing: str, inputs: Iterable[str]) -> None:
        """Raises BadCircuit."""
        self.inputs = tuple(inputs)
        self.gates = _ordered(_read(drawing), set(self.inputs))

    def run(self, values: Mapping[str, bool]) -> Dict[str, bool]:
        """What is on every wire once all of them have settled. Raises BadCircuit where an input has no value."""
        wires: Dict[str, bool] = {}
        for name in self.inputs:
            if name not in values:
                raise BadCircuit(f"{name} has no value")
            wires[name] = values[name]
        for gate in self.gates:
            wires[gate.output] = KINDS[gate.kind].output(*(wires[each] for each in gate.inputs))
        return wires

    def delay(self, wire: str) -> int:
        """How many gates lie at most between the inputs and a wire."""
        depth: Dict[str, int] = dict.fromkeys(self.inputs, 0)
        for gate in self.gates:
            depth[gate.output] = 1 + max(depth[each] for each in gate.inputs)
        return depth[wire]


def _read(drawing: str) -> List[Gate]:
    gates: List[Gate] = []
    seen: Set[str] = set()
    for number, line in enumerate(drawing.splitlines(), 1):
        if not line.strip():
            continue
        output, equals, rest = line.partition("=")
        kind, *inputs = rest.split() or [""]
        if not equals or kind not in KINDS or len(inputs) != KINDS[kind].inputs:
            raise BadCircuit(f"line {number}: {line!r}")
        output = output.strip()
        if output in seen:
            raise BadCircuit(f"line {number}: two gates feed {output}")
        seen.add(output)
        gates.append(Gate(output, kind, tuple(inputs)))
    return gates


def _ordered(gates: List[Gate], known: Set[str]) -> List[Gate]:
    waiting, ordered = list(gates), []
    while waiting:
        ready = [gate for gate in waiting if known.issuperset(gate.inputs)]
        if not ready:
            raise BadCircuit(f"{waiting[0].output} waits for itself, or for a wire that nothing feeds")
        for gate in ready:
            known.add(gate.output)
        ordered += ready
        waiting = [gate for gate in waiting if gate.output not in known]
    return ordered
