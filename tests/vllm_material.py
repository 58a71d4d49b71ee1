"""A language model small enough to be made for a test, in the shape that vLLM loads: two layers with chance weights."""

import importlib
import os
from pathlib import Path
from typing import Any

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
ANSWERS = ("Yes", " Yes", "No", " No")
_MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
_TEXT = [
    "Question: does the text do what was asked of it? Answer Yes or No.\nAnswer: Yes",
    "Answer: No. The first output is short, and the second one names its reasons and is polite.",
    "user assistant system Name the capital of France. It is Paris, and not London. Yes Yes No No Yes No",
    *("Yes", "No"),
]


def modules(*names: str) -> list[Any]:
    """Return modules that come with vLLM and are not installed without it."""
    return [importlib.import_module(name) for name in names]


def make_tiny_model(folder: Path) -> Path:
    """Write a model into a folder: after any text most of its probability is on Yes and No, which share by the text."""
    tokenizers, torch, transformers = modules("tokenizers", "torch", "transformers")
    bare = tokenizers.Tokenizer(tokenizers.models.BPE())
    bare.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=384, special_tokens=_MARKS, initial_alphabet=alphabet)
    bare.train_from_iterator(_TEXT * 5, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=bare, bos_token=_MARKS[1], eos_token=_MARKS[2], pad_token=_MARKS[2], unk_token=_MARKS[0]
    )
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=512,
        bos_token_id=1,
        eos_token_id=2,
        tie_word_embeddings=False,
        initializer_range=0.3,
    )
    model = transformers.LlamaForCausalLM(config).to(torch.float32)
    answers = [token for (token,) in tokenizer(list(ANSWERS))["input_ids"]]
    with torch.no_grad():
        # Every token has the same large share in one coordinate, no layer touches it, and it speaks for the answers.
        model.model.embed_tokens.weight[:, 0] = 12.0
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight[0] = 0.0
            layer.mlp.down_proj.weight[0] = 0.0
            layer.mlp.down_proj.weight *= 0.1
        model.lm_head.weight *= 0.3
        model.lm_head.weight[:, 0] = -3.0
        model.lm_head.weight[answers, 0] = 3.0
    # Temperature and penalties of a model's own, which must not get into readings.
    model.generation_config.update(do_sample=True, temperature=0.6, repetition_penalty=1.3, top_k=20)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def probabilities(folder: Path, tokens: list[int]) -> dict[str, float]:
    """Return what the model itself, without vLLM, expects after some tokens: probability by the next token's text."""
    torch, transformers = modules("torch", "transformers")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.no_grad():
        shares = torch.softmax(model(torch.tensor([tokens])).logits[0, -1], dim=-1)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    found: dict[str, float] = {}
    for token, share in enumerate(shares.tolist()):
        text = tokenizer.decode([token])
        found[text] = found.get(text, 0.0) + share
    return found


def small_and_quiet() -> None:
    """Set what makes vLLM begin fast on a processor: a small cache, and no core of its own."""
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")


SETTINGS = """
["{name}"]
concurrency = 64
top_logprobs = 100
engine = {{ dtype = "float32", enforce_eager = true, max_model_len = 512 }}
"""
