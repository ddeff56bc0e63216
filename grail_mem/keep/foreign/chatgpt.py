"""The data export of ChatGPT: every message of a user or an assistant on the branch that was shown last.

`conversations.json`, or `conversations-000.json` and so on, alone or in the zip; one conversation in a file of its own, too.
Knows nothing of the store that takes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from grail_mem.keep.foreign.place import Place
from grail_mem.keep.foreign.said import Said, draft, skip, text, time_of
from grail_mem.keep.foreign.streamed import READING, Odd, pieces

KIND: Final = "chatgpt"
CONVERSATIONS: Final = re.compile(r"(?:^|/)conversations(?:[-_]?\d+)?\.json$")
_SPOKEN: Final = ("text", "multimodal_text", None)
_ABOUT: Final = {"user_profile": "About the user", "user_instructions": "How to answer"}
_WHO: Final = {"user": "user_statement", "assistant": "agent_inference"}


def is_conversation(value: object) -> bool:
    """Whether a value is a conversation of ChatGPT, or was meant to be one."""
    return isinstance(value, dict) and "mapping" in value


def read(place: Place) -> Iterator[Said]:
    """The messages as drafts, and everything that is none."""
    names = [name for name in place.files if CONVERSATIONS.search(name)] or list(place.files)[: place.shape == "file"]
    for name in sorted(names):
        try:
            with place.open(name) as file:
                single: dict[str, Any] = {}
                for piece in pieces(file):
                    where = f"{name}, conversation {piece.number}"
                    if isinstance(piece.value, Odd):
                        yield skip(where, "", piece.value.reason)
                    elif piece.key and piece.number == 0:
                        single[piece.key] = piece.value
                    else:
                        yield from conversation(where, piece.value, piece.number)
                if single:
                    yield from conversation(name, single, 1)
        except READING as error:
            yield skip(name, "", f"it cannot be read: {error}")
    for name in sorted(set(place.files).difference(names)):
        yield skip(name, "", "it holds no conversations; pictures, sounds and settings are not taken")


def conversation(where: str, chat: object, at: int) -> Iterator[Said]:
    """The messages of one conversation."""
    if not isinstance(chat, dict) or not isinstance(chat.get("mapping"), dict):
        yield skip(where, chat.get("title") if isinstance(chat, dict) else "", "it is no conversation")
        return
    session = next((said for name in ("conversation_id", "id") if (said := text(chat.get(name)))), f"conversation {at}")
    time, shown = time_of(chat.get("create_time")), _branch(chat)
    turns = [key for key in shown if chat["mapping"][key].get("message") is not None]
    for turn, key in enumerate(turns):
        message = chat["mapping"][key]["message"]
        if isinstance(message, dict):
            time = time_of(message.get("create_time")) or time  # that of the message before
            yield from _message(f"{where}, message {turn + 1}", chat, session, turn, key, message, time)
        else:
            yield skip(f"{where}, message {turn + 1}", chat.get("title"), "it is no message")
    left = set(chat["mapping"]).difference(shown)
    for key in (key for key in chat["mapping"] if key in left):
        node = chat["mapping"][key]
        if not isinstance(node, dict):
            yield skip(f"{where}, node {key}", chat.get("title"), "it is no message")
        elif node.get("message") is not None:
            yield skip(f"{where}, node {key}", chat.get("title"), "it is on a branch that was left")


def _branch(chat: Mapping[str, Any]) -> list[str]:
    """The nodes from the first to the present one; without a present one, all in order of time."""
    nodes = {key: node for key, node in chat["mapping"].items() if isinstance(node, dict)}
    at, seen = chat.get("current_node"), dict[str, None]()
    while isinstance(at, str) and at in nodes and at not in seen:
        seen[at] = None
        at = nodes[at].get("parent")
    return [*seen][::-1] or sorted(nodes, key=lambda key: _seconds(nodes[key]))


def _seconds(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    time = message.get("create_time") if isinstance(message, dict) else None
    return time if isinstance(time, int | float) and time == time else 0.0  # noqa: PLR0124  NaN orders nothing


def _message(
    where: str, chat: Mapping[str, Any], session: str, turn: int, key: str, message: Mapping[str, Any], time: str
) -> Iterator[Said]:
    author, content, name = message.get("author"), message.get("content"), text(chat.get("title"))
    role = author.get("role") if isinstance(author, dict) else None
    content = content if isinstance(content, dict) else {}
    if content.get("content_type") == "user_editable_context":
        yield from _instructions(where, content, time)
        return
    if reason := _unspoken(role, message, content):
        yield skip(where, name, reason)
        return
    said, others = _parts(content.get("parts"))
    for other in others:
        yield skip(where, name, f"{other} is not taken")
    if not said:
        yield skip(where, name, "the message holds no text")
        return
    yield draft(
        KIND, where, f"{session}\0{text(message.get('id')) or key}", said, origin=text(message.get("id")) or key,
        kind="episodic", session=session, turn=turn, speaker=role if isinstance(role, str) else None, source=name,
        source_kind=_WHO.get(str(role)), observed_at=time,
    )  # fmt: skip


def _unspoken(role: object, message: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    """Why a message is nothing that a user or an assistant said; empty when it is."""
    if role in ("system", "tool"):
        return f"it is of the {role}"
    kind, to = content.get("content_type"), message.get("recipient")
    if isinstance(to, str) and to not in ("all", ""):
        return "it is a call of a tool"
    if isinstance(kind, str) and kind not in _SPOKEN:
        return f"its content is of the type {kind[:40]}, which is nothing that was said"
    told = message.get("metadata")
    if isinstance(told, dict) and told.get("is_visually_hidden_from_conversation") is True:
        return "it was not shown"
    return ""


def _parts(parts: object) -> tuple[str, list[str]]:
    """The text of a message, what was spoken included, and what else is in it."""
    said, others = [], []
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, str):
            said.append(part)
        elif isinstance(part, dict) and part.get("content_type") == "audio_transcription" and text(part.get("text")):
            said.append(part["text"])
        elif isinstance(part, dict):
            others.append(text(part.get("content_type"))[:60].replace("_", " ") or "a part that is no text")
    return ("\n".join(said) if any(item.strip() for item in said) else "", others)


def _instructions(where: str, content: Mapping[str, Any], time: str) -> Iterator[Said]:
    """What a user tells of themself for every conversation; it stands in each of them and comes once."""
    found = False
    for name, title in _ABOUT.items():
        if said := text(content.get(name)):
            found = True
            yield draft(
                KIND, where, name, said, title=title, source="custom instructions", speaker="user",
                source_kind="user_statement", observed_at=time,
            )  # fmt: skip
    if not found:
        yield skip(where, "", "the message holds no text")
