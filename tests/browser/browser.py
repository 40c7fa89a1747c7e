"""Opens reports and animations in a headless Chromium and uses them as a reader would: light, dark, phone, paper;
links, keys, sorting, the scrubber. exploring.py selects trials. Prints `ok …`, `FAIL …` or `skip …` a check.

    tests/browser/browser.py PROGRAM [SCREENSHOTS]     SCREENSHOTS: a folder to leave pictures in

PART=NAME runs one of PARTS alone, BROWSER=firefox another browser. MILLION=1 also makes a campaign of a million trials
and holds its report to 5 MB and 3 s."""

import os
import shutil
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

import axe
import devtools
import exploring
import firefox
import overviewing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from skip import skip  # noqa: E402

GAITS = """
version: 1
experiment: gaits
seed: 5
model: hopper
simulation: {duration: 1.5, settle: 0.5}
parameters: {x_dot_des: 2.0}
search:
  method: sobol
  trials: 1500
  over:
    k_fp:   {range: [30, 500], scale: log}
    b_fp:   {range: [3, 50], scale: log}
    thrust: {range: [15, 80]}
    k_xdot: {range: [0, 0.15]}
"""
MILLION = """
version: 1
experiment: million
seed: 3
model: bbob
simulation: {function: rastrigin, dimension: 5}
search:
  method: random
  trials: 1000000
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}, x4: {range: [-5, 5]}, x5: {range: [-5, 5]}}
"""
ROBOT = """
version: 1
experiment: robot
model: articulated
simulation: {robot: robot.xml, duration: 1.0, terrain: steps}
initial: {base_vx: 0.5}
parameters: {terrain_start: 0.2, terrain_length: 0.3}
objective: {minimize: distance}
search: {method: grid, over: {gravity: [5, 9.8]}}
"""
ROBOT_FILE = """
<mujoco>
  <worldbody>
    <body name="trunk" pos="0 0 0.5"><freejoint/><geom type="box" size="0.2 0.1 0.05"/>
      <body name="leg" pos="0.1 0 -0.05"><joint name="hip" type="ball"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.25"/></body>
      <body name="tail" pos="-0.2 0 0"><joint name="root" axis="0 1 0"/>
        <geom type="cylinder" size="0.02 0.1"/><geom type="ellipsoid" size="0.05 0.03 0.04" pos="0 0 0.2"/></body>
    </body>
  </worldbody>
</mujoco>
"""
failed = 0


def check(name, good, *more):
    global failed
    failed += not good
    print("ok   browser:" if good else "FAIL browser:", name, *([] if good else more), flush=True)


def campaign(program, folder, spec):
    path = os.path.join(folder, "spec.yaml")
    with open(path, "w") as file:
        file.write(spec)
    subprocess.run([program, "run", path, "--backend", "cpu", "--progress", "none"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def written(program, folder, *arguments):
    subprocess.run([program, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def quiet(browser, name):
    check(f"{name}: nothing in the console, nothing asked of the network", not browser.complaints, browser.complaints)
    browser.complaints.clear()


def read_light(browser, page, shots):
    browser.size(1200, 900)
    browser.theme("light")
    browser.open(page)
    shots("light", True)
    quiet(browser, "light")
    sections = browser.run("[...document.querySelectorAll('main > section')].map((s) => s.id)")
    links = browser.run("[...document.querySelectorAll('nav a')].map((a) => a.hash.slice(1))")
    check("a link for each section", sections == links and len(links) == 12, links)
    for link in links:
        browser.run(f"document.querySelector('nav a[href=\"#{link}\"]').click()")
        top = browser.run(f"document.getElementById('{link}').getBoundingClientRect().top")
        check(f"{link} is gone to", top is not None and top < 700, top)
    check("plots are there", browser.run("document.querySelectorAll('main svg.p').length") > 20)
    check("a head sorts", browser.run("""(() => {
        const table = document.querySelector('table.sortable'), heads = [...table.tHead.rows[0].cells];
        const fitness = heads.findIndex((head) => head.textContent.startsWith('fitness'));
        const values = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[fitness].textContent));
        const press = heads[fitness].querySelector('button');
        press.click();
        const up = values();
        press.click();
        const down = values(), sorted = [...up].sort((a, b) => a - b);
        return String(up) === String(sorted) && String(down) === String(sorted.reverse());
    })()"""))
    if browser.run("document.hasFocus()"):  # the window of a headless Firefox has it not always
        check("a trial is marked in the plots", browser.run("""(() => {
            document.querySelector('tr[data-trial]').focus();
            return document.querySelectorAll('svg .hi').length;
        })()""") >= 1)
    check("numbers can be selected", browser.run("""(() => {
        const cell = document.querySelector('table.sortable td:nth-child(3)');
        getSelection().selectAllChildren(cell);
        return getSelection().toString() === cell.textContent;
    })()"""))


def use_keys(browser):
    browser.open(browser.run("location.pathname"))  # Tab goes on from where it was
    focused = []
    for _ in range(90):
        browser.press("Tab", "Tab")
        focused.append(browser.run("document.activeElement.tagName + ' ' + (document.activeElement.type || '')"))
    reached = {"A ", "TR ", "BUTTON button"} <= set(focused)
    check("Tab goes through links, heads and rows", reached, focused)
    seen = browser.run("document.hasFocus() ? getComputedStyle(document.activeElement).outlineStyle : 'unknown'")
    check("what has the focus is seen", seen != "none")


def scrub(browser, views):
    browser.run("document.querySelector('.motion').scrollIntoView({block: 'center'})")
    check("as many stages", browser.run("document.querySelectorAll('.stage svg').length") == views)
    browser.run("(() => { const play = document.querySelector('.controls button'); "
                "if (play.textContent === 'Pause') play.click(); document.querySelector('.controls input').focus(); })()")
    moved = browser.run("""new Promise((done) => {
        const range = document.querySelector('.controls input'), foot = document.querySelector('.stage .foot');
        const at = () => `${foot.getAttribute('cx')} ${foot.getAttribute('cy')}`;
        range.value = 0.1; range.dispatchEvent(new Event('input'));
        const before = at();
        range.value = 0.6; range.dispatchEvent(new Event('input'));
        done([before !== at(), document.querySelector('.controls output').textContent]);
    })""")
    check("the scrubber moves the figure", moved == [True, "0.60 s"], moved)
    browser.press("ArrowRight", "ArrowRight")
    check("keys move the scrubber", browser.run("Number(document.querySelector('.controls input').value)") > 0.6)
    browser.press(" ", "Space", " ")
    browser.run("new Promise((done) => setTimeout(done, 400))")
    time, button = browser.run("['output', '.controls button'].map((name) => document.querySelector(name).textContent)")
    check("the space bar plays", time != "0.60 s" and button == "Pause", time, button)
    grounds = browser.run("[...document.querySelectorAll('.stage path.gd')].map((path) => path.getAttribute('d'))")
    check("there is a ground", len(grounds) == views and all(len(path) > 10 for path in grounds), grounds)


# What is drawn of the first robot, as text.
DRAWN = "[...document.querySelectorAll('.scene g path')].map((path) => path.getAttribute('d')).join(' ')"


def orbit(browser):
    browser.run("""(() => { const play = document.querySelector('.controls button');
        if (play.textContent === 'Pause') play.click();
        const range = document.querySelector('.controls input');
        range.value = 0.2; range.dispatchEvent(new Event('input')); scrollTo(0, 0); })()""")
    x, y = browser.run("""(() => { const box = document.querySelector('.scene').getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2]; })()""")
    first = browser.run(DRAWN)
    shapes = browser.run("[...document.querySelectorAll('.scene g path')].filter((path) => path.getAttribute('d'))"
                         ".map((path) => path.getAttribute('class'))")
    check("solids are drawn by their faces", len(shapes) == 7 and {shape.split("-")[0] for shape in shapes} ==
          {"body", "foot"}, shapes)
    check("the ground is drawn", browser.run("""['.gr', '.gd', '.sd'].every((name) =>
        document.querySelector(`.scene > ${name}`).getAttribute('d').length > 20)"""))
    check("the robot is in the middle", browser.run("""(() => {
        const scene = document.querySelector('.scene').getBoundingClientRect();
        const robot = document.querySelector('.scene g').getBoundingClientRect();
        return robot.left > scene.left && robot.right < scene.right && robot.top > scene.top &&
            robot.bottom < scene.bottom && robot.height > 0.2 * scene.height; })()"""))
    browser.mouse("Pressed", x, y, button="left", clickCount=1)
    browser.mouse("Moved", x + 80, y + 30, button="left", buttons=1)
    browser.mouse("Released", x + 80, y + 30, button="left", clickCount=1)
    dragged = browser.run(DRAWN)
    browser.mouse("Moved", x - 80, y)
    check("dragging orbits, and ends with the button", first != dragged == browser.run(DRAWN))
    height = "document.querySelector('.scene g').getBoundingClientRect().height"
    before = browser.run(height)
    browser.mouse("Wheel", x, y, deltaX=0, deltaY=-200)
    browser.run("new Promise((done) => setTimeout(done, 200))")
    check("the wheel zooms, and does not scroll", browser.run(height) > 1.1 * before and browser.run("scrollY") == 0,
          before, browser.run(height))
    for count in (1, 2):
        browser.mouse("Pressed", x, y, button="left", clickCount=count)
        browser.mouse("Released", x, y, button="left", clickCount=count)
    check("a double click resets", browser.run(DRAWN) == first)
    browser.run("document.querySelector('.scene').focus()")
    browser.press("ArrowRight", "ArrowRight")
    turned = browser.run(DRAWN)
    browser.press("+", "Equal", "+")
    zoomed = browser.run(DRAWN)
    browser.press("0", "Digit0", "0")
    check("keys orbit, zoom and reset", len({first, turned, zoomed}) == 3 and browser.run(DRAWN) == first)
    browser.press(" ", "Space", " ")
    browser.run("new Promise((done) => setTimeout(done, 300))")
    check("the space bar plays", browser.run(DRAWN) != first)


def open_robots(browser, program, folder, shots):
    with open(os.path.join(folder, "robot.xml"), "w") as file:
        file.write(ROBOT_FILE)
    campaign(program, folder, ROBOT)
    page, mixed = os.path.join(folder, "robot.html"), os.path.join(folder, "mixed.html")
    written(program, folder, "replay", "robot/1", "--html", page)
    written(program, folder, "replay", "robot/0", "gaits/1", "--html", mixed)
    browser.size(1200, 900)
    browser.open(page)
    orbit(browser)
    shots("robot", True)
    quiet(browser, "a robot")
    browser.open(mixed)
    check("a robot and a hopper on one page", browser.run("document.querySelectorAll('.stage').length") == 2 and
          browser.run("document.querySelectorAll('.stage .scene').length") == 1)
    quiet(browser, "a robot and a hopper")
    browser.theme("dark")
    browser.open(page)
    shots("robot-dark", False)
    browser.theme("light")
    browser.size(390, 844, mobile=True)
    browser.open(page)
    check("no robot wider than a phone", browser.run("document.documentElement.scrollWidth") <= 390)
    shots("robot-phone", False)


def other_lights(browser, page, shots):
    if "dark" not in browser.can:
        return
    background = "getComputedStyle(document.body).backgroundColor"
    browser.theme("dark")
    browser.open(page)
    check("dark where the system is", browser.run(background) == "rgb(18, 23, 29)", browser.run(background))
    shots("dark", True)
    browser.run("document.getElementById('theme').click()")
    check("light where the reader wants it", browser.run(background) == "rgb(255, 255, 255)")
    browser.run("document.getElementById('theme').click()")
    browser.theme("light", "print")
    check("light on paper", browser.run(background) == "rgb(255, 255, 255)")
    browser.run("document.getElementById('theme').click()")
    browser.size(690, 980)  # A4 less its margins
    check("nothing wider than the paper", browser.run("document.documentElement.scrollWidth") <= 690,
          browser.run("document.documentElement.scrollWidth"))
    shots("print", True)
    browser.theme("light")
    browser.size(390, 844, mobile=True)
    browser.open(page)
    check("nothing wider than a phone", browser.run("document.documentElement.scrollWidth") <= 390)
    shots("phone", False)
    browser.run("document.querySelector('.motion').scrollIntoView()")
    shots("phone-motion", False)
    quiet(browser, "dark, paper, phone")


def save(browser, program, folder, shots):
    """The buttons of a section save what it shows; a picture has its styles in it. Only Chromium has a folder for it."""
    if os.environ.get("BROWSER", "chromium") != "chromium":
        return
    saved_in = tempfile.mkdtemp(prefix="hopscotch_saved_")
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=saved_in)
    browser.size(1200, 900)
    browser.theme()
    browser.open(os.path.join(folder, "gaits.html"))
    press = "[...document.querySelectorAll('#%s .save button')].find((b) => b.textContent === 'save %s').click()"
    names = ["gaits-importance.svg", "gaits-importance.png", "gaits-explore.svg", "gaits-explore.png"]
    for name in names:
        section, kind = name[6:].split(".")
        browser.run(press % (section, kind.upper()))
        for _ in range(100):
            if os.path.exists(os.path.join(saved_in, name)):
                break
            browser.run("new Promise((done) => setTimeout(done, 100))")
    check("pictures have the names that plot gives", sorted(os.listdir(saved_in)) == sorted(names), os.listdir(saved_in))
    text = open(os.path.join(saved_in, names[0]), encoding="utf-8").read()
    shown = browser.run("[...document.querySelectorAll('#importance svg.p text')].map((text) => text.textContent)")
    saved = [text.text for text in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    check("a saved SVG has all texts, and no class", saved == shown and "class=" not in text, saved, shown)
    explore = open(os.path.join(saved_in, names[2]), encoding="utf-8").read()
    check("the dots of a live plot are in it", explore.count("data:image/png;base64,") >= 2)
    width = browser.run("""Math.round(3 * (Math.max(...[...document.querySelectorAll('#importance svg.p')].map((plot) =>
        plot.getBoundingClientRect().right)) - Math.min(...[...document.querySelectorAll('#importance svg.p')].map(
        (plot) => plot.getBoundingClientRect().left)) + 16))""")
    with open(os.path.join(saved_in, names[1]), "rb") as file:
        head = file.read(24)
    check("a saved PNG has three pixels per pixel of the page", head[1:4] == b"PNG" and
          abs(int.from_bytes(head[16:20], "big") - width) <= 1, head, width)
    shutil.rmtree(saved_in, ignore_errors=True)
    quiet(browser, "saved pictures")


def open_million(browser, program, folder, shots):
    if not os.environ.get("MILLION"):
        return
    campaign(program, folder, MILLION)
    page = os.path.join(folder, "million.html")
    written(program, folder, "report", "million", "-o", page)
    browser.size(1200, 900)
    seconds, size = browser.open(page), os.path.getsize(page)
    check(f"a million trials: {size / 1e6:.2f} MB, open in {seconds:.2f} s", size < 5e6 and seconds < 3)
    quiet(browser, "a million trials")


def open_report(browser, program, folder, shots):
    page = os.path.join(folder, "gaits.html")
    read_light(browser, page, shots)
    axe.accessible(browser, check, "the report")
    use_keys(browser)
    scrub(browser, 1)
    other_lights(browser, page, shots)


def open_pair(browser, program, folder, shots):
    pair = os.path.join(folder, "pair.html")
    written(program, folder, "replay", "gaits/1", "gaits/2", "--html", pair)
    written(program, folder, "plot", "gaits", "--kind", "scatter", "-o", os.path.join(folder, "scatter.svg"))
    browser.size(1200, 900)
    browser.open(pair)
    scrub(browser, 2)
    shots("pair", False)
    browser.run("[...document.querySelectorAll('.controls button')].find((b) => b.textContent === 'One scene')"
                ".click()")
    check("two trials in one scene", browser.run("[document.querySelectorAll('.stage').length, "
                                                 "document.querySelectorAll('.stage .foot').length]") == [1, 2])
    axe.accessible(browser, check, "two motions")
    quiet(browser, "two trials")
    browser.open(os.path.join(folder, "scatter.svg"))
    shots("scatter", False)
    quiet(browser, "a plot")


def explore(browser, program, folder, shots):
    exploring.explore(browser, check, program, folder, os.path.join(folder, "gaits.html"), shots)
    exploring.grid(browser, check, program, folder, shots)
    axe.accessible(browser, check, "a trial beside the report")
    quiet(browser, "exploring")


def open_many(browser, program, folder, shots):
    many = os.path.join(folder, "many.html")
    campaign(program, folder, exploring.MANY)
    written(program, folder, "report", "many", "-o", many)
    browser.size(1200, 900)
    exploring.many(browser, check, many, shots)
    exploring.numbers(browser, check, program, folder)
    quiet(browser, "100,000 trials")


def follow(browser, program, folder, shots):
    exploring.follow(browser, check, program, folder)
    quiet(browser, "a run")


def open_overview(browser, program, folder, shots):
    overviewing.overview(browser, check, program, folder, shots)
    quiet(browser, "the overview")


PARTS = (open_report, open_pair, open_robots, explore, save, open_overview, open_many, follow, open_million)


def main():
    program, kind = os.path.abspath(sys.argv[1]), os.environ.get("BROWSER", "chromium")
    driver, package = (firefox, "firefox-esr") if kind == "firefox" else (devtools, "chromium")
    if driver.find() is None:
        skip("browser", "all of it", kind, f"apt-get install {package}")
        return
    with tempfile.TemporaryDirectory() as folder:
        campaign(program, folder, GAITS)
        written(program, folder, "report", "gaits", "-o", os.path.join(folder, "gaits.html"))
        browser = driver.Browser(driver.find())

        def shots(name, whole):
            if len(sys.argv) > 2:
                os.makedirs(sys.argv[2], exist_ok=True)
                browser.screenshot(os.path.join(sys.argv[2], name + ".png"), whole)

        try:
            for part in PARTS:
                if os.environ.get("PART", part.__name__) == part.__name__:
                    part(browser, program, folder, shots)
        finally:
            browser.close()


main()
sys.exit(failed > 0)
