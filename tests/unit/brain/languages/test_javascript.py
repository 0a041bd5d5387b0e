"""JavaScript, TypeScript and TSX: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_javascript_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("server.js")
    assert found.outline.language == "javascript"
    assert not found.outline.damaged
    assert found.table == [
        "module server 1-60",
        "constant PORT 11-11",
        "constant routes 13-16",
        "function Server 18-20",
        "  method Server.start 22-25",
        "    function Server.start.handler 23-23",
        "  method Server.stop 27-29",
        "class Router 31-47",
        "  method Router.create 34-36",
        "  method Router.size 38-40",
        "  method Router.walk 42-46",
        "function index 49-51",
        "function about 53-53",
    ]


def test_the_javascript_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("server.js").imports == [
        "6: http as http",
        "7: path join=join resolve=absolute",
        "8: ./config server=config",
        "9: fs default=fs",
    ]


def test_the_javascript_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("server.js")
    assert found.bases == {"Router": "EventEmitter"}
    assert found.decorators == {}


def test_the_javascript_sample_uses_these_names(sample: Sample) -> None:
    found = sample("server.js")
    assert found.calls("Server.start") == "http.createServer().listen http.createServer handler"
    assert found.uses("Server.start") == "PORT"
    assert found.calls("Router.walk") == "fs.promises.readdir join"
    assert found.uses("Router.walk") == "this.#table"
    assert found.calls("index") == "render"
    assert found.uses("index") == "request.query.page"
    assert found.calls("server") == "Server().start Server console.log"
    assert found.uses("server") == "module.exports Server Router config.root"


def test_the_javascript_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("server.js")
    assert found.signature("Server.start") == "Server.prototype.start = function (callback)"
    assert found.signature("Router.walk") == "async *walk({ depth = 1 } = {})"
    assert found.signature("about") == "module.exports.about = (request)"
    assert found.docstrings == {"server": "Serves files over HTTP."}


def test_the_typescript_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("cart.ts")
    assert found.outline.language == "typescript"
    assert not found.outline.damaged
    assert found.table == [
        "module cart 1-83",
        "constant MAX_ITEMS 11-11",
        "interface Item 14-18",
        "  method Item.discount 17-17",
        "type Handler 20-20",
        "enum State 22-25",
        "  variant State.Open 23-23",
        "  variant State.Closed 24-24",
        "class Store 27-29",
        "  method Store.load 28-28",
        "class Cart 31-58",
        "  constant Cart.LIMITS 34-36",
        "  method Cart.constructor 38-40",
        "  method Cart.add 42-49",
        "  method Cart.notify 51-53",
        "  method Cart.load 55-57",
        "function total 60-60",
        "function total 61-61",
        "function total 62-64",
        "function open 66-71",
        "  function open.make 67-69",
        "namespace legacy 73-75",
        "  function legacy.old 74-74",
        "namespace Util 77-81",
        "  function Util.isOpen 78-80",
    ]


def test_the_typescript_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("cart.ts").imports == [
        "4: axios default=axios AxiosError=Failure",
        "5: ./money as money",
        "6: ../users User=User",
        "7: ./polyfills",
        "8: ./tax tax=tax",
        "9: ./rates *",
    ]


def test_the_typescript_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("cart.ts")
    assert found.bases == {"Item": "Named Priced", "Cart": "Store Serializable ui.Widget"}
    assert found.decorators == {"Cart": "Injectable", "Cart.add": "Log"}


def test_the_typescript_sample_uses_these_names(sample: Sample) -> None:
    found = sample("cart.ts")
    assert found.calls("Cart.add") == "money.round this.items.push axios.post this.notify"
    assert found.uses("Cart.add") == "Item Promise item.price Failure this.user.id i.id"
    assert found.calls("open") == "make"
    assert found.uses("open") == "User Promise Cart"
    assert found.calls("Util.isOpen") == ""
    assert found.uses("Util.isOpen") == "State State.Open"


def test_the_typescript_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("cart.ts")
    assert (
        found.signature("Cart")
        == "export class Cart extends Store<Item> implements Serializable, ui.Widget"
    )
    assert found.signature("Cart.add") == "async add(item: Item, count = 1): Promise<void>"
    assert found.signature("total") == "export function total(cart: Cart): number"
    assert found.signature("open") == "export const open = async (user: User): Promise<Cart>"
    assert found.docstrings == {
        "cart": "The shopping cart.",
        "Item": "One thing to buy.",
        "Cart.add": "Adds an item.",
    }


def test_the_tsx_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("panel.tsx")
    assert found.outline.language == "tsx"
    assert not found.outline.damaged
    assert found.table == [
        "module panel 1-38",
        "interface Props 5-8",
        "function Panel 10-22",
        "  function Panel.toggle 14-14",
        "constant Fancy 24-26",
        "class Board 28-34",
        "  method Board.render 31-33",
        "function App 36-38",
    ]


def test_the_tsx_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("panel.tsx").imports == [
        "1: react default=React useState=useState",
        "2: @ui/button Button=Button",
        "3: ./panel.module.css default=styles",
    ]


def test_the_tsx_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("panel.tsx")
    assert found.bases == {"Board": "React.Component"}
    assert found.decorators == {}


def test_the_tsx_sample_uses_these_names(sample: Sample) -> None:
    found = sample("panel.tsx")
    assert found.calls("Panel") == "useState Button toggle Body.Content"
    assert found.uses("Panel") == "React.FC Props styles.panel"
    assert found.calls("Board.render") == "Fancy format"
    assert found.uses("Board.render") == "this.state.count"


def test_the_tsx_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("panel.tsx")
    assert found.signature("Panel") == "export const Panel: React.FC<Props> = ({ title, children })"
    assert found.docstrings == {"Panel": "A panel that folds."}
