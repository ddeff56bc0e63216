"""Markdown of observations as HTML that can do nothing: no HTML of its own, no script, nothing loaded.

Knows nothing of observations.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

from grail_mem.model.untrusted import shown

MOST: Final = 50_000
"""Characters that are rendered; what is longer is shown as it is, since rendering could take seconds."""
_LINKS: Final = frozenset({"http", "https", "mailto"})
"""What a link may lead to; everything else stays text."""


def rendered(text: str) -> Markup:
    r"""Markdown as HTML: hidden characters shown, HTML escaped, links to the web and mail alone, pictures as words.

    Example:
        >>> rendered("<b>[x](javascript:alert)")
        Markup('<p>&lt;b&gt;[x](javascript:alert)</p>\n')
    """
    said = shown(text)
    if len(said) > MOST:
        return Markup('<pre class="plain">{}</pre>').format(said)
    return Markup(_reader().render(said))  # noqa: S704  made by a renderer that escapes all that is stored


@cache
def _reader() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    made.validateLink = _may_lead  # type: ignore[method-assign]  # the library's own way to say which links are links
    made.add_render_rule("image", _image)
    made.add_render_rule("link_open", _link)
    for name in ("heading_open", "heading_close"):
        made.add_render_rule(name, _heading)
    return made


def _may_lead(url: str) -> bool:
    try:
        return urlsplit(url.strip()).scheme.lower() in _LINKS
    except ValueError:
        return False


def _image(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """A picture as words: loading it would tell somebody that it was looked at."""
    token = tokens[at]
    name = self.renderInlineAsText(token.children or [], options, env) or "no description"
    return f'<span class="picture">[picture: {escape(name)} — {escape(str(token.attrGet("src") or ""))}]</span>'


def _link(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer nofollow")
    tokens[at].attrSet("target", "_blank")
    return self.renderToken(tokens, at, options, env)


def _heading(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """A heading two levels down: the page's own title stays its first."""
    token = tokens[at]
    level = min(int(token.tag[1:]) + 2, 6) if not token.meta.get("moved") else int(token.tag[1:])
    token.tag, token.meta = f"h{level}", {"moved": True}
    return self.renderToken(tokens, at, options, env)
