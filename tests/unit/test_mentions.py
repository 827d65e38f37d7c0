"""What lines of generated code assign: read from their text, as Python's parser reads them."""

from __future__ import annotations

import pytest

from auditor.frontend.lower.emit import CALL_MARK, Line
from auditor.frontend.lower.mentions import Mentions, _assignments, _parsed_assignments

LINES = """
x_1 = 0
a, b = S.asm(3, (x, y, ))
t1, = S.asm(4, (x, ))
a[i][j_2] = v
a[0], b = S.asm(5, (x, ))
b, a[(i * 2)], t1 = S.asm(6, (x, ))
a[0][1], b[2], = S.asm(7, ())
this_0[3].box[0] = (t1 if x else y)
a[k if c is True else 0] = 1
part[:] = copy_value(other)
for i in range(0, 8, 2):
for a, b in pairs:
x = y = 0
x += 1
S.store(p, 'int', 32, v)
S.opaque_call('x = 1 for y in z', (), 'int', 32)
x = 'a = b'
a['k = v'] = 1
if (t1 := (a < b)) is True or t1 is not False and S.cond(t1):
elif (t2 := a) is True or t2 is not False and S.cond(t2):
if not ((t3 := (a == b)) is True or t3 is not False and S.cond(t3)): break
v = (x // 3 if (t4 := y).__class__ is int else cdiv(t4, (t5 := z)))
v = (t6 := y) + 1
box = [[0] * 4 for _ in range(3)]
box = [f(n) for n in range(3) for k in range(n)]
box[0] = [x for x in y]
total = g(n, key=1)
while True:
else:
pass
return x
""".strip().splitlines()


@pytest.mark.parametrize("text", LINES)
def test_text_and_parser_agree(text: str) -> None:
    if text == "else:":
        assert _assignments(text) == ((), (), ())
        return
    found, parsed = _assignments(text), _parsed_assignments(text)
    assert set(found.bound) == set(parsed.bound)
    assert set(found.counters) == set(parsed.counters)
    for one in (found, parsed):
        assert one.stores == tuple(dict.fromkeys(one.stores))
    assert [n for n in found.stores if n not in found.counters] == [
        n for n in parsed.stores if n not in parsed.counters
    ]


def test_call_of_a_function_that_may_wait() -> None:
    assert _assignments(f"t1 = {CALL_MARK}f3_wait(S, x = 1)").stores == ("t1",)


def test_function() -> None:
    texts = ["def f0_k(S, p, n):", "x = 0", "a = [0] * 4", "for i in range(4):", "a[x] = p.n", "x = (x + i)"]
    mentions = Mentions([Line(0, texts[0]), *(Line(2 if n > 2 else 1, text) for n, text in enumerate(texts[1:]))])
    assert mentions.assigned(1, 6) == ["x", "a", "i"]
    assert mentions.assigned(4, 6) == ["x"]
    assert all(mentions.bound(4, name) for name in ("p", "n", "x", "a", "i"))
    assert not mentions.bound(2, "a")
    assert not mentions.bound(5, "S")
    assert mentions.variables(4, 5) == {"a", "x", "p"}  # n is an attribute there
    assert "i" in mentions.variables(4, 6)
    assert mentions.before(4, "i")
    assert not mentions.before(3, "i")
    assert mentions.before(2, "x")
    assert not mentions.before(1, "x")
