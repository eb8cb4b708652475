"""Every page while there is no run: what it will show, and the commands that start one."""

from __future__ import annotations

import streamlit as st

from stackrank.dashboard.parts.show import escaped
from stackrank.db.connection.errors import RUN_COMMAND

_IN_LINES = RUN_COMMAND.replace(" --agent", " \\\n  --agent")
"""The command in lines that a phone shows whole."""
_WAYS = (
    (
        "Try it",
        "Needs no model and no key: repair looks for fixes by itself, once without and once with a debugger. Ten bugs "
        "take a few minutes.",
        f"{_IN_LINES} --limit 10 \\\n  --tools rewrite --tools debug",
    ),
    (
        "With a model",
        "Any server that speaks OpenAI's protocol. Without a key, stackrank demo-endpoint serves a scripted model.",
        "export OPENAI_API_KEY=...\nstackrank run --agent llm --model NAME",
    ),
    (
        "Every night",
        "Put the run into a file. Each night is compared with the nights before, and a worse one is explained.",
        'stackrank up\nstackrank schedule nightly.yaml \\\n  --cron "0 3 * * *"',
    ),
)
"""Ways to start: the name of each, what it needs, and its commands."""


def draw(title: str, summary: str) -> None:
    """Draw what the page of this title will show, and how to start a run."""
    st.title(title, anchor=False)
    st.markdown(escaped(summary))
    st.markdown(":material/inbox: **Nothing has been run yet.** Start a run; it shows up here at once.")
    for column, (name, needs, commands) in zip(st.columns(len(_WAYS)), _WAYS, strict=True):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{name}**")
            st.markdown(escaped(needs))
            st.code(commands, language=None, wrap_lines=True)
