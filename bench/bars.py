"""Draws how many times as fast ways of doing a work are as one that is the measure."""
import html
import math

RED, BLUE, GREY = "#c4572e", "#2b7a9b", "#b8b0a2"
LEFT, TOP, WIDTH, BAR, GAP = 250, 70, 560, 16, 34


def text(x, y, words, kind="note", anchor="start"):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


class Picture:
    def __init__(self, heading, tables, colours, is_from_one=True):
        """tables: a title and rows of a name and a speed. colours: a word of names and its colour; others are grey.
        Bars begin at 1, where most are faster than the measure, or else at the left."""
        self.heading, self.tables, self.colours, self.is_from_one = heading, tables, colours, is_from_one
        speeds = [speed for _, rows in self.tables for _, speed in rows]
        self.least = math.floor(math.log2(min(speeds)))
        self.most = max(math.ceil(math.log2(max(speeds))), 0)

    def colour(self, name):
        return next((colour for word, colour in self.colours.items() if word in name), GREY)

    def x(self, speed):
        return LEFT + WIDTH * (math.log2(speed) - self.least) / max(self.most - self.least, 1)

    def scale(self, bottom):
        for power in range(self.least, self.most + 1):
            x = self.x(2.0 ** power)
            yield f'<line class="{"one" if power == 0 else "grid"}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 14}" y2="{bottom}"/>'
            yield text(x, TOP - 20, f"1/{2 ** -power}" if power < 0 else str(2 ** power), anchor="middle")

    def bars(self):
        y, start = TOP, self.x(1) if self.is_from_one else LEFT
        for title, rows in self.tables:
            yield text(20, y, title, "name")
            y += 10
            for name, speed in rows:
                end = self.x(speed)
                yield text(LEFT - 10, y + BAR - 4, name, anchor="end")
                yield (f'<rect x="{min(start, end):.1f}" y="{y}" width="{max(abs(end - start), 1):.1f}" height="{BAR - 3}" '
                       f'fill="{self.colour(name)}"/>')
                yield text(max(start, end) + 6, y + BAR - 4, f"{speed:.2f}")
                y += BAR
            y += GAP
        self.bottom = y - GAP

    def draw(self):
        bars = list(self.bars())
        head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 60} {self.bottom + 20}" '
                'font-family="sans-serif" font-size="13">',
                "<style>.note { fill: #5b5346; font-size: 11px } .name { font-weight: bold } "
                ".grid { stroke: #e4dfd4; stroke-width: 0.8 } .one { stroke: #5b5346 }</style>",
                '<rect width="100%" height="100%" fill="#fff"/>',
                text(20, 26, self.heading, "name")]
        return "\n".join(head + ["  " + part for part in [*self.scale(self.bottom), *bars]] + ["</svg>", ""])
