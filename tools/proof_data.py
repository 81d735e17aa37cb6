"""Data as `fewest` reads, prepares and weighs them, for check_proof.py.

What is done in doubles is done as docs/formats/proof.md says, to the last bit: the fingerprint tells.
Text is read here, by the standard library alone; proof_arrays.py reads h5ad, 10x, npz and mtx.
"""

import csv
import io
import math
import os
import re

import proof_arrays
from proof_table import USUAL, Column, Table, able, need, text_of, unique

# Words for missing values: everywhere; in a column of numbers only.
MISSING = set("? na n/a nan null -nan +nan n.a. <na> #n/a #na \\n 1.#ind -1.#ind 1.#qnan".split()) | {"", "#n/a n/a"}
LOOSE = {".", "-", "--", "*", "none", "missing", "unknown", "n.d."}
IDENTIFIERS = {"id", "sample", "sample_id", "sampleid", "sample_name", "samples", "name", "barcode", "index"}
# A number with a sign of money or a share, or in another style; a day or a time.
STYLED = re.compile(r"[-+\u2212]?\s*(?:[%‰$€£¥₹]|US\$|USD|EUR|GBP|CHF|JPY)?\s*[-\u2212]?[0-9.,' \u00a0\u202f]*[0-9](?:e[-+]?[0-9]+)?\.?\s*(?:[%‰$€£¥₹]|USD|EUR|GBP|CHF|JPY)?$", re.I)
DATE = re.compile(r"([0-9]+|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-/. :,].*[0-9]", re.I)
# Options of reading that are known; any other is refused.
READING = {"target", "drop", "only", "text", "missing_codes", "classes", "positive", "drop_unlabelled", "labels", "by", "id"}
READING |= {"unique_names", "layer", "normalize_total", "log1p", "format", "apart"}
BLANKS = " \t\n\r\f\v"


def parsed(text):
    """The number that a text is, also NaN and infinities; None where it is none."""
    text = text.strip(BLANKS)
    try:
        # Python alone reads 1_0, and digits of other scripts.
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def number(text):
    value = parsed(text)
    able(value is not None and math.isfinite(value), f"{text!r} is no finite number")
    return value


def class_name(text):
    """A class: numbers that are equal are one, integers keep all digits, text has no blanks around it."""
    text = text.strip()
    value = parsed(text)
    if value is None or not math.isfinite(value):
        return text
    if 2**53 <= abs(value) < 1e30:
        return str(int(text)) if re.fullmatch(r"[-+]?[0-9]+", text) else repr(value)
    return str(int(value)) if value == int(value) else repr(value)


def same_class(text):
    """What a class says where a user names it: `True`, `TRUE` and 1 are one."""
    name = class_name(text)
    return {"true": "1", "false": "0"}.get(name.lower(), name)


def random_words(seed, jumps):
    """Words of xoshiro256++ (Blackman and Vigna), seeded by splitmix64, after this many long jumps."""
    most = (1 << 64) - 1
    state = []
    for k in range(1, 5):
        z = seed + k * 0x9E3779B97F4A7C15 & most
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & most
        z = (z ^ z >> 27) * 0x94D049BB133111EB & most
        state.append(z ^ z >> 31)

    def turned(x, by):
        return (x << by | x >> 64 - by) & most

    def word(s):
        found = turned(s[0] + s[3] & most, 23) + s[0] & most
        t = s[1] << 17 & most
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = turned(s[3], 45)
        return found

    for _ in range(jumps):
        far = [0, 0, 0, 0]
        for part in (0x76E15D3EFEFDCBBF, 0xC5004E441C522FB3, 0x77710069854EE241, 0x39109BB02ACBE635):
            for bit in range(64):
                if part >> bit & 1:
                    far = [x ^ y for x, y in zip(far, state)]
                word(state)
        state = far
    while True:
        yield word(state)


def meant(asked, names):
    """Positions of what names and patterns with * and ? mean."""
    found = set()
    for text in asked:
        able(text in names or not (text[:1] == text[-1:] == "/" and len(text) > 2), "regular expressions are not known here")
        form = re.compile("".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in text), re.S)
        some = [j for j, name in enumerate(names) if name == text] or [j for j, name in enumerate(names) if form.fullmatch(name)]
        able(some, f"no column is meant by {text!r}")
        found |= set(some)
    return found


def rows_of(path):
    """The names and rows of a csv file, cells without blanks around them."""
    rows = [[cell.strip(BLANKS) for cell in row] for row in csv.reader(io.StringIO(text_of(path), newline=""), strict=True)]
    names, *rows = [row for row in rows if any(row)]
    able(all(len(row) == len(names) for row in rows), "a row has more or fewer cells than there are names")
    named = [name for name in names if name]
    able(len(set(named)) == len(named), "two columns have one name")
    return names, rows


class Cells:
    """What a cell of text says; codes are texts and numbers that mean a missing value."""

    def __init__(self, codes):
        self.codes, self.values = set(codes), {parsed(code) for code in codes} - {None}

    def missing(self, cell):
        return cell.lower() in MISSING or cell in self.codes or (parsed(cell) in self.values if self.values else False)

    def number(self, cell):
        value = parsed(cell)
        return math.nan if value in self.values else value


def feature(name, texts, cells, is_text):
    """The columns of a feature by name: one of numbers, or those of 0 and 1 for each value of a text."""
    numbers = [cells.number(cell) for cell in texts]
    there = [not cells.missing(cell) for cell in texts]
    known = [x is not None and not cells.missing(cell) for x, cell in zip(numbers, texts)]
    padded = any(x and re.fullmatch("0[0-9]+", cell) for x, cell in zip(known, texts))
    words = [cell for x, known, cell in zip(there, known, texts) if x and not known and cell.lower() not in LOOSE]
    able(is_text or padded or not words or 2 * len(words) >= sum(known) + len(words), f"column {name!r} has numbers and text")
    if not is_text and not padded and not words:
        able(all(math.isfinite(x) for x, known in zip(numbers, known) if known), f"column {name!r} has an infinite value")
        return {name: [x if known else math.nan for x, known in zip(numbers, known)]}, False
    values = sorted({cell for cell, x in zip(texts, there) if x}, key=str.encode)
    if not is_text:
        styled = sum(bool(STYLED.match(value)) and parsed(value) is None for value in values)
        dates = sum(bool(DATE.match(value)) for value in values)
        able(styled == dates == 0, f"column {name!r} has numbers in another style, or dates")
        many = 2 * len(values) >= sum(there)
        able(len(values) <= (20 if many else 100), f"column {name!r} holds names, not categories")
    shown = values[1:] if len(values) == 2 else values
    made = {f"{name}={value}": [float(cell == value) if x else math.nan for cell, x in zip(texts, there)] for value in shown}
    return made, True


def csv_table(path, how):
    names, rows = rows_of(path)
    names = unique(names) if how.get("unique_names") else names
    text = dict(zip(names, map(list, zip(*rows)))) if rows else {}
    # Names of the samples, if a first column without a name has them.
    text[None] = [row[0] for row in rows]
    able(rows and set(how["apart"]) | set(how.get("text") or []) <= set(text), "a column that the proof names is missing")
    drop, only = meant(how.get("drop") or [], names), meant(how.get("only") or [], names)
    apart = {*how["apart"], how.get("id")}
    free = [c for c, name in enumerate(names) if name and name not in apart]
    target = how.get("target")
    if target is None:
        usual = [c for name in USUAL for c in free if c not in drop and names[c].strip().lower() == name]
        target = names[usual[0]] if usual else None if how["optional"] else names[[c for c in free if c not in drop][-1]]
    able(target in text or how["optional"], f"there is no column {target!r}")
    cells = Cells(how.get("missing_codes") or [])
    if how.get("drop_unlabelled") and target in text:
        kept = [i for i, cell in enumerate(text[target]) if not cells.missing(cell)]
        text = {name: [column[i] for i in kept] for name, column in text.items()}
    samples = text[None] if not names[0] and how.get("id") is None else text.get(how["id"]) if how.get("id") else None
    table = Table(len(text[None]), [], [], lambda name: text.get(name) if name else None, samples)
    for c in free:
        left_out = c in drop or (only and c not in only)
        uncounted = not how.get("normalize_total") or names[c] in (how.get("text") or [])
        if names[c] == target or (left_out and uncounted):
            continue
        if left_out:
            numbers = [cells.number(cell) for cell in text[names[c]]]
            if all(x is not None or cells.missing(cell) or cell.lower() in LOOSE for x, cell in zip(numbers, text[names[c]])):
                table.counted.add(len(table.names))
                table.names.append(names[c])
                table.columns.append(Column(math.nan if x is None else x for x in numbers))
            continue
        made, is_text = feature(names[c], text[names[c]], cells, names[c] in (how.get("text") or []))
        if is_text:
            table.dummies[names[c]] = list(range(len(table.names), len(table.names) + len(made)))
        table.names += made
        table.columns += map(Column, made.values())
    table.target = target if target in text else None
    return table


def svm_table(path, how):
    lines = text_of(path).replace("\r\n", "\n").split("\n")
    # The comment of scikit-learn, which counts from 0 as it likes.
    able(not any("zero-based" in line for line in lines if line.startswith("#")), "indices from 0 are not read here")
    rows = [row for row in (line.split("#")[0].split() for line in lines) if row]
    columns = []
    for i, row in enumerate(rows):
        last = 0
        for cell in row[1:]:
            j, colon, x = cell.partition(":")
            able(j.isascii() and j.isdecimal() and int(j) > last, "indices are not whole numbers from 1 in ascending order")
            last, x = int(j), parsed(x)
            able(colon and x is not None and not math.isinf(x), f"{cell!r} is no value")
            columns += [Column([], []) for _ in range(len(columns), last)]
            if x != 0:
                columns[last - 1].rows.append(i)
                columns[last - 1].values.append(x)
    table = Table(len(rows), columns, [f"x{j + 1}" for j in range(len(columns))], {"y": [row[0] for row in rows]}.get)
    table.target = "y"
    return table


def reader_of(path, format_name):
    plain = path.removesuffix(".gz").lower()
    for name, endings in (("svmlight", (".svm", ".libsvm")), ("csv", (".csv",))):
        if plain.endswith(endings) or (format_name == name and not os.path.splitext(plain)[1]):
            return name == "csv", csv_table if name == "csv" else svm_table
    found = proof_arrays.reader_of(path)
    able(found, "data are a .csv, .svm, .libsvm, .h5ad, .h5, .npz or .mtx file, or a folder of Cell Ranger")
    return False, found


def read(path, how):
    """A table as the options of reading say, in which rows without a class may be."""
    is_csv, reader = reader_of(path, how.get("format"))
    table = reader(path, how)
    total, log = how.get("normalize_total"), how.get("log1p")
    codes = set() if is_csv else Cells(how.get("missing_codes") or []).values
    able(0.0 not in codes or all(column.rows is None for column in table.columns), "0 is no code in sparse data")
    for column in table.columns if codes else []:
        column.change(lambda _, x: math.nan if x in codes else x)
    if total or log:
        table.normalize(total, log)
    if is_csv:
        table.select([j for j in range(len(table.names)) if j not in table.counted])
        return table
    able(not how.get("text"), "a matrix has no columns of text")
    for asked, inside in ((how.get("drop"), False), (how.get("only"), True)):
        if asked:
            found = meant(asked, table.names)
            table.select([j for j in range(len(table.names)) if (j in found) == inside])
    return table


class Labels:
    """A second file with columns of the samples, FILE or FILE:COLUMN, a csv file or one of classes (.cls)."""

    def __init__(self, said):
        file, colon, column = said.rpartition(":")
        file, self.column = (said, None) if not colon or os.path.exists(said) else (file, column)
        self.in_order = file.lower().endswith(".cls")
        if self.in_order:
            lines = [line for line in (line.strip() for line in text_of(file).splitlines()) if line]
            able(len(lines) == 3, "a class file has three lines")
            names = lines[1].lstrip("#").split()
            place = [int(t) if t.isascii() and t.isdecimal() and int(t) < len(names) else None for t in lines[2].split()]
            self.columns = {"class": [t if at is None else names[at] for t, at in zip(lines[2].split(), place)]}
        else:
            able(file.lower().removesuffix(".gz").endswith(".csv"), "a file of labels is a .csv or .cls file here")
            names, rows = rows_of(file)
            able(rows, "the file of labels has no rows")
            self.columns = dict(zip(names, map(list, zip(*rows))))
        able(self.column is None or self.column in self.columns, f"the file of labels has no column {self.column!r}")

    def target(self, asked):
        """The column with the classes; None where the data have them."""
        free = list(self.columns)[0 if self.in_order else 1 :]
        if self.column is not None:
            return self.column
        if asked is None:
            usual = [name for usual in USUAL for name in self.columns if name.lower() == usual]
            able(len(free) == 1 or usual, "no column of the labels is named y, label, class or target")
            return free[0] if len(free) == 1 else usual[0]
        return asked if asked in self.columns else None

    def rows(self, samples, by, drop):
        """The row of each sample; None where there is none and it is to be left out."""
        if self.in_order:
            able(len(self.columns["class"]) == len(samples), "the class file is of another number of samples")
            return list(range(len(samples)))
        wanted = set(samples)
        able(by is None or by in self.columns, f"the file of labels has no column {by!r}")
        by = by or max(self.columns, key=lambda name: sum(x in wanted for x in self.columns[name]))
        found = {}
        for row, name in enumerate(self.columns[by]):
            able(name not in found or name not in wanted, f"the sample {name!r} has two rows")
            found[name] = row
        able(drop or all(name in found for name in samples), "a sample has no row in the file of labels")
        return [found.get(name) for name in samples]


def joined(path, how, labels):
    """The table of the data with the columns of a second file, and the column of the classes."""
    target = labels.target(how.get("target"))
    own = {**how, "apart": [name for name in how["apart"] if name not in labels.columns]}
    if target is not None:
        own |= {"target": None, "optional": True, "drop_unlabelled": False}
    usual = [name for k, name in enumerate(labels.columns) if name and (k == 0 or name.lower() in IDENTIFIERS)]
    table = None
    for name in [] if how.get("id") is not None or labels.in_order else ([how["by"]] if how.get("by") else []) + usual:
        found = read(path, {**own, "id": name})
        if found.texts(name) is not None:
            table, table.samples = found, found.texts(name)
            break
    table = table or read(path, own)
    able(table.samples is not None or labels.in_order, "the samples have no names by which rows of the labels are found")
    rows = labels.rows(table.samples or [""] * table.n, how.get("by"), how.get("drop_unlabelled"))
    inner, columns = table.texts, {}
    for name, column in labels.columns.items():
        columns[name] = ["" if row is None else column[row] for row in rows]
    mine = set(how["apart"]) & set(columns) | ({target} if target is not None else set())
    table.texts = lambda name: columns[name] if name in mine else inner(name)
    table.target = table.target if target is None else target
    return table


class Data:
    """Columns of features; the class, weight and task of each sample."""

    def __init__(self, path, made, labels=None, alignment=False):
        """Reads a file as `made` says, fills in and scales features, multiplies weights by those of classes: in doubles.
        `labels` is the second file; none that a proof names is opened."""
        self.said = said = made.get("settings", {})
        if not isinstance(said.get("target"), str):
            # Arrays as they were given: nothing was prepared.
            self.said = said = made = {}
        how = self.options(said.get("reading", {})) or self.options(made.get("read", {}))
        able(set(how) <= READING, f"options of reading are not known here: {', '.join(sorted(set(how) - READING))}")
        able("labels" not in how or labels, "the classes stand in a second file, and none that a proof names is opened: give --labels FILE[:COLUMN]")
        positive, scale, rule = how.pop("positive", None), said.get("scale") or "none", said.get("class_weight") or "none"
        weights, tasks, groups = said.get("sample_weights"), said.get("tasks"), (said.get("groups") or {}).get("column")
        apart = [name for name in [*how.pop("apart", []), weights, said.get("folds"), tasks, groups] if name is not None]
        how |= {"apart": apart, "target": said.get("target"), "optional": False, "format": said.get("format")}
        labels = labels and Labels(labels)
        table = joined(path, how, labels) if labels else read(path, how)
        cells = Cells(how.get("missing_codes", []))
        self.classes = ["" if cells.missing(cell) else class_name(cell) for cell in table.described(table.target)]
        of_samples, self.tasks = table.described(weights) if weights else ["1"] * table.n, table.described(tasks) if tasks else None
        able(how.get("drop_unlabelled") or all(self.classes), "a sample has no class")
        if how.get("classes"):
            wanted = {same_class(name) for name in how["classes"]}
            able(wanted <= set(map(same_class, self.classes)), "a class that is to be kept is not there")
        # A row without a class, of another class, or of weight 0 is no sample.
        kept = [i for i, c in enumerate(self.classes) if c and (not how.get("classes") or same_class(c) in wanted)]
        of_samples = {i: number(of_samples[i]) for i in kept}
        able(all(w >= 0 for w in of_samples.values()), "a weight is below 0")
        kept = [i for i in kept if of_samples[i] > 0]
        self.classes, self.weights = [self.classes[i] for i in kept], [of_samples[i] for i in kept]
        self.tasks = self.tasks and [self.tasks[i] for i in kept]
        table.keep(kept)
        able(kept, "no sample is left")
        alike = [name for name in dict.fromkeys(self.classes) if positive is not None and same_class(name) == same_class(positive)]
        able(positive is None or (alike and len(set(self.classes)) == 2), f"the positive class {positive!r} is none of two classes of the data")
        self.positive = alike[0] if alike else None
        factors, share = self.factors(rule), said.get("validate")
        of_classes = [factors[name] for name in self.classes]
        if share is not None and not isinstance(share, str):
            kept = self.not_held_out(share, said.get("seed") or 0)
            table.keep(kept)
            self.classes, self.weights = [self.classes[i] for i in kept], [self.weights[i] for i in kept]
            self.tasks, of_classes = self.tasks and [self.tasks[i] for i in kept], [of_classes[i] for i in kept]
        categorical = meant(said.get("categorical") or [], table.names)
        self.categorical = categorical
        fill_in(table, said.get("missing") or "error", categorical, self.weights)
        able(scale in ("standard", "maxabs", "none") or ends_of(scale), f"scaling {scale!r} is not known here")
        # A bias that is free makes up for a constant in a feature, and so does an alignment: sparse columns are divided alone then.
        centred = not alignment and said.get("bias", "free") != "free"
        for j, column in enumerate(table.columns):
            if j not in categorical:
                table.columns[j] = scaled(column, scale, self.weights, centred)
        self.columns, self.names = table.columns, table.names
        self.weights = [w * factor for w, factor in zip(self.weights, of_classes)]

    def factors(self, rule):
        """What the weights of the samples of each class are multiplied by."""
        sizes = {name: sum(w for w, of in zip(self.weights, self.classes) if of == name) for name in self.ordered(set(self.classes))}
        n = sum(sizes.values())
        rules = {"none": lambda size: 1.0, "balanced": lambda size: n / (len(sizes) * size)}
        rules |= {"cw1": rules["none"], "cw2": lambda size: 1 / size, "cw3": lambda size: 1 / size + len(sizes)}
        factors = {name: rules.get(rule, rules["none"])(size) for name, size in sizes.items()}
        if rule not in rules:
            factors |= {class_name(name): number(w) for name, w in (part.rsplit("=", 1) for part in rule.split(","))}
        return factors

    def not_held_out(self, share, seed):
        """The samples left where this share of each class is held out, to the nearest sample, one at least kept."""
        out, words = set(), random_words(seed, 15)
        for name in self.ordered(set(self.classes)):
            rows = [i for i, of in enumerate(self.classes) if of == name]
            wished = share * len(rows)
            count = min(math.floor(wished) + (wished - math.floor(wished) >= 0.5), len(rows) - 1)
            places = list(range(len(rows)))
            for k in range(count):
                other = k + (next(words) * (len(rows) - k) >> 64)
                places[k], places[other] = places[other], places[k]
            out |= {rows[at] for at in places[:count]}
        return [i for i in range(len(self.classes)) if i not in out]

    def options(self, said):
        """Options of reading, but for those by default."""
        return {key: value for key, value in said.items() if value not in (None, False, [])}

    def ordered(self, classes):
        """Classes in ascending order; of two the positive one is the second."""
        classes = sorted(classes, key=str.encode)
        if all(parsed(name) is not None for name in classes):
            classes.sort(key=lambda name: (float(name), int(name) if re.fullmatch("-?[0-9]+", name) else 0))
        return sorted(classes, key=lambda name: name == self.positive)

    def problems(self, multi_class):
        """The samples and labels of each problem of two classes."""
        for task in sorted(set(self.tasks), key=str.encode) if self.tasks else [None]:
            rows = [i for i in range(len(self.classes)) if task is None or self.tasks[i] == task]
            classes = self.ordered({self.classes[i] for i in rows})
            need(len(classes) > 1, "header: the data, or those of a task, have one class alone")
            if multi_class == "one-vs-rest" or (len(classes) == 2 and task is None):
                for name in classes if len(classes) > 2 else classes[1:]:
                    yield rows, [1.0 if self.classes[i] == name else -1.0 for i in rows]
                continue
            of = [[i for i in rows if self.classes[i] == name] for name in classes]
            for k, first in enumerate(of):
                for second in of[k + 1 :]:
                    yield first + second, [-1.0] * len(first) + [1.0] * len(second)

    def numbered(self):
        """All samples, with the number of the class of each."""
        place = {name: float(k) for k, name in enumerate(self.ordered(set(self.classes)))}
        need(len(place) > 1, "header: the data have one class alone")
        return list(range(len(self.classes))), [place[name] for name in self.classes]


def fill_in(table, rule, categorical, weights):
    """Puts numbers in place of missing values, as `made.settings.missing` says."""
    lacking = [j for j, column in enumerate(table.columns) if any(x != x for x in column.values)]
    able(not lacking or rule != "error", f"a value of {table.names[lacking[0]] if lacking else ''!r} is missing")
    able(rule in ("error", "mean", "median", "most-frequent", "indicator"), f"--missing {rule} is not known here")
    column_of = {j: name for name, of in table.dummies.items() for j in of}
    marks = {}
    for j in lacking if rule == "indicator" else []:
        marks.setdefault(f"{column_of.get(j, table.names[j])} (missing)", j)
    able(not set(marks) & set(table.names), "a feature has the name of one of missing values")
    for name, j in marks.items():
        places = [i for i, x in table.columns[j].entries() if x != x]
        dense = table.columns[j].rows is None
        table.columns.append(Column([float(i in set(places)) for i in range(table.n)] if dense else [1.0] * len(places), None if dense else places))
        table.names.append(name)
    fills = {j: fill(table.columns[j], "most-frequent" if j in categorical else rule, weights) for j in lacking}
    for of in table.dummies.values() if rule in ("median", "most-frequent") else []:
        ones = [dict(counted(table.columns[j], weights)).get(1.0, 0.0) for j in of]
        for k, j in enumerate(of if len(of) > 1 else []):
            if j not in categorical:
                fills[j] = float(k == ones.index(max(ones)))
    for j in lacking:
        table.columns[j].change(lambda _, x, to=fills[j]: to if x != x else x)


def counted(column, weights):
    """The distinct values that are not missing, ascending, and how much each counts."""
    values, own, zeros = column.present(weights)
    found = {}
    for x, w in [*zip(values, own), *([(0.0, zeros)] if zeros > 0 else [])]:
        found[x] = found[x] + w if x in found else w
    return sorted(found.items())


def fill(column, rule, weights):
    """What stands in for the missing values of a column: 0 where there are no others."""
    values, own, zeros = column.present(weights)
    if zeros + sum(own) == 0:
        return 0.0
    if rule in ("mean", "indicator"):
        return moments(values, own, zeros)[1]
    counts = counted(column, weights)
    if rule == "most-frequent":
        most = max(times for _, times in counts)
        return next(x for x, times in counts if times == most)
    half, below = sum(times for _, times in counts) / 2, 0.0
    near = half * 1e-12
    for k, (x, times) in enumerate(counts):
        below += times
        if below >= half - near:
            return x / 2 + counts[k + 1][0] / 2 if below <= half + near and k + 1 < len(counts) else x
    return 0.0


def moments(values, weights, zeros):
    """The exponent of a power of two above all values in size, the mean, and the variance over that power squared."""
    exponent = math.frexp(max(map(abs, values), default=0.0))[1]
    if not values or (zeros == 0 and all(x == values[0] for x in values)):
        return exponent, values[0] if values else 0.0, 0.0
    values = [math.ldexp(x, -exponent) for x in values]
    n, total, squares, shift = zeros + sum(weights), 0.0, 0.0, 0.0 if zeros else values[0]
    for x, w in zip(values, weights):
        total += w * (x - shift)
    mean = shift + total / n
    for x, w in zip(values, weights):
        squares += w * ((x - mean) * (x - mean))
    return exponent, math.ldexp(mean, exponent), (squares + zeros * mean * mean) / n


def ends_of(rule):
    """The ends of the range that features are brought to, if the scaling is such."""
    found = re.fullmatch(r"range(?::(?P<low>[-+.0-9eE]+?)\.\.(?P<high>[-+.0-9eE]+))?", str(rule))
    if not found:
        return None
    return (float(found["low"]), float(found["high"])) if found["low"] else (-1.0, 1.0)


def ranged(column, ends, weights):
    """The centre and the scale that bring a column between these ends; none where it has one value."""
    values, _, zeros = column.present(weights)
    seen = [*values, 0.0] if zeros else values
    least, most = min(seen, default=0.0), max(seen, default=0.0)
    if least == most:
        return None
    scale = (most - least) / (ends[1] - ends[0])
    return least - ends[0] * scale, scale


def scaled(column, rule, weights, centred):
    """The column scaled, in doubles; sums in the order of the rows. A sparse one stays so unless it is `centred`."""
    values, n = column.values, len(weights)
    largest = max(map(abs, values), default=0.0)
    if rule == "none" or not largest:
        return column
    if rule == "maxabs":
        return Column([x / largest for x in values], column.rows)
    exponent, found = 0, None
    if ends := ends_of(rule):
        found = ranged(column, ends, weights)
    else:
        exponent, mean, variance = moments(*column.present(weights))
        if variance:
            found = math.ldexp(mean, -exponent), math.sqrt(variance)
    keeps = column.rows is not None and not centred
    if found is None:
        return column if keeps else Column([0.0] * n)
    centre, by = found
    if keeps:
        centre = 0.0
    else:
        values, column = column.at(range(n)), Column([])
    return Column([(math.ldexp(x, -exponent) - centre) / by for x in values], column.rows)
