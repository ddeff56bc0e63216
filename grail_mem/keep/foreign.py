"""Other programs' memories as drafts: the MCP memory server, and the chats that ChatGPT and Claude export.

One message or statement becomes one draft; what cannot be one comes with the reason. Knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from grail_mem.model.times import format_time

_TITLE: Final = 120


@dataclass(frozen=True, slots=True)
class Said:
    """A draft, or why there is none."""

    number: int
    name: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


def is_mcp(value: Mapping[str, Any]) -> bool:
    """Whether a line is one of the MCP memory server."""
    return "entityType" in value or "observations" in value or "relationType" in value


def mcp(number: int, value: Mapping[str, Any]) -> Said:
    """An entity with what was observed of it, or a relation, as a draft."""
    if value.get("type") == "relation":
        ends = [value.get(name) for name in ("from", "relationType", "to")]
        if not all(isinstance(end, str) and end.strip() for end in ends):
            return Said(
                number, str(value.get("from") or "")[:_TITLE], reason="a relation needs from, relationType and to"
            )
        source, verb, target = map(str, ends)
        relation = {"source": source, "target": target, "relationship_type": verb}
        said = f"{source} {verb} {target}"
        return Said(number, source, _imported("mcp", said, f"{said}.") | {"relationships": [relation]})
    name = value.get("name")
    if value.get("type") != "entity" or not isinstance(name, str) or not name.strip():
        return Said(number, "", reason="it is no entity with a name, and no relation")
    listed = value.get("observations")
    lines = (
        [text.strip() for text in listed if isinstance(text, str) and text.strip()] if isinstance(listed, list) else []
    )
    kind = value.get("entityType")
    entity = {"name": name} | ({"type": kind} if isinstance(kind, str) and kind.strip() else {})
    content = "\n".join(f"- {line}" for line in lines) or f"{name} is known."
    return Said(number, name, _imported("mcp", name, content) | {"entities": [entity]})


def chat_form(value: Any) -> str:
    """Whose chats a list is: `chatgpt`, `claude`, or empty for nobody's."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict) and "mapping" in item:
            return "chatgpt"
        if isinstance(item, dict) and "chat_messages" in item:
            return "claude"
    return ""


def chatgpt(value: Any) -> Iterator[Said]:
    """The messages of `conversations.json` of ChatGPT, along each conversation's present branch."""
    number = 0
    for at, chat in enumerate(value, start=1):
        if not isinstance(chat, dict) or not isinstance(chat.get("mapping"), dict):
            number += 1
            yield Said(number, f"conversation {at}", reason="it is no conversation")
            continue
        session, time = _session(chat, ("conversation_id", "id"), at), _epoch(chat.get("create_time"))
        for turn, message in enumerate(_branch(chat)):
            number += 1
            author = message.get("author")
            role = author.get("role") if isinstance(author, dict) else None
            if role in ("system", "tool"):
                continue
            content = message.get("content")
            parts = content.get("parts") if isinstance(content, dict) else None
            text = "\n".join(part for part in parts if isinstance(part, str)) if isinstance(parts, list) else ""
            time = _epoch(message.get("create_time")) or time  # that of the message before
            yield _message(number, "chatgpt", chat.get("title"), session, turn, role, text, time)


def _branch(chat: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages from the first to the present one; without one, all in order of time."""
    nodes = {key: node for key, node in chat["mapping"].items() if isinstance(node, dict)}
    at, seen, found = chat.get("current_node"), set[Any](), []
    while isinstance(at, str) and at in nodes and at not in seen:
        seen.add(at)
        found.append(nodes[at])
        at = nodes[at].get("parent")
    listed = found[::-1] or sorted(nodes.values(), key=_time_of)
    return [node["message"] for node in listed if isinstance(node.get("message"), dict)]


def _time_of(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    time = message.get("create_time") if isinstance(message, dict) else None
    return float(time) if isinstance(time, int | float) else 0.0


def claude(value: Any) -> Iterator[Said]:
    """The messages of `conversations.json` of Claude."""
    number = 0
    for at, chat in enumerate(value, start=1):
        messages = chat.get("chat_messages") if isinstance(chat, dict) else None
        if not isinstance(messages, list):
            number += 1
            yield Said(number, f"conversation {at}", reason="it is no conversation")
            continue
        session = _session(chat, ("uuid",), at)
        for turn, message in enumerate(messages):
            number += 1
            if not isinstance(message, dict):
                yield Said(number, str(chat.get("name") or "")[:_TITLE], reason="it is no message")
                continue
            role = {"human": "user"}.get(str(message.get("sender")), message.get("sender"))
            yield _message(
                number, "claude", chat.get("name"), session, turn, role, _claude_text(message),
                message.get("created_at") or chat.get("created_at"),
            )  # fmt: skip


def _claude_text(message: Mapping[str, Any]) -> str:
    text = message.get("text")
    if isinstance(text, str) and text.strip():
        return text
    parts = message.get("content")
    found = [part.get("text") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return "\n".join(part for part in found if isinstance(part, str))


def _session(chat: Mapping[str, Any], names: tuple[str, ...], at: int) -> str:
    return next(
        (chat[name] for name in names if isinstance(chat.get(name), str) and chat[name].strip()), f"conversation {at}"
    )


def _message(
    number: int, program: str, title: object, session: str, turn: int, role: object, text: str, time: object
) -> Said:
    name = title if isinstance(title, str) and title.strip() else session
    if not text.strip():
        return Said(number, name[:_TITLE], reason="the message holds no text")
    first = next(line.strip() for line in text.splitlines() if line.strip())
    fields = _imported(program, first.lstrip("# ")[:_TITLE] or name[:_TITLE], text) | {
        "kind": "episodic", "session": session, "turn": turn,
    }  # fmt: skip
    fields |= {"speaker": role} if isinstance(role, str) and role.strip() else {}
    fields |= {"source": name} if name != session else {}
    return Said(number, name, fields | ({"observed_at": time} if isinstance(time, str) and time.strip() else {}))


def _imported(program: str, title: str, content: str) -> dict[str, Any]:
    return {"title": title[:_TITLE], "content": content, "category": f"imported/{program}"}


def _epoch(time: object) -> str:
    """Seconds since 1970 as text; empty for what is no time."""
    if not isinstance(time, int | float) or isinstance(time, bool):
        return ""
    try:
        return format_time(datetime.fromtimestamp(time, UTC))
    except (ValueError, OverflowError, OSError):
        return ""


CHATS: Final[Mapping[str, Callable[[Any], Iterator[Said]]]] = {"chatgpt": chatgpt, "claude": claude}
