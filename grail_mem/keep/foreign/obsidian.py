"""A vault of Obsidian, or any folder of linked notes: a note is an observation, its links are relationships.

Attachments, canvases and what Obsidian keeps for itself are not taken. Knows nothing of the store that takes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from grail_mem.keep.foreign.notes import LINK, Note, notes, target_of
from grail_mem.keep.foreign.place import Place
from grail_mem.keep.foreign.said import Said, category_of, draft, entities_of, relation, skip, text

KIND: Final = "obsidian"


def read(place: Place) -> Iterator[Said]:
    """The notes as drafts, and every file that is none."""
    for item in notes(place):
        yield _draft(item) if isinstance(item, Note) else item
    yield from beside(place)


def beside(place: Place) -> Iterator[Said]:
    """The files that are no notes."""
    for name in sorted(place.files):
        ending = name.rpartition(".")[2].lower() if "." in name.rpartition("/")[2] else ""
        if ending == "canvas":
            yield skip(name, "", "a canvas is not taken")
        elif ending != "md":
            yield skip(name, "", "an attachment is not taken; notes that embed it keep its name")


def _draft(note: Note) -> Said:
    content = note.body.strip("\n")
    if not content.strip():
        return skip(note.name, note.title, "the note is empty")
    names, links = [], []
    for found in LINK.finditer(note.plain):
        target = target_of(found)
        if not target or (found[1] and "." in target):
            continue  # a heading of the same note, or an attachment
        names.append(target)
        links.append((note.title, "EMBEDS" if found[1] else "LINKS_TO", target))
    own: dict[str, Any] = {"name": note.title, "aliases": note.aliases}
    entities = entities_of([own, *({"name": name} for name in names)])
    known = {item["name"] for item in entities}
    kept = [relation(*link) for link in dict.fromkeys(links) if link[2] in known and note.title in known]
    return draft(
        KIND, note.name, note.name, content, origin=note.name, title=text(note.fields.get("title")) or note.title,
        category=category_of(f"imported/{KIND}", note.folder) if note.folder else "", tags=note.tags, entities=entities,
        relationships=kept, observed_at=note.at, source=note.name,
    )  # fmt: skip
