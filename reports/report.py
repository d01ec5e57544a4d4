"""Results of `assay run` -> one self-contained HTML file, or Markdown for a pull request.

    python report.py RESULTS.json... [--html FILE] [--markdown FILE]

Without a place for either, the Markdown goes to standard output. Exit status as assay's: 0 done,
2 wrong usage, 4 a file is missing, broken or cannot be written.
"""

import argparse
import errno
import os
import pathlib
import sys

try:
    import jinja2
    from markupsafe import Markup
except ImportError as reason:
    print(f"assay: {reason}: `make deps` installs what reports need", file=sys.stderr)
    sys.exit(4)

import pictures
import summary

OPENED = 5   # failures shown in full
LIMIT = 25   # failures shown at all before the rest folds away


def has_differences(histogram):
    return any(not right and count for _, count, right in pictures.bars_of(histogram))


def without_stop(text):
    """Reasons come with and without a full stop; the templates set their own."""
    return str(text).rstrip(". \n")


def markdown_text(text):
    for c in "\\`*[]<>|":
        text = str(text).replace(c, "\\" + c)
    return str(text).replace("\n", " ")


def environment(autoescape):
    folder = pathlib.Path(__file__).resolve().parent
    e = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=autoescape,
                           undefined=jinja2.ChainableUndefined, keep_trailing_newline=True)
    e.filters.update(
        number=summary.number, short=summary.short, tone=summary.tone, md=markdown_text,
        reason=without_stop, has_differences=has_differences,
        ulp_histogram=lambda h: Markup(pictures.ulp_histogram(h)),
        exponent_picture=lambda h: Markup(pictures.exponent_picture(h)),
    )
    return e


def render(template, report):
    html = template.endswith(".html.j2")
    tone, headline = report.headline
    style = (pathlib.Path(__file__).resolve().parent / "report.css").read_text(encoding="utf-8")
    return environment(html).get_template(template).render(
        r=report, headline=headline, headline_tone=tone, failures=report.failures,
        limit=LIMIT, opened=OPENED, style=Markup(style))


def write(path, text):
    """Under a temporary name first, so that the final name never holds half a report. What is no
    plain file (a pipe, a device) is written to as it is, never replaced."""
    special = os.path.exists(path) and not os.path.isfile(path)
    temporary = path if special else f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        if not special:
            os.replace(temporary, path)
    except OSError as reason:
        if not special:
            pathlib.Path(temporary).unlink(missing_ok=True)
        raise summary.BadResults(f"{path}: cannot be written: {reason.strerror}") from reason


def write_output(text):
    """To standard output, which may be closed, a full disk, or a pipe that nobody reads."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as reason:
        sys.stdout = None  # or the interpreter tries again at its end
        raise summary.BadResults(f"standard output: {reason.strerror}; nothing more was written") \
            from reason


def main():
    parser = argparse.ArgumentParser(prog="assay report", description=__doc__.split("\n")[0])
    parser.add_argument("results", nargs="+")
    parser.add_argument("--html")
    parser.add_argument("--markdown")
    arguments = parser.parse_args()
    try:
        report = summary.Report(summary.merge(arguments.results))
        if arguments.html:
            write(arguments.html, render("report.html.j2", report))
        if arguments.markdown:
            write(arguments.markdown, render("report.md.j2", report))
        if not arguments.html and not arguments.markdown:
            write_output(render("report.md.j2", report))
    except summary.BadResults as reason:
        print(f"assay: {reason}", file=sys.stderr)
        return 4
    except (KeyError, TypeError, AttributeError, ValueError, jinja2.TemplateError) as reason:
        print(f"assay: {', '.join(arguments.results)}: does not follow the schema of results: "
              f"{type(reason).__name__} {reason}: reports/validate.py says where", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
