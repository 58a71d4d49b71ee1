"""The errors that a user may see: what is wrong, where, and the way out."""


class EvenhandError(Exception):
    """Base of every error that is meant for the user; its message is complete without a traceback."""


class StoppedError(EvenhandError):
    """A run was asked to stop; every reply that came back is in the ledger."""


class InputError(EvenhandError):
    """Something the user gave can't be used.

    The message is put together from its parts, so that none is forgotten.

    >>> str(InputError("is empty", source="pairs.csv", row=4, field="prompt_a", way_out="fill the cell"))
    'pairs.csv, row 4, prompt_a: is empty. The way out: fill the cell.'
    """

    def __init__(
        self,
        problem: str,
        *,
        source: str = "",
        row: int | None = None,
        field: str = "",
        way_out: str = "",
    ) -> None:
        self.problem, self.source, self.row, self.field, self.way_out = problem, source, row, field, way_out
        where = ", ".join(part for part in (source, f"row {row}" if row is not None else "", field) if part)
        message = f"{where}: {problem}." if where else f"{problem}."
        super().__init__(f"{message} The way out: {way_out}." if way_out else message)
