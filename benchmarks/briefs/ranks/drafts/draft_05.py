def best(points: list[tuple[str, int]]) -> list[tuple[str, int]]:
    found: dict[str, int] = {}
    for name, value in points:
        if name not in found or value > found[name]:
            found[name] = value
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
    ordered = best(points)
    if len(ordered) <= places:
        return [name for name, _ in ordered]
    limit = ordered[places - 1][1]
    return [name for name, value in ordered if value >= limit]


def median(points: list[tuple[str, int]]) -> float:
    if not points:
        raise ValueError("no results")
    values = sorted(value for _, value in points)
    half = len(values) // 2
    return float(values[half]) if len(values) % 2 else (values[half - 1] + values[half]) / 2
