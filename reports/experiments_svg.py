"""The experiments' pictures: self-contained SVG that follows the reader's light or dark scheme."""

import math
from xml.sax.saxutils import escape

STYLE = """<style>
text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: #57606a }
.title { font-size: 14px; font-weight: 600; fill: #1b1f24 } .value { fill: #1b1f24 }
.ground { fill: #fff } .rule { stroke: #dde1e6 } .end { text-anchor: end } .mid { text-anchor: middle }
.s0 { --c: #6e7781 } .s1 { --c: #b3261e } .s2 { --c: #0a58ca } .s3 { --c: #1a7f37 } .s4 { --c: #8250df }
.line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round } .bar { fill: var(--c) }
text.name { fill: var(--c) }
@media (prefers-color-scheme: dark) {
text { fill: #98a2ad } .title, .value { fill: #e6e9ec } .ground { fill: #14171a } .rule { stroke: #31373d }
.s1 { --c: #ff8a80 } .s2 { --c: #7fb2ff } .s3 { --c: #57c272 } .s4 { --c: #c39bff } .s0 { --c: #98a2ad } }
</style>"""


def text(x, y, words, kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(str(words))}</text>'


def document(width, height, title, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{escape(title)}">'
            f'{STYLE}<rect class="ground" width="100%" height="100%"/>' + "\n".join(parts) + "</svg>\n")


def spread(wanted, gap):
    """Heights of labels, moved apart so that none covers another; the order stays."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    places, last = list(wanted), -math.inf
    for i in order:
        places[i] = last = max(wanted[i], last + gap)
    return places


def curves(left, top, width, height, title, series):
    """One panel of curves by step on a logarithmic scale. series: [(name, values, style number)]."""
    values = [v for _, line, _ in series for v in line if v > 0]
    low = max(math.floor(math.log10(min(values))), -3)
    high = math.ceil(math.log10(max(values)))
    steps = max(len(line) for _, line, _ in series) - 1

    def x(step):
        return left + width * step / steps

    def y(value):
        return top + height * (high - max(math.log10(max(value, 1e-30)), low)) / (high - low)

    parts = [text(left, top - 12, title, "title")]
    for decade in range(low, high + 1):
        at = y(10.0**decade)
        parts.append(f'<line class="rule" x1="{left}" x2="{left + width}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(text(left - 8, at + 4, f"{10.0**decade:g}", "end"))
    for step in (0, steps // 2, steps):
        parts.append(text(x(step), top + height + 18, f"step {step}" if step else "0", "mid"))
    for name, line, style in series:
        points = " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in enumerate(line))
        parts.append(f'<polyline class="line s{style}" points="{points}"><title>{escape(name)}'
                     f'</title></polyline>')
    ends = spread([y(line[-1]) + 4 for _, line, _ in series], 15)
    parts += [text(left + width + 8, at, name, f"name s{style}")
              for (name, _, style), at in zip(series, ends)]
    return parts


def bars(left, top, width, title, rows, unit):
    """One panel of horizontal bars in groups. rows: [(group, [(name, value, style number)])]."""
    most = max((abs(v) for _, group in rows for _, v, _ in group), default=0) or 1
    parts, at, room = [text(left, top - 12, title, "title")], top, width - 280
    for name, group in rows:
        parts.append(text(left, at + 12, name))
        for label, value, style in group:
            wide = room * abs(value) / most
            parts.append(f'<rect class="bar s{style}" x="{left + 165}" y="{at:.1f}" width="{wide:.1f}" '
                         f'height="14" rx="2"/>')
            parts.append(text(left + 169 + wide, at + 12, f"{label}  {unit(value)}", "value"))
            at += 18
        at += 8
    return parts, at
