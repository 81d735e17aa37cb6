"""Data as `fewest` reads, scales and weighs them, for check_proof.py: csv and svmlight, numbers alone.

What is done in doubles is done as docs/formats/proof.md says, to the last bit: the fingerprint tells.
"""

import csv
import gzip
import io
import math


class Fault(Exception):
    """What a proof does not prove, or a format that it does not keep."""


class Unable(Exception):
    """What this checker does not do."""


def need(condition, fault):
    if not condition:
        raise Fault(fault)


def visible(text):
    """A text in one line, without what a terminal obeys."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def number(text):
    try:
        # Python alone reads 1_0, and digits of other scripts.
        value = float(text) if text.isascii() and "_" not in text else math.inf
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        raise Unable(f"{text!r} is no number: this checker reads numbers alone, none missing")
    return value


def class_name(text):
    """A class or task: numbers that are equal are one."""
    try:
        value = float(text)
        return str(int(value)) if value == int(value) else repr(value)
    except ValueError:
        return text


class Data:
    """Columns of doubles; the class, weight and task of each sample."""

    def __init__(self, path, made):
        """Reads a file as `made` says, scales features, multiplies weights by those of classes: in doubles."""
        said = made.get("settings", {})
        how = {**made.get("read", {}), **said.get("reading", {})}
        positive, scale, rule = how.pop("positive", None), said.get("scale") or "none", said.get("class_weight") or "none"
        drop = how.pop("drop", []) + how.pop("apart", []) + [said.get("folds"), (said.get("groups") or {}).get("column")]
        if any(how.values()) or (said.get("missing") or "error") != "error" or said.get("validate"):
            raise Unable("options of reading, missing values and --validate are not known here")
        with open(path, "rb") as file:
            text = file.read()
        text = (gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text).decode("utf-8-sig")
        plain, self.tasks, self.weights = path.removesuffix(".gz"), None, None
        if plain.endswith((".svm", ".libsvm")):
            rows = [line.split("#")[0].split() for line in text.replace("\r\n", "\n").split("\n")]
            rows = [(row[0], [cell.split(":") for cell in row[1:]]) for row in rows if row]
            self.classes = [class_name(label) for label, _ in rows]
            p = max((int(j) for _, cells in rows for j, _ in cells), default=0)
            self.names, self.columns = [f"x{j + 1}" for j in range(p)], [[0.0] * len(rows) for _ in range(p)]
            for i, (_, cells) in enumerate(rows):
                places = [int(j) for j, _ in cells if j.isascii() and j.isdecimal()]
                if len(places) != len(cells) or sorted({j for j in places if j > 0}) != places:
                    raise Unable("indices are not whole numbers from 1 in ascending order")
                for j, x in cells:
                    self.columns[int(j) - 1][i] = number(x)
        elif plain.endswith(".csv"):
            names, *rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if row]
            if any(len(row) != len(names) for row in rows):
                raise Unable("a row has more or fewer cells than there are names")
            table = dict(zip(names, zip(*rows)))
            apart = [said.get("target") or names[-1], said.get("sample_weights"), said.get("tasks"), *drop]
            if len(table) != len(names) or set(apart) - {None} - set(table):
                raise Unable("two columns have one name, or one that the proof names is missing")
            self.names = [name for name in names if name not in apart]
            self.columns = [[number(cell) for cell in table[name]] for name in self.names]
            self.classes = [class_name(cell) for cell in table[apart[0]]]
            self.weights = [number(cell) for cell in table[apart[1]]] if apart[1] else None
            self.tasks = [class_name(cell) for cell in table[apart[2]]] if apart[2] else None
            # A row of weight 0 is no sample.
            kept = [i for i, w in enumerate(self.weights or [1.0] * len(self.classes)) if w > 0]
            self.columns = [[column[i] for i in kept] for column in self.columns]
            self.classes, self.weights, self.tasks = ([of[i] for i in kept] if of else of for of in (self.classes, self.weights, self.tasks))
        else:
            raise Unable("data are a .csv, .svm or .libsvm file, also .gz")
        if scale not in ("standard", "maxabs", "none"):
            raise Unable(f"scaling {scale!r} is not known here")
        if scale != "none":
            self.columns = [scaled(column, scale, self.weights) for column in self.columns]
        self.positive = None if positive is None else class_name(positive)
        if positive is not None and (self.positive not in self.classes or len(set(self.classes)) != 2):
            raise Unable(f"the positive class {positive!r} is none of two classes of the data as they are read here")
        self.weights = self.weights or [1.0] * len(self.classes)
        sizes = {name: sum(w for w, of in zip(self.weights, self.classes) if of == name) for name in self.ordered(set(self.classes))}
        n = sum(sizes.values())
        rules = {"none": lambda size: 1.0, "balanced": lambda size: n / (len(sizes) * size)}
        rules |= {"cw2": lambda size: 1 / size, "cw3": lambda size: 1 / size + len(sizes)}
        factors = {name: rules.get(rule, rules["none"])(size) for name, size in sizes.items()}
        if rule not in rules:
            factors |= {class_name(name): number(w) for name, w in (part.rsplit("=", 1) for part in rule.split(","))}
        self.weights = [w * factors[name] for w, name in zip(self.weights, self.classes)]

    def ordered(self, classes):
        """Classes in ascending order; of two the positive one is the second."""
        try:
            classes = sorted(classes, key=float)
        except ValueError:
            classes = sorted(classes, key=str.encode)
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


def scaled(column, rule, weights):
    """A column in doubles, times a power of two so that no square overflows; sums in the order of the rows."""
    largest, total, squares, weights = max(map(abs, column)), 0.0, 0.0, weights or [1.0] * len(column)
    n = sum(weights)
    if rule == "maxabs":
        return [x / largest for x in column] if largest > 0 else column
    column = [math.ldexp(x, -math.frexp(largest)[1]) for x in column]
    for x, w in zip(column, weights):
        total += w * (x - column[0])
    mean = column[0] + total / n
    for x, w in zip(column, weights):
        squares += w * ((x - mean) * (x - mean))
    deviation = math.sqrt(squares / n)
    return [(x - mean) / deviation for x in column] if deviation > 0 else [0.0] * len(column)
