"""Somebody's YAML files: read without code, in little time and memory whatever they hold. Imports PyYAML alone."""

from pathlib import Path
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:  # PyYAML built without libyaml: the same, more slowly
    from yaml import SafeLoader  # type: ignore[assignment]

LARGEST_FILE = 2**20
DEEPEST = 100
"""Lists and mappings within each other in somebody's YAML: libyaml's composer overflows the stack at some thousands."""
MAX_VALUES = 100_000
"""Values of a YAML document, counted after aliases are expanded: more take longer than a second."""
LONGEST_NUMBER = 100
_NUMBERS = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "timestamp"))


class UniqueKeyLoader(SafeLoader):
    """A safe loader that refuses a key which a mapping holds twice, where YAML libraries keep the last one.

    It refuses what takes long to construct, too: aliases that stand for more than is written, and endless numbers. All
    that it refuses is a MarkedYAMLError.
    """

    def construct_document(self, node: yaml.Node) -> Any:
        """The content of a document."""
        _count_values(node, {})
        return super().construct_document(node)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """The value of a node."""
        try:
            if node.tag in _NUMBERS and len(node.value) > LONGEST_NUMBER:
                raise ValueError(f"it has {len(node.value):,} characters")
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError) as error:  # the last two: of a text with a tag, as !!int ""
            problem = f"{str(node.value)[:40]!r} is not a valid number or date: {error}"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping of a node; MarkedYAMLError where it holds a key twice."""
        keys = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in keys:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} is there twice", problem_mark=key.start_mark)
            keys.add(key.value)
        return super().construct_mapping(node, deep)


def text_of(file: Path) -> str:
    """The text of somebody's YAML file; OSError where it cannot be read, ValueError over 1 MiB or without UTF-8."""
    with file.open("rb") as opened:
        read = opened.read(LARGEST_FILE + 1)
    if len(read) > LARGEST_FILE:
        raise ValueError(f"it has more than {LARGEST_FILE // 2**20} MiB")
    return read.decode("utf-8")


def untrusted_yaml(text: str) -> Any:
    """The content of somebody's YAML; yaml.YAMLError where it is not valid, or would take long to read."""
    depth = 0
    for event in yaml.parse(text, Loader=SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            mark: Any = event.start_mark
            raise yaml.MarkedYAMLError(problem=f"more than {DEEPEST} levels deep", problem_mark=mark)
    return yaml.load(text, Loader=UniqueKeyLoader)


def _count_values(node: yaml.Node, counted: dict[int, int]) -> int:
    """The values of a node with its aliases written out; MarkedYAMLError for too many. counted: by the node's id."""
    if (count_of_node := counted.get(id(node))) is not None:
        return count_of_node
    counted[id(node)] = MAX_VALUES  # a node that contains an alias of itself has too many
    children = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
    count = 1 if isinstance(node, yaml.ScalarNode) else 1 + sum(_count_values(child, counted) for child in children)
    if count > MAX_VALUES:
        problem = f"it stands for more than {MAX_VALUES:,} values"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    counted[id(node)] = count
    return count
