"""Records: the `dataclass` of the standard library, which defines frozen classes sooner.

The standard decorator writes and compiles six functions for a frozen class. Most of them are never
called, and there are hundreds of classes: a sixth of what a command costs. Here `__init__` is
compiled when a class gets its first instance, the standard decorator runs when its fields are asked
for, and all classes share the rest. A class takes 10 µs (800 for the standard library, attrs 630);
msgspec has its own `replace` and `fields`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn, cast

__all__ = ["dataclass"]

SHARED = {"__init__", "__repr__", "__eq__", "__hash__", "__getstate__", "__setstate__"}

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool = False, **options: bool) -> Callable[[type], type]:
        """Make a class a dataclass; one that is frozen and plain is made quickly."""

        def make(cls: type) -> type:
            if frozen and options == {"slots": True} and _is_plain(cls):
                return _make_record(cls)
            return dataclasses.dataclass(cls, frozen=frozen, **options)

        return make


class _Factory:
    """The default in a signature of a value that is made for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


FACTORY = _Factory()


def _is_plain(cls: type) -> bool:
    """Whether a class inherits nothing and has no say in how its instances are made or compared."""
    types = " ".join(map(str, vars(cls).get("__annotations__", {}).values()))
    is_special = any(name in types for name in ("ClassVar", "InitVar", "KW_ONLY"))
    return cls.__bases__ == (object,) and vars(cls).keys().isdisjoint(SHARED) and not is_special


def _make_record(cls: type) -> type:
    """Return a class with slots whose instances do not change and are compared by value."""
    values = vars(cls)
    defaults = {name: values.get(name, MISSING) for name in values.get("__annotations__", {})}
    names = tuple(defaults)
    read = attrgetter("__class__", *(name for name in names if _compares(defaults[name])))

    def init(self: object, /, *given: object, **named: object) -> None:
        made.__init__ = _write_init(made, defaults)  # the real one takes its place
        made.__init__(self, *given, **named)

    def equal(self: object, other: object) -> bool:
        return read(self) == read(other) if other.__class__ is self.__class__ else NotImplemented

    body = {name: value for name, value in values.items() if name not in defaults}
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    body |= {"__qualname__": cls.__qualname__, "__slots__": names, "__match_args__": names}
    body |= {"__dataclass_fields__": _Standard(cls), "__dataclass_params__": _Standard(cls)}
    body |= {"__init__": init, "__signature__": _Signature(defaults)}
    body |= {"__eq__": equal, "__hash__": lambda self: hash(read(self)), "__repr__": _describe}
    body |= {"__setattr__": _refuse_change, "__delattr__": _refuse_deletion}
    body |= {"__getstate__": _get_state, "__setstate__": _set_state}
    made: Any = type(cls.__name__, cls.__bases__, body)  # in one step: to set them takes longer
    return cast(type, made)


def _compares(default: object) -> bool:
    return default.compare if isinstance(default, Field) else True


class _Standard:
    """What the standard decorator says of a class. Few programs ask, and it takes 40 µs."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def __set_name__(self, made: type, name: str) -> None:
        self._made, self._name = made, name

    def __get__(self, instance: object, owner: type) -> object:
        if self._name not in vars(self._cls):
            dataclasses.dataclass(self._cls, init=False, repr=False, eq=False)
            self._cls.__dataclass_params__.frozen = True  # so do classes that inherit from it
        found = vars(self._cls)[self._name]
        setattr(self._made, self._name, found)
        return found


class _Signature:
    """The arguments of a class, for whoever asks before there is an instance."""

    def __init__(self, defaults: Mapping[str, object]) -> None:
        self._defaults = defaults

    def __set_name__(self, made: type, name: str) -> None:
        self._made = made

    def __get__(self, instance: object, owner: type) -> object:
        if owner is not self._made:  # a class that inherits has its own
            raise AttributeError("__signature__")
        from inspect import signature

        found = signature(_write_init(owner, self._defaults))
        return found.replace(parameters=list(found.parameters.values())[1:])


def _write_init(cls: type, defaults: Mapping[str, object]) -> Callable[..., None]:
    """Compile the function that sets every field to what is given, or to its default."""
    known: dict[str, object] = {"set_field": object.__setattr__, "FACTORY": FACTORY}
    parameters, lines = ["self"], []
    for name, one in defaults.items():
        default = f"default_{name}"
        parameter = value = name
        factory = one.default_factory if isinstance(one, Field) else MISSING
        plain = one.default if isinstance(one, Field) else one
        if plain is not MISSING:
            known[default] = plain
            parameter = f"{name}={default}"
        elif factory is not MISSING:
            known[default] = factory
            parameter = f"{name}=FACTORY"
            value = f"{default}() if {name} is FACTORY else {name}"
        parameters.append(parameter)
        lines.append(f"    set_field(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    made: dict[str, Callable[..., None]] = {}
    text = "\n".join([f"def __init__({', '.join(parameters)}):", *lines, "    return"])
    exec(text, known, made)  # names and nothing else come from the class
    init = made["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {**vars(cls).get("__annotations__", {}), "return": None}
    return init


def _refuse_change(self: object, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: Iterable[object]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


def _describe(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"
