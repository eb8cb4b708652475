"""How numbers, times, addresses and texts by others are shown to people, on terminals, in files and on pages.

Text by an agent, a model or a member of the team may contain escape codes, characters that change the direction of
text, and spreadsheet formulas. `print_out`, `print_err`, `as_json` and `csv_lines` make these harmless, so everything
that is printed or saved goes through one of these functions.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

NOTHING = "–"
"""Shown where there is no value."""
_LINE, _LEAST_P = 0.05, 0.001
"""The level of significance, and the smallest p-value that is shown as a number."""
LEAST_USD, CENT = 0.0001, 0.01
"""The smallest cost of an episode, and the smallest total, that are shown as numbers."""
_PASSWORD = re.compile(r"(?<=://)([^:/@?]*):(.*)@(?=[^@]*$)|((?:password|passfile)=)[^&\s]*", re.IGNORECASE)
# Characters that move the cursor, change the direction of text, or are invisible (U+2800, and those of Unicode's
# Default_Ignorable_Code_Point); and lone surrogates, which no file can hold. Emoji and some scripts join characters by
# invisible ones.
_EMOJI, _JOINING = r"\xa9\xae\u203c-\u3299\U0001f000-\U0001faff", r"\u0600-\u109f\u1780-\u18af"
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    rf"|(?<![{_EMOJI}\ufe0f{_JOINING}])[\u200c\u200d]|(?<![{_EMOJI}#*0-9])[\ufe0e\ufe0f]"
)
# OWASP, CSV injection. Some programs treat the full-width forms like the others.
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def visible(text: str) -> str:
    """Return `text` with visible signs for control characters: ESC as ␛, a change of text direction as ⟨U+202E⟩."""
    return _CONTROL.sub(_sign, text.replace("\r\n", "\n"))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def one_line(text: str) -> str:
    """Return `text` as `visible` does, but on one line."""
    return visible(text).replace("\n", "␊").replace("\t", "␉")


def print_out(text: object = "", end: str = "\n") -> None:
    """Print a command's answer on standard output."""
    print(visible(str(text)), end=end)


def print_err(message: str) -> None:
    """Print a message on standard error. If standard error is closed, ignore that, so that work goes on."""
    with suppress(OSError, ValueError):
        print(visible(message), file=sys.stderr, flush=True)


def as_json(document: Any, indent: int | None = None) -> str:
    """Return `document` as JSON. Everything that could affect a terminal is escaped, so that nothing is lost."""
    return escaped(json.dumps(document, indent=indent, ensure_ascii=False, default=str))


def escaped(text: str) -> str:
    """Return JSON text with everything escaped that could affect a terminal."""
    return _CONTROL.sub(lambda match: json.dumps(match[0])[1:-1], text)


def csv_lines(rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Yield lines of CSV for spreadsheets: numbers stay numbers, and no text becomes a formula."""
    for row in rows:
        line = io.StringIO()
        csv.writer(line).writerow([_csv_cell(value) for value in row])
        yield line.getvalue()


def _csv_cell(value: Any) -> Any:
    if isinstance(value, list | dict):
        value = as_json(value)
    if isinstance(value, float):
        return float(f"{value:.12g}")  # without what adding up binary fractions leaves behind
    if not isinstance(value, str):
        return value
    guard = "'" if value.startswith(_FORMULA) and not _NUMBER.fullmatch(value) else ""
    return guard + visible(value)


def masked(url: str) -> str:
    """Return `url` with its password masked."""
    return _PASSWORD.sub(lambda match: f"{match[3]}***" if match[3] else f"{match[1]}:***@", url)


def words(name: str) -> str:
    """Return a name such as `never_reproduced` as people write it."""
    return name.replace("_", " ")


def run_name(name: str, number: int) -> str:
    """Name a run as every page does: names repeat from night to night, so its id belongs to it."""
    return f"{name} #{number}"


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Format a number with its noun: `1 episode`, `1,200 episodes`. `plural` is needed where it is not noun + s."""
    if plural is None:
        plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def times_in_a_row(number: int) -> str:
    """Format how often something was repeated: `once`, `5 times in a row`."""
    return "once" if number == 1 else f"{number} times in a row"


def one_of(choices: Iterable[str]) -> str:
    """Join choices as `a, b or c`."""
    *first, last = choices
    return f"{', '.join(first)} or {last}" if first else last


def moment(iso: str | None) -> str | None:
    """Format a time for people, to the second, in the local time zone."""
    return f"{datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M:%S}" if iso else None


def fixed(value: float, digits: int, *, signed: bool = False) -> str:
    """Format a number with this many decimals. A half is rounded away from zero, as in the tables of a browser."""
    rounded = Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return f"{rounded:{'+' if signed else ''},f}" if rounded else f"{abs(rounded):f}"


def whole(number: float | None) -> str:
    """Format a count."""
    return NOTHING if number is None else fixed(number, 0)


def mean(value: float | None) -> str:
    """Format a mean of counts."""
    return NOTHING if value is None else fixed(value, 1)


def signed_mean(value: float | None) -> str:
    """Format a difference of means, with its sign."""
    return NOTHING if value is None else fixed(value, 1, signed=True)


def part_of(part: int, all_of_it: int) -> str:
    """Format how many of how many."""
    return f"{part:,} of {all_of_it:,}"


def points(value: float | None) -> str:
    """Format a difference of two shares in percentage points, with its sign unless it is zero."""
    return NOTHING if value is None else fixed(100 * value, 1, signed=True)


def distance(value: float | None) -> str:
    """Format the distance between two shares in percentage points, without a sign."""
    return NOTHING if value is None else fixed(100 * abs(value), 1)


def logits(value: float) -> str:
    """Format an ability or a difficulty on the scale of a model, with its sign."""
    return fixed(value, 2, signed=True)


def logits_interval(low: float, high: float) -> str:
    """Format an interval of an ability."""
    return f"{logits(low)} to {logits(high)}"


def percent(value: float | None) -> str:
    """Format a share as `12.5%`."""
    return NOTHING if value is None else f"{fixed(100 * value, 1)}%"


def signed_percent(value: float | None) -> str:
    """Format a relative change, with its sign."""
    return NOTHING if value is None else f"{fixed(100 * value, 0, signed=True)}%"


def interval(low: float | None, high: float | None) -> str:
    """Format an interval of a share as `35.4–64.6%`."""
    return NOTHING if low is None or high is None else f"{fixed(100 * low, 1)}–{percent(high)}"


def point_interval(low: float | None, high: float | None) -> str:
    """Format an interval of a difference, in percentage points."""
    return NOTHING if low is None else f"{points(low)} to {points(high)}"


def uplift(value: float | None, low: float | None, high: float | None) -> str:
    """Format a relative uplift with its interval."""
    if value is None:
        return NOTHING
    upper = "no upper end" if high is None else signed_percent(high)
    return f"{signed_percent(value)} ({signed_percent(low)} to {upper})"


def p_value(value: float | None) -> str:
    """Format a p-value."""
    return NOTHING if value is None else f"< {_LEAST_P}" if value < _LEAST_P else _rounded_p(value)


def p_is(value: float | None) -> str:
    """Format a p-value for a sentence: `p = 0.069`, `p < 0.001`."""
    return f"p {text}" if (text := p_value(value)).startswith("<") else f"p = {text}"


def _rounded_p(value: float) -> str:
    """Round to three decimals, or to as many as show on which side of 0.05 the value is."""
    texts = (fixed(value, digits) for digits in range(3, 9))
    return next((text for text in texts if float(text) != _LINE), fixed(value, 3))


def usd(value: float | None) -> str:
    """Format a cost; an unknown cost is not shown as zero."""
    if value is None:
        return NOTHING
    if 0 < value < LEAST_USD:
        return f"< ${LEAST_USD:.4f}"
    return f"${fixed(value, 2 if value >= 1 or value == 0 else 4)}"


def usd_interval(low: float | None, high: float | None) -> str:
    """Format an interval of a cost, which may have no upper end."""
    if low is None:
        return NOTHING
    return f"{usd(low)} or more" if high is None else f"{usd(low)}–{usd(high)}"


def total_usd(value: float | None) -> str:
    """Format what many episodes cost together, in whole cents, so that the totals of a column have one form."""
    if value is None:
        return NOTHING
    return f"< ${CENT}" if 0 < value < CENT else f"${fixed(value, 2)}"


def amount(value: float, by: str, *, signed: bool = False) -> str:
    """Format steps, tokens or dollars, without a word for the unit."""
    sign = ("-" if value < 0 else "+") if signed else ""
    if by == "cost_usd":
        if signed and 0 < abs(value) < LEAST_USD:
            small = fixed(value, 4, signed=True)  # a sign before "< $0.0001" could not be read
            return f"{small[:-6]}${small[-6:]}"
        return f"{sign}{usd(abs(value))}"
    return fixed(value if signed else abs(value), 0 if by == "tokens" else 1, signed=signed)


def allowance(value: float, by: str) -> str:
    """Format a limit of steps, tokens or dollars."""
    return usd(value) if by == "cost_usd" else whole(value)


def amount_interval(low: float | None, high: float | None, by: str) -> str:
    """Format the two ends of an interval of amounts, with their signs."""
    ends = (low, high)
    return " to ".join(amount(end, by, signed=True) for end in ends if end is not None) or NOTHING


def duration(seconds: float | None) -> str:
    """Format a duration as `2 min 05 s`; shorter ones as `15 s`, `3.2 s` or `202 ms`."""
    if seconds is None:
        return NOTHING
    if round(1000 * seconds) < 1000:
        return f"{1000 * seconds:.0f} ms" if seconds else "0 s"
    if round(seconds) < 60:
        return f"{seconds:.1f} s" if round(seconds, 1) < 10 else f"{seconds:.0f} s"
    minutes, seconds_left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds_left:02} s"


def short_count(number: float) -> str:
    """Format a large number in few characters."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}"


def guess_odds(bits: int) -> str:
    """Format the chance of guessing `bits` expectations: `1 in 4,096`."""
    return f"1 in {2**bits:,}" if bits < 40 else f"1 in 10^{int(bits * 0.30103)}"


def seal(episode: Mapping[str, Any]) -> str:
    """Say how likely guessing could forge a resolved verdict, or why it is not sealed or not verified; else empty."""
    if episode["verdict"] != "resolved":
        return ""
    if episode["sealed"]:
        return f"sealed ({guess_odds(episode['sealed'])} chance of a lucky forgery)"
    reason = episode["score"].get("unsealed")
    state = "unverified" if episode["unverified"] else "not sealed"
    return f"{state}: {reason}" if reason else state


def unverified(row: Mapping[str, Any]) -> str:
    """Say how many of the resolved episodes of a row rest on a run of the tests alone; empty if none does."""
    return f"unverified: {row['unverified']} of {row['resolved']}" if row["unverified"] else ""


def resolved_rate(row: Mapping[str, Any]) -> str:
    """Format a row's rate, and how much of it is unverified."""
    return f"{percent(row['rate'])} ({unverified(row)})" if row["unverified"] else percent(row["rate"])


def suspicious_lines(episode: Mapping[str, Any]) -> list[str]:
    """The lines of an episode's change that a repair does not need, each with its place."""
    return [
        f"{finding['file']}:{finding['line']} {finding['what']}" for finding in episode["score"].get("suspicious") or ()
    ]


def mended(episode: Mapping[str, Any]) -> str:
    """How many of the faults of an episode's task are mended: `14 of 40`; empty before its verdict."""
    return f"{episode['mended']} of {episode['faults_total']}" if episode["verdict"] else ""


def fault_lines(episode: Mapping[str, Any]) -> list[str]:
    """Which of several faults are mended, and after which step, then those that are still open; empty for one fault."""
    done = [fault for fault in episode["by_fault"] if fault["mended"]]
    left = [fault["name"] for fault in episode["by_fault"] if not fault["mended"]]
    lines = [f"mended: {mended(episode)} faults"] if episode["by_fault"] else []
    for fault in sorted(done, key=lambda fault: fault["step"]):
        strength = (
            f"sealed, {count_of(fault['sealed'], 'bit')}" if fault["sealed"] else f"not sealed: {fault['unsealed']}"
        )
        lines.append(f"  {fault['name']} after step {fault['step']} ({strength})")
    return lines + ([f"  still open: {', '.join(left)}"] if left else [])


def rank(row: Mapping[str, Any]) -> str:
    """The rank of an entrant on a leaderboard; `ref.` for a reference entrant, which has none."""
    return "ref." if row["reference"] else ranks(row["rank_low"], row["rank_high"])


def ranks(low: int | None, high: int | None) -> str:
    """Format a range of ranks as `2–4`."""
    if low is None:
        return NOTHING
    return str(low) if low == high else f"{low}–{high}"


def errors(count: int, by_class: Mapping[str, int]) -> str:
    """Format the number of errors, with their classes: `3 (endpoint 2, machine 1)`."""
    parts = ", ".join(f"{name} {episodes}" for name, episodes in sorted(by_class.items()))
    return f"{count} ({parts})" if parts else str(count)


def difficulty(measured: Mapping[str, Any]) -> str:
    """Describe a task's measured difficulty in words. `measured`: as `env.difficulty` documents it."""
    leads = "to the fault" if measured["in_traceback"] else "to its file" if measured["in_named_file"] else "elsewhere"
    rank = measured["ranks"]["ochiai"]
    ranked = "no test runs the fault" if rank is None else f"rank {rank:g} of {measured['lines']} by its tests"
    calls = measured["distance"]
    distance = "" if calls is None else f", {count_of(calls, 'call')} between fault and failure"
    run = (
        f"the failing test runs {count_of(measured['lines_run'], 'line')} of "
        f"{count_of(measured['functions_run'], 'function')}"
    )
    return f"predicted difficulty {measured['predicted']:g} of 8: traceback leads {leads}, {ranked}, {run}{distance}"


def verdict_rates(rates: Mapping[str, Any], digest: str) -> list[str]:
    """Say how often verdicts are wrong. `rates`: as `db.models` documents it; `digest`: of the benchmark as it is."""
    lines = []
    for name, kind, verdict in (
        ("false_accepts", "wrong changes", "accepted"),
        ("false_rejects", "right repairs", "rejected"),
    ):
        side = rates[name]
        around = f" ({percent(side['rate'])}, 95% interval {interval(side['low'], side['high'])})"
        lines.append(f"{side['errors']} of {side['changes']} {kind} {verdict}{around if side['changes'] else ''}")
    version = "" if rates["digest"] == digest else f", with version {rates['digest'][:8]}"
    return [*lines, f"measured on {rates['measured_on']}{version}"]


def proofs(tasks: int, proved: int, sealable: int, telling: int) -> list[str]:
    """Say how many tasks have a proof, and what their verdicts are worth. `telling`: how many tasks have hidden tests
    that tell the program as given from its fix without expected values.
    """
    have = f"{proved} of {count_of(tasks, 'task')} {'has' if proved == 1 else 'have'} a proof"
    if not proved:
        return [f"{have}: `stackrank validate`, or the first verdict on a task, makes it."]
    tests = f"Without expected values, the hidden tests of {telling} tell the program as given from its fix."
    return [f"{have}; verdicts of {sealable} can be sealed.", tests]
