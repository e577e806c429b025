"""``lscfg inspect choices``: held-out choices of rules or translations under models, before any tuning."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.grammar.select import MAX_TARGETS
from lscfg.grammar.tokens import check_share
from lscfg.io.arguments import InputFile
from lscfg.io.json_files import write_json
from lscfg.kernel.inference import NEGATIVE
from lscfg.options import add_output
from lscfg.parser import CommandParser
from lscfg.settings import Declared, setting
from lscfg.study.diagnose import Diagnosis, format_diagnosis, report
from lscfg.study.disambiguation import InventorySettings, Questions
from lscfg.study.mrr import ScoreEvaluator, format_scores, measure_scores

HELP = "measure held-out choices of rules or translations under models"

RULES, TRANSLATIONS = "rules", "translations"


@dataclass(frozen=True)
class RuleChoices(Declared):
    """Settings of the choices of rules."""

    max_targets: int = setting(MAX_TARGETS, "most frequent target sides of each source side; 0: all", least=0)
    floor: float = setting(1e-6, "minimum value of a logarithm's argument", above=0)
    negative: str = setting("flip", "value of a negative marginal: its absolute value, or 0", choices=NEGATIVE)


@dataclass(frozen=True)
class TranslationChoices(Declared):
    """Settings of the choices of translations, in addition to those of the inventory."""

    leave_out: float = setting(0.05, "share of the tokens of --train to test, without --held-out", least=0, below=1)
    trivial: bool = setting(False, "tokens of source phrases with a single option count as right")


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    parser.kind_argument = "measure"
    parser.add_argument("models", type=InputFile, metavar="MODEL", nargs="*", help="models of lscfg estimate")
    parser.add_argument(
        "--measure",
        choices=(RULES, TRANSLATIONS),
        default=RULES,
        help="rules: rules of the held-out derivations; translations: rank of a phrase's translation in its sentence "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--train",
        type=InputFile,
        metavar="DERIVATIONS",
        required=True,
        help="derivations that the models were estimated from",
    )
    parser.add_argument("--held-out", type=InputFile, metavar="DERIVATIONS", help="derivations of unseen pairs")
    add_output(parser, "file for all figures, as JSON (default: none)")
    of_rules = (
        parser.add_argument(
            "--forests",
            action="store_true",
            help="references are all minimal derivations of the held-out pairs, of lscfg derive --forests",
        ),
        parser.add_argument(
            "--differences",
            type=int,
            default=0,
            metavar="N",
            help="show N rules and N sentences with the largest gains, and with the largest losses (default: none)",
        ),
    )
    lm = parser.add_argument("--lm", type=InputFile, metavar="ARPA", help="language model of the target side")
    for action in of_rules:
        parser.limit(action, RULES)
    parser.limit(lm, TRANSLATIONS)
    tables = (Table(RULES, (RuleChoices,)), Table(TRANSLATIONS, (InventorySettings, TranslationChoices)))
    add_settings(parser, *tables, by_kind=True)


def run(args: argparse.Namespace) -> None:
    """Prints the table.

    Raises:
        InputError: a file cannot be read or is of another kind, or an option is out of its range.
    """
    content, text = (_rules if args.measure == RULES else _translations)(args)
    print(text)
    if args.output:
        write_json(args.output, content)


def _rules(args: argparse.Namespace) -> tuple[dict[str, object], str]:
    settings = GivenSettings(args, RULES).build(RULES, RuleChoices)
    if args.differences < 0:
        raise InputError(f"--differences must be at least 0, not {args.differences}")
    if not args.models:
        raise InputError("no models; name one or more")
    if not args.held_out:
        raise InputError("--held-out is missing: name derivations of unseen pairs")
    train, held_out = Derivations.load(args.train), Derivations.load(args.held_out)
    diagnosis = Diagnosis(train, held_out, settings.max_targets, settings.floor, settings.negative, args.forests)
    results = diagnosis.references()
    for path in args.models:
        results += diagnosis.measure_all(path)
    content = report(diagnosis, results, args.differences)
    return content, format_diagnosis(content)


def _translations(args: argparse.Namespace) -> tuple[dict[str, object], str]:
    """Tests on tokens of ``--held-out`` or, as in the thesis, on tokens of ``--train`` that the models leave out."""
    given = GivenSettings(args, TRANSLATIONS)
    settings, own = given.build(TRANSLATIONS, InventorySettings, TranslationChoices)
    if args.held_out and "leave_out" in given.keys(TRANSLATIONS):
        raise InputError("leave_out selects tokens of --train; drop --held-out")
    check_share(own.leave_out)
    train = Derivations.load(args.train)
    if args.held_out:
        questions, share = Questions.held_out(train, Derivations.load(args.held_out), settings), 0.0
    else:
        questions, share = Questions.of_tokens(train, settings, own.leave_out), own.leave_out
    content = measure_scores(ScoreEvaluator.of(questions, args.lm, own.trivial, share), args.models)
    protocol = "held-out" if args.held_out else "thesis"
    content = {"protocol": protocol, "settings": settings.facts(), **content}
    return content, format_scores(content)
