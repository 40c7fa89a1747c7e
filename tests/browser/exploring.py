"""Selects trials in a report as a reader would: conditions, brushes, links, one trial, ghosts, keys, names. What the
page selects is compared with what the program selects by the same condition."""

import os
import subprocess
import time

# Conditions of the language of --where, and some that are none.
GOOD = ["k_fp < 100", "k_fp >= 100 and thrust < 40", "failure = 'fell'", "not failure = 'fell' or thrust > 70",
        "fitness < 0.8", "not (fitness < 0.8)", "thrust^2 / 100 - -2 > 20 * k_xdot and (b_fp < 9 or b_fp > 20)",
        "if(thrust > 40, k_xdot, 0.1) > 0.05", "min(thrust, k_fp, 50) = 50", "mod(id, 7) = 3", "abs(thrust - 40) <= 5",
        "2^-k_xdot^2 > 0.99", "1e2 < k_fp", "hop_count = 2", "fitness = fitness", "clip(thrust, 20, 30) = 30",
        "sqrt(b_fp) > pi", "thrust > 200", "failure != 'none'", "failure = 'fel'",
        "log(k_fp) * 2 > 10 and atan2(thrust, k_fp) < 0.5"]
BAD = ["k_fp <", "k_fq < 3", "k_fp < 100 &&", "(k_fp < 3", "k_fp < 3)", "1 < k_fp < 3", "failure < 3",
       "sin(1, 2) > 0", "k_fp < 1.", "foo(k_fp) > 1", "k_fp ** 2 > 3", "'a' = 'a'", "k_fp = 'a'", "min(k_fp) > 1",
       "toLocaleString > 3", "constructor(3) > 1", "isPrototypeOf", "and k_fp", "k_fp > .5", "failure = 'fell",
       "sin > 3"]
FIELD = "document.querySelector('.select input')"
SHOWN = "document.querySelector('.select output').textContent"
TYPE = """(() => { const field = document.querySelector('.select input'); field.focus(); field.value = %r;
    field.dispatchEvent(new Event('input')); field.dispatchEvent(new Event('change')); return 1; })()"""
FRAME = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"


def counted(program, folder, where):
    """The number of trials by the program; None: it refuses the condition."""
    ran = subprocess.run([program, "query", "gaits", "--where", where, "--format", "csv", "--columns", "id"],
                         cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return len(ran.stdout.split()) - 1 if ran.returncode == 0 else None


def column(program, folder, name, campaign="gaits", where="1 = 1"):
    """The numbers of a column, those that there are."""
    ran = subprocess.run([program, "query", campaign, "--where", where, "--columns", name, "--format", "csv"],
                         cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [one for one in ran.stdout.split()[1:] if one not in ("", "nan")]


def counted_of(program, folder, name, where="1 = 1"):
    """The number of stored trials; 0: there is no such campaign yet."""
    ran = subprocess.run([program, "query", name, "--where", where, "--columns", "id", "--format", "csv"], cwd=folder,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return max(0, len(ran.stdout.split()) - 1)


def selected(browser):
    text = browser.run(SHOWN).split()
    return int(text[0].replace(",", ""))


def type_in(browser, where):
    browser.run(TYPE % where)


def press(browser, name):
    browser.run(f"[...document.querySelectorAll('.select button')].find((b) => b.textContent === '{name}').click()")


def drag(browser, x0, y0, x1, y1, steps=8):
    browser.mouse("Pressed", x0, y0, button="left", clickCount=1)
    for k in range(1, steps + 1):
        browser.mouse("Moved", x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps, button="left", buttons=1)
    browser.mouse("Released", x1, y1, button="left", clickCount=1)
    browser.run(FRAME)


def box(browser, element, block="center"):
    return browser.run(f"(() => {{ const e = {element}; e.scrollIntoView({{block: '{block}'}}); "
                       "const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()")


def conditions(browser, check, program, folder):
    differ = []
    for where in GOOD:
        type_in(browser, where)
        expected, got = counted(program, folder, where), selected(browser)
        if got != expected or browser.run(f"{FIELD}.hasAttribute('aria-invalid')"):
            differ.append((where, expected, got))
    check("conditions select what --where selects", not differ, differ)
    taken = [where for where in BAD if counted(program, folder, where) is not None]
    type_in(browser, "k_fp < 100")
    before = selected(browser)
    for where in BAD:
        type_in(browser, where)
        if not browser.run(f"{FIELD}.hasAttribute('aria-invalid')") or selected(browser) != before:
            taken.append(where)
    check("what is no condition is refused, and the selection stays", not taken, taken)
    type_in(browser, "k_fp < 100 and thrusd > 3")
    wrong = browser.run("[document.querySelector('.problem mark').textContent, document.querySelector('.problem')"
                        ".textContent]")
    check("an error says what is still shown", wrong[1].endswith("Still showing: k_fp < 100"), wrong)
    for where in ("toLocaleString > 3", "constructor(k_fp) > 3", "k_fp = isPrototypeOf"):
        type_in(browser, where)
        inherited = browser.run("document.querySelector('.problem').textContent")
        check("a name that objects inherit is unknown", "unknown" in inherited and "arguments" not in inherited,
              inherited)
    for where, hint in (("K_FP < 3", "did you mean 'k_fp'?"), ("thrsut < 3", "did you mean 'thrust'?"),
                        ("k_fp < 3 AND thrust > 3", "write and instead of AND"),
                        ("NOT k_fp < 3", "write not instead of NOT"),
                        ("!(k_fp < 3)", "write not instead of !"), ("k_fp < 3 OR thrust > 3", "write or instead of OR"),
                        ("failure = fell", "a text stands in single quotes: failure = 'fell'"),
                        ("k_fp % 3 > 1", "write mod(a, b) instead of %")):
        type_in(browser, where)
        got = browser.run("document.querySelector('.problem').textContent")
        check("an error has a hint", hint in got, where, got)
    check("an error shows where", wrong[0] == "thrusd" and "did you mean 'thrust'?" in wrong[1], wrong)
    press(browser, "Clear")
    check("clear selects all", selected(browser) == 1500)


def everywhere(browser, check):
    type_in(browser, "thrust > 60")
    good = browser.run("""[...document.querySelector('#best table').tBodies[0].rows].every((row) =>
        Number(row.cells[5].textContent) > 60)""")
    check("the table lists the best of the selection", good)
    check("the front fades", browser.run("""(() => { const dots = [...document.querySelectorAll('#pareto circle')];
        return dots.some((dot) => dot.classList.contains('out')) && dots.some((dot) => !dot.classList.contains('out'));
    })()"""))
    browser.run("document.querySelector('#scatter').scrollIntoView()")
    browser.run(FRAME)
    drawn = browser.run("""(() => { const canvas = document.querySelector('#scatter canvas');
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        let sum = 0; for (let k = 3; k < data.length; k += 4) sum += data[k] > 0; return sum; })()""")
    check("a static plot shows the selection", drawn > 500, drawn)
    check("and fades the rest", browser.run(
        "getComputedStyle(document.querySelector('#scatter .many circle.pt')).opacity") == "0.13")
    check("a motion that is not selected fades", browser.run("""(() => {
        const stage = document.querySelector('#motion .stage'), trial = stage.dataset.trial;
        const before = stage.classList.contains('out');
        const field = document.querySelector('.select input');
        field.value = `id != ${trial}`; field.dispatchEvent(new Event('input'));
        return stage.classList.contains('out'); })()"""))
    press(browser, "Clear")


def brushes(browser, check, program, folder):
    x, y, width, height = box(browser, "document.querySelector('.explore .grip')")
    drag(browser, x + width / 2, y + 60, x + width / 2, y + 150)
    where, got = browser.run(f"{FIELD}.value"), selected(browser)
    check("a brush on an axis is a condition", where.count(">=") == 1 and where.count("<=") == 1 and
          got == counted(program, folder, where) and 0 < got < 1500, where, got)
    x, y, width, height = box(browser, "document.querySelector('#scatter svg')")
    drag(browser, x + 0.5 * width, y + 0.4 * height, x + 0.8 * width, y + 0.8 * height)
    where, got = browser.run(f"{FIELD}.value"), selected(browser)
    check("a brush across a plot adds two ranges", where.count("fitness") == 2 and
          got == counted(program, folder, where), where, got)
    press(browser, "Undo")
    check("undo takes the last brush back", browser.run(f"{FIELD}.value").count("fitness") == 0)
    press(browser, "Clear")
    x, y, width, height = box(browser, "document.querySelectorAll('.explore .panels svg')[1]")
    drag(browser, x + 0.2 * width, y + 0.5 * height, x + 0.5 * width, y + 0.5 * height)
    where, got = browser.run(f"{FIELD}.value"), selected(browser)
    check("a brush on the histogram", where.startswith("fitness >=") and got == counted(program, folder, where), where)
    browser.run("document.activeElement.blur()")
    for count in (1, 2):
        browser.mouse("Pressed", x + 0.4 * width, y + 0.5 * height, button="left", clickCount=count)
        browser.mouse("Released", x + 0.4 * width, y + 0.5 * height, button="left", clickCount=count)
    check("a double click ends it", browser.run(f"{FIELD}.value") == "" and selected(browser) == 1500)


def short_bounds(browser, check, program, folder):
    """A brush between two values of a grid has a value of the grid as its bound; among others one with few digits."""
    x, y, width, height = box(browser, "[...document.querySelectorAll('.explore .grip')].find((_, k) => "
                                       "document.querySelectorAll('.explore .tt')[k].textContent === 'thrust')")
    drag(browser, x + width / 2, y + 0.7 * height, x + width / 2, y + 0.3 * height)  # 25, 35, 45 from the bottom
    where, got = browser.run(f"{FIELD}.value"), selected(browser)
    check("a brush on a grid has its values as bounds", where == "thrust >= 35 and thrust <= 35" and
          got == counted_of(program, folder, "grid", where), where, got)
    press(browser, "Clear")
    x, y, width, height = box(browser, "[...document.querySelectorAll('.explore .grip')].pop()")
    drag(browser, x + width / 2, y + 0.6 * height, x + width / 2, y + 0.2 * height)
    where, got = browser.run(f"{FIELD}.value"), selected(browser)
    check("among other values its bounds have few digits", got == counted_of(program, folder, "grid", where) and
          all(len(bound) <= 6 for bound in where.replace("fitness", "").split() if bound[0].isdigit()), where, got)
    press(browser, "Clear")


def replicates(browser, check, program, folder, shots):
    """The panel of a trial of `grid`: each of its replicates, with the stored numbers, and their motions."""
    best = browser.run("document.querySelector('#best tbody tr').dataset.trial")
    browser.run("document.querySelector('#best tbody tr').click()")
    browser.run("document.querySelector('.trial details').open = true")
    rows = browser.run("""Object.fromEntries([...document.querySelectorAll('.replicates tr')].map((row) =>
        [row.cells[0].textContent.replace(/ .*/, ''), [...row.cells].slice(1).map((cell) => cell.title ||
            cell.textContent)]))""")
    stored = subprocess.run([program, "query", "grid", "--sql", "SELECT failure, velocity_error, attitude_rms FROM "
                             f"replicates WHERE trial = {best} ORDER BY replicate", "--format", "csv"], cwd=folder,
                            stdout=subprocess.PIPE, text=True).stdout.split()[1:]
    stored = [line.split(",") for line in stored]
    check("each replicate has its numbers", len(stored) == 4 and rows["failure"] == [row[0] for row in stored] and
          [float(v) for v in rows["velocity_error"]] == [float(row[1]) for row in stored] and
          all(abs(float(v) - float(a) - float(b)) < 1e-12 for v, (_, a, b) in zip(rows["fitness"], stored)), rows,
          stored)
    choice = "[...document.querySelectorAll('.trial .controls label')].find((one) => one.textContent.startsWith(" \
             "'replicate')).querySelector('select')"
    check("each replicate has a motion", browser.run(f"[...{choice}.options].map((one) => one.textContent)") ==
          ["0", "1", "2", "3"])
    browser.run(f"{choice}.value = '{best}/2', {choice}.dispatchEvent(new Event('change'))")
    check("another replicate is shown", f"grid/{best}/2" in browser.run(
        "document.querySelector('.trial .stage .name').textContent"))
    for width in (1400, 1130, 700):
        browser.size(width, 900)
        browser.run(FRAME)
        covered = browser.run("""(() => { const side = document.querySelector('.trial').getBoundingClientRect();
            scrollTo(0, 0);
            const used = [...document.querySelectorAll('nav button, nav input, #theme')].map((one) =>
                one.getBoundingClientRect());
            return [used.every((one) => one.right <= side.left || one.bottom <= side.top),
                document.documentElement.scrollWidth]; })()""")
        check(f"the panel covers nothing that can be pressed, {width} px", covered[0] and covered[1] <= width, covered)
    browser.size(1200, 900)
    shots("replicates", False)
    browser.press("Escape", "Escape")
    other = browser.run("[...Array(54).keys()].find((id) => !JSON.parse(document.getElementById('replicates')"
                        ".textContent).trials[id])")
    browser.run(f"location.hash = 'trial={other}'")
    browser.run(FRAME)
    check("replicates of other trials: the command", f"hopscotch show grid/{other}" in browser.run(
        "document.querySelector('.trial').textContent"))
    browser.press("Escape", "Escape")


GRID = """
version: 1
experiment: grid
model: hopper
simulation: {duration: 1.5, settle: 0.5}
parameters: {x_dot_des: 1.5}
search: {method: grid, over: {k_fp: {linspace: [50, 300, 6]}, k_xdot: [0.02, 0.04, 0.06], thrust: [25, 35, 45]}}
replicates: {count: 4, perturb: {phi_leg: {normal: [0.01, 0.02]}}, store: true}
objective: {minimize: velocity_error + attitude_rms}
"""


def grid(browser, check, program, folder, shots):
    spec, page = os.path.join(folder, "grid.yaml"), os.path.join(folder, "grid.html")
    with open(spec, "w") as file:
        file.write(GRID)
    for arguments in (("run", spec, "--backend", "cpu", "--progress", "none"), ("report", "grid", "-o", page)):
        subprocess.run([program, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    browser.size(1200, 900)
    browser.open(page)
    short_bounds(browser, check, program, folder)
    replicates(browser, check, program, folder, shots)


def ends(browser, check, program, folder):
    """A brush to the end of an axis has no bound there: the axes of the fitness leave out the worst."""
    worst = max(float(one) for one in column(program, folder, "fitness"))
    views = [("parallel coordinates", "[...document.querySelectorAll('.explore .grip')].pop()", 0.5, 0.5, 0.5, 0.0),
             ("a scatter", "document.querySelectorAll('.explore .panels svg')[0]", 0.3, 0.4, 0.6, 0.005),
             ("a histogram", "document.querySelectorAll('.explore .panels svg')[1]", 0.5, 0.5, 0.995, 0.5),
             ("a map", "document.querySelector('#scatter svg')", 0.3, 0.4, 0.6, 0.005)]
    for name, element, x0, y0, x1, y1 in views:
        x, y, width, height = box(browser, element)
        drag(browser, x + x0 * width, y + y0 * height, x + x1 * width, y + y1 * height)
        where, got = browser.run(f"{FIELD}.value"), selected(browser)
        check(f"{name}: a brush to the end of an axis takes what lies beyond", "fitness >=" in where and
              "fitness <=" not in where and got == counted(program, folder, where) and
              (name in ("a scatter", "a map") or counted(program, folder, f"{where} and fitness >= {worst!r}") > 0),
              where, got)
        press(browser, "Clear")
    x, y, width, height = box(browser, views[0][1])
    drag(browser, x + width / 2, y + height, x + width / 2, y)
    check("a brush over all of an axis is no condition", browser.run(f"{FIELD}.value") == "",
          browser.run(f"{FIELD}.value"))


# How the selected dots of the scatter are seen: the least contrast of the key's colours to the page, the least to what
# is faded, whether these and no others are among the opaque pixels.
SEEN = """(() => {
    const numbers = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const light = (colour) => { const [r, g, b] = colour.map((x) => x / 255)
        .map((x) => x <= 0.04 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((u, v) => u - v);
        return (y + 0.05) / (x + 0.05); };
    const paper = numbers(getComputedStyle(document.body).backgroundColor);
    const key = [...document.querySelectorAll('.explore .tools svg rect')].map((rect) =>
        numbers(getComputedStyle(rect).fill));
    const canvas = document.querySelector('.explore .panels canvas');
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let drawn = 0, other = 0, pale = paper;
    for (let k = 0; k < data.length; k += 4) {
        const colour = [data[k], data[k + 1], data[k + 2]], alpha = data[k + 3] / 255, full = alpha > 0.98;
        if (full && key.some((one) => one.every((x, c) => Math.abs(x - colour[c]) <= 2))) drawn++; // Firefox rounds
        else if (full) other++;
        else if (alpha > 0) pale = colour.map((x, c) => alpha * x + (1 - alpha) * paper[c]);
    }
    return [Math.min(...key.map((one) => contrast(one, paper))), Math.min(...key.map((one) => contrast(one, pale))),
            drawn, other]; })()"""


def contrast(browser, check):
    """What is selected is seen, also the worst of it."""
    for scheme in ("light", "dark") if "dark" in browser.can else ("light",):
        browser.theme(scheme)
        for colour in ("failure", "fitness"):
            browser.run(f"""(() => {{ const list = document.querySelector('.explore .tools select');
                list.value = '{colour}'; list.dispatchEvent(new Event('change')); }})()""")
            type_in(browser, "fitness > 1.2")
            # a plot is drawn where it is in sight, and what is selected moves it: Firefox keeps another place than Chromium
            browser.run("document.querySelector('.explore .panels').scrollIntoView()")
            browser.run(FRAME)
            paper, pale, drawn, other = browser.run(SEEN)
            check(f"what is selected is seen, by {colour}, {scheme}", paper >= 3 and pale >= 1.8 and drawn > 100 and
                  other == 0, paper, pale, drawn, other)
    browser.theme("light")
    press(browser, "Clear")


def keep(browser, check, program, folder, page):
    type_in(browser, "thrust > 40 or k_fp < 60")
    first = selected(browser)
    press(browser, "Keep")
    check("keep", browser.run(SHOWN) == f"{first:,} kept" and browser.run(f"{FIELD}.value") == "", browser.run(SHOWN))
    type_in(browser, "b_fp < 10")
    press(browser, "Exclude")
    text = browser.run("document.querySelector('.kept code').textContent")
    left = int(browser.run(SHOWN).split()[0].replace(",", ""))
    check("exclude", left == counted(program, folder, "(thrust > 40 or k_fp < 60) and not (b_fp < 10)") < first, left)
    check("what is kept is a condition for --where", left == counted(program, folder, text), text)
    browser.run("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }; 1")
    press(browser, "Copy")
    check("copy gives the condition", browser.run("window.copied") == text, browser.run("window.copied"))
    type_in(browser, "fitness < 1")
    got, address = browser.run(SHOWN), browser.run("location.href")
    browser.open(page)
    check("a page without an address selects all", selected(browser) == 1500)
    browser.run(f"location.href = {address!r}")
    browser.run(FRAME)
    check("a link shows the selection again", browser.run(SHOWN) == got and
          browser.run(f"{FIELD}.value") == "fitness < 1", browser.run(SHOWN), got, address)
    browser.run("document.querySelector('nav a[href=\"#spec\"]').click()")
    check("the page's links leave it", "where=" in browser.run("location.hash") and
          browser.run("document.getElementById('spec').getBoundingClientRect().top") < 900)
    for _ in range(2):
        press(browser, "Clear")
    check("clear, then all are there", selected(browser) == 1500)
    browser.run("""location.hash = new URLSearchParams({ where: '<img src=x onerror=alert(1)>',
        trial: '"]<img src=x>', x: '<b>', kept: "'" }).toString()""")
    browser.run(FRAME)
    check("an address adds no markup", browser.run("document.querySelectorAll('img').length") == 0 and
          "names the trial '\"]<img" in browser.run("document.querySelector('.trial').textContent") and
          "onerror" in browser.run("document.querySelector('.problem code').textContent"))
    press(browser, "Clear")
    browser.run(f"{FIELD}.value = ''")


def addresses(browser, check, page):
    """What an address has wrong is said, and the rest of it holds."""
    problem, panel = ("document.querySelector('.problem').hidden ? '' : document.querySelector('.problem').textContent",
                      "document.querySelector('.trial').hidden ? '' : document.querySelector('.trial').textContent")
    for address, wrong, still, value in (
            ("where=k_fq+<+3&trial=999999", "unknown name 'k_fq'", "all trials", "k_fq < 3"),
            ("where=k_fq+<+3&trial=abc", "unknown name 'k_fq'", "all trials", "k_fq < 3"),
            ("where=thrusd+<+3&kept=thrust+>+40", "unknown name 'thrusd'", "all that are kept", "thrusd < 3"),
            ("where=k_fp+<+100&kept=thrusd+>+40", "unknown name 'thrusd'", "k_fp < 100", "k_fp < 100")):
        for again in (False, True):  # the address keeps it
            if again:
                browser.run("window.before = 1")
                browser.call("Page.reload")
                reload_until(browser, "!window.before && document.querySelector('.trial') !== null", 20)
            else:
                browser.open("about:blank")
                browser.open(page + "#" + address)
            browser.run(FRAME)
            got = browser.run(problem)
            check("a condition that an address has wrong", wrong in got and got.endswith(f"Still showing: {still}") and
                  browser.run(f"{FIELD}.value") == value, address, again, got, browser.run(f"{FIELD}.value"))
    browser.open("about:blank")
    browser.open(page + "#trial=abc")
    check("a trial that is no number", "names the trial 'abc'" in browser.run(panel), browser.run(panel))
    browser.open("about:blank")
    browser.open(page + "#trial=999999")
    check("a trial that is not there", "There is no such trial in this page" in browser.run(panel), browser.run(panel))
    browser.press("Escape", "Escape")
    type_in(browser, "k_fq < 3")
    browser.press("Escape", "Escape")
    check("Escape ends what is no condition", browser.run(f"{FIELD}.value") == "" and browser.run(problem) == "",
          browser.run(f"{FIELD}.value"))
    press(browser, "Clear")


LONG = "a" + "_very_long_name" * 8


def long_names(browser, check, program, folder):
    """Nothing is wider than the page where the campaign has a long name."""
    spec, page = os.path.join(folder, "long.yaml"), os.path.join(folder, "long.html")
    with open(spec, "w") as file:
        file.write(FOLLOWED.replace("followed", LONG).replace("trials: 100000", "trials: 50"))
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "check": True}
    subprocess.run([program, "run", spec, "--backend", "cpu", "--progress", "none"], stderr=subprocess.DEVNULL, **quiet)
    subprocess.run([program, "report", LONG, "-o", page], **quiet)
    for width in (640, 1200):
        browser.size(width, 900)
        browser.open(page)
        wide = browser.run("document.documentElement.scrollWidth")
        known = browser.run("motions.ids")
        trials = [known[0], next(str(k) for k in range(50) if str(k) not in known)]
        panels = []
        for trial in trials:
            browser.run(f"location.hash = 'trial={trial}'")
            browser.run(FRAME)
            panels.append(browser.run("(() => { const panel = document.querySelector('.trial'); "
                                      "return panel.scrollWidth - panel.clientWidth; })()"))
        check(f"a long name fits a page of {width} pixels", wide <= width and panels == [0, 0], wide, panels)
        browser.press("Escape", "Escape")
    browser.size(1200, 900)


def choices(browser, check):
    axes = "document.querySelector('.explore .panels svg').getAttribute('aria-label')"
    browser.run("""(() => { const [x, y] = document.querySelectorAll('.explore .view select');
        y.value = 'cost_of_transport'; y.dispatchEvent(new Event('change')); })()""")
    check("an axis is chosen by name", browser.run(axes).startswith("cost_of_transport against"), browser.run(axes))
    log = "document.querySelectorAll('.explore .view input[type=checkbox]')[1]"
    before = browser.run("document.querySelector('.explore .panels svg').dataset.y")
    browser.run(f"{log}.click()")
    after = browser.run("document.querySelector('.explore .panels svg').dataset.y")
    check("and its logarithm", before.split()[4] == "0" and after.split()[4] == "1", before, after)
    browser.run("""(() => { const colour = document.querySelector('.explore .tools select');
        colour.value = 'failure'; colour.dispatchEvent(new Event('change')); })()""")
    check("and the colour", "fell" in browser.run("document.querySelector('.explore .tools svg').textContent"))
    count = "document.querySelectorAll('.explore .grip').length"
    lines = browser.run(count)
    browser.run("[...document.querySelectorAll('.choose input')].find((input) => !input.checked).click()")
    check("and the parallel axes", browser.run(count) == lines + 1)
    check("the address has them", all(part in browser.run("location.hash")
                                      for part in ("y=cost_of_transport", "ylog=1", "colour=failure", "axes=")))


def one_trial(browser, check):
    browser.run("document.querySelector('#best tbody tr').click()")
    text = browser.run("document.querySelector('.trial').textContent")
    check("a click on a trial shows its numbers, with units and origin",
          all(word in text for word in ("k_fp", "N m/rad", "parameter", "metric", "cost_of_transport")), text[:300])
    figures = "document.querySelectorAll('.trial .stage svg .foot').length"
    check("and its motion", browser.run(figures) == 1)
    browser.run("""(() => { const ghost = [...document.querySelectorAll('.trial select')].pop();
        ghost.value = ghost.options[3].value; ghost.dispatchEvent(new Event('change')); })()""")
    check("a ghost in the same scene", browser.run(figures) == 2 and
          browser.run("document.querySelectorAll('.trial .stage').length") == 1 and
          browser.run("document.querySelectorAll('.trial .controls input').length") == 1)
    browser.press("Escape", "Escape")
    check("Escape closes it", browser.run("document.querySelector('.trial').hidden"))
    browser.run("document.querySelector('#best tbody tr:nth-child(2)').focus()")
    browser.press("Enter", "Enter", "\r")
    check("Enter opens the focused trial", not browser.run("document.querySelector('.trial').hidden") and
          browser.run("document.activeElement.className") == "trial")
    browser.press("Escape", "Escape")
    check("and Escape gives the focus back", browser.run("document.activeElement.tagName") == "TR")
    browser.run("document.querySelector('#motion .stage svg').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    check("a click on a motion opens nothing", browser.run("document.querySelector('.trial').hidden"))
    known = browser.run("motions.ids")
    other = next(str(k) for k in range(1500) if str(k) not in known)
    browser.run(f"location.hash = 'trial={other}'")
    browser.run(FRAME)
    check("a trial without a motion names the command",
          f"hopscotch replay gaits/{other} --html" in browser.run("document.querySelector('.trial').textContent"))
    browser.press("Escape", "Escape")
    x, y, width, height = box(browser, "document.querySelector('.explore .panels svg')")
    at = browser.run("""(() => { const svg = document.querySelector('.explore .panels svg');
        return svg.dataset.x; })()""")
    browser.run("document.activeElement.blur()")
    for dx in range(60, 200, 3):  # until a dot is under the pointer
        browser.mouse("Moved", x + dx, y + 0.6 * height)
        if browser.run("'tip' in document.querySelector('.explore .panels svg').dataset"):
            browser.mouse("Pressed", x + dx, y + 0.6 * height, button="left", clickCount=1)
            browser.mouse("Released", x + dx, y + 0.6 * height, button="left", clickCount=1)
            break
    check("a click on a dot opens its trial", not browser.run("document.querySelector('.trial').hidden"), at)


def names(browser, check):
    if "names" not in browser.can:
        return
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    roles = {"button", "textbox", "combobox", "checkbox", "slider", "link", "image", "img", "form", "search", "dialog",
             "complementary", "DisclosureTriangle"}
    nameless = [node["role"]["value"] for node in tree if not node.get("ignored") and "role" in node and
                node["role"]["value"] in roles and not node.get("name", {}).get("value")]
    check("what can be used has a name for a screen reader", not nameless, nameless)


def paper(browser, check, page):
    if "scripts off" not in browser.can:
        return
    browser.theme("light", "print")
    check("on paper the plots are the static ones", browser.run("""(() => {
        const hidden = (name) => getComputedStyle(document.querySelector(name)).display === 'none';
        return hidden('.explore') && !hidden('.still') && hidden('.live > canvas'); })()"""))
    browser.theme("light")
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.call("Page.reload")
    time.sleep(0.5)
    reload_until(browser, "document.querySelector('#provenance') !== null", 20)  # the page's last section
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    still = browser.run("[getComputedStyle(document.querySelector('.still')).display, "
                        "document.querySelectorAll('.still svg').length, document.querySelectorAll('canvas').length]")
    check("without scripts, too", still == ["block", 1, 0], still)
    browser.open(page)


def phone(browser, check, page, shots):
    browser.size(390, 844, mobile=True)
    browser.open(page)
    browser.run("document.querySelector('#best tbody tr').click()")
    check("a trial fits a phone", browser.run("document.documentElement.scrollWidth") <= 390)
    shots("phone-trial", False)
    browser.press("Escape", "Escape")
    browser.run("document.querySelector('.explore').scrollIntoView()")
    shots("phone-explore", False)
    browser.size(1200, 900)


def explore(browser, check, program, folder, page, shots):
    browser.size(1200, 900)
    browser.theme("light")
    browser.open(page)
    conditions(browser, check, program, folder)
    everywhere(browser, check)
    brushes(browser, check, program, folder)
    ends(browser, check, program, folder)
    contrast(browser, check)
    keep(browser, check, program, folder, page)
    addresses(browser, check, page)
    browser.open(page)
    choices(browser, check)
    one_trial(browser, check)
    names(browser, check)
    type_in(browser, "thrust > 60 and fitness < 1")
    browser.run("document.querySelector('.explore').scrollIntoView()")
    browser.run(FRAME)
    shots("explore", False)
    paper(browser, check, page)
    phone(browser, check, page, shots)
    long_names(browser, check, program, folder)


MANY = """
version: 1
experiment: many
seed: 3
model: bbob
simulation: {function: rastrigin, dimension: 5}
search:
  method: random
  trials: 100000
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}, x4: {range: [-5, 5]}, x5: {range: [-5, 5]}}
"""


def busy(browser):
    """Seconds of processor time of the page's main thread."""
    metrics = {one["name"]: one["value"] for one in browser.call("Performance.getMetrics")["metrics"]}
    return metrics["TaskDuration"]


def numbers(browser, check, program, folder):
    """The panel of one trial of `many`: whole numbers of the best, rounded ones marked."""
    best = browser.run("document.querySelector('#best tbody tr').dataset.trial")
    cells = """Object.fromEntries([...document.querySelectorAll('.trial tbody tr')].map((row) =>
        [row.cells[0].textContent, row.cells[1].textContent]))"""
    browser.run(f"location.hash = 'trial={best}'")
    browser.run(FRAME)
    got = browser.run(cells)
    stored = {name: column(program, folder, name, "many", f"id = {best}")[0] for name in ("x1", "fitness")}
    check("the numbers of the best are whole", all(float(got[name]) == float(stored[name]) for name in stored),
          got, stored)
    check("a trial that is not in the page is named as such", browser.run("""(() => {
        location.hash = 'trial=999999'; return 1; })()""") and browser.run(FRAME) and
          "no such trial in this page" in browser.run("document.querySelector('.trial').textContent").lower(),
          browser.run("document.querySelector('.trial').textContent"))
    browser.run("location.hash = 'trial=4321'")
    browser.run(FRAME)
    got, head = browser.run(cells), browser.run("document.querySelector('.trial h2').textContent")
    stored = float(column(program, folder, "x1", "many", "id = 4321")[0])
    check("rounded numbers are marked", got["x1"].startswith("\u2248 ") and "\u2248" in head and
          abs(float(got["x1"][2:]) - stored) < 0.02, got, head, stored)
    browser.press("Escape", "Escape")


def many(browser, check, page, shots):
    """100,000 trials are brushed. Bounded is the processor time of a frame, because a busy machine shows fewer frames."""
    seconds, size = browser.open(page), os.path.getsize(page)
    check(f"100,000 trials: {size / 1e6:.2f} MB, open in {seconds:.2f} s", size <= 5e6)
    x, y, width, height = box(browser, "document.querySelectorAll('.explore .grip')[1]")
    times = "times" in browser.can
    if times:
        browser.call("Performance.enable", timeDomain="threadTicks")
    browser.run("window.frames = 0; (function f() { window.frames++; requestAnimationFrame(f); })(); 1")
    start, used = time.monotonic(), busy(browser) if times else 0
    drag(browser, x + width / 2, y + 20, x + width / 2, y + height - 40, 100)
    count = browser.run("window.frames")
    rate = count / (time.monotonic() - start)
    each = 1e3 * (busy(browser) - used) / count if times else 1e3 / rate
    check(f"100,000 trials: {each:.1f} ms of processor time per frame; {rate:.0f} frames/s with a load of "
          f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", each < 33)
    where = browser.run(f"{FIELD}.value")
    check("a part is selected", where.count(" and ") == 1 and 0 < selected(browser) < 100000, where)
    shots("many", False)


FOLLOWED = """
version: 1
experiment: followed
seed: 5
model: hopper
simulation: {duration: 1.5, settle: 0.5}
parameters: {x_dot_des: 2.0}
search:
  method: sobol
  trials: 100000
  over: {k_fp: {range: [30, 500], scale: log}, b_fp: {range: [3, 50], scale: log}, thrust: {range: [15, 80]}}
"""


def reload_until(browser, script, seconds):
    """Waits for a page that reads itself again; commands fail while it does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if browser.run(script):
                return True
        except RuntimeError:
            pass
        time.sleep(0.3)
    return False


def follow(browser, check, program, folder):
    spec, page = os.path.join(folder, "followed.yaml"), os.path.join(folder, "followed.html")
    with open(spec, "w") as file:
        file.write(FOLLOWED)
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    run = subprocess.Popen([program, "run", spec, "--backend", "cpu", "--threads", "1", "--batch", "128", "--progress",
                            "none"], **quiet)
    report = None
    try:
        for _ in range(100):
            time.sleep(0.2)
            if counted_of(program, folder, "followed") > 300:
                break
        report = subprocess.Popen([program, "report", "followed", "--follow", "--every", "4", "--motions", "0", "-o",
                                   page], **quiet)
        while not os.path.exists(page) and report.poll() is None:
            time.sleep(0.1)
        browser.open(page)
        type_in(browser, "thrust > 40")
        press(browser, "Keep")
        type_in(browser, "k_fp < 200")
        all_before = int(browser.run("document.querySelector('.facts').textContent.match(/trials([0-9,]+)/)[1]"
                                     ".replace(',', '')"))
        browser.run("document.activeElement.blur(), scrollTo(0, 700)")
        grown = ("Number(document.querySelector('.facts').textContent.match(/trials([0-9,]+)/)[1].replace(',', '')) > "
                 "%d && document.querySelector('.select') !== null")
        check("a page follows the run", reload_until(browser, grown % all_before, 40))
        check("and keeps the selection", browser.run(f"{FIELD}.value") == "k_fp < 200" and
              browser.run("document.querySelector('.kept code').textContent") == "thrust > 40")
        press(browser, "Undo")
        check("and what undo takes back", browser.run(f"{FIELD}.value") == "")
        check("and the place", browser.run("scrollY") > 300, browser.run("scrollY"))
        run.kill()
        run.wait()
        check("the page ends with a run that is killed", report.wait(60) == 0)
        state = "document.querySelector('.state').textContent"
        check("its last page says so, and does not follow", reload_until(browser, f"{state} === 'killed'", 30) and
              "data-follow=\"" not in open(page).read(), browser.run(state))
        killed = counted_of(program, folder, "followed")
        run = subprocess.Popen([program, "resume", "followed", "--backend", "cpu", "--threads", "1", "--batch", "128",
                                "--progress", "none"], **quiet)
        while counted_of(program, folder, "followed") <= killed and run.poll() is None:
            time.sleep(0.2)
        report = subprocess.Popen([program, "report", "followed", "--follow", "--every", "4", "--motions", "0", "-o",
                                   page], **quiet)
        for _ in range(200):
            time.sleep(0.1)
            if "data-follow=\"" in open(page).read():
                break
        browser.call("Page.reload")
        there = f"document.querySelector('.kept code')?.textContent === 'thrust > 40' && {FIELD}.value === ''"
        check("it is followed again when it was resumed, and keeps the selection",
              reload_until(browser, f"{there} && {state} === 'running'", 30))
        all_before = counted_of(program, folder, "followed")
        browser.run("document.activeElement.blur()")
        check("and grows", reload_until(browser, grown % all_before, 60))
        run.terminate()
        run.wait()
        report.wait(60)
        check("the last page does not follow", "data-follow=\"" not in open(page).read() and
              ">interrupted<" in open(page).read())
    finally:
        for process in (run, report):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
