"""A vault of basic-memory: every `- [category] statement #tag (context)` is an observation, every `- verb [[Target]]` a relation.

What else a note says becomes one observation of its own, which has the relations. Knows nothing of the store that takes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from grail_mem.keep.foreign.notes import LINK, Note, inline_tags, notes, target_of
from grail_mem.keep.foreign.obsidian import beside
from grail_mem.keep.foreign.place import Place
from grail_mem.keep.foreign.said import Said, category_of, draft, entities_of, relation, skip, tags_of, text

KIND: Final = "basic-memory"
STATEMENT: Final = re.compile(r"^[ \t]*[-*][ \t]+\[([^\[\]()\n]{2,80}|[^\[\]()\sxX/>?!*-])\][ \t]+(?!\()(\S.*)$")
_RELATION: Final = re.compile(r"^[ \t]*[-*][ \t]++([^\[\]\n]*+)\[\[([^\[\]\n]+)\]\][ \t]*+(?:\(([^()\n]*)\)[ \t]*+)?$")
_CONTEXT: Final = re.compile(r"\(([^()]*+)\)[ \t]*+$")
_TAG: Final = re.compile(r"(?:(?<=\s)|^)#[\w/-]+")
_FENCE: Final = re.compile(r"^[ \t]*(?:`{3,}|~{3,})")
_HEADING: Final = re.compile(r"^#{1,6}[ \t]")


def is_note(note: Note) -> bool:
    """Whether a note is one of basic-memory: it has its address, and says anything in its form."""
    return "permalink" in note.fields or any(STATEMENT.match(line) for line in note.plain.splitlines())


def read(place: Place) -> Iterator[Said]:
    """The statements and notes as drafts, and every file that is none."""
    for item in notes(place):
        if isinstance(item, Note):
            yield from _note(item)
        else:
            yield item
    yield from beside(place)


def _note(note: Note) -> Iterator[Said]:
    title = text(note.fields.get("title")) or note.title
    category = category_of(f"imported/{KIND}", note.folder) if note.folder else f"imported/{KIND}"
    own: dict[str, Any] = {"name": title, "type": text(note.fields.get("type")), "aliases": note.aliases}
    address = text(note.fields.get("permalink")) or note.name
    said, links, rest = _parts(note)
    beside_all: dict[str, Any] = {"category": category, "observed_at": note.at, "source": note.name}
    seen: dict[str, int] = {}
    for number, (label, statement, context) in said:
        again = seen[statement] = seen.get(statement, 0) + 1
        where = f"{note.name}, line {number}"
        if again > 1:
            yield skip(where, statement, "the note says it twice")
            continue
        content = f"{statement} ({context})" if context else statement
        yield draft(
            KIND, where, f"{address}\0{label}", content, origin=address, entities=entities_of([own]),
            tags=tags_of([label, *inline_tags(statement), *note.tags]),
            title=f"{title}: {_TAG.sub('', statement).strip() or statement}", **beside_all,
        )  # fmt: skip
    body = _prose(rest)
    if not body and not links:
        if not said:
            yield skip(note.name, title, "the note is empty")
        return
    content = body or "\n".join(f"- {title} {verb} {target}." for verb, target, _ in links)
    entities = entities_of([own, *({"name": target} for _, target, _ in links)])
    known = {item["name"] for item in entities}
    yield draft(
        KIND, note.name, address, content, origin=address, title=title, tags=note.tags, entities=entities,
        relationships=[
            relation(title, verb, target, description=context)
            for verb, target, context in dict.fromkeys(links)
            if {title, target} <= known
        ],
        **beside_all,
    )  # fmt: skip


def _parts(note: Note) -> tuple[list[tuple[int, tuple[str, str, str]]], list[tuple[str, str, str]], list[str]]:
    """Statements with their lines, relations, and the lines that are neither."""
    said, links, rest, fenced = [], [], [], False
    for number, line in enumerate(note.body.splitlines(), start=1):
        fenced ^= bool(_FENCE.match(line))
        if not fenced and (found := _RELATION.match(line)):
            target = found[2].partition("|")[0].strip()
            links.append((found[1].strip()[:120] or "relates_to", target, (found[3] or "").strip()))
        elif not fenced and (found := STATEMENT.match(line)):
            context = _CONTEXT.search(found[2])
            statement = _CONTEXT.sub("", found[2]).strip() if context else found[2].strip()
            said.append(
                (number, (found[1].strip(), statement or found[2].strip(), context[1].strip() if context else ""))
            )
        else:
            rest.append(line)
            links += [
                ("links_to", target_of(link), "") for link in LINK.finditer(line) if not fenced and target_of(link)
            ]
    return said, [link for link in links if link[1]], rest


def _prose(lines: list[str]) -> str:
    """What is left of a note: without headings under which nothing stands any more; empty when only headings are left."""
    if not any(line.strip() and not _HEADING.match(line) for line in lines):
        return ""
    kept: list[str] = []
    following = ""
    for line in reversed(lines):
        ends = not following or (_HEADING.match(following) and _level(following) <= _level(line))
        if not (_HEADING.match(line) and ends):
            kept.append(line)
        following = line if line.strip() else following
    return "\n".join(reversed(kept)).strip()


def _level(line: str) -> int:
    return len(line) - len(line.lstrip("#"))
