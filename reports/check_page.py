"""Checks a report's HTML: well nested, self-contained, and containing the texts given.

    python check_page.py PAGE.html TEXT...

Prints the number of checks; complains and exits with 1 at the first fault.
"""

import html.parser
import re
import sys

VOID = {"meta", "link", "br", "hr", "img", "input", "rect", "line"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text, self.checks, self.ids, self.links = [], [], 0, set(), []

    def fault(self, what):
        sys.exit(f"line {self.getpos()[0]}: {what}")

    def handle_starttag(self, tag, attributes):
        self.checks += 1
        for name, value in attributes:
            if name in ("src", "srcset", "data") or name.startswith("on"):
                self.fault(f"<{tag} {name}>: the page must need nothing else")
            if name == "href":
                if not value.startswith("#"):
                    self.fault(f"a link that leaves the page: {value}")
                self.links.append(value[1:])
            if name == "id":
                self.ids.add(value)
        if tag in ("script", "iframe", "object", "embed", "link"):
            self.fault(f"<{tag}>: the page must need nothing else")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.checks += 1

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.fault(f"</{tag}> closes nothing")

    def handle_data(self, data):
        self.text.append(data)


def main(path, texts):
    with open(path, encoding="utf-8") as file:
        source = file.read()
    page = Page()
    page.feed(source)
    page.close()
    if page.open:
        sys.exit(f"never closed: {page.open}")
    for pattern in ("https?://", "//[a-z]+\\.", "@import", "url\\("):
        if re.search(pattern, source):
            sys.exit(f"{path}: it reaches for {pattern}")
    for link in page.links:
        if link not in page.ids:
            sys.exit(f"{path}: a link to #{link}, which is not there")
    shown = " ".join(" ".join(page.text).split())
    for text in texts:
        if text not in shown:
            sys.exit(f"{path}: '{text}' is not shown")
    print(f"checks: {page.checks + len(page.links) + len(texts) + 4}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
