"""The page of commands, made from the command line itself."""

import re
from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

import typer.main

from swaymeter.flows.cli.main import app

HEAD = """\
# Commands

Every command with its arguments and options, as `swaymeter COMMAND --help` prints them. Exit codes: 0, done; 1,
something failed, is damaged, or misses a threshold; 2, the command or a file is not valid; 130, stopped by Ctrl-C.

"""


def commands() -> str:
    """A section a command, in the order of `swaymeter --help`."""
    return HEAD + "\n".join(_sections("swaymeter", typer.main.get_command(app)))


def _sections(name: str, command: Any) -> Iterator[str]:
    for part in getattr(command, "commands", {}).values():
        if hasattr(part, "commands"):
            yield from _sections(f"{name} {part.name}", part)
            continue
        called = f"{name} {part.name}"
        usage = " ".join([called, *_names(part.params), "[OPTIONS]"])
        yield from (f"## {called.partition(' ')[2]}", "", "```text", usage, "```", "")
        yield from (re.sub(r"\[/?bold\]", "`", cleandoc(part.help or "")).replace("<", "&lt;"), "")
        yield from ("| parameter | default | meaning |", "| --- | --- | --- |")
        yield from (_row(one) for one in part.params)
        yield ""


def _names(parameters: list[Any]) -> Iterator[str]:
    """The arguments among parameters, as usage lines have them."""
    arguments = (one for one in parameters if one.param_type_name == "argument")
    yield from ((one.metavar or one.name).strip("{}").upper() for one in arguments)


def _row(parameter: Any) -> str:
    is_option = parameter.param_type_name == "option"
    name = ", ".join((*parameter.opts, *parameter.secondary_opts)) if is_option else next(_names([parameter]))
    has_default = parameter.default not in (None, False, [], ()) and not callable(parameter.default)
    default = "required" if parameter.required else f"`{parameter.default}`" if has_default else ""
    meaning = " ".join((parameter.help or "").replace("|", "\\|").replace("<", "&lt;").split())
    return f"| `{name}` | {default} | {meaning} |"
