"""The observer of `inspect`: runs code where a place is reached for the n-th time, or where the program failed."""

from __future__ import annotations

import types
from typing import Any, Dict, Optional

from ..exceptions import chain_of
from .hits import HitsObserver
from .report_stream import Storyteller
from .statements import result_of

_VALUE = 1000
"""How many characters of one value, or of what one statement prints, are shown."""


class InspectObserver(HitsObserver):
    """Expects what `HitsObserver` does. Without places, the code runs at a failure."""

    def __init__(self, spec: Dict[str, Any], teller: Storyteller) -> None:
        """Raises Refused for a place that does not exist and for code that does not compile."""
        super().__init__(spec, teller)
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
        values = [{"code": part.text, "value": result_of(part, frame.f_globals, names, _VALUE)} for part in self.code]
        report = self._teller.report
        report.write("inspected", number=self._met, test=self._teller.test, frames=frames, values=values)
