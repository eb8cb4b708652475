"""How operators are registered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import libcst as cst

from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.source import NodeContext

Operator = Callable[[NodeContext], Iterator[Mutation]]
Propose = Callable[[Any, NodeContext], Iterator[Mutation]]


class Operators(list[Operator]):
    """The functions that propose mutations of a node, in this order."""

    def on(self, *kinds: type[cst.CSTNode]) -> Callable[[Propose], Propose]:
        """Register a function that takes a node and its context, for these kinds of nodes."""

        def register(propose: Propose) -> Propose:
            self.append(lambda context: propose(context.node, context) if isinstance(context.node, kinds) else iter(()))
            return propose

        return register
