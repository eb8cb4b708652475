"""The observer of `inspect`: runs code where a place is reached for the n-th time, or where the program failed."""

from __future__ import annotations

import ast
import contextlib
import io
import textwrap
import types
from typing import Any, Dict, List, Optional, Tuple

from ...core.files import Refused
from ..evaluation import evaluate
from ..exceptions import chain_of
from ..values import shown
from .hits import HitsObserver
from .report_stream import Storyteller, describe

_VALUE = 1000
"""How many characters of one value, or of what one statement prints, are shown."""


class InspectObserver(HitsObserver):
    """Expects what `HitsObserver` does, and `code`: lines of Python. Without places, the code runs at a failure."""

    def __init__(self, spec: Dict[str, Any], teller: Storyteller) -> None:
        """Raises Refused for a place that does not exist and for code that does not compile."""
        super().__init__(spec, teller)
        self._code = _statements(spec["code"])
        self._inspected = False

    def tell(self, number: int, frame: types.FrameType) -> None:
        """Run the code here, and end the program."""
        self._inspect(frame, frame.f_lineno)
        self.stop_now("captured")

    def where_raised(self, error: BaseException) -> Optional[Dict[str, Any]]:
        """Run the code where a failure was raised, if no place was named."""
        if not self._places and not self._inspected:
            for link in chain_of(error):
                tb, last = link.__traceback__, None
                while tb is not None:
                    last = tb if self._teller.own(tb.tb_frame.f_code.co_filename) else last
                    tb = tb.tb_next
                if last is not None:
                    self._inspect(last.tb_frame, last.tb_lineno)
                    break
        return None

    def _inspect(self, frame: types.FrameType, line: int) -> None:
        self._inspected = True
        frames = self._teller.stack(frame, line)
        names = dict(frame.f_locals)
        values = [{"code": text, "value": _result(code, frame, names)} for text, code in self._code]
        report = self._teller.report
        report.write("inspected", number=self._met, test=self._teller.test, frames=frames, values=values)


def _result(code: types.CodeType, frame: types.FrameType, names: Dict[str, Any]) -> str:
    """Run one statement. Returns what it prints, and its value or the exception that it raises."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            value = evaluate(code, frame.f_globals, names)
        text = "" if value is None else shown(value, _VALUE)
    except BaseException as error:  # SystemExit too, so that the other statements run
        text = "raised %s" % describe(error).split("\n")[0]
    output = printed.getvalue()[:_VALUE].rstrip("\n")
    return "\n".join(part for part in (output, text) if part)


def _statements(text: str) -> List[Tuple[str, types.CodeType]]:
    source = textwrap.dedent(text).strip("\n")
    try:
        tree = ast.parse(source)
        statements = []
        for node in tree.body:
            part: Any = (
                ast.Expression(node.value) if isinstance(node, ast.Expr) else ast.Module(body=[node], type_ignores=[])
            )
            mode = "eval" if isinstance(node, ast.Expr) else "exec"
            statement = ast.get_source_segment(source, node) or ""
            statements.append((statement, compile(part, "<expressions>", mode, dont_inherit=True)))
        return statements
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refused("the expressions are not Python code: %s" % (error.args[0] if error.args else error)) from None
