"""Conversations as tokens: those that the endpoint reported, and those that a tokenizer makes of the text."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from stackrank.agents.llm.endpoints.recorded_requests import recorded_requests
from stackrank.extensions.training.exports.conversations import conversation, segments
from stackrank.extensions.training.exports.tokenizer import ChatTokenizer
from stackrank.extensions.training.exports.tokens import Piece, join_pieces, tokens_of
from stackrank.extensions.training.rewards import TrainingError
from tests.agents.test_command import MEND, played
from tests.extensions.training.test_gradient_steps import run_code, trainer
from tests.support.openai_server import call, says

ASKED = {"return_token_ids": True, "logprobs": True}


def piece(prompt: list[int], answer: list[int], logprobs: list[float] | None = None) -> Piece:
    return {"prompt": prompt, "answer": answer, "logprobs": logprobs}


def test_a_prompt_that_repeats_what_was_sampled_continues_its_sequence() -> None:
    (sequence,) = join_pieces([piece([1, 2], [3], [-1.0]), piece([1, 2, 3, 4], [5, 6], [-2.0, -3.0])], "endpoint")
    assert sequence == {
        "ids": [1, 2, 3, 4, 5, 6],
        "mask": [0, 0, 1, 0, 1, 1],
        "logprobs": [0, 0, -1.0, 0, -2.0, -3.0],
        "source": "endpoint",
    }


def test_a_history_with_other_tokens_begins_a_sequence() -> None:
    first, second = join_pieces([piece([1], [2, 3], [-1.0, -1.0]), piece([1, 9, 4], [5], [-2.0])], "endpoint")
    assert (first["ids"], first["mask"]) == ([1, 2, 3], [0, 1, 1])
    assert (second["ids"], second["mask"], second["logprobs"]) == ([1, 9, 4, 5], [0, 0, 0, 1], [0, 0, 0, -2.0])


def test_probabilities_of_some_answers_are_those_of_no_sequence() -> None:
    for unknown in (0, 1):
        pieces = [piece([1], [2], [-1.0]), piece([1, 2], [3], [-1.0])]
        pieces[unknown]["logprobs"] = None
        (sequence,) = join_pieces(pieces, "endpoint")
        assert "logprobs" not in sequence and sequence["mask"] == [0, 1, 1]
    assert join_pieces([], "endpoint") == []


def test_a_step_has_the_mask_of_its_prompt_and_answer() -> None:
    answer = {"prompt_token_ids": [1, 2], "choices": [{"token_ids": [3]}]}
    assert tokens_of(answer)["loss_mask"] == [0, 0, 1]
    assert "loss_mask" not in tokens_of({"choices": [{"token_ids": [3]}]}), "the prompt is not known"


def test_a_missing_tokenizer_is_said(tmp_path: Path) -> None:
    if find_spec("tokenizers") is None:
        with pytest.raises(TrainingError, match=r"pip install 'stackrank\[tokens\]'"):
            ChatTokenizer(tmp_path)
    else:
        with pytest.raises(TrainingError, match="has no tokenizer with a chat template"):
            ChatTokenizer(tmp_path)


@pytest.mark.slow
def test_a_program_of_others_has_tokens_without_asking_for_them() -> None:
    """`agent: command`: the settings ask, the program does not know. The server has one token for each byte."""
    _, steps, _ = played([MEND, says("Looks right."), call("submit")], {"extra_body": ASKED})
    rows = [{"index": step.index, "exchanges": [asdict(exchange) for exchange in step.exchanges]} for step in steps]
    assert len(list(recorded_requests(rows))) == 2
    records = [conversation(segment, {}) for segment in segments(rows)]
    written: list[str] = []
    for sequence in (sequence for record in records for sequence in record["tokens"]):
        assert len(sequence["ids"]) == len(sequence["mask"]) == len(sequence["logprobs"])
        sampled = bytes(
            token for token, is_sampled in zip(sequence["ids"], sequence["mask"], strict=True) if is_sampled
        )
        written += sampled.decode().splitlines()
    answers = [json.loads(line) for line in written]
    assert "sed -i" in answers[0]["tool_calls"][0]["function"]["arguments"]
    assert [answer.get("content") for answer in answers] == [None, "Looks right."]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_thousand_turns_have_no_drift(tmp_path: Path) -> None:
    printed = trainer(tmp_path, Path(__file__).with_name("token_drift.py"))
    assert printed.startswith("1000 turns in 20 sequences\n1000 turns in ")


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_tokenizer_makes_tokens_where_the_endpoint_gave_none(tmp_path: Path) -> None:
    """Compared with transformers' own template and tokenizer, on the whole conversation."""
    run_code(tmp_path, "import pathlib, train_grpo; train_grpo.save_tiny_model(pathlib.Path('model'))")
    calls = [{"id": "1", "type": "function", "function": {"name": "listdir", "arguments": "{}"}}]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Fix é this. "},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "1", "content": "a.py"},
        {"role": "assistant", "content": "Done."},
    ]
    known = [{"ids": [1], "mask": [1], "source": "endpoint"}]
    records = [{"messages": messages, "answers": [{"message": 1}, {"message": 3}]}]
    records += [{**records[0], "tokens": known}]
    (tmp_path / "chat.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    command = """
        from pathlib import Path
        from stackrank.extensions.training.commands import tokenize
        tokenize(Path("chat.jsonl"), Path("model"))
    """
    printed = run_code(tmp_path, command)
    made, kept = map(json.loads, printed.splitlines())
    assert kept == records[1]
    check = """
        import json, sys
        from transformers import AutoTokenizer
        record, tokenizer = json.loads(sys.argv[1]), AutoTokenizer.from_pretrained("model")
        messages = record["messages"]
        messages[1] = {**messages[1], "content": "", "tool_calls": [
            {**call, "function": {**call["function"], "arguments": {}}} for call in messages[1]["tool_calls"]]}
        for sequence in record["tokens"]:
            assert sequence["source"] == "tokenizer model"
            text = tokenizer.decode(sequence["ids"])
            runs, before = [], 0
            for token, sampled in zip(sequence["ids"], sequence["mask"]):
                if sampled and not before: runs.append([])
                if sampled: runs[-1].append(token)
                before = sampled
            print([tokenizer.decode(run) for run in runs])
        whole = tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False)
        print(record["tokens"][-1]["ids"] == whole[: len(record["tokens"][-1]["ids"])])
    """
    lines = run_code(tmp_path, check, json.dumps(made)).splitlines()
    assert lines[-1] == "True" and all("<|im_end|>" in line for line in lines[:-1]), lines
