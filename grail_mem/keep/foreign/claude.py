"""The data export of Claude: messages with what was attached to them, projects with their documents, and memories.

`conversations.json`, `projects.json` or `projects/*.json`, and `memories.json`, alone or in the zip. Knows nothing of the
store that takes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from grail_mem.keep.foreign.chatgpt import CONVERSATIONS
from grail_mem.keep.foreign.place import Place
from grail_mem.keep.foreign.said import Said, draft, skip, text
from grail_mem.keep.foreign.streamed import READING, Odd, pieces

KIND: Final = "claude"
_PROJECTS: Final = re.compile(r"(?:^|/)projects\.json$|(?:^|/)projects/[^/]+\.json$")
_MEMORIES: Final = re.compile(r"(?:^|/)memories\.json$")
_ROLES: Final = {"human": "user", "assistant": "assistant"}
_WHO: Final = {"user": "user_statement", "assistant": "agent_inference"}


def is_conversation(value: object) -> bool:
    """Whether a value is a conversation of Claude, or was meant to be one."""
    return isinstance(value, dict) and "chat_messages" in value


def is_project(value: object) -> bool:
    """Whether a value is a project of Claude."""
    return isinstance(value, dict) and "prompt_template" in value and "uuid" in value


def is_memories(value: object) -> bool:
    """Whether a value is what Claude remembers."""
    return isinstance(value, dict) and ("conversations_memory" in value or "project_memories" in value)


def read(place: Place) -> Iterator[Said]:
    """Messages, documents and memories as drafts, and everything that is none."""
    for name in sorted(place.files):
        if not (place.shape == "file" or any(p.search(name) for p in (CONVERSATIONS, _PROJECTS, _MEMORIES))):
            yield skip(name, "", "it holds no conversations, projects or memories")
            continue
        try:
            with place.open(name) as file:
                single: dict[str, Any] = {}
                for piece in pieces(file):
                    if isinstance(piece.value, Odd):
                        yield skip(f"{name}, {piece.key or 'item'} {piece.number}", "", piece.value.reason)
                    elif piece.key:
                        single.setdefault(piece.key, []).append(piece.value) if piece.number else single.update(
                            {piece.key: piece.value}
                        )
                    else:
                        yield from _item(f"{name}, item {piece.number}", piece.value, piece.number)
                if single:
                    yield from _item(name, single, 1)
        except READING as error:
            yield skip(name, "", f"it cannot be read: {error}")


def _item(where: str, value: object, at: int) -> Iterator[Said]:
    if is_memories(value):
        return _memories(where, value)  # type: ignore[arg-type]
    if is_project(value):
        return _project(where, value)  # type: ignore[arg-type]
    return conversation(where, value, at)


def conversation(where: str, chat: object, at: int) -> Iterator[Said]:
    """The messages of one conversation, and what was attached to them."""
    messages = chat.get("chat_messages") if isinstance(chat, dict) else None
    if not isinstance(chat, dict) or not isinstance(messages, list):
        yield skip(where, chat.get("name") if isinstance(chat, dict) else "", "it is no conversation")
        return
    session, name = text(chat.get("uuid")) or f"conversation {at}", text(chat.get("name"))
    for turn, message in enumerate(messages):
        place = f"{where}, message {turn + 1}"
        if not isinstance(message, dict):
            yield skip(place, name, "it is no message")
            continue
        role = _ROLES.get(str(message.get("sender")), text(message.get("sender")))
        key = text(message.get("uuid")) or str(turn)
        beside: dict[str, Any] = {
            "kind": "episodic", "session": session, "turn": turn, "speaker": role, "source": name,
            "observed_at": text(message.get("created_at")) or text(chat.get("created_at")),
        }  # fmt: skip
        if said := _text(message):
            yield draft(KIND, place, f"{session}\0{key}", said, origin=key, source_kind=_WHO.get(role), **beside)
        else:
            yield skip(place, name, "the message holds no text")
        yield from _attached(place, f"{session}\0{key}", message, beside)


def _text(message: Mapping[str, Any]) -> str:
    """What was said: the parts that are text, without thoughts and calls of tools."""
    parts = message.get("content")
    found = [
        part["text"]
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and part.get("type", "text") == "text" and text(part.get("text"))
    ]
    said = "\n".join(found) or message.get("text")
    return said if text(said) and isinstance(said, str) else ""


def _attached(where: str, key: str, message: Mapping[str, Any], beside: Mapping[str, Any]) -> Iterator[Said]:
    """Documents that were attached, as far as the export holds their text; nobody said what is in them."""
    for number, item in enumerate(_list(message.get("attachments")), start=1):
        place = f"{where}, attachment {number}"
        content = item.get("extracted_content") if isinstance(item, dict) else None
        if isinstance(item, dict) and isinstance(content, str) and content.strip():
            title = text(item.get("file_name")) or "attachment"
            yield draft(
                KIND, place, f"{key}\0{number}\0{title}", content, title=title, tags=["attachment"],
                **{field: value for field, value in beside.items() if field != "speaker"},
            )  # fmt: skip
        else:
            yield skip(place, item.get("file_name") if isinstance(item, dict) else "", "the attachment holds no text")
    for number, item in enumerate(_list(message.get("files")), start=1):
        name = item.get("file_name") if isinstance(item, dict) else ""
        yield skip(f"{where}, file {number}", name, "the export does not hold the file")


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _project(where: str, value: Mapping[str, Any]) -> Iterator[Said]:
    """What a project says of itself, and its documents."""
    uuid, name = text(value.get("uuid")), text(value.get("name")) or "project"
    beside: dict[str, Any] = {"category": "imported/claude/projects", "source": name}
    n_said = 0
    for field, title in (("description", name), ("prompt_template", f"{name}: instructions")):
        if said := text(value.get(field)):
            n_said += 1
            yield draft(
                KIND, where, f"{uuid}\0{field}", said, origin=uuid, title=title,
                observed_at=text(value.get("created_at")), **beside,
            )  # fmt: skip
    docs = _list(value.get("docs"))
    for number, doc in enumerate(docs, start=1):
        place = f"{where}, document {number}"
        held = doc.get("content") if isinstance(doc, dict) else None
        if not isinstance(doc, dict) or not isinstance(held, str) or not held.strip():
            yield skip(place, doc.get("filename") if isinstance(doc, dict) else "", "the document holds no text")
            continue
        key = text(doc.get("uuid")) or str(number)
        yield draft(
            KIND, place, f"{uuid}\0{key}", held, origin=key, title=text(doc.get("filename")) or None,
            observed_at=text(doc.get("created_at")), **beside,
        )  # fmt: skip
    if not docs and not n_said:
        yield skip(where, name, "the project holds no text")


def _memories(where: str, value: Mapping[str, Any]) -> Iterator[Said]:
    """What Claude concluded of all conversations, and of those of each project."""
    projects = value.get("project_memories")
    named = projects if isinstance(projects, dict) else {}
    found = [("conversations", value.get("conversations_memory"), "What Claude remembers")]
    found += [(str(key), said, f"What Claude remembers of project {key}"[:120]) for key, said in named.items()]
    for key, said, title in found:
        if text(said):
            yield draft(
                KIND, f"{where}, {key}", f"memory\0{key}", text(said), origin=key, title=title, kind="summary",
                category="imported/claude/memories", source_kind="agent_inference", source="memory of Claude",
            )  # fmt: skip
        else:
            yield skip(f"{where}, {key}", title, "the memory holds no text")
    if projects is not None and not isinstance(projects, dict):
        yield skip(where, "", "its project_memories are no mapping")
