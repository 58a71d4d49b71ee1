"""Tables as LaTeX in the manner of booktabs; nothing that was measured is a command."""

import re
from collections.abc import Sequence

from evenhand.report.exports.markdown import visible
from evenhand.report.exports.placed import Placed, file_stem, shown
from evenhand.report.page.blocks import Cell, Table

PREAMBLE = r"% In the preamble: \usepackage{booktabs,longtable}"
_LONG = 40
"""A table of more rows may go over several pages."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': r"\char34{}",
    # After the end of a row these two would be arguments of it.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "\ufffd": "?",
    "\ue000": "$-$",
}
_MINUS = re.compile(r"(?<![\w)\]}.-])-(?=\.?[0-9])")
_MARK = "\ue000"
"""Stands for a minus until all is escaped."""


def latex_tables(tables: Sequence[Placed]) -> str:
    """Return every table, one after another."""
    return "\n".join([PREAMBLE, *(f"\n{latex_table(one.table, one.name)}" for one in tables)]) + "\n"


def latex_table(table: Table, label: str = "", notes: Sequence[str] = ()) -> str:
    """Return a table with caption and label, its note and more notes in small print below it."""
    width = max([len(table.columns), *map(len, table.rows)], default=0)
    if not width:
        return ""
    columns = "l" + "r" * (width - 1)
    head = _row(table.columns, width)
    body = [_row(row, width) for row in table.rows]
    small = [latex_text(note) for note in (table.note, *notes) if note.strip()]
    caption = rf"\caption{{{latex_text(table.caption)}}}\label{{tab:{file_stem(label or table.caption)}}}"
    below = [r"\par\medskip", r"\begin{minipage}{\linewidth}\footnotesize", r" \par ".join(small), r"\end{minipage}"]
    if len(body) > _LONG:
        return "\n".join(
            [
                rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}",
                rf"{caption}\\",
                *(r"\toprule", head, r"\midrule", r"\endfirsthead", r"\toprule", head, r"\midrule", r"\endhead"),
                *(r"\bottomrule", r"\endlastfoot"),
                *body,
                r"\end{longtable}",
                *(below[1:] if small else ()),
            ]
        )
    return "\n".join(
        [
            *(r"\begin{table}", r"\centering", caption),
            rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            *(r"\toprule", head, r"\midrule"),
            *body,
            *(r"\bottomrule", r"\end{tabular}"),
            *(below if small else ()),
            r"\end{table}",
        ]
    )


def latex_text(text: str) -> str:
    r"""Return a text of one line in which no character is a command, and numbers below zero have a minus.

    >>> latex_text("50% of {x}_1 & -0.5"), latex_text(r"\input{/etc/passwd}"), latex_text("a -- b")
    ('50\\% of \\{x\\}\\_1 \\& $-$0.5', '\\textbackslash{}input\\{/etc/passwd\\}', 'a -{}- b')
    """
    plain = _MINUS.sub(_MARK, " ".join(visible(text).split()))
    escaped = "".join(_SPECIAL.get(letter, letter) for letter in plain)
    # Two signs in a row would become one other sign.
    for sign in ("-", "'", ","):
        while sign * 2 in escaped:
            escaped = escaped.replace(sign * 2, f"{sign}{{}}{sign}")
    return escaped


def _row(cells: Sequence[Cell], width: int) -> str:
    texts = [latex_text(shown(cell)) for cell in cells]
    return " & ".join(texts + [""] * (width - len(texts))) + r" \\"
