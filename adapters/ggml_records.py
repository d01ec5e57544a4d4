"""Takes ggml's stored blocks apart into codes and scales."""


def split(kind, data, shape):
    import numpy

    rows, columns = shape
    data = numpy.ascontiguousarray(data, dtype=numpy.uint8)

    def halves(codes):
        return numpy.concatenate([codes & 15, codes >> 4], -1)

    if kind == "NVFP4":  # four scales, then four runs of eight bytes
        block = data.reshape(rows, columns // 64, 36)
        codes = halves(block[..., 4:].reshape(rows, columns // 64, 4, 8))
        return {"Q": codes.reshape(shape), "S": block[..., :4].reshape(rows, columns // 16)}
    size = {"MXFP4": 17, "Q4_0": 18, "Q8_0": 34}[kind]
    block = data.reshape(rows, columns // 32, size)
    head = 1 if kind == "MXFP4" else 2
    scale, codes = numpy.ascontiguousarray(block[..., :head]), block[..., head:]
    if head == 2:
        scale = scale.view(numpy.uint16)
    codes = codes if kind == "Q8_0" else halves(codes)
    return {"Q": codes.reshape(shape), "S": scale.reshape(rows, columns // 32)}
