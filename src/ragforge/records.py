"""Records: the `dataclass` of the standard library, which defines frozen classes sooner.

The standard decorator writes and compiles six functions for a frozen class. Most of them are never
called, and there are hundreds of classes: a sixth of what a command costs (decision 56). Here
`__init__` is compiled when a class gets its first instance, and all classes share the rest. The
module `dataclasses` itself is loaded when something asks it about such a class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

__all__ = ["asdict", "dataclass", "field", "replace"]

SHARED = {"__init__", "__repr__", "__eq__", "__hash__", "__getstate__", "__setstate__"}
PSEUDO = ("ClassVar", "typing.ClassVar", "InitVar", "KW_ONLY")
"""How the types of what is no field begin."""

MISSING = type("Missing", (), {})()


class Default(NamedTuple):
    """What is known of a field before a class is made; `dataclasses.field` has the same names."""

    default: Any = MISSING
    default_factory: Any = MISSING
    repr: bool = True
    compare: bool = True


if TYPE_CHECKING:
    from dataclasses import asdict, dataclass, field, replace
else:

    def dataclass(*, frozen: bool = False, **options: bool) -> Callable[[type], type]:
        """Make a class a dataclass; one that is frozen and plain is made quickly."""

        def make(cls: type) -> type:
            if frozen and options == {"slots": True} and _is_plain(cls):
                return _make_record(cls)
            import dataclasses

            for name, default in list(vars(cls).items()):
                if isinstance(default, Default):
                    setattr(cls, name, _make_standard(default))
            return dataclasses.dataclass(cls, frozen=frozen, **options)

        return make

    def field(**given: Any) -> Any:
        """Do as `dataclasses.field`."""
        if given.keys() <= set(Default._fields):
            return Default(**given)
        import dataclasses

        return dataclasses.field(**given)

    def replace(item: Any, /, **changes: Any) -> Any:
        """Do as `dataclasses.replace`."""
        known = vars(type(item)).get("__record__")
        if known is None:
            import dataclasses

            return dataclasses.replace(item, **changes)
        return type(item)(**{name: getattr(item, name) for name in known} | changes)

    def asdict(item: Any) -> dict[str, Any]:
        """Do as `dataclasses.asdict`."""
        import dataclasses

        return dataclasses.asdict(item)


def _make_standard(default: Default) -> Any:
    """Return a field for the standard decorator."""
    import dataclasses

    given = {name: value for name, value in default._asdict().items() if value is not MISSING}
    return dataclasses.field(**given)


class _MadeAnew:
    """Stands in a signature for a default that is made for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


MADE_ANEW = _MadeAnew()


def _is_plain(cls: type) -> bool:
    """Whether a class inherits fields from records only, and has no say in how it is made."""
    members = vars(cls)
    return (
        all(map(_is_known, cls.__mro__[1:-1]))
        and members.keys().isdisjoint(SHARED)
        and not any(str(type_).startswith(PSEUDO) for type_ in cls.__annotations__.values())
        and not any(type(value).__name__ == "Field" for value in members.values())
    )


def _is_known(base: type) -> bool:
    """Whether a class is a record, or has no fields and no say in how instances are made."""
    members = vars(base)
    has_none = members.get("__slots__") == () and not getattr(base, "_is_protocol", False)
    return bool("__record__" in members or (has_none and SHARED.isdisjoint(members)))


def _make_record(cls: type) -> type:
    """Return a class with slots whose instances do not change and are compared by value."""
    members = dict(vars(cls))
    own = {name: _read_default(name, members.pop(name, MISSING)) for name in cls.__annotations__}
    inherited = getattr(cls, "__record__", {})
    known = {**inherited, **own}
    for name in ("__dict__", "__weakref__"):
        members.pop(name, None)
    compared = attrgetter("__class__", *(name for name, one in known.items() if one.compare))

    def equal(self: object, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    made: Any = type(cls)(
        cls.__name__,
        cls.__bases__,
        {
            **members,
            "__record__": known,
            "__slots__": tuple(name for name in own if name not in inherited),
            "__match_args__": tuple(known),
            "__qualname__": cls.__qualname__,
            "__signature__": SIGNATURE,
            "__dataclass_fields__": STANDARD_FIELDS,
            "__dataclass_params__": STANDARD_PARAMS,
            "__setattr__": _refuse_change,
            "__delattr__": _refuse_deletion,
            "__getstate__": _get_state,
            "__setstate__": _set_state,
            "__repr__": _describe,
            "__eq__": equal,
            "__hash__": lambda self: hash(compared(self)),
        },
    )
    made.__init__ = _put_off_init(made)
    return cast(type, made)


def _read_default(name: str, value: Any) -> Default:
    if isinstance(value, Default):
        return value
    if value.__class__.__hash__ is None:
        raise ValueError(f"mutable default {type(value)} for field {name}: use default_factory")
    return Default(value)


class _Standard:
    """What the module `dataclasses` wants to know of a class: made when it asks."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> object:
        import dataclasses

        made: Any = next(one for one in owner.__mro__ if "__record__" in vars(one))
        types = _list_types(made)
        fields = [(name, types[name], _make_standard(one)) for name, one in made.__record__.items()]
        standard = dataclasses.make_dataclass(made.__name__, fields, frozen=True)
        found = getattr(standard, self._name)
        setattr(made, self._name, found)  # it asks often
        return found


STANDARD_FIELDS = _Standard("__dataclass_fields__")
STANDARD_PARAMS = _Standard("__dataclass_params__")


def _put_off_init(cls: Any) -> Callable[..., None]:
    """Return an `__init__` that compiles the real one and takes its place."""

    def init(self: object, /, *given: object, **named: object) -> None:
        cls.__init__ = _write_init(cls)
        cls.__init__(self, *given, **named)

    return init


class _Signature:
    """The arguments of a class, for whoever asks before there is an instance."""

    def __get__(self, instance: object, owner: type) -> object:
        if "__record__" not in vars(owner):  # a class that inherits has its own
            raise AttributeError("__signature__")
        from inspect import signature

        found = signature(_write_init(owner))
        return found.replace(parameters=list(found.parameters.values())[1:])


SIGNATURE = _Signature()


def _write_init(cls: Any) -> Callable[..., None]:
    """Compile the function that sets every field to what is given, or to its default."""
    known: dict[str, object] = {"set_field": object.__setattr__, "MADE_ANEW": MADE_ANEW}
    parameters, lines = ["self"], []
    for name, one in cls.__record__.items():
        default = f"default_{name}"
        parameter = value = name
        if one.default is not MISSING:
            known[default] = one.default
            parameter = f"{name}={default}"
        elif one.default_factory is not MISSING:
            known[default] = one.default_factory
            parameter = f"{name}=MADE_ANEW"
            value = f"{default}() if {name} is MADE_ANEW else {name}"
        parameters.append(parameter)
        lines.append(f"    set_field(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    made: dict[str, Callable[..., None]] = {}
    text = "\n".join([f"def __init__({', '.join(parameters)}):", *lines, "    return"])
    exec(text, known, made)  # names and nothing else come from the class
    init = made["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {**_list_types(cls), "return": None}
    return init


def _list_types(cls: type) -> dict[str, Any]:
    """Return the types of all fields, as they are written."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if "__record__" in vars(base):
            found |= base.__annotations__
    return found


def _refuse_change(self: object, name: str, value: object) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: object, name: str) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[object]:
    return [getattr(self, name) for name in self.__record__]


def _set_state(self: Any, state: Iterable[object]) -> None:
    for name, value in zip(self.__record__, state, strict=True):
        object.__setattr__(self, name, value)


def _describe(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name, one in self.__record__.items() if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"
