"""What the command has, Python has."""

import inspect
import re
import sys

import numpy as np
import pytest
from correspondence import (
    CERTIFY,
    CLASSES,
    COMMANDS,
    COMMON,
    ONE_VALUE,
    OWN,
    PUBLIC,
    SHARED,
    Place,
    methods,
    options,
    options_table,
    place,
)
from problems import problem

from fewest import _core


@pytest.fixture(scope="module", name="methods")
def listed():
    return methods()


def test_every_method_has_a_class(methods):
    assert CLASSES.keys() == methods.keys()
    assert all(cls in PUBLIC.values() for cls, _ in CLASSES.values())


def test_every_option_has_a_parameter(methods):
    missing = []
    for name, method in methods.items():
        cls, _ = CLASSES[name]
        known = options(method)
        certifies = any(option == "certify" for option, _ in known)
        for option, meaning in known:
            try:
                where = place(name, option, certifies)
            except KeyError:
                missing.append(f"{name} --{option}: no place")
                continue
            has = inspect.signature(cls if where.method is None else getattr(cls, where.method)).parameters
            if all(parameter in has for parameter in where.parameters):
                continue
            only = ONE_VALUE.get((name, option))
            if (option == "kernel" and "has no other" in meaning) or (
                only and meaning.endswith(f"[default: {only}]") and "|" not in meaning
            ):
                continue
            missing.append(f"{name} --{option}: {cls.__name__} has no {where}")
    assert missing == []


def test_the_table_has_no_line_too_many(methods):
    """A place that no option has any more is taken out."""
    known = {option for method in methods.values() for option, _ in options(method)}
    assert SHARED.keys() | CERTIFY.keys() == known
    assert all(option in dict(options(methods[name])) for name, own in OWN.items() for option in own)
    assert isinstance(SHARED["gap"], Place)


def test_the_fixed_parameters_are_the_class_s(methods):
    for cls, fixed in CLASSES.values():
        assert cls(**fixed).get_params().items() >= fixed.items()


def typed(capfd, *command):
    """The options that the help of a command lists; options at the head of a line only, as the text
    beside them names others.
    """
    assert _core.command(["fewest", *command, "--help"]) == 0
    lines = capfd.readouterr().out.splitlines()
    heads = [re.match(r" {2,6}(?:-\w, )?--([a-z][a-z0-9-]*)(?= |$)", line) for line in lines]
    return {head[1] for head in heads if head} - {"help", "version"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_every_command_has_a_place(name, capfd):
    command = COMMANDS[name]
    assert command.common <= COMMON.keys() and not command.common & command.own.keys()
    assert typed(capfd, *name.split()) == command.common | command.own.keys()
    has = inspect.signature(command.function).parameters
    places = [where for where in command.own.values() if isinstance(where, Place)]
    assert [where for where in places if not set(where.parameters) <= has.keys()] == []


def test_every_command_is_in_the_table(capfd):
    """A command that is new is given a place in Python, or said to have none."""
    assert _core.command(["fewest", "--help"]) == 0
    out = capfd.readouterr().out.split("Commands:")[1].split("\n\n")[0]
    commands = set(re.findall(r"^  ([a-z]+) ", out, re.MULTILINE)) - {"help"}
    elsewhere = {"select", "fit", "check", "methods", "report", "completions"}
    assert commands - elsewhere == {name.split()[0] for name in COMMANDS}


def test_every_common_option_is_known(methods, capfd):
    assert _core.command(["fewest", "select", "--method", "exact", "--help"]) == 0
    typed = set(re.findall(r"^ +(?:-\w, )?--([a-z][a-z0-9-]*)", capfd.readouterr().out, re.MULTILINE)) - {"help", "version"}
    assert typed - dict(options(methods["exact"])).keys() == COMMON.keys()


def test_the_table_of_the_site_is_complete(methods):
    table = options_table()
    assert table.count(".. list-table::") == len(methods) + 1 + len(COMMANDS)
    of_methods = sum(len(method["options"]) for method in methods.values())
    of_commands = sum(len(command.own) for command in COMMANDS.values())
    assert table.count("   * - ``--") == of_methods + len(COMMON) + of_commands


def test_every_option_of_reading_is_a_parameter_of_read_table():
    told = re.findall(r"``(\w+)(?:=\w+)?`` of ``read_table``", " ".join(COMMON.values()))
    has = inspect.signature(PUBLIC["read_table"]).parameters
    assert len(told) >= 20 and set(told) <= has.keys()
    assert has.keys() - set(told) - {"path", "columns", "target_optional", "max_memory"} == set()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_at_a_terminal_every_command_ends_in_its_text_and_a_long_one_shows_how_far_it_is(tmp_path):
    import os
    import pty
    import subprocess

    X, y = problem(n=60, p=30, seed=1)
    data = tmp_path / "d.csv"
    np.savetxt(data, np.column_stack([X, y]), delimiter=",", header=",".join([*(f"x{j}" for j in range(30)), "y"]), comments="")

    def said(*words):
        ours, theirs = pty.openpty()
        run = "import sys; from fewest._command import main; sys.exit(main())"
        child = subprocess.Popen([sys.executable, "-c", run, *words], stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "xterm"})
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        os.close(ours)
        return child.wait(), text.decode()

    few = ["--max-features", "3"]
    short = ["--node-limit", "0", "--methods", "info-gain", "--max-features", "1..2", "--inner-cv", "2", "--folds", "2"]
    for words, last in [
        (["select", data, "--method", "rfe", *few], "weight"),
        (["path", data, "--method", "info-gain", "--max-features", "1,2"], "selected"),
        (["evaluate", data, "--method", "info-gain", *few, "--cv", "3"], "95 % interval"),
        (["stability", data, "--method", "info-gain", *few, "--pairs", "4"], "share of halves"),
        (["study", data, *short], "accuracy"),
        (["markers", data, *few], "recall"),
        (["check", data], "feature"),
    ]:
        code, text = said(*map(str, words))
        assert (code, last in text, "panicked" in text) == (0, True, False), text
    code, text = said("select", str(data), "--method", "exact", "--max-features", "10", "--gap", "0", "--time-limit", "3s")
    assert code in (0, 3)
    # A search that rounding ends is over before there is a line to show.
    assert code == 0 or "stalled" in text or "of at most 3s" in text
