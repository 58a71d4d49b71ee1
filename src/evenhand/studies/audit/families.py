"""Who made a model, as far as its name tells."""

import re

_FAMILIES = {
    "anthropic": r"claude",
    "openai": r"gpt|chatgpt|o1|o3|o4|codex|davinci",
    "google": r"gemini|gemma|palm|codegemma|medgemma",
    "meta": r"llama|codellama|opt-\d",
    "alibaba": r"qwen|qwq|qvq|codeqwen",
    "mistral": r"mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|mathstral",
    "deepseek": r"deepseek",
    "xai": r"grok",
    "microsoft": r"phi|wizardlm|orca",
    "hugging face": r"smollm|smolvlm|zephyr",
    "ibm": r"granite",
    "cohere": r"command|c4ai|aya",
    "zhipu": r"glm|chatglm",
    "moonshot": r"kimi|moonlight",
    "ai2": r"olmo|olmoe|tulu",
    "tii": r"falcon",
    "01.ai": r"yi",
    "shanghai ai lab": r"internlm",
    "nvidia": r"nemotron|minitron",
    "minimax": r"minimax",
    "baidu": r"ernie",
    "tencent": r"hunyuan",
    "bytedance": r"doubao|seed-(?:oss|coder)",
    "amazon": r"nova|titan",
    "ai21": r"jamba|jurassic",
    "lg": r"exaone",
    "stability": r"stablelm",
    "eleuther": r"pythia|gpt-?j|gpt-?neox?",
    "nous": r"hermes",
    "liquid": r"lfm",
    "swiss ai": r"apertus",
}
# A name ends where letters end: smollm2, qwen2.5 and gpt-4o are found, palmyra is not palm. llama.cpp is a program.
_PATTERNS = {
    maker: re.compile(rf"(?<![a-z0-9])(?:{names})(?![a-z])(?!\.?cpp)", re.IGNORECASE)
    for maker, names in _FAMILIES.items()
}


def families(model: str) -> frozenset[str]:
    """Return the makers that a model's name speaks of; a distilled model may speak of two.

    >>> sorted(families("http://localhost:8000/v1#deepseek-ai/DeepSeek-R1-Distill-Qwen-7B"))
    ['alibaba', 'deepseek']
    >>> families("/models/llama.cpp/some-model.gguf")
    frozenset()
    """
    if model.startswith("fitted:"):
        # Wherever their file lies: features are the same for all of them, and labels may be.
        return frozenset({"fitted"})
    name = _own_name(model)
    found = {maker for maker, pattern in _PATTERNS.items() if pattern.search(name)}
    if "eleuther" in found:
        found.discard("openai")
    return frozenset(found)


def same_family(subject: str, grader: str) -> bool:
    """Say whether two models seem to come from one maker: a grader may favour what sounds like itself.

    Names are all there is to go by, so two renamed models of one maker pass unseen.

    >>> same_family("qwen3-8b", "openai:qwen2.5-coder-0.5b"), same_family("smollm2-135m", "gpt-4.1")
    (True, False)
    """
    return _own_name(subject) == _own_name(grader) or bool(families(subject) & families(grader))


def _own_name(model: str) -> str:
    """Return what names the model: no address, no provider, no folders but the last, which is often its maker."""
    name = model.rsplit("#", 1)[-1]
    if "#" not in model and ":" in name and "//" not in name:
        name = name.split(":", 1)[1]
    return "/".join(name.rstrip("/").split("/")[-2:]).lower()
