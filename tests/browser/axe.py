"""Checks a page by axe-core (https://github.com/dequelabs/axe-core), where a Python package has it or AXE names the
file axe.min.js: roles, names, contrast, structure, by WCAG 2.2 A and AA and axe's best practices."""

import importlib.util
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from skip import skip  # noqa: E402

PACKAGES = ("axe_playwright_python", "axe_core_python", "axe_selenium_python")
RUN = """axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations.map((one) =>
    `${one.id} (${one.impact}): ` + one.nodes.slice(0, 3).map((node) => node.target.join(' ') + ' ' +
        node.failureSummary.split('\\n').slice(1, 2).join(' ')).join('; ')))"""
said = False


def find():
    paths = [os.environ.get("AXE", "")]
    for package in PACKAGES:
        found = importlib.util.find_spec(package)
        if found is not None:
            paths.append(os.path.join(os.path.dirname(found.origin), "axe.min.js"))
    return next((path for path in paths if os.path.exists(path)), None)


def accessible(browser, check, name):
    global said
    path = find()
    if path is None:
        if not said:
            skip("browser", "axe-core", "axe-core", "pip install axe-playwright-python")
        said = True
        return
    browser.run(open(path, encoding="utf-8").read() + "\n1")
    wrong = browser.run(RUN)
    check(f"axe-core has no complaint: {name}", not wrong, *wrong)
