"""How well a ladder of modelled speeds predicts the published one."""


def mean(values):
    return sum(values) / len(values)


def absolute_percentage_error(modelled, published):
    """Mean over pairs, in per cent of the published value."""
    return mean([abs(m - p) / p * 100 for m, p in zip(modelled, published)])


def ranks(values):
    """1 for the smallest; equal values share the mean of their ranks."""
    order = sorted(values)
    return [order.index(v) + (order.count(v) + 1) / 2 for v in values]


def spearman(a, b):
    """Rank correlation, None where one side has no order."""
    x, y = ranks(a), ranks(b)
    mx, my = mean(x), mean(y)
    covariance = sum((p - mx) * (q - my) for p, q in zip(x, y))
    spread = sum((p - mx) ** 2 for p in x) * sum((q - my) ** 2 for q in y)
    return covariance / spread**0.5 if spread > 0 else None


def step(before, after, published_before, published_after):
    """Gains in per cent of the speed before, and whether the modelled one has the published direction and between
    half and twice its size. All arguments are TFLOPS over the same shapes."""
    gain = (mean(after) / mean(before) - 1) * 100
    published = (mean(published_after) / mean(published_before) - 1) * 100
    return {"modelled": gain, "published": published, "holds": 0.5 <= gain / published <= 2}
