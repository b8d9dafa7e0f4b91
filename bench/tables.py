"""Tables in Markdown, which scripts/record keeps as they are."""


def markdown_row(cells):
    return "| " + " | ".join(cells) + " |\n"


def markdown_head(cells):
    return markdown_row(cells) + "|" + "---|" * len(cells) + "\n"


def markdown(heads, rows):
    return markdown_head(heads) + "".join(markdown_row(row) for row in rows)
