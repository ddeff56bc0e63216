"""Strategies for fields, contents and whole files, the hostile ones included."""

from __future__ import annotations

import json
import re

from hypothesis import strategies as st

HOSTILE = [
    "yes", "No", "NULL", "~", "true", "0123", "12:30:00", "1e5", "0x1F", "1_000", "2026-06-02", "2026-06-02T14:23:00Z",
    "2026-06-02T14:23:00.123456Z", "=", "<<", "- a", "? a", ": a", "a: b", "a #b", "#x", "@x", "`x", "%x",
    "&a", "*a", "!t",
    "|", ">", "'", '"', "[", "]", "{", "}", ",", "---", "...", "a:", " a", "a ", "a  b", "", "C#", "https://x.y/z?a=1#b",
    "project:grail", "it's", "00000000000000000000000000", "1234567890123E456789012345", "01JXYZABCDEFGHJKMNPQRSTVWX",
    "0X0000000000000000000000000", "a\tb", "a\nb", "a\r\nb", "\x7f", "\x85", "\u2028", "\ufeff", "\ufffe",
    "😀", "Zürich",
    "\U0001fffe", "\\", "\\u0041", "<<<<<<< HEAD", "=======", "nan", ".inf", "inf", "on", "y", "Straße: 5",
    "a, b", "a:b",
]  # fmt: skip

texts = (
    st.sampled_from(HOSTILE)
    | st.text(max_size=12)
    | st.from_regex(re.compile(r"[A-Za-z0-9][A-Za-z0-9 _./,()':#\-]{0,20}", re.ASCII), fullmatch=True)
).map(lambda text: text.replace("\0", " "))
keys = st.sampled_from(
    [
        "title",
        "tags",
        "content",
        "handler",
        "metadata",
        "self",
        "id",
        "type",
        "no",
        "y",
        "null",
        "1",
        "Due date",
        "ä",
        "a-b",
        "",
    ]
) | st.text(max_size=8).map(lambda text: text.replace("\0", " "))
scalars = texts | st.booleans() | st.integers() | st.floats(allow_nan=False)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
fields = st.dictionaries(keys, values, max_size=6)
contents = st.text(max_size=60).map(lambda text: text.replace("\0", " ").replace("\r", "\n")) | st.sampled_from(
    ["", "\n", "\n\n", "---\na: 1\n---\n", "\n---\n", "a\n---\nb", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x", "a\n\n"]
)

_LINE_PARTS = [
    "title: Roadmap", "title: a: b", "title: @x", "tags: [a, b]",
    'tags: ["a, b", c]', "tags: [no, 1, -2, 0.5, true, null]",
    "tags: [true]", "tags: [a, True]", "  - {a: NULL}", "tags: [a,b]", "tags: [ a ]", "tags: [a, ]", "entities:", "  - {name: Acme, type: ORG}", "- {a: b}",
    '  - {name: "A, B", n: [1, 2]}', "  - {a: b, a: c}", "  - {a: true}", "  - {a: 0123}", "  - a", "  - {}",
    "x: {}", "y: []",
    "n: 0123", "n: 12", "n: -0", "n: 0.50", "n: 1e5", "n: 1.5e+3", "n: .5", "n: 1.",
    "when: 2026-06-02T14:23:00Z", "d: 2026-06-02",
    "id: 01JXYZABCDEFGHJKMNPQRSTVWX", "id: 12345678901234567890123456", "b: true", "b: True", "b: yes",
    "z: null", "z: ~", "z:",
    's: "q\\u0041\\n"', 's: "\\ud83d\\ude00"', 's: "\\/"', 's: "a\tb"', "s: 'x'", "s: a b ", "s: a #c",
    "s: a  b", "s:  a",
    "s: a,b?", "s: a:b", "s: a:", "", "# note", "t: |", "  text", "? k", ": v", "...", "--- x", "\tk: v",
    "&a x: *a", "r: &r [*r]",
    "x: !t 1", "x: !!str 1", "x: {a: {b: [c, {d: e}]}}", "x: [[a], {b: c}]", "<<: {a: 1}", "k : v", "=======",
    "k: a\u2028b",
    "k: a\x85b", 'k: "a\ufeffb"', "k: \x07",
]  # fmt: skip

blocks = st.lists(st.sampled_from(_LINE_PARTS) | st.text(max_size=10), max_size=7).map("\n".join)
"""Frontmatter of lines that are canonical, nearly canonical, or broken."""
files = st.builds(lambda block, body: f"---\n{block}\n---\n{body}".encode(errors="replace"), blocks, contents)


@st.composite
def _written_scalar(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(["Acme", "it's", "a: b", "#x", "0123", "Zürich", "", "x y"]))
    return draw(
        st.sampled_from(
            [
                json.dumps(text, ensure_ascii=False),
                "'" + text.replace("'", "''") + "'",
                text if re.fullmatch(r"\w[\w ]*", text) else json.dumps(text, ensure_ascii=False),
                "12",
                "true",
                "2026-06-02",
                "",
            ]
        )
    )


_COMMENTS = st.sampled_from(["", "", "  # why", " # a: b"])


@st.composite
def _written_value(draw: st.DrawFn, indent: str) -> str:
    """What a person may write behind a colon, with the newlines and comments of each style."""
    style = draw(
        st.sampled_from(
            ["scalar", "scalar", "flow", "long flow", "block", "flush", "literal", "folded", "mapping", "mixed"]
        )
    )
    items = draw(st.lists(_written_scalar().filter(bool), min_size=1, max_size=4))
    comment = draw(_COMMENTS)
    if style == "scalar":
        return f" {draw(_written_scalar())}{comment}".rstrip(" ")
    if style == "flow":
        return f" [{', '.join(items)}]{comment}"
    if style == "long flow":
        separator = f",\n{indent}    "
        return f" [{separator.join(items)}]{comment}"
    if style in ("block", "flush"):
        dash = f"{indent}{'  ' if style == 'block' else ''}- "
        between = draw(st.sampled_from(["\n", f"\n{indent}  # between\n", "\n\n"]))
        return f"{comment}\n" + between.join(f"{dash}{item}{draw(_COMMENTS)}" for item in items)
    if style == "literal":
        chomp = draw(st.sampled_from(["", "-"]))
        return f" |{chomp}\n{indent}  line: one\n\n{indent}  line # two"
    if style == "folded":
        return f" >-{comment}\n{indent}  folded\n{indent}  text"
    if style == "mapping":
        return f"{comment}\n" + "\n".join(f"{indent}  k{number}: {item}" for number, item in enumerate(items))
    mixed = ["- {a: 1}" + comment, "- name: x", "  n: [1, 2]", "- - deep", "  - er" + comment]
    return "".join(f"\n{indent}  {line}" for line in mixed)


@st.composite
def handwritten(draw: st.DrawFn) -> bytes:
    """A whole valid file in mixed styles, with comments, some newline style, perhaps a BOM."""
    indent = draw(st.sampled_from(["", "", "", "  "]))
    names = draw(
        st.lists(
            st.sampled_from(["title", "tags", "aliases", "id", '"q k"', "1", "no", "self"]), max_size=5, unique=True
        )
    )
    lines: list[str] = []
    for name in names:
        lines += draw(st.sampled_from([[], [], [f"{indent}# above"], [""]]))
        lines.append(f"{indent}{name}:{draw(_written_value(indent))}")
    if draw(st.booleans()):
        lines.append("# end")
    gap = draw(st.sampled_from(["", "\n"]))
    body = draw(st.sampled_from(["Body", "Body\n", "", "\n", "two\n\nparts\n", "---\nrule\n"]))
    text = "---\n" + "".join(f"{line}\n" for line in lines) + f"---\n{gap}{body}"
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    return (draw(st.sampled_from(["", "\ufeff"])) + text.replace("\n", newline)).encode()


changes = st.dictionaries(
    st.sampled_from(["title", "tags", "aliases", "id", "q k", "1", "no", "self", "new", "other"]),
    st.none() | values | st.lists(st.sampled_from(["Acme", "it's", "a: b", "x y", "new"]), max_size=4),
    max_size=4,
)
