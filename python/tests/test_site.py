"""The site as a phone shows it: every page of ``make python-docs`` in a real browser."""

import os
import shutil
from pathlib import Path

import pytest

SITE = Path(__file__).parents[1] / "docs" / "_build" / "html"
BROWSER = os.environ.get("FEWEST_BROWSER") or shutil.which("chromium") or shutil.which("chromium-browser")
PAGES = sorted(page.relative_to(SITE).as_posix() for page in SITE.rglob("*.html")) if SITE.is_dir() else []


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if not PAGES:
        pytest.skip("there is no site; make python-docs builds it")
    if not BROWSER:
        pytest.skip("there is no chromium; FEWEST_BROWSER names it")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser, width, scheme="light"):
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    # Formulas are drawn by MathJax of a server, which a test does not ask.
    page.route("**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.abort())
    return page


def brightness(page):
    """Mean of red, green and blue of the ground."""
    parts = page.evaluate("getComputedStyle(document.body).backgroundColor").split("(")[1].rstrip(")").split(",")[:3]
    return sum(float(part) for part in parts) / 3


@pytest.mark.parametrize("width", [390, 1300])
def test_no_page_scrolls_sideways(browser, width):
    page, wide = opened(browser, width), []
    # What is cut off cannot be scrolled to either: no heading or paragraph may end beyond the edge.
    cut = """() => [...document.querySelectorAll("h1, h2, h3, article p, article li, article dt")]
        .filter(one => one.checkVisibility() && !one.closest("pre, table, .sphx-glr-thumbnails, [class*=scroll], nav"))
        .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
        .map(one => one.textContent.slice(0, 40))"""
    for name in PAGES:
        page.goto((SITE / name).as_uri(), wait_until="domcontentloaded")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(f"{name} scrolls")
        wide += [f"{name} cuts {text!r}" for text in page.evaluate(cut)]
    page.close()
    assert wide == []


def test_names_of_parameters_are_not_broken(browser):
    page = opened(browser, 390)
    page.goto((SITE / "generated/fewest.ExactSelector.html").as_uri())
    names = page.locator("dl.field-list dd dt > strong")
    assert names.count() > 20
    broken = """all => all.filter(one => one.getBoundingClientRect().height > 1.6 * parseFloat(getComputedStyle(one).lineHeight))
        .map(one => one.textContent)"""
    assert names.evaluate_all(broken) == []
    page.close()


def test_the_header_is_one_line(browser):
    page = opened(browser, 1300)
    page.goto((SITE / "index.html").as_uri())
    assert page.locator(".bd-header").bounding_box()["height"] < 90
    page.close()


def test_dark_and_light(browser):
    for scheme, ground in (("light", lambda value: value > 200), ("dark", lambda value: value < 60)):
        page = opened(browser, 1300, scheme)
        page.goto((SITE / "start.html").as_uri())
        assert ground(brightness(page)), scheme
        page.close()


def test_search_finds(browser):
    page = opened(browser, 390)
    page.goto((SITE / "search.html").as_uri() + "?q=from_columns")
    page.wait_for_selector("#search-results li", timeout=20_000)
    found = page.locator("#search-results li a").all_inner_texts()
    assert any("credit" in text.lower() or "Rules" in text for text in found), found
    page.close()
