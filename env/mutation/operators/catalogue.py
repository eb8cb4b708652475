"""All operators."""

from __future__ import annotations

from stackrank.env.mutation.operators.call_traps import CALL_TRAPS
from stackrank.env.mutation.operators.expressions import EXPRESSIONS
from stackrank.env.mutation.operators.flow_traps import FLOW_TRAPS
from stackrank.env.mutation.operators.names import NAMES
from stackrank.env.mutation.operators.statements import STATEMENTS
from stackrank.env.mutation.operators.value_traps import VALUE_TRAPS

OPERATORS = (*VALUE_TRAPS, *CALL_TRAPS, *FLOW_TRAPS, *EXPRESSIONS, *STATEMENTS, *NAMES)
