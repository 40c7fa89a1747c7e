"""Checks of figures for papers (tests/cli/figures.sh), with nothing but the standard library and programs of poppler.

    figure_checks.py texts FILE.pdf         no text overlaps another or leaves the page
    figure_checks.py points FILE.svg FILE.csv X Y    every dot of a plot of columns stands where its trial's numbers say
    figure_checks.py line FILE.svg FILE.csv X Y      the first line of a figure goes past every sample of these columns
    figure_checks.py png FILE               prints width, height, pixels per metre, number of colours
    figure_checks.py colours FILE.svg       colours of the picture's style differ, in grey and for colour-blind readers
"""
import csv
import html
import itertools
import math
import re
import struct
import subprocess
import sys
import zlib


def texts(path):
    """Boxes of words as the reader finds them, without the room of accents and descents."""
    page = subprocess.run(["pdftotext", "-bbox", path, "-"], capture_output=True, text=True, check=True).stdout
    width, height = map(float, re.search(r'<page width="([\d.]+)" height="([\d.]+)"', page).groups())
    words = []
    for found in re.finditer(r'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)<', page):
        left, top, right, bottom = map(float, found.groups()[:4])
        high = bottom - top
        words.append((left + 0.2, top + 0.25 * high, right - 0.2, bottom - 0.2 * high, html.unescape(found.group(5))))
    for word in words:
        if word[0] < -0.5 or word[1] < -0.5 or word[2] > width + 0.5 or word[3] > height + 0.5:
            print("leaves the page:", word)
    for a, b in itertools.combinations(words, 2):
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]:
            print("overlap:", a, b)
    print(len(words), "words")


def axis(picture, name):
    low, high, start, end, log = map(float, re.search(rf'data-{name}="([^"]*)"', picture).group(1).split(" ")[:5])
    if log:
        return lambda value: start + math.log(value / low) / math.log(high / low) * (end - start)
    return lambda value: start + (value - low) / (high - low) * (end - start)


def points(path, table, x, y):
    picture = open(path, encoding="utf-8").read()
    rows = {row["id"]: (float(row[x]), float(row[y])) for row in csv.DictReader(open(table, encoding="utf-8"))
            if row[x] not in ("", "nan") and row[y] not in ("", "nan")}
    found = {trial: (float(cx), float(cy)) for trial, cx, cy in
             re.findall(r'<circle class="[^"]*" data-trial="(\d+)" cx="([-\d.]+)" cy="([-\d.]+)"', picture)}
    to_x, to_y = axis(picture, "x"), axis(picture, "y")
    wrong = [trial for trial, row in rows.items() if trial not in found or
             abs(to_x(row[0]) - found[trial][0]) > 0.06 or abs(to_y(row[1]) - found[trial][1]) > 0.06]
    print("same" if not wrong and len(rows) == len(found) else f"wrong {wrong[:5]}", len(rows), len(found))


def line(path, table, x, y):
    """Distances in points of print, of 8 pt text. The extremes of both columns are on the line."""
    picture = open(path, encoding="utf-8").read()
    text = re.search(r'<path class="ln" d="M([^"]*)"', picture.split('aria-label="' + y)[1]).group(1)
    path_points = [tuple(map(float, point.split(" "))) for point in re.split("[ML]", text)]
    to_x, to_y = axis(picture, "x"), axis(picture, "y")
    samples = [(to_x(float(row[x])), to_y(float(row[y]))) for row in csv.DictReader(open(table, encoding="utf-8"))]
    point = 8 / 11  # of a pixel
    worst, at = 0.0, 0
    for sample in samples:
        best = math.inf
        for k in range(at, min(at + 4, len(path_points) - 1)):  # samples and line advance together
            (ax, ay), (bx, by) = path_points[k], path_points[k + 1]
            length = (bx - ax) ** 2 + (by - ay) ** 2
            along = ((sample[0] - ax) * (bx - ax) + (sample[1] - ay) * (by - ay)) / length if length > 0 else 0.0
            t = max(0.0, min(1.0, along))
            distance = math.hypot(sample[0] - ax - t * (bx - ax), sample[1] - ay - t * (by - ay))
            if distance < best - 1e-9:
                best, nearest = distance, k
        at = nearest
        worst = max(worst, best * point)
    ends = max(abs(of(p[i] for p in samples) - of(p[i] for p in path_points)) for i in (0, 1) for of in (min, max))
    good = worst < 0.1 and ends <= 0.051
    print("same" if good else "wrong", f"{worst:.3f} pt, extremes {ends:.3f} px, {len(path_points)} of {len(samples)}")


def png(path):
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks, pixels = 8, {}, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + body), kind
        chunks.setdefault(kind, body)
        pixels += body if kind == b"IDAT" else b""
        at += 12 + size
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    per_x, per_y, unit = struct.unpack(">IIB", chunks[b"pHYs"])
    assert per_x == per_y and unit == 1 and list(chunks)[-1] == b"IEND"
    print(width, height, per_x, "picture" if len(set(zlib.decompress(pixels))) > 20 else "empty")


# ---- colours --------------------------------------------------------------------------------------------------------
# Colour-blind readers: G. Machado, M. Oliveira & L. Fernandes, IEEE Trans. Vis. Comput. Graph. 15, 2009, severity 1, on
# linear RGB. Differences are distances in CIELAB; 10 and more are seen at once, also in small areas.

EYES = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(text):
    if len(text) == 4:
        text = "#" + "".join(2 * digit for digit in text[1:])
    parts = [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def lab(rgb):
    r, g, b = (min(max(part, 0), 1) for part in rgb)
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883
    fx, fy, fz = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def light(colour):
    return lab(linear(colour))[0]


def apart(one, other, eye):
    seen = [lab([sum(m * c for m, c in zip(row, linear(colour))) for row in EYES[eye]]) for colour in (one, other)]
    return math.dist(*seen)


def colours(path):
    style = re.search(r"<style>(.*?)</style>", open(path, encoding="utf-8").read(), re.S).group(1)
    themes = dict(zip(("light", "dark"), style.split("@media")))
    for theme, rules in themes.items():
        of = {name: colour for name, colour in re.findall(r"\.p \.(\w+)\{(?:stroke|fill):(#[0-9a-f]+)", rules)}
        kinds = [of[f"k{k}"] for k in range(1, 7)]
        scale = [of[f"c{k}"] for k in range(8)]
        sets = (  # what a reader must tell apart; the least distance, and the least in grey
            ("kinds of failures", kinds, 15, 9),
            ("phases of a batch", [of["k2"], of["k3"], of["k4"], of["k0"]], 15, 9),
            ("lines of one panel", [scale[k] for k in (7, 5, 3, 2)], 10, 9),
            ("the best and the others", [of["bl"], of["li"]], 20, 9),
            ("the best trial and others", [of["be"], of["pt"]], 20, 9),
            ("bars to both sides", [of["be"], of["ba"]], 20, 9),
            ("neighbours on the scale", None, 5, 5),
        )
        for name, members, least, least_grey in sets:
            pairs = list(zip(scale, scale[1:])) if members is None else list(itertools.combinations(members, 2))
            worst = min((apart(a, b, eye), eye) for a, b in pairs for eye in EYES)
            grey = min(abs(light(a) - light(b)) for a, b in pairs)
            good = worst[0] >= least and grey >= least_grey
            print("good" if good else "wrong", theme, f"{name}: {worst[0]:.1f} ({worst[1]}), in grey {grey:.1f}")
        levels = [light(colour) for colour in scale]
        print("good" if levels in (sorted(levels), sorted(levels, reverse=True)) else "wrong", theme, "the scale rises")


if __name__ == "__main__":
    {"texts": texts, "points": points, "line": line, "png": png, "colours": colours}[sys.argv[1]](*sys.argv[2:])
