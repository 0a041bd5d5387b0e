"""The files of the shop in the pictures of `ragforge web`, with two commits."""

from __future__ import annotations

import os
import subprocess
from datetime import timedelta
from pathlib import Path

from ragforge.domain.instants import now

BEFORE = '''"""Prices of carts."""

from decimal import Decimal


def apply_discount(total: Decimal, percent: int) -> Decimal:
    """Return a total with a discount, rounded to cents."""
    return (total * (100 - percent) / 100).quantize(Decimal("0.01"))


def check_out(cart: list[Decimal], percent: int = 0) -> Decimal:
    return apply_discount(sum(cart, Decimal(0)), percent)
'''
PRICING = '''"""Prices of carts."""

from decimal import Decimal

CENT = Decimal("0.01")


def apply_discount(total: Decimal, percent: int) -> Decimal:
    """Return a total with a discount; it is rounded at the end, by `check_out`."""
    return total * (100 - percent) / 100


def check_out(cart: list[Decimal], percents: tuple[int, ...] = ()) -> Decimal:
    total = sum(cart, Decimal(0))
    for percent in percents:
        total = apply_discount(total, percent)
    return total.quantize(CENT)
'''
_FUNCTION = '''

def {name}(cart: list) -> list:
    """Return a cart whose lines were {name}ed."""
    return [line for line in cart if line is not None]
'''
_FILES = {
    "cart.py": ("add", "drop", "merge"),
    "orders.py": ("place", "cancel", "pack", "ship", "refund", "list"),
    "users.py": ("enter", "leave", "greet"),
    "mail/letters.py": ("write", "sign", "post"),
    "mail/queue.py": ("push", "pull"),
    "reports/sales.py": ("sum", "group", "sort", "print"),
    "reports/stock.py": ("count",),
}


def write_project(folder: Path) -> None:
    """Write the files, commit them, and change the prices since."""
    (folder / "tests").mkdir(parents=True)
    (folder / "pricing.py").write_text(BEFORE, "utf-8")
    test = "from pricing import check_out\n\n\ndef test_check_out():\n    assert check_out([1])\n"
    (folder / "tests" / "test_pricing.py").write_text(test, "utf-8")
    (folder / "README.md").write_text("# A shop\n\n" + "It sells things. " * 20, "utf-8")
    _commit(folder, 90, "Prices with a discount")
    for path, names in _FILES.items():
        file = folder / path
        file.parent.mkdir(exist_ok=True)
        text = f'"""{file.stem.capitalize()} of the shop."""\n'
        file.write_text(text + "".join(_FUNCTION.format(name=name) for name in names), "utf-8")
    _commit(folder, 40, "Carts, orders and letters")
    (folder / "pricing.py").write_text(PRICING, "utf-8")


def _commit(folder: Path, hours: int, subject: str) -> None:
    """Commit everything as if it had been some hours ago."""
    then = (now() - timedelta(hours=hours)).isoformat()
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", subject)):
        subprocess.run(
            ["git", "-C", str(folder), *words],
            check=True,
            env=os.environ | {"GIT_AUTHOR_DATE": then, "GIT_COMMITTER_DATE": then},
        )
