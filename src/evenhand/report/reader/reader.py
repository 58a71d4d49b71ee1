"""What the reader of a page is given."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reader:
    """Pairs to be read in the browser."""

    anchor: str
    """Unique in a report; links to single pairs begin with it: ``#anchor/pair-id``."""
    heading: str
    index: str
    """What lists and names: JSON, gzipped, as Base64."""
    chunks: tuple[str, ...]
    """The texts, so many pairs a chunk: JSON, gzipped, as Base64. A chunk is opened when one of its pairs is read."""
    views: tuple[str, ...] = ()
    """What filters and sorts, a part for each grader (of an audit) or question (of ratings), packed in the same way:
    verdicts are somebody's."""
    pairs: int = 0
    """How many there are to be read."""
