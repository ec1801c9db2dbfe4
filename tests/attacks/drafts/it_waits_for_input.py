"""Reads from standard input."""

def answer(n):
    return int(input())
