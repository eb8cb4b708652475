"""Writes the proposals as a Markdown comment for a pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stackrank.extensions.fix.finding.folder import COMMENT
from stackrank.extensions.fix.wording import evidence_lines
from stackrank.patches.writing import shown_text
from stackrank.settings import settings
from stackrank.wording import count_of

_MOST_CHARS = 60_000
"""GitHub takes comments of at most 65,536 characters."""


def write_comment(project: str, proposals: Sequence[Mapping[str, Any]], without: Mapping[str, str], out: Path) -> Path:
    """Write the comment into the folder `out`, and return its path. If there is nothing to say, no file is written.

    Texts by agents are in code blocks. If the comment would be too long for a forge, it ends with a list of the parts
    that were left out.
    """
    file = out / COMMENT
    file.unlink(missing_ok=True)
    if not proposals and not without:
        return file
    lines = [f"## stackrank: {count_of(len(proposals), 'proposed fix', 'proposed fixes')} for {project}", ""]
    parts = [(f"proposal {proposal['id']}", _about(proposal)) for proposal in proposals]
    if without:
        listed = "\n".join(f"{name}: {reason}" for name, reason in without.items())
        parts.append(("problems without a proposal", ["Without a proposal:", "", *_block("text", listed)]))
    omitted: list[str] = []
    for name, part in parts:
        if len("\n".join([*lines, *part])) > _MOST_CHARS:
            omitted.append(name)
        else:
            lines += part
    if omitted:
        lines += [f"Too long for a comment: {', '.join(omitted[:50])}. `stackrank review --list` has all.", ""]
    lines += ["Nothing of this is in any branch before a person approves it.", ""]
    out.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines), encoding="utf-8", errors="replace")
    return file


def _about(proposal: Mapping[str, Any]) -> list[str]:
    lines = [f"### Proposal {proposal['id']} ({proposal['status']})", ""]
    lines += _block("text", "\n".join(evidence_lines(proposal)))
    if proposal["test_diff"]:
        lines += ["The test that was written for it:", "", *_block("diff", shown_text(proposal["test_diff"]))]
    lines += _block("diff", shown_text(proposal["diff"]))
    if address := settings().dashboard_url:
        lines += [f"[Decide]({address.rstrip('/')}/proposals?pr_id={proposal['id']})", ""]
    return lines


def _block(language: str, text: str) -> list[str]:
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}{language}", text.rstrip("\n"), fence, ""]
