"""A corpus from raw text: reads, cleans, splits, tokenises, filters, and writes the corpus with models for new text."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from lscfg import log
from lscfg.errors import InputError, counted
from lscfg.io.read import stream_lines
from lscfg.io.sides import SIDES
from lscfg.io.write import write_lines
from lscfg.log import progress
from lscfg.parallel.engine import Engine, Serial
from lscfg.prepare.casing import begins_small, count_forms, open_caser, shared_names, write_forms
from lscfg.prepare.clean import clean
from lscfg.prepare.health import DROPPABLE, Health
from lscfg.prepare.languages import is_unspaced
from lscfg.prepare.limits import length_fault
from lscfg.prepare.near import near_form
from lscfg.prepare.orthography import Orthography, read_orthography
from lscfg.prepare.pieces import AUTO, Cutting, WordCutter, train_cutter
from lscfg.prepare.profiles import LanguageProfiles, is_foreign, trigram_counts
from lscfg.prepare.proposals import Proposal, propose
from lscfg.prepare.reader import TEXT_READERS, reader_of
from lscfg.prepare.record import Record
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.sides import ModelFile, SideRecipe
from lscfg.prepare.spacing import without_marks
from lscfg.prepare.suspects import DAMAGED
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.settings import SettingError

DROPPED = "dropped.tsv"
PROFILES = "profiles.safetensors"
HELD_OUT_SETS = "dev", "test"
BLOCK = 2000
"""Lines that a worker receives at a time."""

DUPLICATE, EMPTY, HELD_OUT, LONG, RATIO = "duplicate", "empty", "held out", "long", "ratio"
NEAR_DUPLICATE = "near duplicate"


def set_file(name: str, language: str, number: int = 1) -> str:
    """The file of a set's words (``train``, ``dev`` or ``test``); names of further references contain their number."""
    return f"{name}.{language}" if number == 1 else f"{name}.{number}.{language}"


def raw_reference(name: str, language: str, number: int = 1) -> str:
    """The file of a reference as people wrote it."""
    return set_file(f"{name}.ref", language, number)


class RawFiles(NamedTuple):
    """Files of raw text.

    Attributes:
        corpus: files of the training text, as its reader expects.
        dev, test: plain text: a source and its references, line by line; none: pairs of the corpus are set aside.
    """

    corpus: tuple[Path, ...]
    dev: tuple[Path, ...] = ()
    test: tuple[Path, ...] = ()


class Remark(NamedTuple):
    """Treatment of an unusual pair, with the reason."""

    path: str
    line: int
    set: str
    done: str
    reason: str


@dataclass
class TextSet:
    """Sentences of the training text, or of a set that is held out.

    Attributes:
        places: file and line of each; texts: the clean lines of the source, then of each translation.
    """

    name: str
    places: list[tuple[str, int]] = field(default_factory=list)
    texts: tuple[list[str], ...] = ((), ())  # type: ignore[assignment]
    words: dict[int, list[str]] = field(default_factory=dict)
    """The texts as words, by the number of the text: first in their own case, later as they are written."""

    def of_side(self, side: int) -> range:
        """The numbers of the texts of the source (0) or target side (1)."""
        return range(1) if side == 0 else range(1, len(self.texts))

    def text(self, number: int) -> tuple[str, ...]:
        """A pair: its clean source and translations."""
        return tuple(text[number] for text in self.texts)

    def remark(self, number: int, done: str, reason: str) -> Remark:
        """A remark on a pair."""
        return Remark(*self.places[number], self.name, done, reason)

    def part(self, name: str, numbers: Sequence[int]) -> TextSet:
        """The selected pairs."""
        texts = tuple([text[number] for number in numbers] for text in self.texts)
        words = {text: [lines[number] for number in numbers] for text, lines in self.words.items()}
        return TextSet(name, [self.places[number] for number in numbers], texts, words)


def prepare_corpus(files: RawFiles, settings: PrepareSettings, folder: Path, engine: Engine | None = None) -> Record:
    """Writes the corpus, its models and their records into the folder; equal input, equal bytes.

    Pairs of the corpus beyond the limits of the settings are left out and listed: they are neither trained on nor drawn
    for dev and test, where a sentence too long to parse teaches tuning to translate shortly. Sets with files keep every
    line, an empty one too, and long lines are warned of.

    Raises:
        InputError: a file is bad or missing, a package is missing, or too few pairs are left.
        SettingError: as ``PrepareSettings.languages``; pairs are to be set off for a set that has files, or pieces are
            to be chosen by tuning.
    """
    engine = engine or Serial()
    if settings.chosen_side is not None:
        raise SettingError("pieces", f"can be {AUTO} in lscfg run only, which tunes; name a model and its size")
    languages = settings.languages(files.corpus)
    for name, paths in zip(HELD_OUT_SETS, files[1:], strict=True):
        if paths and getattr(settings, name):
            raise SettingError(name, f"is for pairs of the corpus, but the {name} set has files")
    recipes = [_recipe(language, settings, marked=side == 1) for side, language in enumerate(languages)]
    train, sets, remarks, health = _read(files, settings)
    _check_sides(files, train, sets)
    read = len(train.places) + len(remarks)
    train = _healthy(train, health.inspect(train.places, (train.texts[0], train.texts[1])), remarks)
    for side in range(2):
        if damage := TOKENISERS[settings.tokeniser].damage(languages[side], train.texts[side]):
            log.warning(f"{SIDES[side]} text: {damage}")
        train.words[side] = _split(train.texts[side], recipes[side], engine)
    train, drawn = _set_off(train, languages, settings, remarks, files.corpus[0], health.doubtful)
    train = _without_leaks(train, [*sets, *drawn], health, remarks)
    names = shared_names(*train.texts) if settings.casing == "true" else set[str]()
    made = [_encode(side, recipes[side], [train, *sets, *drawn], names, folder, engine) for side in range(2)]
    train, *drawn = (_filtered(part, settings, remarks) for part in (train, *drawn))
    train = _distinct(train, [*sets, *drawn], settings, remarks)
    if not train.places:
        raise InputError(f"no pair of {read} is left to train on{_reasons(remarks)}", files.corpus[0])
    for held in sets:
        remarks += _kept(held, settings)
    sets += drawn
    for cutting in settings.cuttings:
        made[cutting.side] = _cut_words(made[cutting.side], cutting, [train, *sets], folder)
    _write_sets(folder, [train, *sets], languages)
    remarks.sort()
    write_lines(folder / DROPPED, ["\t".join(Remark._fields), *("\t".join(map(str, row)) for row in remarks)])
    sizes = {"read": read} | {part.name: len(part.places) for part in [train, *sets]}
    counts = {done: Counter(row.reason for row in remarks if row.done == done) for done in ("dropped", "kept")}
    sorted_counts = {done: dict(sorted(own.items())) for done, own in counts.items()}
    record = Record(settings, (made[0], made[1]), sizes, sorted_counts, _profiles(train, folder))
    record.write(folder)
    _finish_health(health, remarks)
    health.write(folder, read)
    for message in health.warnings():
        log.finding(message)
    return record


def _profiles(train: TextSet, folder: Path) -> ModelFile | None:
    """The file of the profiles of both languages, which is written unless the text is too small."""
    profiles = LanguageProfiles.learn(train.texts[0], train.texts[1])
    if profiles is None:
        return None
    profiles.write(folder / PROFILES)
    return ModelFile.of(folder / PROFILES)


def check_health(files: RawFiles, settings: PrepareSettings) -> tuple[Health, int]:
    """Examines raw text and makes nothing; the health of the text, and the number of pairs read.

    Lengths are those in blank-separated words; without such words, no pair is too long.

    Raises:
        InputError: a file is bad or missing, or the tokeniser does not support a language.
    """
    languages = settings.languages(files.corpus)
    for language in languages:
        TOKENISERS[settings.tokeniser].remark(language)
    train, sets, remarks, health = _read(files, settings)
    _check_sides(files, train, sets)
    read = len(train.places) + len(remarks)
    train = _healthy(train, health.inspect(train.places, (train.texts[0], train.texts[1])), remarks)
    train.words = {side: train.texts[side] for side in range(2)}
    if not TOKENISERS[settings.tokeniser].SUBWORDS and not any(map(is_unspaced, languages)):
        train = _filtered(train, settings, remarks)
    _without_leaks(train, sets, health, remarks)
    _finish_health(health, remarks)
    return health, read


def propose_spelling(files: RawFiles, settings: PrepareSettings) -> list[Proposal]:
    """Rewrites that bring the translations of the training text closer to those of the development files.

    Raises:
        InputError: a file is bad or missing.
    """
    if not files.dev:
        return []
    train, sets, *_ = _read(files._replace(test=()), settings)
    return propose(train.texts[1], (line for text in sets[0].texts[1:] for line in text))


def prepare_monolingual(
    paths: Sequence[Path], recipe: SideRecipe, orthography: Path | None, engine: Engine
) -> list[str]:
    """Prepares text without translations like a side of a corpus, and leaves out empty lines.

    Args:
        orthography: table of rewrites of this side; None: no rewrites.

    Raises:
        InputError: a file is bad or missing.
    """
    spelling = read_orthography(orthography) if orthography else Orthography(())
    lines = [spelling.apply(clean(line, recipe.unicode)) for path in paths for line in _short_lines(path)]
    return [words for words in _mapped(engine, recipe, "encode", lines) if words]


def _healthy(train: TextSet, drop: Mapping[int, str], remarks: list[Remark]) -> TextSet:
    """The training text without the pairs to drop, whose faults become remarks."""
    remarks += [train.remark(number, "dropped", fault) for number, fault in drop.items()]
    return train.part(train.name, [number for number in range(len(train.places)) if number not in drop])


def _without_leaks(train: TextSet, held: Sequence[TextSet], health: Health, remarks: list[Remark]) -> TextSet:
    """Counts sources near those of the sets that are held out, and drops them if the settings say so."""
    sources = [source for part in held for source in part.texts[0] if source]
    return _healthy(train, health.leaks(train.places, (train.texts[0], train.texts[1]), sources), remarks)


def _finish_health(health: Health, remarks: Sequence[Remark]) -> None:
    """Adds the pairs that were dropped for other reasons than a fault which the health counts itself."""
    for row in sorted(remarks):
        if row.done == "dropped" and row.reason not in DROPPABLE:
            health.note(row.reason, row.done, row.path, row.line)


# ---- reading ----


def _read(files: RawFiles, settings: PrepareSettings) -> tuple[TextSet, list[TextSet], list[Remark], Health]:
    """The training text, the sets with files, remarks on pairs that are left out already, and the faults so far.

    Raises:
        InputError: a file is bad or missing.
    """
    health = Health(settings.drop, repair=settings.unicode != "none")
    filed = {name: paths for name, paths in zip(HELD_OUT_SETS, files[1:], strict=True) if paths}
    sets = [_read_set(name, paths, settings, health) for name, paths in filed.items()]
    train, remarks = _read_corpus(files.corpus, settings.languages(files.corpus), settings, _near_pairs(sets), health)
    if len(sets) > 1 and (both := len(_near_pairs(sets[:1]) & _near_pairs(sets[1:]))):
        log.warning(f"{both:,} pairs of {sets[0].name} are in {sets[1].name}, too: {sets[1].places[0][0]}; remove them")
    return train, sets, remarks, health


def _read_set(name: str, files: Sequence[Path], settings: PrepareSettings, health: Health) -> TextSet:
    """A set with files, with every line.

    Raises:
        InputError: there is no reference, or the files differ in length or are empty.
    """
    if len(files) < 2:
        raise InputError(f"the {name} set needs a source and a reference at least")
    raw = [list(_short_lines(path)) for path in files]
    for path, text in zip(files, raw, strict=True):
        if len(text) != len(raw[0]):
            raise InputError(
                f"{counted(len(text), 'line')}, but {files[0]} has {len(raw[0]):,}; both need the same number of lines",
                path,
            )
    if not raw[0]:
        raise InputError(f"the {name} set is empty", files[0])
    rows = [health.repaired(str(files[0]), number, row, False) for number, row in enumerate(zip(*raw, strict=True), 1)]
    texts = tuple([clean(line, settings.unicode) for line in text] for text in zip(*rows, strict=True))
    return TextSet(name, [(str(files[0]), number) for number in range(1, len(texts[0]) + 1)], texts)


def _check_sides(files: RawFiles, train: TextSet, sets: Sequence[TextSet]) -> None:
    """Warns of files of sets in the language of the other side."""
    if not sets or not train.places:
        return
    counts = [trigram_counts(train.texts[side]) for side in range(2)]
    for held, paths in zip(sets, filter(None, files[1:]), strict=True):
        for number, text in enumerate(held.texts):
            side = min(number, 1)
            if is_foreign(text, counts[side], counts[1 - side]):
                log.warning(
                    f"{paths[number]}: reads like the {SIDES[1 - side]}, not the {SIDES[side]} side of the training"
                    " text; name the source first, then its translations"
                )


def _short_lines(path: Path) -> Iterator[str]:
    """The lines of a file.

    Raises:
        InputError: a line is too long to be prepared.
    """
    for number, line in enumerate(stream_lines(path), 1):
        if fault := length_fault(line):
            raise InputError(f"{fault}; split or remove the line", path, number)
        yield line


def _near_pairs(sets: Sequence[TextSet]) -> set[tuple[str, ...]]:
    """The near forms of the pairs of sets that are held out, with each reference."""
    pairs = (pair for held in sets for text in held.texts[1:] for pair in zip(held.texts[0], text, strict=True))
    return {near_form(pair) for pair in pairs if all(pair)}


def _read_corpus(
    files: Sequence[Path],
    languages: tuple[str, str],
    settings: PrepareSettings,
    held: set[tuple[str, ...]],
    health: Health,
) -> tuple[TextSet, list[Remark]]:
    """The pairs that are good by their text alone, and remarks on the others."""
    name = reader_of(files, settings.format)
    reader = TEXT_READERS[name]
    reading = settings.reading or reader.Settings()
    train, sources, targets = TextSet("train"), [], []
    remarks, seen = [], set[tuple[str, str]]()
    spelling = read_orthography(settings.orthography) if settings.orthography else Orthography(())
    for pair in progress(reader.read_pairs(files, languages, reading), "reading"):
        reason, text = pair.fault, ("", "")
        if not reason and (length_fault(pair.source) or length_fault(pair.target)):
            reason = LONG
        if not reason:
            source, target = health.repaired(pair.path, pair.line, (pair.source, pair.target))
            source = clean(source, settings.unicode)
            text = source, spelling.apply(clean(target, settings.unicode), source)
            damaged = health.refuses((pair.source, pair.target))
            reason = DAMAGED if damaged else _fault(text, settings, seen, held)
        if reason:
            remarks.append(Remark(pair.path, pair.line, train.name, "dropped", reason))
            continue
        seen.add(text)
        train.places.append((pair.path, pair.line))
        sources.append(text[0])
        targets.append(text[1])
    train.texts = sources, targets
    return train, remarks


def _fault(
    text: tuple[str, str], settings: PrepareSettings, seen: set[tuple[str, str]], held: set[tuple[str, ...]]
) -> str:
    """The reason to leave the clean pair out of training; empty if none."""
    if not all(text):
        return EMPTY
    if held and near_form(text) in held:
        return HELD_OUT
    return DUPLICATE if not settings.keep_duplicates and text in seen else ""


# ---- the sets ----


def _set_off(
    train: TextSet,
    languages: tuple[str, str],
    settings: PrepareSettings,
    remarks: list[Remark],
    path: Path,
    doubtful: Collection[tuple[str, int]],
) -> tuple[TextSet, list[TextSet]]:
    """The training text without the pairs that are drawn for other sets, and these, in the order of the corpus.

    Pairs that differ from a drawn one only in case, punctuation and blanks leave the training text, too. Pairs beyond
    the limits are not drawn, and doubtful ones only if the others are too few. The words of subword tokenisers are not
    known yet, so their limits apply to blank-separated words here if there are any, and to subwords after the drawing.

    Args:
        path: a file of the corpus, for the message.
        doubtful: file and line of pairs that may be no translations.

    Raises:
        InputError: there are too few different pairs.
    """
    wanted = {name: getattr(settings, name) for name in HELD_OUT_SETS if getattr(settings, name)}
    pairs = list(map(near_form, zip(*train.texts, strict=True))) if wanted else []
    unknown = TOKENISERS[settings.tokeniser].SUBWORDS and any(map(is_unspaced, languages))
    lines = zip(*train.words.values(), strict=True) if wanted else ()
    faults = ["" if unknown else _beyond(words, settings) for words in lines]
    good = [number for number, fault in enumerate(faults) if not fault]
    first = {pairs[number]: number for number in reversed(good)}
    sure = {pairs[number]: number for number in reversed(good) if train.places[number] not in doubtful}
    count = sum(wanted.values())
    if count and len(first) <= count:
        sizes = ", ".join(f"{name} = {size}" for name, size in wanted.items())
        limited = " within max_length and max_ratio" if any(faults) else ""
        options = " and ".join(f"--{name}" for name in wanted)
        cure = f"lower {' and '.join(wanted)} ([prepare], or {options})" if len(first) > len(wanted) else "add pairs"
        found = f"{counted(len(first), 'different pair')}{limited} {'is' if len(first) == 1 else 'are'}"
        raise InputError(f"{found} too few for {sizes} and a training text; {cure}", path)
    if len(sure) > count:
        first = sure
    elif wanted:
        log.warning(
            f"{len(first) - len(sure):,} of {len(first):,} pairs are doubtful, so {' and '.join(wanted)} contain such"
            " pairs"
        )
    drawn = random.Random(settings.seed).sample(sorted(first.values()), count)
    sets, begin = [], 0
    for name, size in wanted.items():
        sets.append(train.part(name, sorted(drawn[begin : begin + size])))
        begin += size
    off = {pairs[number] for number in drawn}
    left = [number for number, pair in enumerate(pairs) if pair not in off] if wanted else range(len(train.places))
    gone = set(drawn)
    remarks += [
        train.remark(number, "dropped", HELD_OUT)
        for number, pair in enumerate(pairs)
        if pair in off and number not in gone
    ]
    return train.part(train.name, left), sets


def _filtered(part: TextSet, settings: PrepareSettings, remarks: list[Remark]) -> TextSet:
    """The set, as words, without pairs beyond the limits."""
    left = []
    for number, pair in enumerate(zip(*part.words.values(), strict=True)):
        if reason := _beyond(pair, settings):
            remarks.append(part.remark(number, "dropped", reason))
        else:
            left.append(number)
    return part.part(part.name, left)


def _distinct(train: TextSet, held: Sequence[TextSet], settings: PrepareSettings, remarks: list[Remark]) -> TextSet:
    """The training text without pairs whose words are those of an earlier pair or of a set that is held out.

    Pairs that differ from an earlier one only in case, punctuation and blanks stay, with a remark.
    """
    plain = without_marks if TOKENISERS[settings.tokeniser].MARKED else str
    off = {
        (source, plain(target))
        for part in held
        for text in part.of_side(1)
        for source, target in zip(part.words[0], part.words[text], strict=True)
    }
    seen, near, left = set[tuple[str, ...]](), set[tuple[str, ...]](), []
    for number, (source, target) in enumerate(zip(*train.words.values(), strict=True)):
        words = source, plain(target)
        reason = HELD_OUT if words in off else "" if settings.keep_duplicates or words not in seen else DUPLICATE
        if reason:
            remarks.append(train.remark(number, "dropped", reason))
            continue
        left.append(number)
        if not settings.keep_duplicates:
            seen.add(words)
            if (form := near_form(train.text(number))) in near:
                remarks.append(train.remark(number, "kept", NEAR_DUPLICATE))
            near.add(form)
    return train.part(train.name, left)


def _reasons(remarks: Sequence[Remark]) -> str:
    """The reasons for dropping pairs, with their counts and first places, for a message."""
    dropped = [row for row in remarks if row.done == "dropped"]
    counts = Counter(row.reason for row in dropped)
    first = {row.reason: f"{Path(row.path).name}:{row.line}" for row in reversed(dropped)}
    return "".join(
        f"{',' if k else ':'} {reason} {counts[reason]} (first {first[reason]})"
        for k, reason in enumerate(sorted(counts))
    )


def _beyond(pair: tuple[str, ...], settings: PrepareSettings) -> str:
    """The limit that the words of a pair exceed; empty if none."""
    short, long = sorted(_length(words) for words in pair)
    if not short:
        return EMPTY
    return LONG if long > settings.max_length else RATIO if long > settings.max_ratio * short else ""


def _kept(held: TextSet, settings: PrepareSettings) -> list[Remark]:
    """Remarks on lines of a set with files that would not be trained on, and a warning of long ones."""
    found, long = [], []
    for number, lines in enumerate(zip(*held.words.values(), strict=True)):
        lengths = [_length(line) for line in lines]
        if not min(lengths):
            found.append(held.remark(number, "kept", EMPTY))
        elif max(lengths) > settings.max_length:
            found.append(held.remark(number, "kept", LONG))
            long.append(f"line {number + 1} of {max(lengths):,} words")
    if long:
        shown = ", ".join(long[:3]) + (f" and {len(long) - 3:,} more" if len(long) > 3 else "")
        log.warning(
            f"{held.places[0][0]}: {shown}; sets from files keep every line, but a sentence too long to parse stays"
            " untranslated, and tuning then favours short translations: split or remove these lines"
        )
    return found


def _length(words: str) -> int:
    return words.count(" ") + 1 if words else 0


# ---- words ----


def _recipe(language: str, settings: PrepareSettings, marked: bool) -> SideRecipe:
    """The side without its models.

    Raises:
        InputError: the tokeniser is not available.
    """
    assert settings.tokenisation is not None
    recipe = SideRecipe(
        language, settings.unicode, settings.casing, settings.tokeniser, settings.tokenisation, marked=marked
    )
    if not TOKENISERS[settings.tokeniser].LEARNS:
        recipe.side()
    if remark := TOKENISERS[settings.tokeniser].remark(language):
        log.warning(remark)
    return recipe


def _encode(
    side: int, recipe: SideRecipe, sets: Sequence[TextSet], names: Collection[str], folder: Path, engine: Engine
) -> SideRecipe:
    """Puts the words of a side into all sets, of which the first is the training text; the side with its models."""
    recipe = replace(recipe, starts=not _begins_small(sets, side))
    tokeniser, tokenised = TOKENISERS[recipe.tokeniser], not recipe.subwords
    if tokeniser.LEARNS and tokenised:
        recipe = _with_model(recipe, side, sets[0].texts[side], folder)
        texts = {
            (k, number): _mapped(engine, recipe, "split", part.texts[number])
            for k, part in enumerate(sets)
            for number in part.of_side(side)
        }
    else:
        texts = {
            (k, number): part.words[number] if number in part.words else _split(part.texts[number], recipe, engine)
            for k, part in enumerate(sets)
            for number in part.of_side(side)
        }
    training = texts[0, side]
    forms = None
    if recipe.casing == "true":
        forms = count_forms(training, tokenised, recipe.language, names)
        path = folder / f"truecase.{recipe.language}"
        write_forms(path, forms)
        recipe = replace(recipe, case_model=ModelFile.of(path))
    if tokeniser.LEARNS and not tokenised:
        caser = open_caser(recipe.casing, forms, tokenised, recipe.language)
        recipe = _with_model(recipe, side, (caser.encode(line) for line in training), folder)
    for (k, number), lines in texts.items():
        sets[k].words[number] = _mapped(engine, recipe, "finish", lines)
    return recipe


def _begins_small(sets: Sequence[TextSet], side: int) -> bool:
    """True if lines begin small in the development text, which is of the wanted kind, or else in the training text."""
    train, *held = sets
    dev = [line for part in held if part.name == HELD_OUT_SETS[0] for n in part.of_side(side) for line in part.texts[n]]
    small = begins_small(dev)
    return bool(begins_small(train.texts[side]) if small is None else small)


def _with_model(recipe: SideRecipe, side: int, lines: Iterable[str], folder: Path) -> SideRecipe:
    """The side with the tokeniser's model of lines of the training text, which is written into the folder."""
    model = TOKENISERS[recipe.tokeniser].train_model(lines, SIDES[side], recipe.settings)
    assert model is not None  # the tokeniser learns
    path = folder / f"{recipe.tokeniser}.{recipe.language}.model"
    path.write_bytes(model)
    return replace(recipe, word_model=ModelFile.of(path))


def _cut_words(recipe: SideRecipe, cutting: Cutting, sets: Sequence[TextSet], folder: Path) -> SideRecipe:
    """Cuts the words of a side of all sets, of which the first is the training text; the side with the model."""
    path = folder / f"pieces.{recipe.language}.model"
    train_cutter(sets[0].words[cutting.side], cutting, path)
    cutter = WordCutter(path)
    for part in sets:
        for number in part.of_side(cutting.side):
            part.words[number] = [cutter.cut(line) for line in part.words[number]]
    return replace(recipe, piece_model=ModelFile.of(path))


def _split(lines: list[str], recipe: SideRecipe, engine: Engine) -> list[str]:
    """Separates the words of the lines by blanks; a tokeniser that learns does so later, with its model."""
    return lines if TOKENISERS[recipe.tokeniser].LEARNS else _mapped(engine, recipe, "split", lines)


def _mapped(engine: Engine, recipe: SideRecipe, step: str, lines: Sequence[str]) -> list[str]:
    rest = iter(lines)
    blocks = iter(lambda: list(islice(rest, BLOCK)), [])
    made = engine.map(_step, ((recipe, step, block) for block in blocks))
    return [line for block in progress(made, step, (len(lines) + BLOCK - 1) // BLOCK) for line in block]


def _step(block: tuple[SideRecipe, str, list[str]]) -> list[str]:
    recipe, step, lines = block
    side = recipe.side()
    work = {"split": side.split, "finish": side.finish, "encode": side.encode}[step]
    return [work(line) for line in lines]


def _write_sets(folder: Path, sets: Sequence[TextSet], languages: tuple[str, str]) -> None:
    for part in sets:
        write_lines(folder / set_file(part.name, languages[0]), part.words[0])
        for number in part.of_side(1):
            write_lines(folder / set_file(part.name, languages[1], number), part.words[number])
            if part.name in HELD_OUT_SETS:
                write_lines(folder / raw_reference(part.name, languages[1], number), part.texts[number])
