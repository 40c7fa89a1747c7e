"""Uses an overview of campaigns as a reader would: filters by words and conditions, sorts, chooses columns, ticks two
campaigns to compare them; by keys, dark, on a phone and on paper. Hostile texts run nothing. 1,000 campaigns."""

import os
import re
import shutil
import sqlite3
import subprocess
import time

import axe
from exploring import FRAME, names

BOWL = """
version: 1
experiment: bowl
model: bbob
simulation: {function: rastrigin, dimension: 2}
search: {method: random, trials: 300, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}}
"""
HOSTILE = """<img src=x onerror="window.hurt = 1">'"</script><script>window.hurt = 2</script>"""
SHOWN = "[...document.querySelectorAll('.overview tbody tr')].filter((row) => !row.hidden).map((row) => " \
        "row.cells[0].dataset.value)"
TYPE = """(() => { const field = document.querySelector('.select input'); field.focus(); field.value = %r;
    field.dispatchEvent(new Event('input')); return 1; })()"""
COLUMNS = "[...document.querySelectorAll('.overview thead th')].filter((head) => head.offsetWidth > 0).map((head) => " \
          "head.textContent)"
TEXT = "(document.querySelector('.comparing').hidden ? '' : document.querySelector('.comparing').textContent)"


def ran(program, folder, *arguments):
    subprocess.run([program, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make(program, folder, gaits):
    """`gaits`, bowl and two more of its model, and one whose texts are hostile."""
    shutil.copytree(gaits, os.path.join(folder, "results", "gaits"))
    with open(os.path.join(folder, "bowl.yaml"), "w") as file:
        file.write(BOWL)
    run = ("run", "bowl.yaml", "--backend", "cpu", "--threads", "1", "--progress", "none")
    ran(program, folder, *run)
    ran(program, folder, *run, "--name", "seed9", "--set", "seed=9")
    ran(program, folder, *run, "--name", "more", "--set", "search.trials=400")
    ran(program, folder, *run, "--name", "hurt")
    ran(program, folder, "tag", "bowl", "paper")
    ran(program, folder, "note", "bowl", "a wider range finds the same minimum")
    database = sqlite3.connect(os.path.join(folder, "results", "hurt", "campaign.db"))
    for (name,) in list(database.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
        database.execute(f'DROP TRIGGER "{name}"')  # they need the program's own functions
    for sql in ("INSERT INTO notes VALUES('2026-01-01T00:00:00Z', ?)", "INSERT INTO tags VALUES(?)",
                "UPDATE campaign SET reason = ?1, state = ?1, model = ?1, canonical = ?1 || ' = ' || ?1"):
        database.execute(sql, (HOSTILE,))
    database.commit()
    database.close()
    os.rename(os.path.join(folder, "results", "hurt"), os.path.join(folder, "results", HOSTILE.replace("/", "")))


def type_in(browser, text):
    browser.run(TYPE % text)


def head(browser, title):
    browser.run(f"[...document.querySelectorAll('.overview thead button')].find((one) => one.textContent === "
                f"'{title}').click()")


def tick(browser, name):
    browser.run(f"[...document.querySelectorAll('.overview tbody tr')].find((row) => row.cells[0].dataset.value === "
                f"'{name}').querySelector('input').click()")


def filters(browser, check):
    for text, wanted in (("", 5), ("bowl", None), ("PAPER", 1), ("wider minimum", 1), ("nothing has this", 0),
                         ("model = 'bbob'", 3), ("trials > 300", None), ("best < 1e9 and method = 'random'", 3),
                         ("seed = 9", 1), ("size_is > 3", -1), ("model == 'bbob' and trials = 400", 1)):
        before = browser.run(SHOWN)
        type_in(browser, text)
        got, wrong = browser.run(SHOWN), browser.run("document.querySelector('.select input').ariaInvalid !== null || "
                                                      "document.querySelector('.select input').hasAttribute("
                                                      "'aria-invalid')")
        check(f"filtered by '{text}'", (got == before and wrong) if wanted == -1 else not wrong and
              (wanted is None and 0 < len(got) < 5 or len(got) == wanted), got, wanted, wrong)
    type_in(browser, "")
    check("the number of campaigns", browser.run("document.querySelector('.select output').textContent") ==
          "5 campaigns")


def sorts(browser, check):
    value = """(k) => [...document.querySelectorAll('.overview tbody tr')].map((row) => row.cells[k].dataset.value ??
        row.cells[k].textContent)"""
    for title, number in (("campaign", False), ("trials", True), ("best", True), ("last commit", False)):
        k = browser.run(f"[...document.querySelectorAll('.overview thead th')].findIndex((head) => head.textContent "
                        f"=== '{title}')")
        for turn in ("ascending", "descending"):
            head(browser, title)
            got = [one for one in browser.run(f"({value})({k})") if one != ""]
            key = float if number else str.lower
            keys = [key(one) for one in got]
            check(f"sorted by {title}, {turn}", number and keys == sorted(keys, reverse=turn == "descending") or
                  not number and (got[0] <= got[-1]) == (turn == "ascending") and
                  browser.run("document.querySelectorAll('.overview [aria-sort]').length") == 1, got)
    check("the address has it", "sort=-last" in browser.run("location.hash"), browser.run("location.hash"))


def columns(browser, check):
    type_in(browser, "model = 'bbob'")
    got = browser.run(COLUMNS)
    check("keys that differ among what is shown are columns", "seed" in got and "search.trials" in got, got)
    type_in(browser, "seed9")
    check("and no others", "seed" not in browser.run(COLUMNS), browser.run(COLUMNS))
    browser.run("""[...document.querySelectorAll('.choose label')].find((one) => one.textContent.trim() === 'seed')
        .querySelector('input').click()""")
    browser.run("""[...document.querySelectorAll('.choose label')].find((one) => one.textContent.trim() === 'size')
        .querySelector('input').click()""")
    got = browser.run(COLUMNS)
    check("columns are chosen", "seed" in got and "size" not in got, got)
    type_in(browser, "")


def compares(browser, check, program, page):
    tick(browser, "bowl")
    check("one is ticked", browser.run(TEXT).startswith("Tick another"), browser.run(TEXT))
    tick(browser, "seed9")
    check("two: the command that compares", browser.run("document.querySelector('.comparing code').textContent") ==
          f"{program} compare bowl seed9", browser.run(TEXT))
    browser.run("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }; 1")
    browser.run("document.querySelector('.comparing button').click()")
    check("it is copied", browser.run("window.copied") == f"{program} compare bowl seed9")
    address = browser.run("location.href")
    browser.open("about:blank")
    browser.open(page)
    browser.run(f"location.href = {address!r}")
    browser.run(FRAME)
    check("a link has filter, sort, columns and ticks", browser.run(TEXT).startswith(f"{program} compare bowl seed9")
          and "seed" in browser.run(COLUMNS) and "size" not in browser.run(COLUMNS), address, browser.run(TEXT))
    tick(browser, "gaits")
    check("another model is not compared", "only campaigns of one model" in browser.run(TEXT), browser.run(TEXT))
    browser.run("[...document.querySelectorAll('.comparing button')].pop().click()")
    check("all are unticked", browser.run(TEXT) == "" and
          browser.run("document.querySelectorAll('.overview input:checked').length") == 0)


def keys(browser, check):
    browser.run("document.activeElement.blur(), scrollTo(0, 0)")
    reached = set()
    for _ in range(40):
        browser.press("Tab", "Tab")
        reached.add(browser.run("document.activeElement.tagName + ' ' + (document.activeElement.type || '')"))
    check("Tab goes through field, columns, heads, ticks and links", reached >= {
        "INPUT text", "SUMMARY ", "BUTTON button", "INPUT checkbox", "A "}, reached)
    type_in(browser, "bowl")
    browser.press("Escape", "Escape")
    check("Escape ends the filter", browser.run("document.querySelector('.select input').value") == "" and
          len(browser.run(SHOWN)) == 5)


def thousand(browser, check, program, folder):
    root = os.path.join(folder, "thousand")
    os.makedirs(root)
    for k in range(1000):
        shutil.copytree(os.path.join(folder, "results", ("bowl", "seed9")[k % 2]), os.path.join(root, f"c{k}"))
    start = time.monotonic()
    ran(program, folder, "overview", "--results", root)
    took, page = time.monotonic() - start, os.path.join(root, "index.html")
    seconds, size = browser.open(page), os.path.getsize(page)
    check(f"1,000 campaigns: written in {took:.1f} s, {size / 1e6:.2f} MB, open in {seconds:.2f} s", size < 2e6)
    start = time.monotonic()
    type_in(browser, "seed = 9 and trials > 3")
    browser.run(FRAME)
    filtered = time.monotonic() - start
    start = time.monotonic()
    head(browser, "best")
    browser.run(FRAME)
    check(f"filtered in {filtered:.2f} s, sorted in {time.monotonic() - start:.2f} s",
          len(browser.run(SHOWN)) == 500 and filtered < 2)


def on_paper(browser, check, folder):
    """A browser shows the page as it is printed, in a window of A4 across less its margins, or prints it."""
    if "printed" not in browser.can:
        browser.theme("light", "print")
        browser.size(1047, 718)
        check("no overview wider than paper", browser.run("document.querySelector('.overview').scrollWidth") <= 1047 and
              browser.run("document.documentElement.scrollWidth") <= 1047,
              browser.run("document.querySelector('.overview').scrollWidth"))
        return
    if shutil.which("pdftotext") is None:
        axe.skip("browser", "an overview on paper", "poppler", "apt-get install poppler-utils")
        return
    path = os.path.join(folder, "overview.pdf")
    browser.printed(path)
    text = subprocess.run(["pdftotext", "-bbox", path, "-"], capture_output=True, text=True, check=True).stdout
    width = float(re.search(r'<page width="([\d.]+)"', text).group(1))
    ends = [float(end) for end in re.findall(r'<word [^>]*xMax="([\d.]+)"', text)]
    check("no overview wider than paper", 800 < width < 850 and len(ends) > 50 and 0.6 * width < max(ends) < width - 20,
          width, len(ends), max(ends))


def overview(browser, check, program, above, shots):
    folder = os.path.join(above, "overview")
    make(program, folder, os.path.join(above, "results", "gaits"))
    page = os.path.join(folder, "results", "index.html")
    ran(program, folder, "report", "bowl")
    ran(program, folder, "overview")
    browser.size(1400, 900)
    browser.theme("light")
    browser.open(page)
    check("a row per campaign, none hidden", len(browser.run(SHOWN)) == 5, browser.run(SHOWN))
    check("hostile texts are texts", browser.run("window.hurt === undefined && document.querySelectorAll('img')"
                                                 ".length === 0 && document.body.textContent.includes('onerror=')"))
    filters(browser, check)
    sorts(browser, check)
    columns(browser, check)
    compares(browser, check, program, page)
    keys(browser, check)
    names(browser, check)
    type_in(browser, HOSTILE)
    check("a hostile condition is a text", browser.run("window.hurt === undefined && "
                                                       "document.querySelectorAll('img').length === 0"))
    browser.open("about:blank")
    browser.open(page)
    axe.accessible(browser, check, "the overview")
    shots("overview", False)
    browser.run("document.querySelector('.overview tbody a').click()")
    time.sleep(0.5)
    check("a name leads to its report", browser.run("document.querySelector('h1').textContent") == "bowl")
    browser.theme("dark")
    browser.open(page)
    axe.accessible(browser, check, "the overview, dark")
    shots("overview-dark", False)
    on_paper(browser, check, folder)
    shots("overview-print", False)
    browser.theme("light")
    browser.size(700, 450)  # 1,400 by 900 at 200 %
    check("nor than a page at 200 %", browser.run("document.documentElement.scrollWidth") <= 700)
    browser.size(390, 844, mobile=True)
    browser.open(page)
    check("nor than a phone", browser.run("document.documentElement.scrollWidth") <= 390)
    shots("overview-phone", False)
    browser.size(1200, 900)
    thousand(browser, check, program, folder)
