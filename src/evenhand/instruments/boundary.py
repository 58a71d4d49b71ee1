"""A mark that sets a text apart, and that the text cannot write itself."""

import hashlib


def boundary(*texts: str) -> str:
    """Return a mark that none of the texts contains.

    It depends on nothing but the texts, so a rerun asks the same.

    >>> boundary("a", "b") == boundary("a", "b"), boundary("a") in "a"
    (True, False)
    """
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass"))
    while any((mark := f"=={digest.hexdigest()[:16]}==") in text for text in texts):
        digest.update(b"again")
    return mark
