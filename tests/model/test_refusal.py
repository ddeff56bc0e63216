"""An error of the operating system says what was being done, where, why, and what to do."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from grail_mem import StoreError
from grail_mem.errors import GrailError, NotFoundError
from grail_mem.model import refusal
from grail_mem.model.refusal import refused, without_place
from grail_mem.store.files import translated

NO_ROOM = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("name", "place", "said"),
    [
        ("/store/memories/x.md", "/store", "'/store/memories/x.md'"),
        (b"/store/x.md", "/store", "'/store/x.md'"),
        ("x.md", "/store", "'x.md' in '/store'"),
        ("store", "/store", "'/store'"),
        ("x.md", "x.md", "'x.md'"),
        ("nodir", "nodir/x.jsonl", "'nodir'"),
        ("t", "/store", "'t' in '/store'"),
        (None, "/store", "'/store'"),
        (7, Path("/store"), "'/store'"),
    ],
)
def test_the_path_is_the_one_the_system_named_or_the_place_it_was_done_in(name, place, said):
    error = OSError(errno.EACCES, os.strerror(errno.EACCES), name)
    assert refused(error, "store the note", place).message == f"Could not store the note: Permission denied: {said}."


@pytest.mark.parametrize("number", sorted(refusal._HINTS))
def test_an_error_with_a_known_number_says_what_to_do(number):
    told = refused(OSError(number, os.strerror(number)), "read it", "/store")
    assert told.hint.endswith(".")
    assert told.exit_code == 6


def test_an_error_without_a_number_says_what_it_is_all_the_same():
    assert refused(OSError(), "read it", "/x").message == "Could not read it: OSError: '/x'."
    assert refused(OSError("The tape is torn."), "read it").message == "Could not read it: The tape is torn."


def test_errors_of_ours_and_of_readers_that_went_away_pass_as_they_are():
    for error in (StoreError("It is shut."), BrokenPipeError(errno.EPIPE, "Broken pipe")):
        with pytest.raises(type(error)) as caught, translated("read it", "/x"):
            raise error
        assert caught.value is error
    with (
        pytest.raises(StoreError, match="Could not read it: No space left on device: '/x'") as caught,
        translated("read it", "/x"),
    ):
        raise NO_ROOM
    assert caught.value.__cause__ is NO_ROOM


def test_a_model_learns_nothing_of_where_the_store_lies():
    with pytest.raises(GrailError) as caught, translated("store the note", "/home/ada/store"):
        raise NO_ROOM
    assert without_place(caught.value) == (
        "The store cannot be read or written: No space left on device.", "Only people can mend that.",
    )  # fmt: skip
    assert without_place(NotFoundError("There is none.", hint="Look.")) == ("There is none.", "Look.")
