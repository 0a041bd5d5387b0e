"""Mapping: the YAML of a configuration file, with every key once."""

from __future__ import annotations

from typing import Any

import yaml

from ragforge.errors import SettingsError


def parse(text: str, shown: str) -> dict[Any, Any]:
    """Return the mapping that a text is; one without content is empty.

    Raises SettingsError, with the line where it is known.
    """
    try:
        content = yaml.load(text, Loader=_UniqueKeys)
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}:" if error.problem_mark else ""
        raise SettingsError(f"{shown}:{line} not valid YAML: {error.problem}.") from None
    except yaml.YAMLError:
        raise SettingsError(f"{shown}: not valid YAML: it holds control characters.") from None
    except ValueError as error:
        raise SettingsError(f"{shown}: not valid YAML: {error}.") from None
    except RecursionError:
        raise SettingsError(f"{shown}: not valid YAML: it is nested too deeply.") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise SettingsError(f"{shown}: it must hold sections such as 'store:', not a bare value.")
    return content


class _UniqueKeys(yaml.SafeLoader):
    """Refuses a key that stands twice in one mapping; plain YAML keeps the last."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    problem = f"the key {key.value!r} occurs twice"
                    raise yaml.composer.ComposerError(None, None, problem, key.start_mark)
                seen.add(key.value)
        return node
