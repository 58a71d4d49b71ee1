"""How many tokens a prompt has, before anybody has counted them.

The estimate goes by the length of the text alone, since every model has a tokenizer of its own. Its constants were
measured with the tokenizers of Qwen2.5 (152,000 tokens) and SmolLM2 (49,000, English): characters a token on English
text were 3.9 to 4.6 on the built-in instruments, 4.7 to 5.3 on answers of chat models about politics, 3.3 to 4.4 on
other answers and transcripts, and 5.0 to 6.6 on paired prompts, which are short and plain.

Other languages come out at somewhat more than half to twice what Qwen2.5 needs (on the Universal Declaration of Human
Rights in 24 languages: from 0.55 for Vietnamese to 1.96 for Russian, German 0.85, Chinese 1.62). A small English
vocabulary such as SmolLM2's needs up to 2.6 times the estimate there.
"""

from evenhand.instruments import Request

CHARACTERS_PER_TOKEN = 4.5
"""Of ASCII text."""
TOKENS_PER_EXTRA_BYTE = 0.4
"""For each byte that UTF-8 needs beyond one a character: 1 for an accented Latin, a Greek, Cyrillic, Hebrew or Arabic
letter, 2 for a letter of most other scripts."""
MARGIN = 1.4
"""No kind of English text that was measured, program code included, needs more than this times the estimate; newer
tokenizers of Claude, which need about 30% more than its older ones, are within it."""

# A chat template puts 3 to 5 tokens around each message and 3 before the answer. Some open models also add a system
# prompt of about 17 tokens where there is none; half of one is counted.
_AROUND_A_MESSAGE, _AROUND_A_CONVERSATION = 5, 10

# Templates that write a date, a preamble or tool instructions into each conversation stay below this.
_MOST_AROUND_A_MESSAGE, _MOST_AROUND_A_CONVERSATION = 16, 128


def estimate_tokens(request: Request) -> int:
    """Return about how many tokens the prompt has; what the model writes is not in it.

    >>> from evenhand.instruments import Message
    >>> estimate_tokens(Request(messages=(Message("user", "Write a speech for the motion. " * 10),)))
    84
    """
    around = _AROUND_A_CONVERSATION + _AROUND_A_MESSAGE * len(request.messages) if request.messages else 1
    return around + round(sum(estimate_text(text) for text in texts_of(request)))


def most_tokens(request: Request) -> int:
    """Return a number of prompt tokens that no byte-level tokenizer passes; what the model writes is not in it.

    A token holds at least one byte of UTF-8. It is four to five times the usual number: made for guarding a budget,
    not for telling what a run will cost.
    """
    around = _MOST_AROUND_A_CONVERSATION + _MOST_AROUND_A_MESSAGE * len(request.messages)
    return around + sum(_bytes(text) for text in texts_of(request))


def estimate_text(text: str) -> float:
    """Return about how many tokens a text has.

    >>> round(estimate_text("even-handed " * 30)), round(estimate_text("公平" * 30))
    (80, 61)
    """
    extra = _bytes(text) - len(text)
    return len(text) / CHARACTERS_PER_TOKEN + extra * TOKENS_PER_EXTRA_BYTE


def texts_of(request: Request) -> tuple[str, ...]:
    """Return the texts of a request in the order in which the model reads them."""
    return tuple(message.content for message in request.messages) or (request.prompt,)


def _bytes(text: str) -> int:
    # CPython knows of each text whether it is ASCII; encoding is the cost for the others alone.
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
