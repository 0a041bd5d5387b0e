"""Members and bases: what belongs to a type, wherever the source says so."""

from __future__ import annotations

from tests.unit.brain.graph.test_edges import Project

GO = {"go.mod": "module acme.io/shop\n"}


def get_holder(project: Project, path: str, name: str) -> str:
    """Return what holds a scope of a file, or nothing."""
    wanted = f"{path}:{name}"
    found = [
        one.target
        for one in project.relations(path)
        if (one.kind, one.source) == ("HAS_PARENT", wanted)
    ]
    assert len(found) <= 1
    return found[0] if found else ""


class TestRust:
    def test_an_implementation_belongs_to_its_type_in_any_file(self) -> None:
        project = Project(
            {
                "Cargo.toml": "",
                "src/lib.rs": "mod cart;\nmod price;\n",
                "src/cart.rs": """
                    pub struct Cart { items: u8 }
                    pub trait Total { fn total(&self) -> u8; }
                    impl Total for Cart { fn total(&self) -> u8 { self.items } }
                    """,
                "src/price.rs": """
                    use crate::cart::Cart;
                    impl Cart { pub fn price(&self) -> u8 { 1 } }
                    """,
            }
        )
        assert get_holder(project, "src/cart.rs", "Cart'") == "src/cart.rs:Cart"
        assert get_holder(project, "src/price.rs", "Cart") == "src/cart.rs:Cart"
        assert get_holder(project, "src/price.rs", "Cart.price") == "src/price.rs:Cart"
        assert project.bases("src/cart.rs", "Cart") == {"Total"}
        assert project.bases("src/cart.rs", "Cart'") == {"Total"}

    def test_a_variant_is_used_with_its_enum_and_hides_no_type(self) -> None:
        project = Project(
            {
                "src/lib.rs": """
                    pub struct Large { size: u8 }
                    pub enum Shape { Large(Large), Small }
                    impl Shape { fn area(&self) -> u8 { 1 } }
                    fn make() -> u8 { Shape::Large(Large { size: 1 }).area() }
                    fn small() { let _x = Shape::Small; }
                    """,
            }
        )
        assert project.uses("src/lib.rs", "Shape") == {"Large"}
        assert project.uses("src/lib.rs", "small") == {"Shape", "Shape.Small"}
        assert project.uses("src/lib.rs", "make") == {
            *("Shape", "Shape.Large", "Large", "Shape.area"),
        }
        assert get_holder(project, "src/lib.rs", "Shape.Small") == "src/lib.rs:Shape"

    def test_every_link_of_a_long_chain_is_found(self) -> None:
        args = "\n        ".join(f'.arg("{name}{"x" * 60}") // (why)' for name in "abcde")
        project = Project(
            {
                "src/lib.rs": f"""
                    pub struct Command {{ n: u8 }}
                    impl Command {{
                        pub fn new(n: u8) -> Self {{ Command {{ n }} }}
                        pub fn arg(self, _a: &str) -> Self {{ self }}
                        pub fn run(&self) {{ }}
                    }}
                    fn main() {{
                        Command::new(1){args}
                            .run();
                    }}
                    """,
            }
        )
        assert {"Command.new", "Command.arg", "Command.run"} <= project.uses("src/lib.rs", "main")

    def test_an_exported_macro_is_at_the_root_of_its_crate(self) -> None:
        project = Project(
            {
                "src/lib.rs": "#[macro_use]\nmod macros;\n",
                "src/macros.rs": "#[macro_export]\nmacro_rules! price { () => { 1 } }\n"
                "macro_rules! own { () => { 1 } }\n",
                "tests/all.rs": "use shop::{price, own};\nfn f() { price!(); own!(); }\n",
            },
            {"Cargo.toml": '[package]\nname = "shop"\n'},
        )
        assert project.uses("tests/all.rs", "f") == {"src/macros.rs:price"}

    def test_a_module_in_a_file_passes_on_what_it_imports(self) -> None:
        project = Project(
            {
                "Cargo.toml": "",
                "src/lib.rs": "mod make;\npub mod shells {\n    pub use crate::make::Bash;\n}\n",
                "src/make.rs": "pub struct Bash {}\npub trait Make {}\n",
                "src/more.rs": "use crate::shells::Bash;\nuse crate::make::Make;\n"
                "impl Make for Bash {}\n",
            }
        )
        assert get_holder(project, "src/more.rs", "Bash") == "src/make.rs:Bash"
        assert "src/make.rs:Bash" in project.uses("src/lib.rs", "(file)") | project.uses(
            "src/more.rs", "Bash"
        )


class TestGo:
    def test_a_type_implements_the_interfaces_whose_methods_it_has(self) -> None:
        project = Project(
            {
                "store/api.go": """
                    package store
                    type Closer interface { Close() error }
                    type Store interface {
                        Closer
                        Get(key string, more ...int) (*Item, error)
                    }
                    type Item struct { n int }
                    type Empty interface {}
                    """,
                "store/disk.go": "package store\ntype Disk struct { path string }\n"
                "func (d *Disk) Close() error { return nil }\n",
                "store/get.go": "package store\n"
                "func (d *Disk) Get(k string, more ...int) (item *Item, err error) {\n}\n",
                "store/other.go": """
                    package store
                    type Half struct { n int }
                    func (h Half) Close() error { return nil }
                    func (h Half) Get(key int, more ...int) (*Item, error) { return nil, nil }
                    type Wrapped struct { *Disk }
                    """,
            },
            GO,
        )
        assert project.bases("store/disk.go", "Disk") == {
            *("store/api.go:Closer", "store/api.go:Store"),
        }
        assert project.bases("store/other.go", "Half") == {"store/api.go:Closer"}
        assert project.bases("store/other.go", "Wrapped") == {
            *("store/disk.go:Disk", "store/api.go:Closer", "store/api.go:Store"),
        }
        assert get_holder(project, "store/get.go", "Disk.Get") == "store/disk.go:Disk"

    def test_interfaces_of_other_packages_count_if_they_are_imported_and_can_be_implemented(
        self,
    ) -> None:
        project = Project(
            {
                "api/api.go": """
                    package api
                    type Shown interface { Show(item Item) string }
                    type Hidden interface { show() }
                    type Item struct { n int }
                    """,
                "shop/shop.go": """
                    package shop
                    import "acme.io/shop/api"
                    type Page struct { n int }
                    func (p Page) Show(item api.Item) string { return "" }
                    func (p Page) show() {}
                    """,
                "far/far.go": """
                    package far
                    type Page struct { n int }
                    func (p Page) show() {}
                    """,
            },
            GO,
        )
        assert project.bases("shop/shop.go", "Page") == {"api/api.go:Shown"}
        assert project.bases("far/far.go", "Page") == set()

    def test_an_interface_that_embeds_an_unknown_one_is_implemented_by_none(self) -> None:
        project = Project(
            {
                "a.go": """
                    package a
                    import "net/http"
                    type Writer interface {
                        http.ResponseWriter
                        Size() int
                    }
                    type Own struct { n int }
                    func (o Own) Size() int { return 1 }
                    """,
            },
            GO,
        )
        assert project.bases("a.go", "Own") == set()

    def test_a_method_may_be_called_like_the_end_of_its_type(self) -> None:
        project = Project(
            {
                "a.go": "package a\ntype RouterGroup struct { n int }\n"
                "func (r *RouterGroup) Group() {}\nfunc use(r *RouterGroup) { r.Group() }\n",
            },
            GO,
        )
        assert "RouterGroup.Group" in project.uses("a.go", "use")


class TestRuby:
    def test_a_name_that_is_bound_nowhere_is_a_call(self) -> None:
        project = Project(
            {
                "lib/cart.rb": """
                    class Cart
                      attr_reader :items, :owner

                      def total
                        rate = tax
                        items.sum + rate + owner
                      end

                      def tax
                        1
                      end

                      def hidden(tax, owner: 1)
                        items = []
                        items << tax << owner
                      end
                    end
                    """,
            }
        )
        assert project.uses("lib/cart.rb", "Cart.total") == {
            *("Cart.tax", "Cart.items", "Cart.owner"),
        }
        assert project.uses("lib/cart.rb", "Cart.hidden") == set()

    def test_methods_of_the_type_around_are_not_seen(self) -> None:
        project = Project(
            {
                "lib/page.rb": """
                    class Page
                      LIMIT = 3
                      def root; end
                      class Body < Struct.new(:root)
                        def each; root; LIMIT; other; end
                      end
                      def other; end
                    end
                    """,
            }
        )
        assert project.uses("lib/page.rb", "Page.Body.each") == {"Page.Body.root", "Page.LIMIT"}

    def test_a_module_that_a_class_holds_may_be_included_in_it(self) -> None:
        project = Project(
            {
                "lib/req.rb": """
                    class Request
                      module Helpers
                        def path; end
                      end
                      include Helpers
                      def self.parse(text); end
                      def parse; end
                    end
                    """,
                "lib/use.rb": """
                    def log
                      request = Request.new
                      request.path
                    end
                    def read
                      Request.parse(1)
                    end
                    """,
            }
        )
        assert "lib/req.rb:Request.Helpers.path" in project.uses("lib/use.rb", "log")
        assert project.uses("lib/use.rb", "read") == {"lib/req.rb:Request.parse"}


class TestOthers:
    def test_a_macro_before_the_name_of_a_class_is_not_its_name(self) -> None:
        project = Project(
            {
                "shape.h": """
                    class API_EXPORT Shape {
                     public:
                      virtual int area() = 0;
                    };
                    class API_EXPORT(x) Square final : public Shape {
                     public:
                      int area();
                    };
                    """,
            }
        )
        assert project.bases("shape.h", "Square") == {"Shape"}
        assert get_holder(project, "shape.h", "Square.area") == "shape.h:Square"

    def test_functions_are_used_as_values_and_through_call(self) -> None:
        project = Project(
            {
                "a.js": """
                    function stop () {}
                    function start () {}
                    function never () {}
                    function main (never) {
                      stop.call(this)
                      on('x', start)
                      on(never)
                    }
                    module.exports = main
                    """,
            }
        )
        assert project.uses("a.js", "main") == {"stop", "start"}
        assert project.uses("a.js", "(file)") == {"main"}

    def test_what_a_file_passes_on_is_used_by_it(self) -> None:
        project = Project(
            {
                "index.ts": "export { make, type Cart as Basket } from './cart';\n"
                "import { other } from './cart';\n",
                "cart.ts": "export function make() {}\nexport interface Cart {}\n"
                "export function other() {}\n",
            }
        )
        assert project.uses("index.ts", "(file)") == {"cart.ts:make", "cart.ts:Cart"}

    def test_a_constant_of_an_enum_has_the_members_of_the_enum(self) -> None:
        project = Project(
            {
                "src/main/java/p/State.java": """
                    package p;
                    enum State {
                      OPEN { void close() {} },
                      DONE;
                      void close() {}
                      void show() {}
                    }
                    """,
                "src/main/java/p/Use.java": """
                    package p;
                    class Use { void f() { State.DONE.show(); } }
                    """,
            }
        )
        place = "src/main/java/p/State.java"
        assert f"{place}:State.show" in project.uses("src/main/java/p/Use.java", "Use.f")
        assert get_holder(project, place, "State.OPEN.close") == f"{place}:State.OPEN"

    def test_extensions_belong_to_the_type_that_they_extend(self) -> None:
        project = Project(
            {
                "a/Cart.kt": "package a\nclass Cart { fun total() = 1 }\n",
                "a/More.kt": "package a\nfun Cart.price() = total()\nfun String.twice() = 2\n",
                "b/Cart.swift": "struct Basket { var n: Int }\nprotocol Shown {}\n",
                "b/More.swift": "extension Basket: Shown { func show() {} }\n",
            }
        )
        assert get_holder(project, "a/More.kt", "Cart.price") == "a/Cart.kt:Cart"
        assert get_holder(project, "a/More.kt", "String.twice") == ""
        assert get_holder(project, "b/More.swift", "Basket") == "b/Cart.swift:Basket"
        assert project.bases("b/Cart.swift", "Basket") == {"Shown"}
