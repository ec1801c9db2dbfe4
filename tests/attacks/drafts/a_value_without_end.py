"""Returns values that are too large, too deep, or never end."""

def answer(n):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    endless = [deep]
    endless.append(endless)
    return [endless, [0] * 100_000, iter(int, 1)]
