"""How far graders give the same labels, beyond what chance would give.

Every figure here is a function of a table of counts, shape (..., k, k) for k labels: the first grader's labels in the
rows, the second's in the columns. Leading axes are free, so that one call serves a single table and all draws of a
bootstrap. Several graders enter as the symmetric table of their pairs (``pair_columns``). A figure that a table does
not define is NaN here; ``agreement_intervals`` turns it into None with the reason.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Tables: TypeAlias = Floats | Ints
Label: TypeAlias = int | str
Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
Weight: TypeAlias = Literal["item", "rating", "pair"]

MISSING = -1
"""The code of an item that a grader did not label."""


def encode(
    ratings: Sequence[Sequence[object] | npt.NDArray[np.generic]], scale: Sequence[Label] | None = None
) -> tuple[Ints, tuple[Label, ...]]:
    """Return the labels as numbers from 0.

    Args:
        ratings: one sequence a grader, of the same length: the grader's label of each item, None or NaN where missing.
        scale: the labels that could be given, in their order. Without it, those that were given, sorted. AC1
            depends on how many labels could be given, so give the scale where some of it may never have been used.

    Returns:
        The codes, shape (graders, items), ``MISSING`` where missing; and the labels they stand for.

    Raises:
        InputError: graders with unequal numbers of items, a label that is not in the scale, a label twice in it.

    >>> encode([["yes", "no", None], ["no", "no", "yes"]])[0].tolist()
    [[1, 0, -1], [0, 0, 1]]
    """
    plain = [[_plain(value) for value in grader] for grader in ratings]
    if len({len(grader) for grader in plain}) > 1:
        counts = ", ".join(str(len(grader)) for grader in plain)
        raise InputError(
            f"the graders labelled unequal numbers of items ({counts})",
            way_out="give each grader one label an item, None where there is none",
        )
    if scale is None:
        given = {value for grader in plain for value in grader if value is not None}
        labels = tuple(sorted(given, key=lambda label: (isinstance(label, str), label)))
    else:
        labels = tuple(scale)
    code: dict[Label | None, int] = {label: index for index, label in enumerate(labels)}
    if len(code) < len(labels):
        raise InputError(f"the scale {list(labels)} names a label twice", way_out="name each label once")
    code[None] = MISSING
    try:
        return np.array([[code[value] for value in grader] for grader in plain], dtype=np.int64), labels
    except KeyError as unknown:
        raise InputError(
            f"the label {unknown} is not in the scale {list(labels)}", way_out="add it to the scale, or make it missing"
        ) from None


def _plain(value: object) -> Label | None:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        if np.isnan(value):
            return None
        if value.is_integer():
            return int(value)
    if value is None or isinstance(value, int | str):
        return value
    raise InputError(f"the label {value!r} is no text and no whole number", way_out="give texts or whole numbers")


def cell_columns(first: Ints, second: Ints, k: int) -> Floats:
    """Return for each item the cell of the k by k table it falls into, as indicators that sum to the table.

    Args:
        first: the first grader's codes, shape (items,).
        second: the second grader's.
        k: how many labels there are.

    Returns:
        Shape (items, k * k), row by row of the table; all 0 where either label is missing.
    """
    both = (first >= 0) & (second >= 0)
    columns = np.zeros((first.size, k * k))
    columns[np.flatnonzero(both), (first * k + second)[both]] = 1
    return columns


def pair_columns(codes: Ints, k: int, per: Weight) -> Floats:
    """Return for each item the symmetric table of all pairs of its labels, so that several graders are as two.

    A pair of unequal labels counts half on either side of the diagonal, so for two graders the columns sum to their
    table averaged with its transpose, whatever ``per`` is. With m labels of an item, its m (m - 1) / 2 pairs weigh

    * 1 together per "item": observed agreement and chance as in Fleiss (1971) and Gwet (2008);
    * m / 2 per "rating": half of Krippendorff's (2004) coincidences;
    * m (m - 1) / 2 per "pair": specific agreement as in Spitzer and Fleiss (1974).

    The three are the same but for a factor where every grader labelled every item.

    Args:
        codes: shape (graders, items), ``MISSING`` where missing.
        k: how many labels there are.
        per: what counts the same.

    Returns:
        Shape (items, k * k); all 0 where an item has fewer than two labels.
    """
    counts = (codes[:, :, None] == np.arange(k)).sum(axis=0).astype(np.float64)
    m = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(k)
    # Divided, not multiplied by an inverse: an item on which all agree must weigh exactly 1.
    per_pair = {"item": m * (m - 1), "rating": 2 * (m - 1), "pair": np.full(m.size, 2.0)}[per]
    columns: Floats = (pairs / np.where(m >= 2, per_pair, 1)[:, None, None]).reshape(m.size, k * k)
    return columns


def _shares(numerator: Tables, denominator: Tables) -> Floats:
    """Divide, with NaN where the denominator is 0."""
    found = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=found, where=denominator > 0)
    return found


def _agreed(tables: Tables) -> Floats:
    return np.asarray(_diagonal(tables).sum(axis=-1))


def _diagonal(tables: Tables) -> Floats:
    return np.asarray(np.diagonal(tables, axis1=-2, axis2=-1), dtype=np.float64)


def observed_agreement(tables: Tables) -> Floats:
    """Return the share of items on which the two labels are the same; NaN without items.

    >>> observed_agreement(np.array([[40, 9], [6, 45]])).item()
    0.85
    """
    return _shares(_agreed(tables), tables.sum(axis=(-2, -1)))


def cohen_kappa(tables: Tables) -> Floats:
    """Return Cohen's kappa (Cohen 1960), (p_o - p_e) / (1 - p_e) with p_e = sum over labels of p_k. p_.k.

    NaN without items, and where both graders gave every item the same one label (p_e = 1). On a symmetric table of
    pairs this is Scott's (1955) pi for two graders and Fleiss's (1971) kappa for several.

    >>> cohen_kappa(np.array([[1225, 27], [36, 41]])).round(4).item()
    0.5405
    """
    n = tables.sum(axis=(-2, -1))
    # Multiplied by n * n: whole numbers stay exact, and so does the test for p_e = 1.
    chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1)
    return _shares(n * _agreed(tables) - chance, n * n - chance)


def gwet_ac1(tables: Tables) -> Floats:
    """Return Gwet's AC1 (Gwet 2008), (p_o - p_e) / (1 - p_e) with p_e = sum of q_k (1 - q_k) / (k - 1).

    q_k is the label's share of all ratings, (p_k. + p_.k) / 2. k counts the labels that could be given, used or not.
    NaN without items, and for a scale of one label.

    >>> gwet_ac1(np.array([[1225, 27], [36, 41]])).round(4).item()
    0.9471
    """
    k = tables.shape[-1]
    n = tables.sum(axis=(-2, -1))
    if k < 2:
        return np.full(n.shape, np.nan)
    given = (tables.sum(axis=-1) + tables.sum(axis=-2)) / 2
    chance = (given * (n[..., None] - given)).sum(axis=-1) / (k - 1)
    return _shares(n * _agreed(tables) - chance, n * n - chance)


def krippendorff_alpha(tables: Tables, level: Level = "nominal", values: npt.ArrayLike | None = None) -> Floats:
    """Return Krippendorff's alpha, 1 - D_o / D_e (Krippendorff 2004, section 11.3).

    With the coincidences o = table + its transpose, their margins n_c and their sum n:
    alpha = 1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck. The squared difference d_ck is 1 for unequal labels (nominal),
    (v_c - v_k)^2 (interval), or the square of how many ratings lie between the two labels, each of the two counted half
    (ordinal).

    Args:
        tables: counts of two graders, or ``pair_columns(..., "rating")`` summed, shape (..., k, k).
        level: how labels differ. Ordinal takes the labels in the order of the table.
        values: the number that each label stands for, shape (k,), for "interval"; 0, 1, 2... without.

    Returns:
        Shape (...); NaN without items and where every rating is the same label (D_e = 0).

    >>> krippendorff_alpha(np.array([[1225, 27], [36, 41]])).round(4).item()
    0.5406
    """
    coincidences = tables + np.swapaxes(tables, -2, -1)
    margins = coincidences.sum(axis=-1)
    n = margins.sum(axis=-1)
    if level == "nominal":
        seen = n - _agreed(coincidences)
        expected = (margins * (n[..., None] - margins)).sum(axis=-1)
    else:
        if level == "interval":
            places = np.arange(tables.shape[-1]) if values is None else np.asarray(values, dtype=np.float64)
        else:
            # Ratings between two labels, halves of both counted, are the distance of the middles of their ranks.
            places = np.cumsum(margins, axis=-1) - margins / 2
        differences = (places[..., :, None] - places[..., None, :]) ** 2
        seen = (coincidences * differences).sum(axis=(-2, -1))
        expected = (margins[..., :, None] * margins[..., None, :] * differences).sum(axis=(-2, -1))
    return 1 - _shares((n - 1) * seen, expected)


def specific_agreement(tables: Tables) -> Floats:
    """Return for each label how often, where one grader gave it, the other did: 2 n_kk / (n_k. + n_.k).

    Dice's (1945) coefficient for each label; with two labels, positive and negative agreement (Cicchetti and Feinstein
    1990).

    Returns:
        Shape (..., k); NaN for a label that nobody gave.

    >>> specific_agreement(np.array([[1225, 27], [36, 41]])).round(3).tolist()
    [0.975, 0.566]
    """
    return _shares(2 * _diagonal(tables), tables.sum(axis=-1) + tables.sum(axis=-2))
