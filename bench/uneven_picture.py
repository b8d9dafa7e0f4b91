#!/usr/bin/env python3
"""Draws what bench/run uneven --json has found: how much of the sum of the servers' speeds was reached.

    bench/uneven_picture.py FILE... > docs/results/uneven.svg

Above, writing where the same servers stay slow; below, the calls around the one in which a server becomes slow. Of runs
of the same case in several files, the last one counts."""
import json
import statistics
import sys

COLOURS = {"in_turn": "#b8b0a2", "nearest": "#8a7f6d", "weights": "#2b7a9b", "stealing": "#c4572e"}
LEFT, TOP, WIDTH, HEIGHT, GAP = 60, 90, 820, 190, 110
PAPER = {"in turn, one slow": 0.48, "least of static and dynamic": 0.85}


def load(names):
    cases = {}
    for name in names:
        with open(name, encoding="utf-8") as file:
            for run in json.load(file)["runs"]:
                cases[run["part"], run["servers"], run["strategy"]] = run["calls"]
    return cases


def fractions(calls, slow=None):
    return [call["ideal"] / call["seconds"] for call in calls if call["work"] == "write" and slow in (None, call["slow"])]


def text(x, y, words, kind="note", anchor="middle", more=""):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{words}</text>'


def scale(top):
    for tenth in range(0, 11, 2):
        y = top + HEIGHT * (1 - tenth / 10)
        yield f'<line class="grid" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield text(LEFT - 8, y + 4, f"{tenth / 10:.1f}", anchor="end")
    for words, value in PAPER.items():
        y = top + HEIGHT * (1 - value)
        yield f'<line class="paper" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield text(LEFT + WIDTH + 6, y + 4, f"paper: {words}", anchor="start")


def bars(cases, top):
    """A group for each number of slow servers, a bar for each strategy; a line shows the range of the calls."""
    groups = sorted({(servers, call["slow"]) for (part, servers, _), calls in cases.items() if part == "steady" for call in calls})
    step = WIDTH / len(groups)
    for number, (servers, slow) in enumerate(groups):
        x = LEFT + step * number
        yield text(x + step / 2, top + HEIGHT + 17, f"{slow}/{servers}")
        for place, strategy in enumerate(COLOURS):
            found = fractions(cases.get(("steady", servers, strategy), []), slow)
            if not found:
                continue
            middle, wide = statistics.median(found), step / 5.5
            left, height = x + step * 0.12 + place * wide, HEIGHT * middle
            yield (f'<rect x="{left:.1f}" y="{top + HEIGHT - height:.1f}" width="{wide - 1:.1f}" height="{height:.1f}" '
                   f'fill="{COLOURS[strategy]}"/>')
            yield (f'<line class="range" x1="{left + wide / 2:.1f}" x2="{left + wide / 2:.1f}" '
                   f'y1="{top + HEIGHT * (1 - min(found)):.1f}" y2="{top + HEIGHT * (1 - max(found)):.1f}"/>')
    yield text(LEFT + WIDTH / 2, top + HEIGHT + 36, "servers that are half as fast / servers")


def lines(cases, top):
    """For each number of servers, the calls one after the other."""
    counts = sorted({servers for part, servers, _ in cases if part == "change"})
    step = WIDTH / len(counts)
    for number, servers in enumerate(counts):
        calls = 0
        for strategy, colour in COLOURS.items():
            found = fractions(cases.get(("change", servers, strategy), []))
            calls = max(calls, len(found))
            points = " ".join(f"{LEFT + step * (number + (i + 0.7) / (len(found) + 0.6)):.1f},{top + HEIGHT * (1 - one):.1f}"
                              for i, one in enumerate(found))
            if found:
                yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for i in range(calls):
            yield text(LEFT + step * (number + (i + 0.7) / (calls + 0.6)), top + HEIGHT + 17, str(i + 1))
        yield text(LEFT + step * (number + 0.5), top + HEIGHT + 36, f"{servers} servers, calls 1 to {calls}")


def legend():
    for place, (strategy, colour) in enumerate(COLOURS.items()):
        x = LEFT + 130 * place
        yield f'<rect x="{x}" y="52" width="12" height="12" fill="{colour}"/>'
        yield text(x + 18, 62, strategy, kind="name", anchor="start")


def main():
    cases, below = load(sys.argv[1:]), TOP + HEIGHT + GAP
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 215} {below + HEIGHT + 50}" '
          'font-family="sans-serif" font-size="13">')
    print("<style>.note { fill: #5b5346; font-size: 11px } .grid { stroke: #e4dfd4; stroke-width: 0.8 } "
          ".paper { stroke: #5b5346; stroke-dasharray: 4 4 } .range { stroke: #222; stroke-width: 0.8 }</style>")
    print('<rect width="100%" height="100%" fill="#fff"/>')
    head = ' font-weight="bold" font-size="15"'
    print(text(LEFT, 30, "Writing to servers that are not equally fast: fraction of the sum of their speeds", "name", "start", head))
    parts = [*legend(), *scale(TOP), *bars(cases, TOP),
             text(LEFT, below - 22, "One server becomes half as fast, half-way through call 5", "name", "start", head),
             *scale(below), *lines(cases, below)]
    print("\n".join("  " + part for part in parts))
    print("</svg>")


if __name__ == "__main__":
    main()
