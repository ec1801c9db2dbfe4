def best(points: list[tuple[str, int]]) -> list[tuple[str, int]]:
    found: dict[str, int] = {}
    for name, value in points:
        found[name] = max(found.get(name, 0), value)
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))


def ranks(points: list[tuple[str, int]]) -> list[tuple[int, str]]:
    result: list[tuple[int, str]] = []
    rank, before = 0, None
    for place, (name, value) in enumerate(best(points), start=1):
        if value != before:
            rank, before = place, value
        result.append((rank, name))
    return result


def podium(points: list[tuple[str, int]], places: int = 3) -> list[str]:
    return [name for rank, name in ranks(points) if rank <= places]


def median(points: list[tuple[str, int]]) -> float:
    values = sorted(value for _, value in best(points))
    if not values:
        raise ValueError("no results")
    half = len(values) // 2
    return float(values[half]) if len(values) % 2 else (values[half - 1] + values[half]) / 2
