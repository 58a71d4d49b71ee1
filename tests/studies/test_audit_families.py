"""Who made a model, by its name."""

import pytest

from evenhand.studies.audit.families import families, same_family


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gpt-5", "openai:gpt-4.1"),
        ("o3-mini", "gpt-4o-mini"),
        ("gpt-oss-20b", "http://localhost:8000/v1#openai/gpt-4"),
        ("claude-sonnet-4-5", "inspect:anthropic/claude-3-5-haiku-latest"),
        ("http://localhost:8000/v1#meta-llama/Llama-3.1-8B-Instruct", "codellama-7b"),
        ("gemini-2.5-pro", "/models/gemma-2-27b-it.Q4_K_M.gguf"),
        ("qwen2.5-coder-0.5b", "Qwen/QwQ-32B"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "qwen3-8b"),
        ("mistral-large", "Mixtral-8x7B"),
        ("smollm2-135m", "smollm2-1.7b"),
        ("a-model-of-ours", "a-model-of-ours"),
        ("http://one:1/v1#ours", "http://other:2/v1#ours"),
    ],
)
def test_one_maker(one: str, other: str) -> None:
    assert same_family(one, other)
    assert same_family(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gpt-5", "claude-opus-4-1"),
        ("smollm2-135m", "qwen2.5-coder-0.5b"),
        ("openai:mistral-large", "openai:qwen3-8b"),
        ("/opt/llama.cpp/models/phi-4.gguf", "llama-3"),
        ("gpt-j-6b", "gpt-4o"),
        ("palmyra-x", "gemini-2.5-pro"),
        ("ours", "theirs"),
        ("http://llama:8000/v1#ours", "llama-3"),
    ],
)
def test_not_one_maker(one: str, other: str) -> None:
    assert not same_family(one, other)


def test_an_unknown_name_has_no_family() -> None:
    assert families("support-bot") == frozenset()
