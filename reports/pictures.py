"""Pictures as SVG text; colours come from the page's style sheet (classes right, wrong, ink)."""

import math

from summary import number, short

LIMIT = 2**62  # a bin that reaches this far is open at that end


def label(low, high):
    if low <= -LIMIT:
        return f"\u2264 {high:+d}".replace("-", "\u2212")
    if high >= LIMIT:
        return f"\u2265 {low:+d}"
    text = f"{low:+d}" if low == high else f"{low:+d}\u2026{abs(high)}"
    return "0" if low == high == 0 else text.replace("-", "\u2212")


def bars_of(histogram):
    """(label, count, right?) from the most negative distance to the most positive, then the rest."""
    zero_signs = histogram.get("sign_of_zero", 0)
    bins = {(int(b["from"]), int(b["to"])): b["count"] for b in histogram["codes"]}
    bins.setdefault((0, 0), 0)
    bars = [(label(*key), count, key == (0, 0)) for key, count in sorted(bins.items())]
    if zero_signs:
        bars.append(("\u00b10", zero_signs, False))
    if histogram.get("not_numbers"):
        bars.append(("NaN", histogram["not_numbers"], False))
    return bars


def opening(width, height, title):
    return (f'<svg class="picture" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{title}">')


def ulp_histogram(histogram):
    """Counts of codes by distance from the right one, on a logarithmic scale."""
    bars = bars_of(histogram)
    step, height, top, bottom = 54, 96, 20, 20
    width = step * len(bars)
    most = max((count for _, count, _ in bars), default=1)
    scale = height / math.log10(max(most, 1) * 10)
    parts = [opening(width, top + height + bottom, "codes by distance from the right one")]
    for i, (text, count, right) in enumerate(bars):
        x = i * step + step / 2
        tall = scale * math.log10(count * 10) if count else 0
        y = top + height - tall
        if count:
            parts.append(f'<rect class="{"right" if right else "wrong"}" x="{x - 16:.1f}" '
                         f'y="{y:.1f}" width="32" height="{tall:.1f}" rx="2">'
                         f'<title>{text}: {number(count)}</title></rect>')
        parts.append(f'<text class="value" x="{x:.1f}" y="{y - 5:.1f}">{short(count)}</text>')
        parts.append(f'<text x="{x:.1f}" y="{top + height + 14}">{text}</text>')
    parts.append(f'<line class="axis" x1="0" x2="{width}" y1="{top + height}" y2="{top + height}"/>')
    return "".join(parts) + "</svg>"


def exponent_picture(histogram):
    """Share of differing codes in each binade of the right value."""
    places = histogram.get("exponents", [])
    if not any(p["different"] for p in places):
        return ""
    numbers = sorted((p for p in places if isinstance(p["exponent"], int)), key=lambda p: p["exponent"])
    if len(numbers) > 64:  # a wide format: only the stretch where something differs
        wrong = [i for i, p in enumerate(numbers) if p["different"]]
        if wrong:
            numbers = numbers[max(wrong[0] - 4, 0):wrong[-1] + 5]
    others = [p for p in places if not isinstance(p["exponent"], int)]
    places = [(p, 0) for p in numbers] + [(p, 30) for p in others]
    step = max(8.0, min(30.0, 560 / max(len(numbers), 1)))
    height, top, bottom = 96, 20, 20
    width = sum(max(step, least) for _, least in places)
    parts = [opening(width, top + height + bottom, "share of differing codes by binade")]
    every, x = max(1, math.ceil(28 / step)), 0.0
    for i, (p, least) in enumerate(places):
        text = str(p["exponent"]).replace("-", "\u2212")
        wide = max(step, least)
        share = p["different"] / p["compared"] if p["compared"] else 0
        tall = max(height * share, 2.0 if p["different"] else 0)
        parts.append(f'<rect class="track" x="{x + 1:.1f}" y="{top}" width="{wide - 2:.1f}" '
                     f'height="{height}"/>')
        parts.append(f'<rect class="wrong" x="{x + 1:.1f}" y="{top + height - tall:.1f}" '
                     f'width="{wide - 2:.1f}" height="{tall:.1f}"><title>{text}: '
                     f'{number(p["different"])} of {number(p["compared"])}</title></rect>')
        if least or i % every == 0:
            parts.append(f'<text x="{x + wide / 2:.1f}" y="{top + height + 14}">{text}</text>')
        x += wide
    return "".join(parts) + "</svg>"
