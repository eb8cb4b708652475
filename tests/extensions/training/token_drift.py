"""A thousand turns with a real tokenizer: what is exported is what was sampled. It runs where `tokenizers` is.

The model writes some of its words as other tokens than the tokenizer would, as models do, and the server tokenizes the
history again for each request, as servers without a cache of tokens do.
"""

from __future__ import annotations

import json
import os
import random
from dataclasses import asdict
from typing import Any

from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as Decoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from stackrank.agents.episode.protocol import Briefing, Decision
from stackrank.agents.llm import LlmAgent
from stackrank.agents.llm.endpoints.recorded_requests import recorded_requests
from stackrank.agents.llm.scripted.answers import ScriptedReply, call
from stackrank.agents.llm.scripted.server import OpenAIServer
from stackrank.agents.llm.scripted.token_fields import ScriptedTokens
from stackrank.env.actions import Observation
from stackrank.env.tools import tool_set
from stackrank.extensions.training.exports.conversations import conversation, segments

EPISODES, TURNS = 20, 50
WORDS = ("the", "tax", "of a", "région", "is", "wrong,", "so", "100 %", "of it", "—", "vat/rates.py:12", "🙂", "return")


class Sampler:
    """A model whose answers are random words."""

    def __init__(self, tokenizer: Tokenizer, is_canonical: bool) -> None:
        self._tokenizer, self._is_canonical = tokenizer, is_canonical
        self._random = random.Random(1)
        self.sampled: list[ScriptedTokens] = []

    def __call__(self, request: dict[str, Any]) -> ScriptedReply:
        """Answer a request of Chat Completions."""
        text = " ".join(self._random.choices(WORDS, k=6))
        reply = call("view", path="a.py").with_(content=text)
        prompt = "".join(self._write(message) for message in request["messages"]) + "<assistant>"
        written = self._write({"role": "assistant", "content": text, "tool_calls": None})[len("<assistant>") :]
        cuts = [] if self._is_canonical else sorted(self._random.sample(range(1, len(text)), 2))
        parts = [written[start:end] for start, end in zip([0, *cuts], [*cuts, len(written)], strict=True)]
        answer = [token for part in parts for token in self._tokenizer.encode(part).ids]
        logprobs = [-self._random.random() for _ in answer]
        tokens = ScriptedTokens(tuple(self._tokenizer.encode(prompt).ids), tuple(answer), tuple(logprobs))
        self.sampled.append(tokens)
        return reply.with_(tokens=tokens)

    @staticmethod
    def _write(message: dict[str, Any]) -> str:
        return f"<{message['role']}>{message['content']}<end>"


def train_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = ByteLevel(add_prefix_space=False), Decoder()
    markers = ["<system>", "<user>", "<assistant>", "<tool>", "<end>"]
    alphabet = ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=600, special_tokens=markers, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([" ".join(WORDS)] * 50, trainer)
    return tokenizer


def play(sampler: Sampler) -> list[dict[str, Any]]:
    """Play the episodes. Returns the records of `chat`."""
    records = []
    with OpenAIServer(sampler) as server:
        os.environ |= {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none"}
        for _ in range(EPISODES):
            extra = {"return_token_ids": True, "logprobs": True}
            agent = LlmAgent(model="scripted", config={"extra_body": extra})
            observation, steps = Observation("observation 0"), []
            agent.begin(Briefing("t", "Mend it.", "pytest", tool_set("debug"), TURNS), observation)
            for turn in range(1, TURNS + 1):
                decision = agent.act(observation)
                assert isinstance(decision, Decision)
                exchanges = [json.loads(json.dumps(asdict(exchange))) for exchange in decision.exchanges]
                steps.append({"index": turn, "exchanges": exchanges})
                observation = Observation(f"observation {turn} é")
            assert list(recorded_requests(steps))
            records += [conversation(segment, {}) for segment in segments(steps)]
    return records


def check(sampler: Sampler, tokenizer: Tokenizer, records: list[dict[str, Any]]) -> int:
    """Compare what was exported with what was sampled. Returns the number of sequences."""
    sequences = [sequence for record in records for sequence in record["tokens"]]
    expected = iter(sampler.sampled)
    count = 0
    for sequence in sequences:
        assert sequence["source"] == "endpoint"
        assert len(sequence["ids"]) == len(sequence["mask"]) == len(sequence["logprobs"])
        place = 0
        while 1 in sequence["mask"][place:]:
            start = sequence["mask"].index(1, place)
            tokens = next(expected)
            place = start + len(tokens.answer)
            assert sequence["ids"][:start] == list(tokens.prompt), "the context in which it was sampled"
            assert sequence["ids"][start:place] == list(tokens.answer)
            assert sequence["logprobs"][start:place] == list(tokens.logprobs)
            assert sequence["mask"][start:place] == [1] * len(tokens.answer)
            assert not any(sequence["mask"][place : place + 1])
            count += 1
    assert count == EPISODES * TURNS and next(expected, None) is None
    assert sum(sum(sequence["mask"]) for sequence in sequences) == sum(len(one.answer) for one in sampler.sampled)
    return len(sequences)


def main() -> None:
    """Play with a model that writes as the tokenizer does, and with one that does not."""
    tokenizer = train_tokenizer()
    for is_canonical in (True, False):
        sampler = Sampler(tokenizer, is_canonical)
        sequences = check(sampler, tokenizer, play(sampler))
        print(f"{len(sampler.sampled)} turns in {sequences} sequences")
        assert (sequences == EPISODES) is is_canonical


if __name__ == "__main__":
    main()
