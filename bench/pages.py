"""What the measurements of both pages share: the browser, values that are the same, what a person and a screen reader need."""

import contextlib
import os
import pathlib
import shutil
import types

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright
from two_checkers import ROOT

# Everything WCAG 2.2 AA asks that a program can judge.
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}


def add_options(options, page):
    """Options of both programs; `page` is the name of the page."""
    options.add_argument("--fewest", default=str(ROOT / "target" / "release" / "fewest"))
    options.add_argument("--page", default=str(ROOT / "target" / "page" / page))
    options.add_argument("--screenshots", type=pathlib.Path)
    options.add_argument("--write", action="store_true")


def prepared(options):
    """The options as given, with paths that hold in any folder."""
    given = options.parse_args()
    given.fewest = str(pathlib.Path(given.fewest).resolve())
    given.page = pathlib.Path(given.page).resolve()
    if given.screenshots:
        given.screenshots.mkdir(parents=True, exist_ok=True)
    return given


def same(one, other, share):
    """Whether two values are the same, numbers up to this share."""
    return all(found is not None and found <= share for _, found in differences(one, other))


def differences(one, other, place=""):
    """Where two values differ, and by which share (None where they are no numbers)."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for key in one for found in differences(one[key], other[key], f"{place}.{key}" if place else key)]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [found for a, b in zip(one, other, strict=True) for found in differences(a, b, f"{place}[]")]
    if isinstance(one, float) and isinstance(other, float):
        return [] if one == other else [(place, abs(one - other) / max(abs(one), abs(other)))]
    return [] if one == other else [(place, None)]


def check(truth, what):
    if not truth:
        raise SystemExit(f"FAILED {what}")


def shots(tab, folder, name):
    if folder:
        for width in (1200, 420):
            for scheme in ("light", "dark"):
                tab.emulate_media(color_scheme=scheme)
                tab.set_viewport_size({"width": width, "height": 900})
                tab.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
        tab.emulate_media(color_scheme="light")
        tab.set_viewport_size({"width": 1200, "height": 900})


def for_everyone(tab):
    """No fault of WCAG AA in either colour, one column on a phone, no connection."""
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        found = Axe().run(tab, options=WCAG).response["violations"]
        check(not found, f"{scheme}: {[(one['id'], [node['target'] for node in one['nodes']]) for one in found]}")
    tab.emulate_media(color_scheme="light")
    tab.set_viewport_size({"width": 420, "height": 800})
    check(tab.evaluate("document.documentElement.scrollWidth") <= 420, "the page is wider than 420 pixels")
    tab.set_viewport_size({"width": 1200, "height": 900})
    tried = "fetch('https://example.org').then(() => 'connected', () => 'refused')"
    check(tab.evaluate(tried) == "refused", "the page may connect")


@contextlib.contextmanager
def opened(page):
    """A tab of Chromium without a network, the address of the page, and the version; fails at the end where the console had errors, or a
    request went elsewhere."""
    browser, faults, requests = os.environ.get("FEWEST_BROWSER") or shutil.which("chromium"), [], []
    with sync_playwright() as driver:
        window = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = window.new_context(offline=True).new_page()
        tab.on(
            "console",
            lambda message: message.type in ("error", "warning") and "example.org" not in message.text and faults.append(message.text),
        )
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("request", lambda request: requests.append(request.url))
        address = page.as_uri()
        yield types.SimpleNamespace(tab=tab, address=address, version=window.version)
        window.close()
    strange = [
        url for url in requests if url not in ("about:srcdoc", "https://example.org/") and not url.startswith(("file:", "blob:"))
    ]
    check(not strange, f"requests: {strange}")
    check(not faults, f"the console: {faults[:5]}")
