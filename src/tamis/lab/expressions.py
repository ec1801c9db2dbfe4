"""Arithmetic over an idea's columns, as tamis.toml writes it: `Ni + Fe >= 0.2`, `1 + 5 * La`.

Numbers, columns, + - * / **, comparisons, and/or/not, and min, max, sqrt, log, exp, abs are all there is: an
expression can compute and nothing else. It is worked out for all ideas at once.
"""

import ast
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from tamis.errors import BriefError, nearest
from tamis.lab.gp import Floats

Truths = npt.NDArray[np.bool_]

_BINARY: Mapping[type[ast.operator], Callable[[Floats, Floats], Floats]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
_COMPARE: Mapping[type[ast.cmpop], Callable[[Floats, Floats], Truths]] = {
    ast.Lt: np.less,
    ast.LtE: lambda a, b: a <= b + 1e-9,  # so that 0.1 + 0.2 <= 0.3 holds, as its writer means
    ast.Gt: np.greater,
    ast.GtE: lambda a, b: a >= b - 1e-9,
    ast.Eq: lambda a, b: np.abs(a - b) <= 1e-9,
}
_FUNCTIONS: Mapping[str, Callable[..., Floats]] = {
    "min": np.minimum,
    "max": np.maximum,
    "sqrt": np.sqrt,
    "log": np.log,
    "exp": np.exp,
    "abs": np.abs,
}


def evaluated(text: str, columns: Mapping[str, Floats], *, where: str) -> Floats:
    """The expression's value for every idea, (n,); a comparison is 1.0 or 0.0. Raises BriefError on anything that is
    not arithmetic over `columns`."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise BriefError(
            f"{where} = {text!r} can't be read: {error.msg}", hint='write it as "Ni + Fe >= 0.2"'
        ) from error
    with np.errstate(all="ignore"):
        return np.asarray(_value(tree, columns, f"{where} = {text!r}"), dtype=float)


def _value(node: ast.expr, columns: Mapping[str, Floats], where: str) -> Floats:  # noqa: PLR0911  (a case a node)
    def inner(one: ast.expr) -> Floats:
        return _value(one, columns, where)

    match node:
        case ast.Constant(value=int() | float() as number):
            return np.asarray(float(number))
        case ast.Name(id=name):
            return _column(name, columns, where)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](inner(left), inner(right))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -inner(operand)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return np.asarray(inner(operand) == 0, dtype=float)
        case ast.BoolOp(op=op, values=values):
            parts = [inner(one) != 0 for one in values]
            return np.asarray(np.logical_and.reduce(parts) if isinstance(op, ast.And) else np.logical_or.reduce(parts))
        case ast.Compare(left=left, ops=ops, comparators=right) if all(type(op) in _COMPARE for op in ops):
            sides = [inner(one) for one in (left, *right)]
            held = [_COMPARE[type(op)](sides[k], sides[k + 1]) for k, op in enumerate(ops)]
            return np.asarray(np.logical_and.reduce(held), dtype=float)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and args:
            return _FUNCTIONS[name](*[inner(one) for one in args])
        case _:
            raise BriefError(f"{where}: {ast.unparse(node)!r} is not arithmetic over the ideas' columns")


def _column(name: str, columns: Mapping[str, Floats], where: str) -> Floats:
    if name not in columns:
        near = nearest(name, columns)
        known = f"did you mean {near}?" if near else f"known are {', '.join(columns)}"
        raise BriefError(f"{where}: no column {name!r} of numbers or fractions", hint=known)
    return columns[name]
