"""Takes memory until there is none."""

def answer(n):
    taken = []
    while True:
        taken.append(bytearray(1 << 20))
