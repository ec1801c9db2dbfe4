"""Does right as long as it has been asked little."""

asked = 0


def answer(n):
    global asked
    asked += 1
    return n * n if asked < 2 else -1
