"""Revisions as the Action API tells them: which are meant, how far an answer goes, and what is hidden."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

from tests.data.sources.servers.wiki_world.pages import Page, Revision, Wiki

Chosen = list[tuple[Page, Revision]]
PROPS = frozenset(
    {"ids", "timestamp", "flags", "comment", "parsedcomment", "user", "userid", "size", "sha1", "tags", "content"}
)


def in_turn(pages: Sequence[Page], form: Mapping[str, str], most: int) -> tuple[Chosen, str | None]:
    """The revisions of one page, newest first unless rvdir=newer, and where the rest begins."""
    if not pages:
        return [], None
    newer = form.get("rvdir", "older") == "newer"
    revisions = sorted(pages[0].revisions, key=lambda revision: revision.revision_id, reverse=not newer)
    if "rvcontinue" in form:
        first = int(form["rvcontinue"].split("|")[1])
        begin = next(place for place, revision in enumerate(revisions) if revision.revision_id == first)
        revisions = revisions[begin:]
    asked = form.get("rvlimit", "max")
    most = most if asked == "max" else min(most, int(asked))
    rest = revisions[most : most + 1]
    after = "".join(character for character in rest[0].timestamp if character.isdigit()) if rest else ""
    return [(pages[0], revision) for revision in revisions[:most]], f"{after}|{rest[0].revision_id}" if rest else None


def by_id(wiki: Wiki, form: Mapping[str, str], most: int) -> tuple[Chosen, str | None]:
    """The revisions that were asked for by number, in order of their numbers, and where the rest begins."""
    wanted = sorted({int(said) for said in form["revids"].split("|")})
    first = int(form.get("rvcontinue", "0"))
    found = [known for number in wanted if number >= first and (known := wiki.revision(number)) is not None]
    return found[:most], str(found[most][1].revision_id) if len(found) > most else None


def shown(wiki: Wiki, revision: Revision, props: set[str]) -> dict[str, Any]:
    """A revision as far as it is asked for and not hidden, its keys in the order of the software."""
    told: dict[str, Any] = {}
    if "ids" in props:
        told |= {"revid": revision.revision_id, "parentid": revision.parent_id}
    if "flags" in props:
        told["minor"] = False
    if props & {"user", "userid"}:
        told |= {"userhidden": True} if "user" in revision.hidden else _editor(wiki, revision, props)
    if "timestamp" in props:
        told["timestamp"] = revision.timestamp
    if "size" in props:
        told["size"] = len(revision.content.encode())
    if "sha1" in props:
        told |= {"sha1hidden": True} if "content" in revision.hidden else {"sha1": revision.sha1}
    if "content" in props:
        shape = {"contentmodel": wiki.model, "contentformat": wiki.content_format, "content": revision.content}
        told["slots"] = {"main": {"texthidden": True} if "content" in revision.hidden else shape}
    if props & {"comment", "parsedcomment"}:
        told |= {"commenthidden": True} if "comment" in revision.hidden else _comment(revision, props)
    if "tags" in props:
        told["tags"] = list(revision.tags)
    return told


def _editor(wiki: Wiki, revision: Revision, props: set[str]) -> dict[str, Any]:
    told: dict[str, Any] = {"user": revision.user} if "user" in props else {}
    if revision.anonymous:
        told["anon"] = True
    if "userid" in props:
        told["userid"] = wiki.users.get(revision.user, 0)
    return told


def _comment(revision: Revision, props: set[str]) -> dict[str, Any]:
    told = {"comment": revision.comment, "parsedcomment": html.escape(revision.comment)}
    return {name: said for name, said in told.items() if name in props}
