"""fp4-train by a model of its own, for tests/test_fp4train.sh: exact fractions, tables, Philox in integers."""

import json, math, random, struct, subprocess, sys
from fractions import Fraction as F

assay, folder = sys.argv[1:]
GRID = [F(n, 2) for n in (0, 1, 2, 3, 4, 6, 8, 12)]
E4M3 = [F(m, 512) for m in range(8)] + [F(8 + m, 8) * F(2) ** (e - 7) for e in range(1, 16) for m in range(8)][:119]
assert len(E4M3) == 127 and E4M3[126] == 448 and E4M3[0x38] == 1


def philox(key, counter):
    key, counter = list(key), list(counter)
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [b >> 32 ^ counter[1] ^ key[0], b & 0xFFFFFFFF, a >> 32 ^ counter[3] ^ key[1], a & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


assert philox((0, 0), (0, 0, 0, 0)) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox((42, 0), (1, 0, 0, 0)) == [4242219303, 1404726525, 2207210094, 1951270651]


def nearest(table, v):
    """Code of the nearest value, a tie to the even code; beyond the table its last."""
    i = max(k for k, t in enumerate(table) if t <= v)
    if i + 1 == len(table):
        return i
    low, high = v - table[i], table[i + 1] - v
    return i if low < high or (low == high and i % 2 == 0) else i + 1


def f32(v):
    """A fraction rounded to binary32 (normal range and subnormals; no overflow here)."""
    if v == 0:
        return F(0)
    a = abs(v)
    e = a.numerator.bit_length() - a.denominator.bit_length()
    e -= F(2) ** e > a
    unit = F(2) ** (max(e, -126) - 23)
    n, rest = divmod(a, unit)
    n += rest * 2 > unit or (rest * 2 == unit and n % 2 == 1)
    return n * unit * (1 if v > 0 else -1)


def sign_bit(x):
    return math.copysign(1, x) < 0


def model(x, width, residual, seed, step, stochastic, feedback):
    """Codes, scales, residual: x a list of floats, blocks of 16; residual the same."""
    codes, scales, left = [], [], []
    for start in range(0, len(x), 16):
        block, old = x[start:start + 16], residual[start:start + 16]
        if not all(map(math.isfinite, block)):
            scales.append(0x7F)
            codes += [0] * 16
            left += [None] * 16
            continue
        t = [f32(F(v) + F(r)) if feedback else F(v) for v, r in zip(block, old)]
        scales.append(nearest(E4M3, f32(max(map(abs, t)) / 6)))
        s = E4M3[scales[-1]]
        for i, v in enumerate(t):
            negative = v < 0 or (v == 0 and sign_bit(block[i]) and (not feedback or sign_bit(old[i])))
            if s == 0:
                codes.append(0)
                left.append(v)
                continue
            q = abs(f32(v / s))
            if stochastic:
                index, q = start + i, min(q, F(6))
                word = philox((seed & 0xFFFFFFFF, seed >> 32), (index >> 2 & 0xFFFFFFFF, index >> 34,
                                                               step & 0xFFFFFFFF, step >> 32))[index & 3]
                low = max(k for k, g in enumerate(GRID) if g <= q)
                f = (q - GRID[low]) / (GRID[low + 1] - GRID[low]) if low < 7 else F(0)
                code = low + ((word >> 8) < math.floor(f * 2**24))
            else:
                code = nearest(GRID, q)
            codes.append(code | 8 * negative)
            left.append(f32(v - (-1 if negative else 1) * GRID[code] * s))
    return codes, scales, left


def write(path, tensors):
    header, body = {}, b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + body)


def read(path):
    data = open(path, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    return {k: data[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]]
            for k, v in json.loads(data[8:8 + n]).items() if k != "__metadata__"}


def floats(data):
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def bits(x, width):
    data = struct.pack("<f", x)
    return data if width == 32 else data[2:]


def as_width(x, width):
    """A value of the input's format: bf16 keeps the top half of the bits."""
    data = struct.pack("<f", x)
    return struct.unpack("<f", data if width == 32 else b"\0\0" + data[2:])[0]


source = random.Random(20)
rows, columns, checks = 24, 48, 0


def value(kind):
    if kind == "plain":
        return source.gauss(0, 1)
    if kind == "grid":
        return source.choice([-1, 1]) * float(source.choice(GRID)) * 2.0**source.choice((-2, 0, 3))
    if kind == "ties":
        return source.choice([-1, 1]) * source.choice((.25, .75, 1.25, 1.75, 2.5, 3.5, 5, 6, 0.0))
    if kind == "small":
        return source.gauss(0, 1) * 2.0**-9
    if kind == "large":
        return source.gauss(0, 1) * 4000
    if kind == "wide":
        return source.gauss(0, 1) * 2.0**source.randint(-30, 12)
    return source.choice((0.0, -0.0, 6.0, math.nan, math.inf, 1.0)) if kind == "special" else 0.0


def matrix(width):
    kinds = ("plain", "grid", "ties", "small", "large", "wide", "special", "zero")
    return [as_width(value(kinds[r % 8]), width) for r in range(rows) for _ in range(columns)]


def run(recipe, width, x, residual, seed, step, stochastic, feedback, *more):
    tensors = {"x": ("F32" if width == 32 else "BF16", [rows, columns], b"".join(bits(v, width) for v in x))}
    arguments = [assay, "eval", recipe, "-i", f"{folder}/in", "-o", f"{folder}/out", "--tensor", "x", *more]
    if feedback:
        tensors["r"] = ("F32", [rows, columns], b"".join(bits(v, 32) for v in residual))
        arguments += ["--bind", "r=r"]
    if stochastic:
        arguments += ["--set", f"seed={seed}", "--set", f"step={step}"]
    write(f"{folder}/in", tensors)
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return read(f"{folder}/out")


def swizzled(scales, height, width):
    """128x4 tiles, written as the definition has it; padding is 0."""
    tall, wide = -(-height // 128) * 128, -(-width // 4) * 4
    out = bytearray(tall * wide)
    for i in range(height):
        for j in range(width):
            out[((i // 128) * (wide // 4) + j // 4) * 512 + i % 32 * 16 + i % 128 // 32 * 4 + j % 4] = \
                scales[i * width + j]
    return bytes(out)


def decoded(codes, scales):
    for n, code in enumerate(codes):
        scale = scales[n // 16]
        yield math.nan if scale == 0x7F else math.copysign(float(GRID[code & 7] * E4M3[scale]),
                                                           -1 if code & 8 else 1)


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or (a == b and sign_bit(a) == sign_bit(b))


for width in (32, 16):
    for stochastic in (False, True):
        for feedback in (False, True):
            settings = (f"(T={'f32' if width == 32 else 'bf16'}, rounding="
                        f"{'stochastic' if stochastic else 'nearest'}, feedback={'yes' if feedback else 'no'})")
            x, residual = matrix(width), [0.0] * (rows * columns)
            for step in range(2):
                seed = source.getrandbits(64) if step else 7
                count = step * (2**32 + 5)
                given = (width, x, residual, seed, count, stochastic, feedback)
                codes, scales, left = model(x, width, residual, seed, count, stochastic, feedback)
                where = f"{settings}, step {step}"
                out = run("fp4train.quantize" + settings, *given)
                assert list(out["x/S"]) == scales, where
                wrong = [i for i, (a, b) in enumerate(zip(out["x/Q"], codes)) if a != b]
                assert not wrong, (where, wrong[:4], [x[i] for i in wrong[:4]])
                qdq = run("fp4train.qdq" + settings, *given)["x/y"]
                y = floats(b"".join(b"\0\0" + qdq[i:i + 2] for i in range(0, len(qdq), 2)))
                assert all(map(same, y, decoded(codes, scales))), where
                operands = run("fp4train.operands" + settings, *given, "--layout")
                assert operands["x/Q.bytes"] == bytes(codes[i] | codes[i + 1] << 4
                                                      for i in range(0, len(codes), 2)), where
                assert operands["x/S.bytes"] == swizzled(scales, rows, columns // 16), where
                checks += 4 * len(codes)
                if feedback:
                    r2 = floats(out["x/r2"])
                    assert all(w is None or F(v) == w for v, w in zip(r2, left)), where
                    residual = [0.0 if w is None else v for v, w in zip(r2, left)]
                    checks += len(codes)
print(f"checks: {checks}")
