"""Which model of entailment is chosen, and what any model must answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from grail_mem.errors import InputError, MissingDependencyError
from grail_mem.settings import read_settings
from grail_mem.support.entailments import chosen_entailment, scores_of

HAS_ENCODERS = find_spec("sentence_transformers") is not None


class Model:
    name = "mine"

    def contradiction_scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [0.5 for _ in pairs]


def test_a_model_and_a_function_are_taken_as_they_are() -> None:
    model = Model()
    assert chosen_entailment(model)() is model
    made = chosen_entailment(lambda pairs: [float(one == other) for one, other in pairs])()
    assert made is not None
    assert scores_of(made, [("a", "a"), ("a", "b")]) == [1.0, 0.0]
    assert chosen_entailment("none")() is None


@pytest.mark.parametrize("choice", ["auto", "cross-encoder:", "aegis:x", "", 3])
def test_anything_else_is_refused(choice: Any) -> None:
    with pytest.raises(InputError, match="entailment"):
        chosen_entailment(choice)


@pytest.mark.parametrize("answer", [None, [0.5], [0.5, 0.5, 0.5], [0.5, float("nan")], [0.5, 1.5], ["x", "y"], 7])
def test_an_answer_is_one_number_from_0_to_1_for_each_pair(answer: Any) -> None:
    model = chosen_entailment(lambda _pairs: answer)()
    assert model is not None
    with pytest.raises(InputError, match="returned") as raised:
        scores_of(model, [("a", "b"), ("c", "d")])
    assert raised.value.hint


@pytest.mark.parametrize("value", ["none", "aegis", "cross-encoder:/models/nli"])
def test_the_setting_names_a_model(tmp_path: Path, value: str) -> None:
    (tmp_path / "grail.yaml").write_text(f"entailment: {value}\n")
    assert read_settings(tmp_path / "grail.yaml").entailment == value


@pytest.mark.parametrize("value", ["auto", "'cross-encoder:'", "lexical", "7"])
def test_a_setting_that_names_none_is_refused(tmp_path: Path, value: str) -> None:
    (tmp_path / "grail.yaml").write_text(f"entailment: {value}\n")
    with pytest.raises(InputError, match="entailment must be"):
        read_settings(tmp_path / "grail.yaml")


@pytest.mark.skipif(HAS_ENCODERS, reason="sentence-transformers is installed")
def test_a_cross_encoder_without_its_package_says_what_to_install() -> None:
    with pytest.raises(MissingDependencyError, match="sentence-transformers"):
        chosen_entailment("cross-encoder:/models/nli")()


def encoder(folder: Path, labels: dict[int, str]) -> Path:
    """A cross-encoder of one tiny layer with weights by chance, as a folder."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "clara", "eats", "meat", "no"]
    (folder / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=32, id2label=labels, label2id={label: number for number, label in labels.items()},
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.mark.slow
@pytest.mark.skipif(not HAS_ENCODERS, reason="sentence-transformers is not installed")
def test_a_cross_encoder_gives_the_probability_of_its_label_of_a_contradiction(tmp_path: Path) -> None:
    """Two models with the same weights and the label elsewhere give the parts of one whole."""
    pairs = [("Clara eats meat", "Clara eats no meat"), ("Clara eats", "meat")]
    said = []
    for place, folder in enumerate(("first", "second", "third")):
        labels = {number: "CONTRADICTION" if number == place else f"label {number}" for number in range(3)}
        model = chosen_entailment(f"cross-encoder:{encoder(tmp_path / folder, labels)}")()
        assert model is not None
        assert model.name == folder
        said.append(scores_of(model, pairs))
    assert [sum(scores) for scores in zip(*said, strict=True)] == pytest.approx([1, 1], abs=1e-4)
    assert len({scores[0] for scores in said}) == 3


@pytest.mark.slow
@pytest.mark.skipif(not HAS_ENCODERS, reason="sentence-transformers is not installed")
def test_a_cross_encoder_without_that_label_and_a_folder_without_a_model_are_refused(tmp_path: Path) -> None:
    plain = encoder(tmp_path / "plain", {0: "no", 1: "yes"})
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "config.json").write_text(json.dumps({}))
    for folder, said in ((plain, "which is a contradiction"), (tmp_path / "empty", "cannot be read")):
        model = chosen_entailment(f"cross-encoder:{folder}")()
        assert model is not None
        with pytest.raises(InputError, match=said):
            scores_of(model, [("a", "b")])
