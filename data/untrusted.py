"""A reader of users' YAML files that runs no code, and takes little time and memory for any content.

Besides the standard library, the module imports only PyYAML.
"""

from pathlib import Path
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:  # PyYAML without libyaml has only this slower loader
    from yaml import SafeLoader  # type: ignore[assignment]

LARGEST_FILE = 2**20
"""Limit of the bytes of a file."""
LARGEST_DEPTH = 100
"""Limit of the levels of nested lists and mappings; at some thousand levels, libyaml overflows the stack."""
MAX_VALUES = 100_000
"""Limit of the values of a document, counted after aliases are expanded; more values take longer than a second."""
LONGEST_NUMBER = 100
"""Limit of the characters of a number or date."""
_NUMBER_TAGS = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "timestamp"))


class UniqueKeyLoader(SafeLoader):
    """A safe loader that raises MarkedYAMLError for a repeated key, of which other loaders use the last value.

    The loader also refuses what takes long to construct: long numbers, and too many values after aliases are expanded.
    """

    def construct_document(self, node: yaml.Node) -> Any:
        """Return the content of a document."""
        _count_values(node, {})
        return super().construct_document(node)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the value of a node."""
        try:
            if node.tag in _NUMBER_TAGS and len(node.value) > LONGEST_NUMBER:
                raise ValueError(f"it has {len(node.value):,} characters; the limit is {LONGEST_NUMBER:,}")
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError) as error:  # the last two for wrong tags, such as !!int ""
            problem = f"{str(node.value)[:40]!r} is not a valid number or date: {error}"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping of a node; MarkedYAMLError for a repeated key."""
        keys = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in keys:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} is there twice", problem_mark=key.start_mark)
            keys.add(key.value)
        return super().construct_mapping(node, deep)


def text_of(file: Path) -> str:
    """Return the text of a user's YAML file.

    Args:
        file: The YAML file.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is larger than `LARGEST_FILE`, or is not UTF-8.
    """
    with file.open("rb") as opened:
        content = opened.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise ValueError(f"it has more than {LARGEST_FILE // 2**20} MiB")
    return content.decode("utf-8")


def untrusted_yaml(text: str) -> Any:
    """Return the content of a user's YAML.

    Args:
        text: The text of the YAML file.

    Raises:
        yaml.YAMLError: The text is not valid YAML, or would take long to read.
    """
    depth = 0
    for event in yaml.parse(text, Loader=SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > LARGEST_DEPTH:
            mark: Any = event.start_mark
            raise yaml.MarkedYAMLError(problem=f"more than {LARGEST_DEPTH} levels deep", problem_mark=mark)
    return yaml.load(text, Loader=UniqueKeyLoader)


def _count_values(node: yaml.Node, counts: dict[int, int]) -> int:
    """Return the number of values of a node after aliases are expanded.

    `counts` has the number of values of each earlier node, by the `id` of the node.
    """
    if (earlier_count := counts.get(id(node))) is not None:
        return earlier_count
    counts[id(node)] = MAX_VALUES  # a node with an alias of itself then exceeds the limit
    children = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
    count = 1 if isinstance(node, yaml.ScalarNode) else 1 + sum(_count_values(child, counts) for child in children)
    if count > MAX_VALUES:
        problem = f"it stands for more than {MAX_VALUES:,} values"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    counts[id(node)] = count
    return count
