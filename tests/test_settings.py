"""The settings file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from grail_mem import InputError, Memory, StoreError
from grail_mem.settings import Settings, read_settings


def test_every_setting_says_what_it_is_for() -> None:
    """`config show` prints it."""
    assert all(item.metadata["about"] for item in fields(Settings))


def test_no_file_means_defaults(tmp_path: Path) -> None:
    """And an empty one, or one of comments, too."""
    path = tmp_path / "grail.yaml"
    assert read_settings(path) == Settings()
    path.write_text("# nothing yet\n")
    assert read_settings(path) == Settings()


def test_values_are_read(tmp_path: Path) -> None:
    """By name."""
    (tmp_path / "grail.yaml").write_text("zone: Europe/Berlin\ncompact_after: 5\nstamp: never\n")
    assert read_settings(tmp_path / "grail.yaml") == Settings(zone="Europe/Berlin", compact_after=5, stamp="never")


def test_everything_wrong_is_told_at_once(tmp_path: Path) -> None:
    """With what was probably meant."""
    (tmp_path / "grail.yaml").write_text(
        "zonne: UTC\nzone: Mars/Base\ndurability: maybe\ncompact_after: -1\nlook_after_s: soon\ndefault_category: ../x\n"
    )
    with pytest.raises(InputError) as caught:
        Memory(tmp_path)
    said = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 6
    assert "did you mean 'zone'?" in said


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"- a\n- b\n", 1), (b"just text\n", 1), (b"zone: UTC\nnotes: [\n", 3), (b"zone: UTC\nstamp: 'x\n", 3),
        (b"zone: UTC\n\tstamp: never\n", 2), (b"# caf\xe9\nzone: UTC\n", 1), (b"zone: UTC\nactor: \xff\n", 2),
        (b"zone: UTC\nactor: 'a\x07b'\n", 2), (b"zone: UTC\n# its own\nzonne: UTC\n", 3),
        (b"{zone: UTC,\n compact_after: many}", 2), (b"zone: UTC\nactor: a b\nzone: Europe/Berlin\n", 3),
        (b"'zone': Mars/Base", 1), (b"actor: *nobody\n", 1), (b"zone: UTC\nactor: 2026-13-45\n", 2),
        (b"zone: UTC\nactor: !!python/name:os x\n", 2), (b"scan_files: " + b"9" * 5000, 1),
        (b"actor: " + b"[" * 5000, 1),
    ],
)  # fmt: skip
def test_whatever_is_wrong_with_the_file_names_its_path_and_line(tmp_path: Path, data: bytes, line: int) -> None:
    """Never silently the defaults, and never in the words of a parser that knows no file."""
    (tmp_path / "grail.yaml").write_bytes(data)
    with pytest.raises(InputError) as caught:
        Memory(tmp_path)
    assert caught.value.message.startswith(str(tmp_path / "grail.yaml"))
    assert "<unicode string>" not in caught.value.message
    assert caught.value.hint
    assert all(f"grail.yaml:{line}: " in problem for problem in caught.value.problems)


def test_a_mark_in_front_of_the_settings_is_passed_over(tmp_path: Path) -> None:
    """As editors write one."""
    (tmp_path / "grail.yaml").write_bytes(b"\xef\xbb\xbfzone: Europe/Berlin\n")
    assert read_settings(tmp_path / "grail.yaml").zone == "Europe/Berlin"


def test_a_folder_in_place_of_the_file_is_told_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "grail.yaml").mkdir()
    with pytest.raises(StoreError, match=r"Could not read the settings: Is a directory: '.*grail\.yaml'"):
        Memory(tmp_path)


@pytest.mark.parametrize(
    "line", ["actor: developers", "notes: .", "compact_after: 5", "zone: Europe/Berlin", "compact_share: 0.5", "actor: 'a b'",
             "actor: no", "actor: 0x10", "actor: 010", "actor: 1_0", "notes: notes/here # yes", "scan_files: 0"],
)  # fmt: skip
def test_a_plain_line_means_what_yaml_says(tmp_path: Path, line: str) -> None:
    """It is read without YAML, which must not show."""
    from grail_mem import settings

    assert settings._load(line, tmp_path) == yaml.safe_load(line)
    assert (settings._load_plain([line]) is None) == (line.split(": ")[1] not in
                                                      ("developers", ".", "5", "Europe/Berlin", "0"))  # fmt: skip


@pytest.mark.parametrize(
    ("line", "value"),
    [("access_log: on", "on"), ("access_log: off", "off"), ("access_log: 'on'", "on"), ("fade_below: 0.5", 0.5)],
)
def test_words_that_yaml_takes_for_yes_and_no_mean_on_and_off(tmp_path: Path, line: str, value: object) -> None:
    (tmp_path / "grail.yaml").write_text(line)
    with Memory(tmp_path) as memory:
        assert memory.settings.to_dict()[line.split(":")[0]] == value


@pytest.mark.parametrize(
    "line", ["retention_days: -1", "retention_days: 1.5", "retention_days: 1000000000", "fade_below: 0", "fade_below: 1.5",
             "fade_half_life_days: 0", "access_log: sometimes", "access_log: 1"],
)  # fmt: skip
def test_terms_and_bounds_that_mean_nothing_are_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "grail.yaml").write_text(line)
    with pytest.raises(InputError, match=line.split(":")[0]):
        Memory(tmp_path)
