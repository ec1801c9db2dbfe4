def best(points: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(dict(points).items(), key=lambda item: (-item[1], item[0]))


def ranks(points: list[tuple[str, int]]) -> list[tuple[int, str]]:
    ordered = best(points)
    values = [value for _, value in ordered]
    return [(values.index(value) + 1, name) for name, value in ordered]


def podium(points: list[tuple[str, int]], places: int = 3) -> list[str]:
    ordered = best(points)
    end = min(places, len(ordered))
    while end < len(ordered) and ordered[end][1] == ordered[end - 1][1]:
        end += 1
    return [name for name, _ in ordered[:end]]


def median(points: list[tuple[str, int]]) -> float:
    values = sorted(value for _, value in best(points))
    if not values:
        raise ValueError("no results")
    half = len(values) // 2
    return float(values[half]) if len(values) % 2 else (values[half - 1] + values[half]) / 2
