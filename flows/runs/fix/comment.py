"""The proposals as a comment for a pull request, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stackrank.settings import settings
from stackrank.wording import evidence_lines

COMMENT = "comment.md"


def write_comment(project: str, proposals: Sequence[Mapping[str, Any]], without: Mapping[str, str], out: Path) -> Path:
    """Write the comment into the folder `out`, and return the file. Texts of agents are in blocks of code."""
    lines = [f"## stackrank: {len(proposals)} proposed fixes for {project}", ""]
    for each in proposals:
        lines += [f"### Proposal {each['id']} ({each['status']})", "", *_block("text", "\n".join(evidence_lines(each)))]
        if each["test_diff"]:
            lines += ["The test that was written for it:", "", *_block("diff", each["test_diff"])]
        lines += _block("diff", each["diff"])
        if address := settings().dashboard_url:
            lines += [f"[Decide]({address.rstrip('/')}/proposals?pr_id={each['id']})", ""]
    if without:
        lines += [
            "Without a proposal:",
            "",
            *_block("text", "\n".join(f"{name}: {why}" for name, why in without.items())),
        ]
    lines += ["Nothing of this is in any branch before a person approves it.", ""]
    out.mkdir(parents=True, exist_ok=True)
    file = out / COMMENT
    file.write_text("\n".join(lines), encoding="utf-8", errors="replace")
    return file


def _block(language: str, text: str) -> list[str]:
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}{language}", text.rstrip("\n"), fence, ""]
