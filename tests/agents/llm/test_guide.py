"""The guide's snippets for model servers are valid specifications with valid settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from stackrank.agents.llm.settings import Settings, read_settings
from stackrank.flows.runs.specification.spec import RunSpec

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "models.md"
SNIPPETS = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_a_snippet_is_a_specification(snippet: str) -> None:
    text = snippet if snippet.startswith("entrants:") else f"entrants:\n{snippet}"
    spec = RunSpec.model_validate({"benchmark": "bugs", **yaml.safe_load(text)})
    assert spec.entrants
    for entrant in spec.entrants:
        assert entrant.model
        settings = read_settings(entrant.config, Settings)
        assert settings.url.startswith(("http://127.0.0.1:", "https://"))


def test_every_server_has_its_settings() -> None:
    text = GUIDE.read_text(encoding="utf-8").lower()
    for server in ("openai", "azure", "anthropic", "gemini", "openrouter", "ollama", "vllm", "llama.cpp", "litellm"):
        assert server in text
    assert len(SNIPPETS) >= 7
