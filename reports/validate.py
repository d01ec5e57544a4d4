"""Checks results files against results.schema.json.

    python validate.py RESULTS.json...

Prints one line for each file, or each fault with its place. Exit status 0, or 4.
"""

import json
import pathlib
import sys

import jsonschema


def faults(path, validator):
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError) as reason:
        return [str(reason)]
    return [f"{'/'.join(map(str, e.absolute_path)) or '(whole)'}: {e.message[:300]}"
            for e in validator.iter_errors(document)]


def main(paths):
    if not paths:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    schema = json.loads((pathlib.Path(__file__).resolve().parent / "results.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    status = 0
    for path in paths:
        found = faults(path, validator)
        for fault in found:
            print(f"{path}: {fault}")
            status = 4
        if not found:
            print(f"{path}: valid")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
