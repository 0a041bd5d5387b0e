"""Receipt: its JSON is stored and printed, and stays as it is."""

from __future__ import annotations

import json

from ragforge.domain.receipts import (
    Layout,
    LeftOut,
    Receipt,
    ReceiptItem,
    RequestPart,
    SearchReport,
    read_receipt,
)

RECEIPT = Receipt(
    10,
    5,
    (ReceiptItem("code", "a.py:1-2", "because", 3, 0.12344, "cut"),),
    (LeftOut("notes", "n1", "no room"),),
    (SearchReport("code", "ok", 3, 1),),
    Layout((RequestPart("system", 3),), 1, 2, 3, (4, 5)),
    ("zebra",),
)


def test_the_json_of_a_receipt() -> None:
    assert json.dumps(RECEIPT.to_json()) == (
        '{"max_chars": 10, "chars": 5, "items": [{"section": "code", "source": "a.py:1-2",'
        ' "why": "because", "chars": 3, "score": 0.1234, "note": "cut"}], "left_out": [{"section":'
        ' "notes", "source": "n1", "why": "no room"}], "searches": [{"name": "code", "state": "ok",'
        ' "milliseconds": 3, "found": 1, "problem": "", "note": ""}], "layout": {"parts": [{"name":'
        ' "system", "chars": 3}], "first_turn": 1, "whole_from": 2, "same_chars": 3,'
        ' "marks": [4, 5]}, "unknown": ["zebra"]}'
    )


def test_a_receipt_is_read_from_its_json() -> None:
    stored = json.loads(json.dumps(RECEIPT.to_json()))

    assert read_receipt(stored).to_json() == RECEIPT.to_json()
