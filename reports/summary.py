"""Results files read, merged and summed up for the reports. Knows nothing of HTML or Markdown."""

import json

# From harmless to worst; the order in which one verdict wins over another in a summary.
ORDER = ["unsupported", "pass", "acceptable", "fail", "unwritten", "nondeterministic", "error",
         "guard", "crash", "hang"]
BROKEN = {"crash", "hang", "guard", "error"}
DIFFERS = {"fail", "unwritten", "nondeterministic"}


class BadResults(Exception):
    """What is wrong with which file."""


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            root = json.load(file)
    except OSError as reason:
        raise BadResults(f"{path}: cannot be read: {reason.strerror}") from reason
    except ValueError as reason:
        raise BadResults(f"{path}: is no JSON: {reason}: make it again with assay run -o") from reason
    needed = ("version", "started", "host", "adapters", "recipes", "verdicts", "counts", "complete")
    missing = [k for k in needed if not isinstance(root, dict) or k not in root]
    if missing:
        raise BadResults(f"{path}: is no results file: it has no {', '.join(missing)}")
    return root


def merge(paths):
    """One document from several: adapters and recipes once each, all verdicts."""
    runs = [read(path) for path in paths]
    whole = dict(runs[0], runs=runs, paths=paths)
    for key in ("adapters", "recipes"):
        named = {}
        for run in runs:
            for entry in run[key]:
                named.setdefault(entry["name"], entry)
        whole[key] = list(named.values())
    whole["verdicts"] = [v for run in runs for v in run["verdicts"]]
    whole["complete"] = all(run["complete"] for run in runs)
    whole["seconds"] = sum(run.get("seconds", 0) for run in runs)
    whole["counts"] = {}
    for run in runs:
        for key, count in run["counts"].items():
            whole["counts"][key] = whole["counts"].get(key, 0) + count
    return whole


def worst(verdicts):
    return max((v["verdict"] for v in verdicts), key=ORDER.index, default=None)


def tone(verdict):
    """The four things a reader wants to tell apart at a glance."""
    if verdict in (None, "unsupported"):
        return "none"
    if verdict in BROKEN:
        return "broken"
    if verdict in DIFFERS:
        return "differs"
    return "open" if verdict == "acceptable" else "good"


def number(n):
    return f"{int(n):,}"


def plural(n, one, many=None):
    return f"{number(n)} {one if n == 1 else many or one + 's'}"


def short(n):
    """1234567 -> 1.2 M"""
    n = int(n)
    for size, unit in ((10**9, " G"), (10**6, " M"), (10**4, " k")):
        if abs(n) >= size:
            scaled = n / (1000 if unit == " k" else size)
            return f"{scaled:.3g}{unit}"
    return number(n)


def sentence(verdicts):
    """One sentence for one cell: why the worst verdict is what it is."""
    bad = worst(verdicts)
    if bad is None:
        return "not asked for"
    those = [v for v in verdicts if v["verdict"] == bad]
    ran = [v for v in verdicts if v["verdict"] != "unsupported"]
    elements = sum(v["elements"] for v in ran)
    if bad == "unsupported":
        reasons = {v.get("reason", "") for v in those}
        return one_of(reasons) or "the adapter does not offer this contract"
    if bad == "pass":
        return f"all {plural(elements, 'code')} equal"
    if bad == "acceptable":
        open_codes = sum(v.get("acceptable", 0) for v in ran)
        return f"equal but for {plural(open_codes, 'code')} that the contract leaves open"
    if bad == "fail":
        wrong = sum(v.get("mismatched_elements", 0) for v in those)
        return f"{number(wrong)} of {plural(elements, 'code')} differ"
    reason = one_of({v.get("reason", "") for v in those})
    return reason or {"unwritten": "left output codes unwritten",
                      "nondeterministic": "the same call gave different answers"}.get(bad, bad)


def one_of(reasons):
    reasons = sorted(reason for reason in reasons if reason)
    if len(reasons) > 1:
        return f"{reasons[0]} (and {plural(len(reasons) - 1, 'other reason')})"
    return reasons[0] if reasons else ""


class Cell:
    """Verdicts of one adapter on one recipe: all its instances and classes."""

    def __init__(self, adapter, verdicts):
        self.verdicts = verdicts = [v for v in verdicts if v["adapter"] == adapter["name"]]
        self.verdict = worst(verdicts)
        self.tone = tone(self.verdict)
        self.sentence = sentence(verdicts)
        if not verdicts and adapter.get("error"):
            self.sentence = "could not be used"
        by_instance = {}
        for v in verdicts:
            by_instance.setdefault(v["recipe"], []).append(v)
        self.instances = len(by_instance)
        self.unsupported = sum(1 for vs in by_instance.values() if worst(vs) == "unsupported")
        self.failing = sum(1 for vs in by_instance.values() if tone(worst(vs)) in ("differs", "broken"))

    @property
    def note(self):
        """What the worst verdict alone would hide."""
        if self.verdict in (None, "unsupported") or self.instances <= 1:
            return ""
        parts = []
        if self.failing:
            parts.append(f"{self.failing} of {self.instances} instances")
        else:
            parts.append(plural(self.instances - self.unsupported, "instance"))
        if self.unsupported:
            parts.append(f"{self.unsupported} not offered")
        return ", ".join(parts)


def merge_histograms(lists):
    """Histograms of several verdicts on one contract, added up output by output."""
    whole = {}
    for h in (h for histograms in lists for h in histograms):
        sum_ = whole.setdefault(h["output"], {"output": h["output"], "format": h.get("format"),
                                              "codes": {}, "exponents": {}, "not_numbers": 0,
                                              "sign_of_zero": 0})
        for b in h["codes"]:
            key = (int(b["from"]), int(b["to"]))
            sum_["codes"][key] = sum_["codes"].get(key, 0) + b["count"]
        for e in h.get("exponents", []):
            old = sum_["exponents"].setdefault(
                e["exponent"], {"exponent": e["exponent"], "compared": 0, "different": 0})
            old["compared"] += e["compared"]
            old["different"] += e["different"]
        for key in ("not_numbers", "sign_of_zero"):
            sum_[key] += h.get(key, 0)
    for h in whole.values():
        h["codes"] = [{"from": a, "to": b, "count": n} for (a, b), n in h["codes"].items()]
        h["exponents"] = list(h["exponents"].values())
    return list(whole.values())


def as_list(diagnosis):
    return [diagnosis] if isinstance(diagnosis, str) else diagnosis or []


class Failure:
    """One adapter on one instance: all classes in which it did not conform."""

    def __init__(self, verdicts):
        self.verdicts = sorted(verdicts, key=lambda v: -ORDER.index(v["verdict"]))
        self.adapter, self.recipe = verdicts[0]["adapter"], verdicts[0]["recipe"]
        self.verdict = self.verdicts[0]["verdict"]
        self.histograms = merge_histograms(v.get("histogram", []) for v in verdicts)
        self.first = next((v["first"] for v in verdicts if v.get("first")), None)
        found = [v["smallest"] for v in verdicts if v.get("smallest")]
        self.smallest = min(found, key=lambda f: f.get("m", 1) * f.get("k", 1), default=None)
        self.printed = next((v["output_tail"] for v in self.verdicts if v.get("output_tail")), None)
        self.max_ulp = max((int(v.get("max_ulp", 0)) for v in verdicts), default=0)

    @property
    def diagnosis(self):
        """What holds in every class; if nothing does, what holds in which."""
        said = [(v["class"], as_list(v.get("diagnosis"))) for v in self.verdicts]
        said = [(name, texts) for name, texts in said if texts]
        common = [t for t in said[0][1] if all(t in texts for _, texts in said)] if said else []
        if common or len(said) < 2:
            return common
        return [f"{name}: {'; '.join(texts)}" for name, texts in said]


class Report:
    """Everything that the templates show."""

    def __init__(self, whole):
        self.whole = whole
        self.adapters = whole["adapters"]
        recipe_of = {r["name"]: r for r in whole["recipes"]}
        self.recipes = {}
        for v in whole["verdicts"]:
            info = recipe_of.get(v["recipe"], {"name": v["recipe"]})
            name = info.get("recipe", v["recipe"].split("(")[0])
            self.recipes.setdefault(name, {"info": info, "verdicts": []})["verdicts"].append(v)
        for entry in self.recipes.values():
            entry["cells"] = [Cell(a, entry["verdicts"]) for a in self.adapters]
            entry["rows"] = self._instance_rows(entry["verdicts"])

    def _instance_rows(self, verdicts):
        by_instance = {}
        for v in verdicts:
            by_instance.setdefault(v["recipe"], []).append(v)
        return [(name, [Cell(a, vs) for a in self.adapters]) for name, vs in by_instance.items()]

    @property
    def failures(self):
        contracts = {}
        for v in self.whole["verdicts"]:
            if tone(v["verdict"]) in ("differs", "broken"):
                contracts.setdefault((v["adapter"], v["recipe"]), []).append(v)
        return sorted((Failure(vs) for vs in contracts.values()), key=lambda f: -ORDER.index(f.verdict))

    @property
    def tally(self):
        """Contracts (an adapter on an instance) by how they came out."""
        contracts = {}
        for v in self.whole["verdicts"]:
            contracts.setdefault((v["adapter"], v["recipe"]), []).append(v)
        tones = {"good": 0, "open": 0, "differs": 0, "broken": 0, "none": 0}
        for verdicts in contracts.values():
            tones[tone(worst(verdicts))] += 1
        return tones

    @property
    def judged(self):
        return sum(count for tone_, count in self.tally.items() if tone_ != "none")

    @property
    def elements(self):
        return sum(v["elements"] for v in self.whole["verdicts"])

    @property
    def headline(self):
        t = self.tally
        if not self.judged or not self.elements:
            return "none", "Nothing was judged."
        if t["broken"]:
            return "broken", (f"{plural(t['broken'], 'adapter run', 'adapter runs')} broke"
                              + (f", {t['differs']} do not conform" if t["differs"] else "")
                              + f", of {number(self.judged)}.")
        if t["differs"]:
            return "differs", f"{t['differs']} of {plural(self.judged, 'contract')} do not conform."
        return "good", f"All {plural(self.judged, 'contract')} conform, bit for bit."

    @property
    def notices(self):
        """What a reader must not overlook."""
        texts = []
        for run, path in zip(self.whole["runs"], self.whole["paths"]):
            if not run["complete"]:
                texts.append(f"The run of {run['started']} was interrupted: what follows of it is "
                             "partial.")
        for a in self.adapters:
            if a.get("error"):
                texts.append(f"The adapter {a['name']} could not be used: {a['error']}")
        for v in self.whole["verdicts"]:
            if v["verdict"] not in ("unsupported", "crash", "hang", "guard", "error") \
                    and not v["cases"]:
                texts.append(f"{v['adapter']} on {v['recipe']}, {v['class']}: no case was executed.")
        return texts

    @property
    def changes(self):
        """Against the verdicts given with --expect, worst first: (word, adapter, recipe, class, text)."""
        rows = [("MISSING", m["adapter"], m["recipe"], m["class"], f"was {m['was']}, did not come again")
                for run in self.whole["runs"] for m in run.get("missing", [])]
        for v in self.whole["verdicts"]:
            if v.get("compared_with") in ("REGRESSION", "FIX"):
                rows.append((v["compared_with"], v["adapter"], v["recipe"], v["class"],
                             v.get("reason") or v["verdict"]))
        return sorted(rows, key=lambda row: ("REGRESSION", "MISSING", "FIX").index(row[0]))

    @property
    def left_out(self):
        """Contracts that did not run, gathered by reason: (adapter, recipe, reason, instances)."""
        groups = {}
        for name, entry in self.recipes.items():
            for v in entry["verdicts"]:
                if v["verdict"] == "unsupported":
                    key = (v["adapter"], name, v.get("reason", "no reason given"))
                    groups.setdefault(key, set()).add(v["recipe"])
        return [(*key, sorted(names)) for key, names in groups.items()]
