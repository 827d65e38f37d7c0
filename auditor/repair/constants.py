"""Values of integer constant expressions, as far as the text of one file tells them."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

from auditor.repair.layout import Layout

_DEFINITION = re.compile(
    r"\bconst(?:expr|eval|init)?\s+(?:static\s+|inline\s+|const\s+)*(?:[A-Za-z_][\w:]*\s+)*?([A-Za-z_]\w*)\s*=\s*([^;,{}]+)[;,]"
)
_FURTHER = re.compile(r",\s*([A-Za-z_]\w*)\s*=\s*([^;,{}()]+)(?=[;,])")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]+([^\r\n]+)$", re.M)
_LITERAL = re.compile(r"\b(0[xX][\da-fA-F']+|0[bB][01']+|\d[\d']*)([uUlLzZ]*)\b")
_CAST = re.compile(
    r"static_cast\s*<[\w:\s]+>|\(\s*(?:unsigned|int|long|size_t|u?int(?:8|16|32|64)_t|std::size_t)(?:\s+\w+)?\s*\)(?=\s*[\w(])"
    r"|\b(?:unsigned|int|u?int(?:8|16|32|64)_t|size_t)\s*(?=\()"
)
_SIZEOF = re.compile(r"\bsizeof\s*\(\s*([\w:]+)\s*\)")
_SIZES = {"char": 1, "float": 4, "double": 8, "int": 4, "unsigned": 4, "half": 2, "__half": 2, "__nv_bfloat16": 2,
          "nv_bfloat16": 2, "float2": 8, "float4": 16, "int4": 16, "uint4": 16,
          **{f"{u}int{bits}_t": bits // 8 for u in ("", "u") for bits in (8, 16, 32, 64)}}  # fmt: skip
_OPERATORS: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
}  # fmt: skip
_LARGEST = 1 << 63
_DEPTH = 20


class Constants:
    """The named integer constants of a file. A name with two definitions has no value."""

    def __init__(self, layout: Layout) -> None:
        self._definitions: dict[str, str] = {}
        twice: set[str] = set()
        found = [(m[1], m[2]) for m in _DEFINITION.finditer(layout.code)]
        for match in _DEFINITION.finditer(layout.code):
            rest = layout.code[match.end() - 1 : layout.code.find(";", match.end() - 1) + 1]
            found += [(m[1], m[2]) for m in _FURTHER.finditer(rest)]
        for start, end in layout.directives:
            found += [(m[1], m[2]) for m in _MACRO.finditer(layout.text[start:end])]
        for name, value in found:
            if self._definitions.setdefault(name, value) != value:
                twice.add(name)
        for name in twice:
            del self._definitions[name]

    def value(self, expression: str, depth: int = 0) -> int | None:
        """The value of an expression of literals and named constants; None when it is not known."""
        if depth > _DEPTH or not expression.strip() or len(expression) > 400:
            return None
        plain = _SIZEOF.sub(lambda m: str(_SIZES.get(m[1].removeprefix("std::"), m[0])), _CAST.sub("", expression))
        plain = _LITERAL.sub(lambda m: str(_literal(m[1])), plain)
        if re.search(r"//|\*\*|[^\w\s()+\-*/%<>|&]", plain):
            return None
        try:
            tree = ast.parse(plain.strip().replace("/", "//"), mode="eval")
            return self._evaluate(tree.body, depth)
        except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
            return None

    def _evaluate(self, node: ast.expr, depth: int) -> int | None:
        if isinstance(node, ast.Constant):
            return node.value if type(node.value) is int else None
        if isinstance(node, ast.Name):
            definition = self._definitions.get(node.id)
            return None if definition is None else self.value(definition, depth + 1)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = self._evaluate(node.left, depth), self._evaluate(node.right, depth)
            if left is None or right is None or (isinstance(node.op, ast.LShift) and right > 63):
                return None
            value = _OPERATORS[type(node.op)](left, right)
            return value if abs(value) < _LARGEST else None
        return None


def _literal(digits: str) -> int:
    digits = digits.replace("'", "")
    return int(digits, 8) if re.fullmatch(r"0[0-7]+", digits) else int(digits, 0)
