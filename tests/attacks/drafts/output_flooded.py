"""Prints without end."""

def answer(n):
    while True:
        print("x" * 10_000)
