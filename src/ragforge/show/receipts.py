"""Receipts, as text. As JSON: `Receipt.to_json`."""

from __future__ import annotations

from ragforge.domain.receipts import SECTIONS, Layout, Receipt
from ragforge.show.console import fit_line, open_console, print_table

BAR_CHARS = 40
SOURCE_CHARS = 60


def show_receipt(receipt: Receipt) -> None:
    """Print a receipt: what is in, what was left out, how the searches went, and the budget."""
    out = open_console()
    rows = [
        [
            item.section.replace("_", " "),
            fit_line(item.source, SOURCE_CHARS),
            "" if item.score is None else f"{item.score:.2f}",
            f"{item.chars:,}",
            fit_line("; ".join(filter(None, (item.why, item.note))), 80),
        ]
        for item in receipt.items
    ]
    if rows:
        print_table(["Section", "Source", "Score", "Chars", "Why"], rows, one_line_each=("Why",))
    if receipt.left_out:
        out.print(f"Left out: {len(receipt.left_out)}", style="dim")
        for why in dict.fromkeys(one.why for one in receipt.left_out):
            some = [one.source for one in receipt.left_out if one.why == why]
            text = "; ".join(fit_line(source, SOURCE_CHARS) for source in some[:3])
            more = f" and {len(some) - 3} more" if len(some) > 3 else ""
            out.print(f"  {why}: {text}{more}", style="dim")
    searched = [
        [
            fit_line(search.name, SOURCE_CHARS),
            search.state,
            f"{search.milliseconds:,} ms",
            f"{search.found:,}",
            fit_line("; ".join(filter(None, (search.problem, search.note))), 80),
        ]
        for search in receipt.searches
    ]
    print_table(["Search", "State", "Took", "Found", "Note"], searched)
    share = receipt.chars / max(1, receipt.max_chars)
    filled = min(BAR_CHARS, round(share * BAR_CHARS))
    bar = "█" * filled + "░" * (BAR_CHARS - filled)
    out.print(f"{bar} {receipt.chars:,} of {receipt.max_chars:,} characters ({share:.0%})")
    parts = [(name, receipt.count_chars(name)) for name in SECTIONS]
    text = ", ".join(f"{name.replace('_', ' ')} {chars:,}" for name, chars in parts if chars)
    if text:
        out.print(text, style="dim")
    if receipt.layout is not None:
        _show_layout(receipt.layout)


def _show_layout(layout: Layout) -> None:
    """Print how the request was laid out, and how much of it a provider may have cached."""
    parts = ", ".join(f"{part.name} {part.chars:,}" for part in layout.parts)
    share = layout.same_chars / max(1, layout.chars)
    open_console().print(f"Request: {parts}", style="dim")
    open_console().print(
        f"{layout.same_chars:,} of its {layout.chars:,} characters ({share:.0%}) begin as the "
        "request before",
        style="dim",
    )
