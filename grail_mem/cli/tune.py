"""`grail calibrate` and `grail fit`: gates and weights of a store's own, from questions with their answers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.which import Which, split, which
from grail_mem.errors import InputError

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.recall.calibration import Calibrated, Compared, Judgement
    from grail_mem.recall.refit import Fit

FileWords = Annotated[list[str] | None, typer.Argument(metavar="[DIR] FILE", hidden=True)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only report.")]


def calibrate_command(
    words: FileWords = None,
    *,
    dry_run: DryRun = False,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="PICTURE", help="Draw where the scores lie: .png, .svg or .pdf.")
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Remove gates.json, so that the gates shipped count.")] = False,
    embedder: o.EmbedderName = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Fit to your own questions when `grail search` is silent.

    FILE has one JSON object a line: {"question": "…", "answers": ["ID", …]}, with "answers": [] where the store has no
    answer, and optionally "asked_at"; 20 of each kind at least. The gates are written to gates.json beside grail.yaml.
    """
    if reset:
        _refuse_with_reset(plot=plot, dry_run=dry_run)
        place = _only_store("calibrate", words, root)
        with place.keep() as memory:
            _show_reset("gates", removed=memory.reset_gates(), as_json=as_json)
        return
    place, (file,) = split("calibrate", words, root, ["FILE"])
    picture = Path(plot).expanduser() if plot is not None else None
    if picture is not None:
        from grail_mem.recall.plot import check_plot

        check_plot(picture)
    with place.keep(embedder=embedder) as memory, output.stages() as show:
        done = memory.calibrate(file, dry_run=dry_run, progress=show)
    if picture is not None:
        from grail_mem.recall.plot import plot_scores

        gate = done.gates.topic
        plot_scores(picture, done.answered_scores, done.unanswered_scores, {"floor": gate.floor, "sure": gate.sure})
    if as_json:
        output.show_json(done.to_dict())
    else:
        show_calibrated(done)


def fit_command(
    words: FileWords = None,
    *,
    recipe: Annotated[
        str | None,
        typer.Option("--recipe", metavar="NAME", help="words, vectors or lexical; the one in use when left out."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write the weights even if they are no better.")] = False,
    dry_run: DryRun = False,
    reset: Annotated[
        bool, typer.Option("--reset", help="Remove weights.json, so that the weights shipped count.")
    ] = False,
    embedder: o.EmbedderName = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Fit the weights of `grail search` to your own questions.

    FILE is as for `grail calibrate`; questions without an answer teach nothing, and 20 others are needed. The weights stay
    near to those shipped, and are written to weights.json beside grail.yaml only if they are better on questions that they
    were not fitted to.
    """
    if reset:
        _refuse_with_reset(recipe=recipe, force=force, dry_run=dry_run)
        place = _only_store("fit", words, root)
        with place.keep() as memory:
            _show_reset("weights", removed=memory.reset_weights(), as_json=as_json)
        return
    place, (file,) = split("fit", words, root, ["FILE"])
    with place.keep(embedder=embedder) as memory, output.stages() as show:
        done = memory.fit(file, recipe=recipe, force=force, dry_run=dry_run, progress=show)
    if as_json:
        output.show_json(done.to_dict())
    else:
        show_fit(done, dry_run=dry_run)


def show_calibrated(done: Calibrated) -> None:
    """Print new gates beside those in force."""
    output.say(f"Gates for the embedder {done.embedder} and the weights '{done.recipe}'.")
    output.say()
    rows = [["topic", *row] for row in _rows(done.topic)]
    if done.speaker is not None:
        rows += [["speaker", *row] for row in _rows(done.speaker)]
    output.table(["gate", "which", "AUROC", "answered", "silent", "floor", "sure"], rows)
    output.say()
    n_yes, n_no = done.topic.n_answered, done.topic.n_unanswered
    output.say(
        f"Of {output.counted(n_yes, 'question')} with an answer and {n_no} without one; the new gate by cross-validation."
    )
    output.say(f"Written to {done.path}." if done.path else "Nothing was written.")


def _rows(compared: Compared) -> Iterable[list[str]]:
    for which_, judgement in (("in force", compared.before), ("new", compared.after)):
        if judgement is not None:
            yield [which_, *_figures(judgement)]


def _figures(judgement: Judgement) -> list[str]:
    shares = (f"{100 * share:.1f} %" for share in (judgement.answered, judgement.silent))
    return [f"{judgement.auroc:.3f}", *shares, f"{judgement.floor:.2f}", f"{judgement.sure:.2f}"]


def show_fit(done: Fit, *, dry_run: bool) -> None:
    """Print what fitted weights do beside those shipped."""
    output.say(f"Weights '{done.recipe}', fitted to {output.counted(done.n_questions, 'question')}.")
    if done.n_not_found:
        output.say(f"Of {done.n_not_found} more, no answer is among what is weighed.")
    output.say()
    names = list(done.before)
    rows = [[which_, *(f"{said[name]:.3f}" for name in names)] for which_, said in
            (("shipped", done.before), ("fitted, by cross-validation", done.after))]  # fmt: skip
    output.table(["weights", *names], rows)
    output.say()
    if done.path:
        output.say(f"Written to {done.path}. Scores changed: run `grail calibrate` for gates that fit them.")
    elif done.is_better:
        output.say("Nothing was written.")
    elif done.strength is None:
        output.say(
            "Nothing was written: leaving the shipped weights does not make the ranking of other questions surely better."
        )
    else:
        hint = "" if dry_run else " --force writes them all the same."
        output.say(f"Nothing was written: the fitted weights are no better.{hint}")


def _only_store(verb: str, words: list[str] | None, root: str | None) -> Which:
    given = list(words or ())
    if len(given) > 1:
        raise InputError(f"`grail {verb} --reset` takes no FILE.", hint=f"Write `grail {verb} [DIR] --reset`.")
    return which(given[0] if given else None, root)


def _refuse_with_reset(**given: object) -> None:
    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if named:
        raise InputError(f"--reset removes a file and does nothing else; leave out {', '.join(named)}.")


def _show_reset(what: str, *, removed: bool, as_json: bool) -> None:
    if as_json:
        output.show_json({"removed": removed})
    elif removed:
        output.say(f"{what}.json was removed; the {what} that are shipped count.")
    else:
        output.say(f"The store has no {what} of its own.")
