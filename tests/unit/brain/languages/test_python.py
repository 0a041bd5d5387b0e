"""Python: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_python_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("orders.py")
    assert found.outline.language == "python"
    assert not found.outline.damaged
    assert found.table == [
        "module orders 1-73",
        "constant MAX_LINES 15-15",
        "constant STATES 17-20",
        "type Price 22-22",
        "function stock 25-30",
        "class Order 33-68",
        "  constant Order.LIMIT 42-42",
        "  constant Order.fields 43-46",
        "  method Order.__init__ 48-51",
        "  method Order.total 53-56",
        "  class Order.Meta 58-59",
        "  method Order.pay 61-68",
        "    function Order.pay.label 62-63",
    ]


def test_the_python_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("orders.py").imports == [
        "5: json as json",
        "6: os.path as paths",
        "7: xml.dom as xml.dom",
        "8: collections.abc Iterator=Iterator Mapping=Map",
        "9: ..billing Invoice=Invoice charge=take_money",
        "13: .models *",
    ]


def test_the_python_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("orders.py")
    assert found.bases == {"Order": "Base models.Model"}
    assert found.decorators == {"Order": "registry.register final", "Order.total": "property"}


def test_the_python_sample_uses_these_names(sample: Sample) -> None:
    found = sample("orders.py")
    calls = "label take_money self.save Invoice.build().with_tax Invoice.build"
    assert found.calls("Order.pay") == calls
    assert (
        found.uses("Order.pay") == "Invoice self.lines self.total Invoice.build().with_tax().print"
    )
    assert found.calls("Order.pay.label") == "describe"
    assert found.uses("Order.pay.label") == "Line str line.name self.total"
    assert found.calls("Order.__init__") == "super().__init__ super"
    assert found.uses("Order.__init__") == "list Line self.lines"
    assert found.calls("stock") == "str paths.join open json.load"
    assert found.uses("stock") == "int"
    assert found.calls("orders") == "xml.dom.parse print stock"
    assert found.uses("orders") == "__name__ order.name"


def test_the_python_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("orders.py")
    assert found.signature("Order") == "class Order(Base[Price], models.Model, metaclass=Meta)"
    assert found.signature("Order.total") == "def total(self) -> Price"
    assert found.docstrings == {
        "orders": "Orders: what customers bought.",
        "stock": "Counts what is in stock.\nSlow: cache it.",
        "Order": "An order.\n\nIt has lines.",
        "Order.total": "What it costs.",
    }
