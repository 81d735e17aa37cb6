"""The form of a proof's header and of what it says of its making, as docs/formats/proof.md has it."""

import json
import sys

from proof_table import Unable, able


def no_doubles(pairs):
    able(len(dict(pairs)) == len(pairs), "not a proof file: a key of its header stands twice")
    return dict(pairs)


def no_number(text):
    raise Unable(f"not a proof file: {text}")


def integer_of(text):
    return -0.0 if text == "-0" else int(text)


class Either(tuple):
    """Forms of which a value has one."""


TEXT, NUMBER, INTEGER, ANY, NULL = "a text", "a number", "an integer", "anything", "null"
MAYBE_NUMBER, MAYBE_TEXT = Either((NULL, NUMBER)), Either((NULL, TEXT))
GROUP = (INTEGER, [INTEGER])
WEIGHT = {"feature": INTEGER, "lower?": MAYBE_NUMBER, "upper?": MAYBE_NUMBER}
RULES = {"max_features?": Either((NULL, INTEGER)), "require?": [INTEGER], "forbid?": [INTEGER], "implies?": [(INTEGER, INTEGER)]}
RULES |= {"at_most?": [GROUP], "at_least?": [GROUP], "together?": [[INTEGER]], "budget?": MAYBE_NUMBER, "costs?": [NUMBER], "weights?": [WEIGHT]}
HEADER = {"format": {"fewest-proof"}, "version": {1}, "n": INTEGER, "p": INTEGER, "problems?": INTEGER, "fingerprint": TEXT}
HEADER |= {"gain": {"ridge", "l1", "alignment"}, "loss?": Either((NULL, {"hinge", "squared-hinge"}))}
HEADER |= {"bias?": Either((NULL, {"free", "none"}, {"penalised": NUMBER})), "cost?": MAYBE_NUMBER, "penalty?": [NUMBER], "weight_bounds?": [NUMBER]}
HEADER |= {"kernel?": Either((NULL, {"rbf", "laplace"})), "gamma?": MAYBE_NUMBER, "categorical?": [INTEGER], "centre?": [INTEGER]}
HEADER |= {"rules": RULES, "made?": ANY}
OUTLINE = {key: HEADER[key] for key in ("format", "version", "n", "p", "problems?", "gain")} | {"*": ANY}
TEXTS = [TEXT]
READING = dict.fromkeys(("drop?", "only?", "text?", "missing_codes?", "classes?"), TEXTS)
READING |= dict.fromkeys(("format?", "target?", "positive?", "by?", "id?", "layer?", "decimal?", "thousands?", "delimiter?", "comment?"), MAYBE_TEXT)
READING |= dict.fromkeys(("no_header?", "header?", "drop_unlabelled?", "transpose?", "unique_names?", "zero_based?", "log1p?"), {True, False})
READING |= {"labels?": Either((NULL, TEXT, (TEXT, MAYBE_TEXT))), "index_limit?": Either((NULL, INTEGER)), "normalize_total?": MAYBE_NUMBER, "*": ANY}
SETTINGS = dict.fromkeys(("data?", "format?", "target?", "missing?", "scale?", "scale_reason?", "class_weight?", "sample_weights?", "tasks?"), MAYBE_TEXT)
SETTINGS |= {"reading?": READING, "variance_threshold?": MAYBE_NUMBER, "time_limit?": MAYBE_NUMBER, "threads?": Either((NULL, INTEGER))}
SETTINGS |= {"groups?": Either((NULL, {"column?": MAYBE_TEXT, "count?": INTEGER, "*": ANY})), "*": ANY}
MADE = dict.fromkeys(("method?", "version?", "command?"), TEXT) | {"names?": TEXTS, "classes?": TEXTS, "own?": [INTEGER]}
MADE |= {"settings?": SETTINGS, "read?": READING, "*": ANY}
# Of settings that name a target: those of arrays prepare nothing.
OF_FILES = {"folds?": MAYBE_TEXT, "multi_class?": Either((NULL, {"one-vs-one", "one-vs-rest"})), "categorical?": Either((NULL, TEXTS))}
OF_FILES |= {"validate?": Either((NULL, NUMBER, TEXT)), "seed?": Either((NULL, INTEGER)), "*": ANY}


def fits(value, form):
    """Whether a value of JSON has this form: of an object, keys with ? may be left out, and * stands for any others."""
    if isinstance(form, Either):
        return any(fits(value, one) for one in form)
    if isinstance(form, list):
        return isinstance(value, list) and all(fits(x, form[0]) for x in value)
    if isinstance(form, tuple):
        return isinstance(value, list) and len(value) == len(form) and all(map(fits, value, form))
    if isinstance(form, set):
        return type(value) in map(type, form) and value in form
    if isinstance(form, dict):
        if not isinstance(value, dict) or not all(key in value for key in form if key[-1] not in "?*"):
            return False
        return all(fits(x, form[key] if key in form else form.get(f"{key}?", form.get("*"))) for key, x in value.items())
    if form == NUMBER:
        return type(value) in (int, float) and abs(value) <= sys.float_info.max
    if form == INTEGER:
        return type(value) is int and 0 <= value < 1 << 64
    return form == ANY or (form == TEXT and isinstance(value, str)) or (form == NULL and value is None)


def formed(value, form, what):
    able(fits(value, form), f"not a proof file: {what} is not of the form of a proof's")


def header_of(line):
    """The header in a line of JSON, of which the outline has its form, and what it says of its making."""
    try:
        head = json.loads(line.decode(), object_pairs_hook=no_doubles, parse_constant=no_number, parse_int=integer_of)
        # Half of a pair of surrogates is no text.
        json.dumps(head, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise Unable("not a proof file: its header is no JSON") from None
    formed(head, OUTLINE, "its header")
    able(len(line) <= (1 << 20) + 256 * head["p"] + 1, "not a proof file: the header is too long for its features")
    made = {} if head.get("made") is None else head["made"]
    formed(made, MADE, "what it says of its making")
    if isinstance(made.get("settings", {}).get("target"), str):
        formed(made["settings"], OF_FILES, "what it says of its making")
    return head, made


def claim_of(head):
    """The header, all of the form of one; a null, or an empty list, is as a key left out."""
    formed(head, HEADER, "its header")
    return {key: x for key, x in head.items() if x not in (None, [])}
