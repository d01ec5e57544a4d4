"""The Python side of WORKER.md: serves one adapter module over the channel.

    python -u worker.py NAME/worker.py

The adapter module offers
    describe(options) -> (library, version, device)     may raise Missing
    supports(contract) -> None, or the reason why not    (contract: Contract)
    run(contract, inputs, outputs)                       fills outputs; dicts of name -> Tensor
and may call `unsupported(text)` or `failed(text)` anywhere. Any other exception is reported as
`failed` with its text, and the worker goes on.
"""

import importlib.util
import json
import mmap
import os
import sys
import traceback

CHANNEL, INPUTS, OUTPUTS = 3, 4, 5
PROTOCOL = 1


class Unsupported(Exception):
    """Not this contract, shape or type."""


class Failed(Exception):
    """The system under test reported an error."""


class Missing(Failed):
    """A library is not installed; the text says what to install."""


def unsupported(text):
    raise Unsupported(text)


def failed(text):
    raise Failed(text)


class Contract:
    """An instance of a recipe: `recipe`, `instance`, `sha256`, `canonical`, `settings` (a dict)."""

    def __init__(self, message):
        self.id = message.get("id")
        self.recipe = message.get("recipe", "")
        self.instance = message.get("instance", self.recipe)
        self.sha256 = message.get("sha256", "")
        self.canonical = message.get("canonical", "")
        self.settings = {name: value for name, value in message.get("settings", [])}

    def setting(self, name, default=None):
        return self.settings.get(name, default)


class Tensor:
    """A matrix of codes in shared memory, as a numpy array of unsigned integers (`codes`)."""

    def __init__(self, message, memory):
        import numpy

        self.name = message["name"]
        self.type = message["type"]
        rows, cols = message["rows"], message["cols"]
        width, stride = message["code_bytes"], message["row_stride"]
        dtype = numpy.dtype(f"<u{width}")
        if rows == 0 or cols == 0:
            self.codes = numpy.zeros((rows, cols), dtype)
        else:
            self.codes = numpy.ndarray(
                (rows, cols), dtype, memory, message["offset"], (stride * width, width)
            )


class Region:
    """One of the two shared files, mapped whole and again when more of it is in use."""

    def __init__(self, descriptor, access):
        self.descriptor, self.access, self.map = descriptor, access, None

    def mapped(self, size):
        if size and (self.map is None or len(self.map) < size):
            # The old map stays alive as long as an array refers to it.
            whole = os.fstat(self.descriptor).st_size
            self.map = mmap.mmap(self.descriptor, whole, access=self.access)
        return self.map


class Worker:
    def __init__(self, module):
        self.module = module
        self.contracts = {}
        self.inputs = Region(INPUTS, mmap.ACCESS_READ)
        self.outputs = Region(OUTPUTS, mmap.ACCESS_WRITE)

    def hello(self, request):
        library, version, device = self.module.describe(request.get("options", ""))
        return {"protocol": PROTOCOL, "library": library, "version": version, "device": device}

    def supports(self, request):
        contract = Contract(request["contract"])
        reason = self.module.supports(contract)
        if reason:
            unsupported(reason)
        self.contracts[contract.id] = contract
        return {}

    def run(self, request):
        contract = self.contracts.get(request["contract"])
        if contract is None:
            failed(f"contract {request['contract']} was never asked for")
        into = self.outputs.mapped(request["output_bytes"])
        tensors_in = self._tensors(request["inputs"], self.inputs.mapped(request["input_bytes"]))
        self.module.run(contract, tensors_in, self._tensors(request["outputs"], into))
        return {}

    @staticmethod
    def _tensors(messages, memory):
        return {message["name"]: Tensor(message, memory) for message in messages}

    def close(self, request):
        return {}

    def answer(self, request):
        calls = {"hello": self.hello, "supports": self.supports, "run": self.run,
                 "close": self.close}
        call = calls.get(request.get("call"))
        try:
            if call is None:
                unsupported(f"unknown call {request.get('call')!r}")
            return {"answer": "done", **call(request)}
        except Unsupported as reason:
            return {"answer": "unsupported", "message": str(reason)}
        except Failed as reason:
            return {"answer": "failed", "message": str(reason)}
        except ImportError as reason:
            return {"answer": "failed", "message": f"{reason}: install it (make deps, make vendors)"}
        except Exception as reason:  # the system under test may raise anything
            traceback.print_exc()
            return {"answer": "failed", "message": f"{type(reason).__name__}: {reason}"}


def helper(name):
    """A module shared by several adapters: NAME.py beside this file."""
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), name + ".py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(path):
    # Adapter modules say `import worker` for the names above: they get this very module.
    sys.modules["worker"] = sys.modules[__name__]
    # The folders beside this file are named after libraries: out of the way of `import`.
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.realpath(p or ".") != here]
    spec = importlib.util.spec_from_file_location("adapter", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def serve(path):
    try:
        worker = Worker(load(path))
        trouble = None
    except Exception as reason:  # told with the first answer: the harness hears nothing else
        traceback.print_exc()
        trouble = {"answer": "failed", "message": f"{type(reason).__name__}: {reason}"}
    with open(CHANNEL, "rb", buffering=65536, closefd=False) as requests:
        for line in requests:
            request = json.loads(line)
            reply = trouble or worker.answer(request)
            data = json.dumps(reply).encode() + b"\n"
            while data:
                data = data[os.write(CHANNEL, data):]
            if request.get("call") == "close":
                break
    # Libraries may hold threads that do not end by themselves.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: worker.py ADAPTER/worker.py (started by assay run)")
    serve(sys.argv[1])
