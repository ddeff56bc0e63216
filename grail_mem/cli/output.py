"""Everything that is printed: text, tables, trees, JSON, errors and progress. The only module that prints.

Text goes to a terminal with control characters, escapes and direction marks made visible; what is not a terminal gets
the same without colour, uncut. Knows nothing of observations.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import IO, TYPE_CHECKING, Any, Final

from grail_mem.model.refusal import refused

if TYPE_CHECKING:  # a tenth of a second, for those who look at a terminal
    from rich.console import Console

# Controls, soft hyphen, Arabic and Mongolian marks, zero widths but for the two joiners that scripts and emoji need,
# line separators, direction marks, surrogates, byte order mark, interlinear marks, and the invisible tag characters.
_HIDDEN: Final = (
    "\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f"
)
_UNSAFE: Final = re.compile(f"[{_HIDDEN}]")
_UNSAFE_JSON: Final = re.compile(f"[{_HIDDEN.replace(chr(0) + '-' + chr(0x1F), '')}]")
_STYLES: Final = {"date": "dim", "category": "cyan", "tags": "green", "id": "yellow"}
_PROGRESS_AFTER_S: Final = 0.4  # chosen: what is faster needs no bar


def safe(text: object, *, lines: bool = False) -> str:
    r"""Text as it may be sent to a terminal: what would act on it or hide in it becomes a visible escape.

    Args:
        text: Any value.
        lines: Leave line breaks and tabs as they are.

    Example:
        >>> safe("red \x1b[31m")
        'red \\x1b[31m'
    """
    said = str(text)
    if said.isascii() and said.isprintable():
        return said
    if lines:
        return "\n".join("\t".join(map(safe, line.split("\t"))) for line in said.replace("\r\n", "\n").split("\n"))
    return _UNSAFE.sub(_visible, said)


def _visible(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def prepare() -> None:
    """Let no character that the terminal's encoding lacks stop the output."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def stream() -> IO[bytes]:
    """Stdout for bytes that are an answer as they are, such as an export."""
    sys.stdout.flush()
    return sys.stdout.buffer


def shows_bytes() -> bool:
    """Whether bytes on stdout would be shown to people, who cannot read them."""
    return sys.stdout.isatty()


@contextmanager
def _answering() -> Iterator[None]:
    """Let an error of what stdout leads to say that it was the answer which was being written."""
    try:
        yield
    except BrokenPipeError:  # a reader that went away is no error
        raise
    except OSError as error:
        raise refused(error, "write the answer", "standard output") from error


@_answering()
def flush() -> None:
    """Send what was printed."""
    sys.stdout.flush()


def close() -> None:
    """Drop what cannot be sent any more, so that leaving does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_terminal() -> bool:
    """Whether people look at stdout, or `FORCE_COLOR` says so."""
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


@_answering()
def say(text: object = "", *, style: str = "") -> None:
    """Print text, of one line or several, on stdout; the style shows on a terminal only."""
    shown = safe(text, lines=True)
    if not style or not is_terminal():
        sys.stdout.write(f"{shown}\n")
        return
    from rich.text import Text

    _console().print(Text(shown, style=style), soft_wrap=True)


def note(text: object) -> None:
    """Print a remark about the answer on stderr."""
    sys.stderr.write(f"{safe(text, lines=True)}\n")


def counted(n: int, noun: str) -> str:
    """A number with its noun: `1 file`, `2 files`."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


@_answering()
def write_csv(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows as CSV with a header."""
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    cell: Callable[[Any], Any] = (lambda v: safe(_text(v), lines=True)) if sys.stdout.isatty() else _text
    writer.writerows([cell(value) for value in row] for row in rows)


def ask(question: str) -> str | None:
    """The line that is typed in answer to a question, without spaces around it; None when there is no more input."""
    sys.stderr.write(f"{safe(question)} ")
    sys.stderr.flush()
    line = sys.stdin.readline() if sys.stdin is not None else ""
    return line.strip().lower() if line else None


# -- tables and trees --------------------------------------------------------------------------------------------------


@_answering()
def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, wide: str | tuple[str, ...] = ()) -> None:
    """Print rows under headings.

    Args:
        columns: The headings.
        rows: Values, one row each; None shows as nothing.
        wide: The column, or columns, broken over lines first when the terminal is narrow; others keep their words whole.
    """
    cells = [[safe(_text(value)) for value in row] for row in rows]
    if not is_terminal():
        _plain_table(columns, cells)
        return
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    console = _console()
    broken = (wide,) if isinstance(wide, str) else wide
    whole = console.width // len(columns)  # so that all of them together leave room for the wide one
    made = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name, *column in zip(columns, *cells, strict=True):
        least = 1 if name in broken or not broken else min(max(map(cell_len, [name, *column])), whole)
        made.add_column(name, overflow="fold", min_width=least, style=_STYLES.get(name, ""))
    for row in cells:
        made.add_row(*map(Text, row))
    console.print(made)


def _plain_table(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(columns, *cells, strict=True)]
    for row in (columns, *cells):
        padded = (text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True))
        sys.stdout.write("  ".join(padded).rstrip() + "\n")


@_answering()
def tree(title: str, leaves: Sequence[tuple[str, str]]) -> None:
    """Print paths as a tree.

    Args:
        title: What stands at the root.
        leaves: Path with `/` between levels, and what is said behind it; every path after the one it lies in.
    """
    from rich.text import Text
    from rich.tree import Tree

    made = Tree(Text(safe(title), style="bold"), guide_style="dim")
    places = {"": made}
    for path, said in leaves:
        above, _, name = path.rpartition("/")
        label = Text.assemble((safe(name), "cyan"), ("  ", ""), (safe(said), "dim"))
        places[path] = places.get(above, made).add(label)
    _console().print(made, soft_wrap=True)


def _console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        at = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        return f"{at.isoformat(sep=' ', timespec='seconds')}{'Z' if value.tzinfo else ''}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_text(item)}" for name, item in value.items())
    return str(value)


# -- JSON and errors ---------------------------------------------------------------------------------------------------


@_answering()
def show_json(document: Mapping[str, Any] | Sequence[Any]) -> None:
    """Print one JSON document: indented for a terminal, else on one line."""
    sys.stdout.write(f"{_json(document, indent=2 if sys.stdout.isatty() else None)}\n")


@_answering()
def show_json_line(document: Mapping[str, Any]) -> None:
    """Print one JSON document on a line of its own and send it at once."""
    sys.stdout.write(f"{_json(document)}\n")
    sys.stdout.flush()


def _json(document: Mapping[str, Any] | Sequence[Any], *, indent: int | None = None) -> str:
    utf = "utf" in (sys.stdout.encoding or "").lower()
    try:
        text = json.dumps(document, ensure_ascii=not utf, indent=indent, allow_nan=False)
    except (TypeError, ValueError):  # a value from a person's own frontmatter, or from SQL, that JSON has no form for
        text = json.dumps(_plain(document), ensure_ascii=not utf, indent=indent, allow_nan=False)
    return _UNSAFE_JSON.sub(_json_escape, text) if utf else text


def _json_escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(_plain(name)): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):  # noqa: PLR0124  the test for NaN
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, date):
        return value.isoformat().replace("+00:00", "Z")
    return bytes(value).hex() if isinstance(value, bytes | bytearray | memoryview) else str(value)


def show_error(code: str, message: str, hint: str, problems: Sequence[str], *, as_json: bool) -> None:
    """Print an error: as one document on stdout, or for people on stderr with every problem on its line."""
    if os.environ.get("GRAIL_DEBUG"):
        import traceback

        note(traceback.format_exc())
    if as_json:
        error = {"code": code, "message": message, "hint": hint, "problems": list(problems)}
        show_json({"error": error})
        return
    several = len(problems) > 1
    said = message.removesuffix(" ".join(problems)).strip() if several else message
    note(f"error: {said or 'The input cannot be used.'}")
    for problem in problems if several else ():
        note(f"  - {problem}")
    if hint:
        note(hint)


# -- progress ----------------------------------------------------------------------------------------------------------


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A function that is told how much is done; draws a bar on stderr when that is a terminal and the work is long.

    Args:
        label: What is being done.
        total: How much there is; None when it is not known.
    """
    with stages() as show:
        yield lambda done: show(label, done, total)


@contextmanager
def stages() -> Iterator[Callable[[str, int, int | None], None]]:
    """The same for work of several stages: the function is told what is being done, how much is done and how much there is."""
    begin = time.monotonic()
    bar: Any = None

    def show(label: str, done: int, total: int | None) -> None:
        nonlocal bar
        if bar is None and sys.stderr.isatty() and time.monotonic() - begin >= _PROGRESS_AFTER_S:
            bar = _bar(label, total)
        if bar is not None:
            bar.update(bar.task_ids[0], description=label, completed=done, total=total)

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()


def _bar(label: str, total: int | None) -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    count = (BarColumn(), MofNCompleteColumn()) if total else (TextColumn("{task.completed}"),)
    made = Progress(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), *count, TimeElapsedColumn(),
        console=_console(stderr=True), transient=True,
    )  # fmt: skip
    made.start()
    made.add_task(label, total=total)
    return made
