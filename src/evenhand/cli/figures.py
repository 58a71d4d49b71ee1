"""How the figures of a run are written: short, and the same on a terminal and in a line."""

import math

from rich.cells import cell_len

from evenhand.execution.traffic import Traffic

_THOUSAND, _MILLION, _BILLION = 1e3, 1e6, 1e9
_DAYS_FROM = 48 * 3600


def figures(traffic: Traffic) -> list[tuple[str, str]]:
    """Return what there is to say of the traffic besides how much is done, each with its style, the weightiest first.

    >>> [text for text, _ in figures(Traffic(total=9, by_call=4, calls=4, calls_per_second=2.0, paid=0.5))]
    ['2.0 calls/s', '$0.50']
    """
    if traffic.total is not None and traffic.from_ledger == traffic.done == traffic.total:
        return [("all from the ledger", "")]
    parts: list[tuple[str, str]] = []
    if traffic.calls_per_second is not None:
        parts.append((rate(traffic.calls_per_second, "calls"), ""))
    tokens = traffic.prompt_tokens + traffic.completion_tokens
    if tokens and not traffic.under_way:
        parts.append((f"{amount(traffic.prompt_tokens)} tokens in, {amount(traffic.completion_tokens)} out", ""))
    elif tokens and traffic.tokens_per_second is not None:
        parts.append((rate(traffic.tokens_per_second, "tokens"), ""))
    if traffic.cached_share is not None:
        parts.append((f"{traffic.cached_share:.0%} cached", ""))
    if traffic.from_ledger:
        parts.append((f"{traffic.from_ledger:,} from the ledger", ""))
    if traffic.paid or traffic.unpriced:
        parts.append((cost(traffic), ""))
    if traffic.failed:
        parts.append((f"{traffic.failed:,} failed", "red"))
    again = sum(traffic.retries.values())
    if again:
        # Always in the same order, so that nothing jumps about.
        first, *others = (
            f"{count:,} {trouble.replace('_', ' ')}" for trouble, count in sorted(traffic.retries.items())
        )
        parts.append((f"{again:,} {'retry' if again == 1 else 'retries'}: {first}", "yellow"))
        parts += [(other, "yellow") for other in others]
    return parts


def progress(traffic: Traffic, of: str = "/") -> str:
    """Return how many requests are done, and of how many.

    >>> progress(Traffic(total=1200, by_call=7)), progress(Traffic(by_call=7))
    ('7/1,200', '7')
    """
    return f"{traffic.done:,}" if traffic.total is None else f"{traffic.done:,}{of}{traffic.total:,}"


def time_of(traffic: Traffic) -> str:
    """Return how long the rest takes, or how long it took so far or altogether."""
    if not traffic.under_way:
        return f"in {duration(traffic.seconds)}"
    if traffic.seconds_left is None:
        return f"{duration(traffic.seconds)} so far"
    return f"{duration(traffic.seconds_left)} left"


def cost(traffic: Traffic) -> str:
    """Return what was paid, in US dollars, as far as prices are known.

    >>> cost(Traffic(paid=0.00417)), cost(Traffic(paid=1234.5)), cost(Traffic(paid=2.5, unpriced=3))
    ('$0.0042', '$1,234.50', 'at least $2.50')
    """
    if traffic.unpriced and not traffic.paid:
        return "cost unknown"
    digits = 2 if not traffic.paid or traffic.paid >= 0.1 else 1 - math.floor(math.log10(traffic.paid))
    dollars = f"${traffic.paid:,.{digits}f}"
    return f"at least {dollars}" if traffic.unpriced else dollars


def duration(seconds: float) -> str:
    """Return a length of time.

    >>> duration(7.6), duration(754), duration(40_000), duration(400_000)
    ('0:08', '12:34', '11:06:40', '4.6 days')
    """
    if seconds >= _DAYS_FROM:
        return f"{seconds / 86_400:,.1f} days"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def rate(per_second: float, what: str) -> str:
    """Return a rate, by the minute where it is slow.

    >>> rate(1234.5, "calls"), rate(0.12, "calls"), rate(0.02, "calls"), rate(45_300, "tokens")
    ('1,234 calls/s', '0.12 calls/s', '1.2 calls/min', '45.3k tokens/s')
    """
    if 0 < per_second < 0.1:
        return f"{per_second * 60:.1f} {what}/min"
    if per_second < 9.95:
        return f"{per_second:.{1 if per_second >= 1 else 2}f} {what}/s"
    return f"{amount(per_second)} {what}/s"


def amount(number: float) -> str:
    """Return a number of up to five characters or so.

    >>> amount(870), amount(9_870), amount(45_310), amount(2_345_000), amount(3e9)
    ('870', '9,870', '45.3k', '2.3M', '3.0G')
    """
    if number < 9_999.5:
        return f"{number:,.0f}"
    for unit, letter in ((_THOUSAND, "k"), (_MILLION, "M")):
        if number < unit * 999.95:
            return f"{number / unit:.1f}{letter}"
    return f"{number / _BILLION:,.1f}G"


_KEPT = "\n\u200c\u200d"


def printable(text: str) -> str:
    r"""Return a text that does nothing to a terminal: what is not to be seen becomes a question mark.

    >>> printable("red: \x1b[31m and\ta tab")
    'red: ?[31m and a tab'
    """
    return "".join(
        letter if letter.isprintable() or letter in _KEPT else " " if letter.isspace() else "?" for letter in text
    )


def shortened(text: str, width: int) -> str:
    """Return a text of at most so many columns; what it loses is in its middle, for both ends tell stages apart.

    >>> shortened("http://localhost:8000/v1#meta-llama/Llama-3.3-70B rates, blind", 30)
    'http://lo...-70B rates, blind'
    """
    if cell_len(text) <= width:
        return text
    mark = "..." if width > 3 else ""
    head = _fitting(text, (width - len(mark)) // 3)
    tail = _fitting(text[::-1], width - len(mark) - cell_len(head))[::-1]
    return f"{head}{mark}{tail}"


def _fitting(text: str, width: int) -> str:
    end = taken = 0
    for letter in text:
        taken += cell_len(letter)
        if taken > width:
            break
        end += 1
    return text[:end]
