"""fp4-train: the means of a repeated value, and two models whose stored weights are FP4.

The store after each step is `fp4train.quantize`; what the model then sees is its decoded value. The
arithmetic of the training itself is numpy's in double precision.
"""

import numpy

import experiments_assay as assay

NEAREST, STOCHASTIC, FEEDBACK = "nearest", "stochastic", "error feedback"
SETTINGS = {
    NEAREST: "fp4train.quantize(rounding=nearest, feedback=no)",
    STOCHASTIC: "fp4train.quantize(rounding=stochastic, feedback=no)",
    FEEDBACK: "fp4train.quantize(rounding=nearest, feedback=yes)",
    "stochastic with error feedback": "fp4train.quantize(rounding=stochastic, feedback=yes)",
}
SEED = 2026


class Store:
    """Weights as a recipe keeps them: one quantization a step, the residual carried along."""

    def __init__(self, recipe, shape):
        self.recipe, self.step = recipe, 0
        self.residual = numpy.zeros(shape, numpy.float32)
        self.codes, self.moved = None, []   # share of stored elements that changed, by step

    def keep(self, x):
        sets, bound = {}, {}
        if "stochastic" in self.recipe:
            sets = {"seed": SEED, "step": self.step}
        if "feedback=yes" in self.recipe:
            bound = {"r": self.residual}
        answer = assay.quantize(self.recipe, x.astype(numpy.float32), sets, bound)
        self.residual = answer.get("r2", self.residual)
        stored = answer["y"]
        if self.codes is not None:
            self.moved.append(float(numpy.mean(self.codes != stored)))
        self.codes, self.step = stored, self.step + 1
        return stored


def means(rows=1024, steps=64):
    """The mean over all steps of 2.3 stored in blocks whose absmax is 6 * 2^0, so their scale is 1."""
    x = numpy.full((rows, 16), 2.3, numpy.float32)
    x[:, 0] = 6
    result = {}
    for name, recipe in SETTINGS.items():
        store = Store(recipe, x.shape)
        total = numpy.zeros(x[:, 1:].shape)
        for _ in range(steps):
            total += store.keep(x)[:, 1:]
        result[name] = {"recipe": recipe, "mean": float(total.mean() / steps),
                        "steps": steps, "elements": int(total.size)}
    return {"value": 2.3, "absmax": 6, "results": result}


class Linear:
    """y = W x; the gradient of the mean squared error over a batch that stays the same."""

    title, inputs, outputs, rate, steps = "linear model, 64 to 16", 64, 16, 0.4, 300

    def __init__(self, runs, random):
        self.shapes = [(runs, self.outputs, self.inputs)]
        self.x = random.standard_normal((runs, 256, self.inputs))
        self.aim = self.forward([random.standard_normal(self.shapes[0])])[-1]
        self.start = [0.1 * random.standard_normal(self.shapes[0])]

    def forward(self, weights):
        return [self.x, self.x @ weights[0].transpose(0, 2, 1)]

    def gradient(self, weights):
        x, y = self.forward(weights)
        return [2 / y[0].size * (y - self.aim).transpose(0, 2, 1) @ x]

    def loss(self, weights):
        """Mean squared error over the aim's mean square: 1 is a model that answers nothing."""
        y = self.forward(weights)[-1]
        return numpy.mean((y - self.aim) ** 2, axis=(1, 2)) / numpy.mean(self.aim**2, axis=(1, 2))


class Perceptron(Linear):
    """y = V tanh(W x), taught by another of its kind."""

    title, inputs, hidden, outputs, rate, steps = "MLP, 32 to 32 to 16", 32, 32, 16, 1.0, 300

    def __init__(self, runs, random):
        self.shapes = [(runs, self.hidden, self.inputs), (runs, self.outputs, self.hidden)]
        self.x = random.standard_normal((runs, 256, self.inputs))
        scale = [1 / numpy.sqrt(s[2]) for s in self.shapes]
        self.aim = self.forward([k * random.standard_normal(s)
                                 for k, s in zip(scale, self.shapes)])[-1]
        self.start = [k * random.standard_normal(s) for k, s in zip(scale, self.shapes)]

    def forward(self, weights):
        h = numpy.tanh(self.x @ weights[0].transpose(0, 2, 1))
        return [self.x, h, h @ weights[1].transpose(0, 2, 1)]

    def gradient(self, weights):
        x, h, y = self.forward(weights)
        g = 2 / y[0].size * (y - self.aim)
        back = (g @ weights[1]) * (1 - h * h)
        return [back.transpose(0, 2, 1) @ x, g.transpose(0, 2, 1) @ h]


def train(model, recipe):
    """Losses by step and run; all weights lie in one matrix of blocks of 16, as they do in memory."""
    weights = [w.copy() for w in model.start]
    sizes = numpy.cumsum([w.size for w in weights])[:-1]

    def pack(parts):
        return numpy.concatenate([w.ravel() for w in parts]).reshape(-1, 16)

    def unpack(matrix):
        return [part.reshape(shape).astype(numpy.float64)
                for part, shape in zip(numpy.split(matrix.ravel(), sizes), model.shapes)]

    store = Store(recipe, pack(weights).shape) if recipe else None
    losses = []
    for step in range(model.steps + 1):
        if step:
            weights = [w - model.rate * g for w, g in zip(weights, model.gradient(weights))]
        if store:
            weights = unpack(store.keep(pack(weights)))
        losses.append(model.loss(weights))
    return numpy.array(losses), store.moved if store else None


def experiment(kind, runs=3):
    model = kind(runs, numpy.random.Generator(numpy.random.PCG64(SEED)))
    curves = {}
    for name, recipe in {"f32 weights": None, **SETTINGS}.items():
        losses, moved = train(model, recipe)
        tail = losses[-len(losses) // 10:].mean(axis=0)
        curves[name] = {
            "recipe": recipe,
            "loss": [float(f"{v:.6g}") for v in losses.mean(axis=1)],
            "final": float(tail.mean()), "final_least": float(tail.min()),
            "final_most": float(tail.max()),
        }
        if moved is not None:
            late = moved[-model.steps // 2:]
            curves[name]["stored_weights_changed_a_step_late"] = float(numpy.mean(late))
    return {"model": model.title, "steps": model.steps, "rate": model.rate, "runs": runs,
            "weights": int(sum(numpy.prod(s[1:]) for s in model.shapes)), "curves": curves}
