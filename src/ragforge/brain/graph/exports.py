"""Exports: what an imported name means, through any number of re-exports."""

from __future__ import annotations

from typing import TypeAlias

from ragforge.brain.graph.members import Members
from ragforge.brain.graph.name_index import FILE, MAX_DEPTH, Bound, FileView, NameIndex, Target
from ragforge.brain.languages.language import Import
from ragforge.brain.parse.outline import SPACES, Definition
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class ImportedModule:
    """A module of the project: the files whose names are reached through it."""

    files: tuple[str, ...]
    importer: str
    name: str  # as the importer writes it


Meaning: TypeAlias = Target | ImportedModule
_Steps: TypeAlias = tuple[tuple[str, str], ...]  # the files and names that led here


class Exports:
    """Resolves names as other files import them."""

    def __init__(self, index: NameIndex, members: Members) -> None:
        self._index, self._modules, self._members = index, index.modules, members
        self._bound: dict[tuple[str, int, str], Meaning | None] = {}
        self._known: dict[tuple[tuple[str, ...], str], Meaning | None] = {}

    def resolve_bound(self, view: FileView, scope: int, local: str) -> Meaning | None:
        """Return what a name means by the imports in a scope; None if they disagree."""
        key = (view.path, scope, local)
        if key not in self._bound:
            statements = (view.scoped[scope] if scope else view.bound)[local]
            self._bound[key] = self._agree(view, statements, local, ())
        return self._bound[key]

    def resolve_import(self, view: FileView, statement: Import, name: str | None) -> Meaning | None:
        """Return what an imported name means; without a name, the module itself."""
        return self._resolve_import(view, (statement, name), name or "", ())

    def resolve_wildcard(self, view: FileView, statement: Import, name: str) -> Meaning | None:
        """Return what a name means by a wildcard import."""
        if view.rules.private_prefix and name.startswith(view.rules.private_prefix):
            return None
        module, family = statement.module, view.rules.family
        files, left = self._modules.locate(view.path, view.language, module)
        if left:
            return self._find_member_at(files, left, name, ())
        if files and files != (view.path,):
            return self.find_shown(files, name, hidden=view.rules.hides_imports)
        owner = self._index.find_only_type(family, module) if view.rules.modules_are_types else None
        found = self._members.find_member(owner, name) if owner else None
        return found if found and self._index.get_definition(found).type != "type" else None

    def resolve_inside(self, module: ImportedModule, name: str) -> Meaning | None:
        """Return what a name after a module's name means: a definition or a module in it."""
        found = self.find_shown(module.files, name)
        importer = self._index.find_view(module.importer)
        if found is not None or importer is None:
            return found
        return self._find_submodule(importer, module.name, name)

    def resolve_itself(self, module: ImportedModule, name: str) -> Target | None:
        """Return the default export of a module, where the language has one."""
        importer = self._index.find_view(module.importer)
        if importer is None or not importer.rules.default_export:
            return None
        found = self._find_shown(module.files, "default", name, ())
        return None if isinstance(found, ImportedModule) else found

    def find_shown(self, files: tuple[str, ...], name: str, hidden: bool = False) -> Meaning | None:
        """Return what files export under a name; with `hidden` not what they import."""
        if hidden:
            view = self._index.find_view(files[0])
            own = _find_own(view, name, name) if view else None
            return (files[0], own) if own is not None else None
        key = (files, name)
        if key not in self._known:
            self._known[key] = self._find_shown(files, name, name, ())
        return self._known[key]

    def follow_path(
        self, files: tuple[str, ...], names: list[str], steps: _Steps = ()
    ) -> Target | None:
        """Return the definition at the end of a path in a module, or the type it is a member of."""
        found = self._find_shown(files, names[0], names[0], steps)
        for name in names[1:]:
            if found is None or isinstance(found, ImportedModule):
                return None
            found = self._members.find_member(found, name) or self._pass_on(found, name, steps)
        return None if isinstance(found, ImportedModule) else found

    def _pass_on(self, found: Target, name: str, steps: _Steps) -> Meaning | None:
        """Return what a module in a file imports under a name; of a type, itself."""
        view = self._index.get_view(found)
        if view.definitions[found[1]].type not in SPACES:
            return found
        bound = view.scoped.get(found[1], {}).get(name)
        return self._agree(view, bound, name, steps) if bound else None

    def _find_member_at(
        self, files: tuple[str, ...], path: tuple[str, ...], name: str, steps: _Steps
    ) -> Target | None:
        """Return a member of the type at the end of a path."""
        owner = self.follow_path(files, list(path), steps)
        return self._members.find_member(owner, name) if owner else None

    def _agree(
        self, view: FileView, statements: list[Bound], local: str, steps: _Steps
    ) -> Meaning | None:
        found = {self._resolve_import(view, bound, local, steps) for bound in statements} - {None}
        return found.pop() if len(found) == 1 else None

    def _resolve_import(
        self, view: FileView, bound: Bound, local: str, steps: _Steps
    ) -> Meaning | None:
        statement, name = bound
        language, module, family = view.language, statement.module, view.rules.family
        files, left = self._modules.locate(view.path, language, module)
        if left:
            return self.follow_path(files, [*left, name] if name else list(left), steps)
        if name is None:
            if files:
                return ImportedModule(files, view.path, module)
            return self._index.find_only_type(family, module) if view.rules.project_types else None
        if view.rules.file_per_type:
            own = self._modules.find_submodule(view.path, language, module, name)
            if own and (found := self._find_shown(own, name, local, steps)):
                return found
        if files and (found := self._find_shown(files, name, local, steps)):
            return found
        if view.rules.submodules:
            return self._find_submodule(view, module, name)
        return self._find_in_project(view, module, name)

    def _find_submodule(self, view: FileView, module: str, name: str) -> ImportedModule | None:
        files = self._modules.find_submodule(view.path, view.language, module, name)
        joint = "" if module.endswith(".") else view.rules.separator
        return ImportedModule(files, view.path, f"{module}{joint}{name}") if files else None

    def _find_in_project(self, view: FileView, module: str, name: str) -> Target | None:
        """Return the type of the project with this name, in any file."""
        rules, only = view.rules, self._index.find_only_type
        if not rules.project_types:
            return None
        if rules.bare_types:
            foreign = (
                module.partition(".")[0] in rules.foreign_packages or name in rules.builtin_names
            )
            return None if foreign else only(rules.family, name)
        space = module.replace("\\", ".")
        if found := only(rules.family, f"{space}.{name}" if space else name):
            return found
        owner = only(rules.family, space)
        return self._members.find_member(owner, name) if owner else None

    def _find_shown(
        self, files: tuple[str, ...], name: str, local: str, steps: _Steps
    ) -> Meaning | None:
        if len(files) > 1:
            return self._index.build_table(files).get(name)
        view = self._index.find_view(files[0])
        step = (files[0], name)
        if view is None or step in steps or len(steps) >= MAX_DEPTH:
            return None
        steps = (*steps, step)
        own = _find_own(view, name, local)
        if own is not None:
            return view.path, own
        if name in view.bound:
            return self._agree(view, view.bound[name], name, steps)
        if view.rules.path_names and (macro := self._find_macro(view, name)):
            return macro
        if not view.rules.reexports or (
            view.rules.private_prefix and name.startswith(view.rules.private_prefix)
        ):
            return None
        found: set[Meaning | None] = set()
        for other in self._index.find_reached(view).values():
            number = _find_own(other, name, name)
            if number is not None:
                found.add((other.path, number))
            elif name in other.bound:
                found.add(self._agree(other, other.bound[name], name, steps))
            elif view.rules.path_names:
                found.add(self._find_macro(other, name))
        for scope, statement in view.wildcards:
            whole, left = self._modules.locate(view.path, view.language, statement.module)
            if scope == FILE and left:
                found.add(self._find_member_at(whole, left, name, steps))
        found.discard(None)
        return found.pop() if len(found) == 1 else None

    def _find_macro(self, view: FileView, name: str) -> Target | None:
        """Return the macro that a module of a crate's root exports: it is at the root."""
        for found in view.imports:
            if found.module != f"self::{found.alias}":
                continue
            for path in self._modules.find(view.path, view.language, found.module):
                other = self._index.find_view(path)
                number = other.top.get(name) if other else None
                if other and number is not None and _is_exported(other.definitions[number]):
                    return path, number
        return None


def _is_exported(definition: Definition) -> bool:
    return definition.type == "macro" and "macro_export" in definition.decorators


def _find_own(view: FileView, name: str, local: str) -> int | None:
    """Return the definition that a file itself exports under a name."""
    own, rules = view.top.get(name), view.rules
    if own is not None:
        return own
    if rules.nested_exports:  # in a table, in a namespace
        ends = [number for full, number in view.qualified.items() if full.endswith(f".{name}")]
        return ends[0] if len(ends) == 1 else None
    if name != "default" or not rules.default_export:
        return None
    for number in view.top.values():
        if view.definitions[number].signature.startswith("export default"):
            return number
    return view.top.get(local)
