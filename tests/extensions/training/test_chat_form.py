"""Conversations of every API as messages of Chat Completions."""

from __future__ import annotations

from stackrank.extensions.training.exports.chat_form import to_chat_messages


def test_programs_write_messages_in_every_form_that_an_api_allows() -> None:
    answer = {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}
    silent = {"type": "tool_result", "tool_use_id": "2"}
    wire = [{"role": "user", "content": "plain"}, {"role": "assistant", "content": "said"},
            {"role": "user", "content": [answer, silent, {"type": "text", "text": "on"}]}]  # fmt: skip
    assert [(message["role"], message["content"]) for message in to_chat_messages("messages", wire)] == [
        ("user", "plain"), ("assistant", "said"), ("tool", "a\n"), ("tool", ""), ("user", "on"),
    ]  # fmt: skip
    output = {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_text", "text": "b"}]}
    items = [{"role": "user", "content": "plain"}, output]
    assert [message["content"] for message in to_chat_messages("responses", items)] == ["plain", "b"]
