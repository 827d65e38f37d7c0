"""Random kernels that compute integers, of the constructs that real kernels are made of.

They are valid, and what they compute is defined: integers stay small or are unsigned, indices are masked, and an
expression has no side effects. Each thread writes ``WORDS`` integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

WORDS = 6
PROLOGUE = """\
struct Pair { int a; unsigned b; };
struct Point {
    int x, y;
    short z[4];
    Pair pair;
    __device__ int get(int k) const { return k & 1 ? x : z[k & 3]; }
    __device__ Point& move(int by) { x = (x + by) & 511; z[by & 3] = (short)(by & 255); return *this; }
    __device__ int operator[](int k) const { return z[k & 3]; }
};
struct Named : Point {
    unsigned char name = 7;
    __device__ int get(int k) const { return name + Point::get(k); }
};
struct Fields { unsigned low : 5, middle : 11; unsigned high : 16; };
union Word { unsigned w; unsigned char b[4]; unsigned short h[2]; };
enum class Color : unsigned char { Red = 3, Green, Blue = 9 };
template <int N> __device__ int times(int x)
{
    int sum = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) sum += (x + i) & 63;
    if constexpr (N > 2) return sum - N; else return sum + N;
}
template <class T> __device__ T second(const T (&v)[4]) { return v[1]; }
template <class F> __device__ int apply(F f, int x) { return f(x) & 1023; }
template <class... T> __device__ int total(T... v) { return (0 + ... + v); }
template <int... I> __device__ int picked(const int* v) { return (v[I] + ...); }
__device__ int first_above(const int* v, int n, int least)
{
    for (int i = 0; i < n; ++i)
        if (v[i] > least) return i;
    return -1;
}
__device__ int depth(int n) { return n <= 0 ? 0 : 1 + depth(n - 2); }
__device__ void exchange(int& a, int& b) { int c = a; a = b; b = c; }
__device__ void fill(int* v, int n, int by) { for (int* p = v; p != v + n; ++p) *p = (by += 3) & 255; }
__device__ Pair both(int a, unsigned b) { return {a & 255, b}; }
struct Counter {
    int* to; int by;
    __device__ Counter(int* p, int n) : to(p), by(n & 15) { *to = (*to + by) & 1023; }
    __device__ ~Counter() { *to = (*to ^ by) & 1023; }
    Counter(const Counter&) = delete;
};
struct Vector {
    int v[3];
    static constexpr int kSize = 3;
    __device__ Vector(int a = 1) : v{a & 63, 2, 3} {}
    __device__ int& operator[](int i) { return v[i]; }
    __device__ int operator[](int i) const { return v[i]; }
    __device__ Vector operator+(const Vector& o) const
    {
        Vector s;
        for (int i = 0; i < 3; ++i) s[i] = (v[i] + o[i]) & 255;
        return s;
    }
    __device__ Vector& operator+=(int by) { for (int& x : v) x = (x + by) & 255; return *this; }
    __device__ explicit operator bool() const { return v[0] > v[1]; }
    __device__ int* begin() { return v; }
    __device__ int* end() { return v + kSize; }
};
struct Grid { Pair cell[2][2]; Vector row; int depth; };
template <class T, int N = 2> struct Ring {
    T slot[N]; int at = 0;
    __device__ void push(T x) { slot[at] = x; at = at + 1 == N ? 0 : at + 1; }
    __device__ T sum() const { T s = 0; for (const T& x : slot) s += x & 255; return s; }
};
__device__ int collatz(int n)
{
    int steps = 0;
    while (true) {
        if (n <= 1) return steps;
        n = n & 1 ? 3 * n + 1 : n / 2;
        if (++steps == 12) break;
    }
    return -n;
}
__device__ int named(Color c)
{
    switch (c) {
    case Color::Red: return 1;
    case Color::Green:
    case Color::Blue: return 2;
    }
    return 0;
}
__device__ void scale(Point* p, const Pair& by)
{
    p->x = (p->x * (by.a & 7)) & 511;
    if (by.b > 4) { p->y ^= 3; return; } p->y += 1;
}
__device__ int search(const int* low, const int* high)
{
    const int* best = low;
    for (; low < high; ++low) if (*low > *best) best = low;
    return *best;
}
__device__ bool decode(unsigned code, int& major, int& minor)
{
    if (code % 5 == 0) return false;
    major = code / 5 & 31;
    minor = code % 5;
    return true;
}
__device__ constexpr int kTable[8] = {5, 1, 4, 1, 9, 2, 6, 3};
"""

# Instructions, each as PTX and as C++.
INSTRUCTIONS = """
#ifdef HOST
__device__ unsigned p_mad(unsigned a, unsigned b, unsigned c) { return a * b + c; }
__device__ unsigned p_shl(unsigned a, unsigned b) { return b > 31 ? 0 : a << b; }
__device__ int p_sra(int a, unsigned b) { return a >> (b > 31 ? 31 : b); }
__device__ unsigned p_bfe(unsigned a, unsigned b, unsigned c) { return a >> (b & 31) & ((1u << (c & 15)) - 1); }
__device__ unsigned p_lop(unsigned a, unsigned b, unsigned c) { return (a & b) | (~a & c); }
__device__ unsigned p_prmt(unsigned a, unsigned b) { return (a >> 16) | (b << 16); }
__device__ unsigned p_less(int a, int b) { return a < b ? 7 : 9; }
__device__ unsigned p_both(unsigned a, unsigned b) { return (a >= b && a != 5) ? b : a; }
__device__ unsigned p_high(unsigned a, unsigned b) { return (unsigned)((((unsigned long long)b << 32) + a) >> 32) + a; }
__device__ int p_min(int a, int b) { return a < b ? a : b; }
__device__ unsigned p_if(unsigned a, unsigned b) { if (a > b) a = b + 1; return a; }
__device__ void p_store(int* p, int a, int b) { p[0] = a; p[1] = b; }
__device__ int p_load(const int* p) { return (int)((unsigned)p[0] - 2u * (unsigned)p[1]); }
#else
__device__ unsigned p_mad(unsigned a, unsigned b, unsigned c)
{
    unsigned d;
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
__device__ unsigned p_shl(unsigned a, unsigned b)
{
    unsigned d;
    asm("shl.b32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}
__device__ int p_sra(int a, unsigned b) { int d; asm("shr.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); return d; }
__device__ unsigned p_bfe(unsigned a, unsigned b, unsigned c)
{
    unsigned d;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b & 31), "r"(c & 15));
    return d;
}
__device__ unsigned p_lop(unsigned a, unsigned b, unsigned c)
{
    unsigned d;
    asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
__device__ unsigned p_prmt(unsigned a, unsigned b)
{
    unsigned d;
    asm("prmt.b32 %0, %1, %2, 0x5432;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}
__device__ unsigned p_less(int a, int b)
{
    unsigned d;
    asm("{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.u32 %0, 7, 9, p; }" : "=r"(d) : "r"(a), "r"(b));
    return d;
}
__device__ unsigned p_both(unsigned a, unsigned b)
{
    unsigned d;
    asm("{ .reg .pred p, q; setp.ne.u32 q, %1, 5; setp.ge.and.u32 p, %1, %2, q; selp.b32 %0, %2, %1, p; }"
        : "=r"(d) : "r"(a), "r"(b));
    return d;
}
__device__ unsigned p_high(unsigned a, unsigned b)
{
    unsigned d;
    asm("{ .reg .b64 w; .reg .b32 l, h; mov.b64 w, {%1, %2}; mov.b64 {l, h}, w; add.u32 %0, h, l; }"
        : "=r"(d) : "r"(a), "r"(b));
    return d;
}
__device__ int p_min(int a, int b) { int d; asm("min.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); return d; }
__device__ unsigned p_if(unsigned a, unsigned b)
{
    asm("{ .reg .pred p; setp.gt.u32 p, %0, %1; @p add.u32 %0, %1, 1; }" : "+r"(a) : "r"(b));
    return a;
}
__device__ void p_store(int* p, int a, int b)
{
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};"
        :: "r"((unsigned)__cvta_generic_to_shared(p)), "r"(a), "r"(b) : "memory");
}
__device__ int p_load(const int* p)
{
    int a, b;
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
        : "=r"(a), "=r"(b) : "r"((unsigned)__cvta_generic_to_shared(p)) : "memory");
    return (int)((unsigned)a - 2u * (unsigned)b);
}
#endif
"""


@dataclass
class Scope:
    """What can be named at a place. Arrays by their length, pointers by the indices that they may have."""

    readable: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)  # int variables that may be assigned
    unsigned: list[str] = field(default_factory=list)
    arrays: list[tuple[str, int]] = field(default_factory=list)
    pointers: list[tuple[str, int, int]] = field(default_factory=list)
    objects: list[tuple[str, str]] = field(default_factory=list)  # name and class
    loop: str = ""  # the innermost loop or switch around: what may be left

    def inner(self, loop: str = "") -> Scope:
        """A block inside."""
        return Scope(
            [*self.readable], [*self.numbers], [*self.unsigned], [*self.arrays], [*self.pointers], [*self.objects],
            loop or self.loop,
        )  # fmt: skip


class Grower:
    """Writes one kernel."""

    def __init__(self, random: Random, size: int = 24) -> None:
        self.random = random
        self.lines: list[str] = []
        self.left = size  # statements
        self.names = 0
        self.indent = 1
        self.loops = 0
        self.shared = False

    def kernel(self, name: str) -> str:
        """The text of a kernel ``name(int* out)``."""
        scope = Scope(["t"], [], [], [])
        self.put("int t = threadIdx.x;")
        if self.chance(0.5):
            self.put("__shared__ int shared[64 * 4];")
            self.put("int* mine = shared + t * 4;")
            self.put("for (int i = 0; i < 4; ++i) mine[i] = i * t & 127;")
            scope.pointers.append(("mine", 0, 4))
            self.shared = True
        for _ in range(2):
            self.number(scope)
        while self.left > 0:
            self.statement(scope)
        for n in range(WORDS):
            self.put(f"out[t * {WORDS} + {n}] = (int)({self.expression(scope, 2)});")
        body = "\n".join(self.lines)
        return f"__global__ void __launch_bounds__(64) {name}(int* out)\n{{\n{body}\n}}\n"

    # ---- text

    def put(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def name(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        self.put(f"{head} {{".strip())
        self.indent += 1
        yield
        self.indent -= 1
        self.put(tail)

    @contextmanager
    def loop(self, scope: Scope, name: str, head: str, tail: str = "}") -> Iterator[Scope]:
        """A loop with a counter or element of this name: the scope of its body."""
        inner = scope.inner("for")
        inner.readable.append(name)
        self.loops += 1
        with self.block(head, tail):
            yield inner
        self.loops -= 1

    # ---- expressions

    def small(self, scope: Scope) -> str:
        """An expression that is used as an index or a bound."""
        return self.expression(scope, 1)

    def leaf(self, scope: Scope) -> str:
        pick = self.random.choice
        kind = self.random.randrange(10)
        if kind == 0:
            return str(pick((0, 1, 2, 3, 7, 8, 31, 32, 100, 255)))
        if kind == 1 and scope.arrays:
            name, size = pick(scope.arrays)
            return f"{name}[{self.index(scope, size)}]"
        if kind == 2 and scope.pointers:
            name, low, high = pick(scope.pointers)
            at = self.random.randrange(low, high)
            return f"*{name}" if at == 0 else f"{name}[{at}]"
        if kind == 3 and scope.objects:
            return self.member(scope)
        if kind == 4 and scope.unsigned:
            return pick(scope.unsigned)
        if kind == 5:
            return f"kTable[{self.index(scope, 8)}]"
        if kind == 6 and self.chance(0.5):
            return "(int)threadIdx.x"
        return pick(scope.numbers or scope.readable) if self.chance(0.7) else pick(scope.readable)

    def index(self, scope: Scope, size: int) -> str:
        if self.chance(0.4):
            return str(self.random.randrange(size))
        return f"{self.small(scope)} & {(1 << size.bit_length() - 1) - 1}"

    def member(self, scope: Scope) -> str:
        name, of = self.random.choice(scope.objects)
        pick = self.random.choice
        if of in ("Point", "Named"):
            base = f"static_cast<const Point&>({name})"
            more = [f"{name}.name", f"{base}.get({self.small(scope)})"] if of == "Named" else []
            return pick([
                f"{name}.x", f"{name}.y", f"{name}.z[{self.index(scope, 4)}]", f"{name}.pair.a", f"{name}.pair.b",
                f"{name}.get({self.small(scope)})", f"{name}[{self.small(scope)}]", *more,
            ])  # fmt: skip
        if of == "Pair":
            return f"{name}.{pick('ab')}"
        if of == "Fields":
            return f"{name}.{pick(('low', 'middle', 'high'))}"
        return pick((f"{name}.w", f"{name}.b[{self.index(scope, 4)}]", f"{name}.h[{self.index(scope, 2)}]"))

    def expression(self, scope: Scope, depth: int) -> str:
        if depth <= 0 or self.chance(0.2):
            return self.leaf(scope)
        a, b = self.expression(scope, depth - 1), self.expression(scope, depth - 1)
        kind = self.random.randrange(19)
        if kind < 6:
            return f"({a} {self.random.choice('+-&|^')} {b})"
        if kind == 6:
            return f"({a} * ({b} & 15))"
        if kind == 7:
            return f"({a} {self.random.choice('/%')} (int)(({b} & 7) + 1))"
        if kind == 8:
            return f"({a} {self.random.choice(('<<', '>>'))} ({b} & 3))"
        if kind == 9:
            return f"({self.condition(scope, depth - 1)} ? {a} : {b})"
        if kind == 10:
            return f"{self.random.choice(('-', '~', '!'))}({a})"
        if kind == 11:
            return f"({self.condition(scope, depth - 1)})"
        if kind == 12:
            cast = self.random.choice(("(unsigned char)", "(short)", "(signed char)", "(unsigned)", "(long long)",
                                       "static_cast<unsigned short>", "(bool)", "(int)", "(uint64_t)"))  # fmt: skip
            return f"({cast}({a}))"
        if kind == 13:
            call = self.random.choice(("min((int)({0}), (int)({1}))", "max((int)({0}), (int)({1}))", "__popc({0})",
                                       "times<3>({0})", "times<2>({1})", "total({0} & 255, {1} & 15, 1)",
                                       "depth({0} & 7)", "both({0}, {1}).a", "__clz({0})", "__ffs({1})",
                                       "collatz({0} & 31)", "named((Color)(({0} & 3) * 3))",
                                       "p_mad({0}, {1}, 3)", "p_shl({0}, {1} & 63)", "p_sra((int)({0}), {1} & 63)",
                                       "p_bfe({0}, {1}, {0})", "p_lop({0}, {1}, 77)", "p_prmt({0}, {1})",
                                       "p_less((int)({0}), (int)({1}))", "p_both({0}, {1})", "p_high({0}, {1})",
                                       "p_min((int)({0}), (int)({1}))", "p_if({0}, {1})"))  # fmt: skip
            return call.format(a, b)
        if kind == 14:
            return f"(int)(sizeof({self.random.choice(('int', 'Point', 'Word', 'long long'))}) + {a})"
        if kind == 15:
            return f"((int)Color::{self.random.choice(('Red', 'Green', 'Blue'))} + {a})"
        return f"(({a}) & {self.random.choice((1, 3, 31, 0xFF))})"

    def condition(self, scope: Scope, depth: int) -> str:
        a, b = self.expression(scope, depth), self.expression(scope, depth)
        kind = self.random.randrange(6)
        if kind < 3:
            return f"{a} {self.random.choice(('<', '>', '<=', '>=', '==', '!='))} {b}"
        if kind == 3:
            return f"({a}) % 3 == 0 {self.random.choice(('&&', '||'))} {b} > 5"
        if kind == 4:
            return f"t {self.random.choice(('<', '>=', '=='))} {self.random.randrange(40)}"
        return f"!({a} & {self.random.choice((1, 2, 4))})"

    # ---- statements

    def statement(self, scope: Scope) -> None:
        self.left -= 1
        deep = self.indent > 4
        simple: list[Callable[[Scope], None]] = [
            self.number, self.array, self.object, self.pointer, self.wide, self.assign, self.assign, self.assign,
            self.step, self.call, self.closure, self.change, self.bytes_of, self.bound, self.leave, self.leave,
            self.special, self.special, self.special,
        ]  # fmt: skip
        nested: list[Callable[[Scope], None]] = [
            self.branch, self.branch, self.counted, self.while_loop, self.do_loop, self.choice, self.each, self.plain,
            self.guarded, self.endless,
        ]  # fmt: skip
        self.random.choice(simple if deep or self.chance(0.6) else nested)(scope)

    def body(self, scope: Scope, loop: str = "") -> None:
        inner = scope.inner(loop)
        for _ in range(self.random.randint(1, 3)):
            self.statement(inner)

    def number(self, scope: Scope) -> None:
        name = self.name("n")
        self.put(f"int {name} = (int)(({self.expression(scope, 3)}) & 1023);")
        scope.numbers.append(name)
        scope.readable.append(name)

    def wide(self, scope: Scope) -> None:
        kind = self.random.choice(("unsigned", "uint64_t", "unsigned char", "unsigned short", "uint32_t"))
        name = self.name("u")
        self.put(f"{kind} {name} = {self.expression(scope, 2)};")
        scope.unsigned.append(name)

    def array(self, scope: Scope) -> None:
        name = self.name("v")
        if self.chance(0.5):
            self.put(f"int {name}[4] = {{{', '.join(f'(int)({self.leaf(scope)})' for _ in range(4))}}};")
        elif self.chance(0.5):
            self.put(f"int {name}[4];")
            self.put(f"fill({name}, 4, {self.small(scope)} & 63);")
        else:
            self.put(f"int {name}[8] = {{1, 2, (int)({self.leaf(scope)})}};")
            scope.arrays.append((name, 8))
            return
        scope.arrays.append((name, 4))

    def object(self, scope: Scope) -> None:
        name = self.name("o")
        of = self.random.choice(("Point", "Named", "Pair", "Fields", "Word"))
        values = [f"(int)({self.expression(scope, 1)}) & 255" for _ in range(3)]
        same = [o for o, kind in scope.objects if kind == of]
        if same and self.chance(0.4):
            self.put(f"{of} {name} = {self.random.choice(same)};")
        elif of == "Point":
            self.put(f"Point {name} = {{{values[0]}, {values[1]}, {{1, 2, 3, 4}}, {{{values[2]}, 9u}}}};")
        elif of == "Named":
            self.put(f"Named {name}{{}};")
            self.put(f"{name}.x = {values[0]};")
        elif of == "Pair":
            self.put(f"Pair {name}{{{values[0]}, {self.random.randrange(1000)}u}};")
        elif of == "Fields":
            self.put(f"Fields {name}{{}};")
            self.put(f"{name}.middle = {values[0]};")
        else:
            self.put(f"Word {name};")
            self.put(f"{name}.w = {self.expression(scope, 2)};")
        scope.objects.append((name, of))

    def pointer(self, scope: Scope) -> None:
        name = self.name("p")
        if scope.arrays and self.chance(0.7):
            array, size = self.random.choice(scope.arrays)
            at = self.random.randrange(size)
            form = self.random.choice((f"{array} + {at}", f"&{array}[{at}]"))
            self.put(f"int* {name} = {form};")
            scope.pointers.append((name, -at, size - at))
        elif scope.pointers:
            other, low, high = self.random.choice(scope.pointers)
            at = self.random.randrange(low, high)
            self.put(f"int* {name} = {other} + {at};".replace("+ -", "- "))
            scope.pointers.append((name, low - at, high - at))
        else:
            self.number(scope)

    def place(self, scope: Scope) -> str:
        """An int that may be assigned."""
        places = [*scope.numbers]
        places += [f"{name}[{self.index(scope, size)}]" for name, size in scope.arrays[-2:]]
        places += [f"{name}[{self.random.randrange(low, high)}]" for name, low, high in scope.pointers[-2:]]
        places += [f"{name}.x" for name, of in scope.objects if of in ("Point", "Named")]
        places += [f"{name}.a" for name, of in scope.objects if of == "Pair"]
        return self.random.choice(places)

    def assign(self, scope: Scope) -> None:
        value = self.expression(scope, 3)
        place = self.place(scope)
        if self.chance(0.3):
            self.put(f"{place} {self.random.choice('^|&')}= (int)({value}) & 1023;")
        elif self.chance(0.2):
            self.put(f"{place} = ({self.condition(scope, 1)}) ? ({value}) & 255 : {self.small(scope)} & 7;")
        else:
            self.put(f"{place} = (int)(({value}) & 1023){self.random.choice(('', '', ' - 512'))};")

    def step(self, scope: Scope) -> None:
        if scope.unsigned:
            name = self.random.choice(scope.unsigned)
            operator = self.random.choice(("+=", "-=", "*=", "^=", "|=", "&=", ">>="))
            value = self.small(scope)
            self.put(f"{name} {operator} {f'({value}) & 7' if operator == '>>=' else f'(unsigned)({value})'};")
        if scope.unsigned and self.chance(0.3):
            self.put(f"{self.random.choice(('++', '--'))}{self.random.choice(scope.unsigned)};")

    def call(self, scope: Scope) -> None:
        if len(scope.numbers) > 1 and self.chance(0.3):
            a, b = self.random.sample(scope.numbers, 2)
            self.put(f"exchange({a}, {b});")
        elif scope.arrays:
            name, size = self.random.choice(scope.arrays)
            target = self.random.choice(scope.numbers)
            form = self.random.choice((
                f"{target} = first_above({name}, {size}, {self.small(scope)});",
                f"fill({name} + 1, 2, {self.small(scope)} & 63);",
                f"{target} = picked<0, 2, 3>({name}) & 1023;",
                f"exchange({name}[0], {name}[{self.index(scope, size)}]);",
                f"{target} = second({name}) & 1023;" if size == 4 else f"{target} = {name}[7] & 1023;",
            ))  # fmt: skip
            self.put(form)
        else:
            self.array(scope)

    def closure(self, scope: Scope) -> None:
        name = self.name("f")
        target = self.random.choice(scope.numbers)
        inner = scope.inner()
        inner.readable.append("x")
        value = self.expression(inner, 2)
        capture = self.random.choice(("[&]", "[=]"))
        if capture == "[&]" and self.chance(0.5):
            self.put(f"auto {name} = [&](int x) {{ {target} = (int)(({value}) & 255); return x + {target}; }};")
        elif self.chance(0.3):
            self.put(f"auto {name} = [=](int x) {{ if (x > 40) return 1; return (int)(({value}) & 255); }};")
        else:
            self.put(f"auto {name} = {capture}(int x) {{ return (int)({value}); }};")
        other = self.random.choice(scope.numbers)
        self.put(f"{other} = apply({name}, {self.small(scope)} & 63);")

    def change(self, scope: Scope) -> None:
        """Change an object."""
        if not scope.objects:
            self.object(scope)
            return
        name, of = self.random.choice(scope.objects)
        value = self.expression(scope, 1)
        if of in ("Point", "Named"):
            self.put(self.random.choice((
                f"{name}.move({value} & 31);", f"{name}.move(3).move({value} & 15);", f"{name}.pair.b += {value};",
                f"{name}.z[{self.index(scope, 4)}] = (short)(({value}) & 511);", f"{name}.pair = both({value}, 5);",
            )))  # fmt: skip
        elif of == "Pair":
            self.put(self.random.choice((f"{name} = both({value}, {value});", f"{name}.b ^= {value};")))
        elif of == "Fields":
            self.put(f"{name}.{self.random.choice(('low', 'middle', 'high'))} = {value};")
        else:
            self.put(self.random.choice((
                f"{name}.w = {value};", f"{name}.b[{self.index(scope, 4)}] = {value};",
                f"{name}.h[{self.index(scope, 2)}] ^= {value};",
            )))  # fmt: skip

    def bytes_of(self, scope: Scope) -> None:
        """An array seen as another type."""
        if not scope.arrays:
            self.array(scope)
            return
        array, size = self.random.choice(scope.arrays)
        name = self.name("q")
        kind, count = self.random.choice((("unsigned char", 4 * size), ("unsigned short", 2 * size),
                                          ("unsigned", size)))  # fmt: skip
        self.put(f"{kind}* {name} = reinterpret_cast<{kind}*>({array});")
        self.put(f"{self.random.choice(scope.numbers)} = (int)({name}[{self.index(scope, count)}] & 1023);")
        if self.chance(0.5):
            self.put(f"{name}[{self.random.randrange(count)}] = {self.small(scope)} & 127;")

    def bound(self, scope: Scope) -> None:
        """Another name for something."""
        name = self.name("r")
        pairs = [o for o, of in scope.objects if of == "Pair"]
        if pairs and self.chance(0.5):
            other = self.name("r")
            self.put(f"auto {self.random.choice(('', '&'))}[{name}, {other}] = {self.random.choice(pairs)};")
            scope.readable.append(name)
            scope.unsigned.append(other)
        else:
            self.put(f"int& {name} = {self.place(scope)};")
            scope.numbers.append(name)
            scope.readable.append(name)

    def leave(self, scope: Scope) -> None:
        if not scope.loop:
            self.assign(scope)
            return
        what = "break" if scope.loop == "switch" else self.random.choice(("break", "continue"))
        self.put(f"if ({self.condition(scope, 1)}) {what};")

    def special(self, scope: Scope) -> None:
        """One of many things that need no more than a line or two."""
        name, target = self.name("s"), self.random.choice(scope.numbers)
        a, b = self.small(scope), self.small(scope)
        two, four = self.index(scope, 2), self.index(scope, 4)
        # A reference may be to shared memory; lanes that choose between that and a local object are not followed.
        local = [n for n in scope.numbers if n.startswith("n")]
        here, there = self.random.choice(local), self.random.choice(local)
        forms = [
            f"Vector {name}({a}); {name} += {b} & 7; {target} = {name}[{self.index(scope, 3)}];",
            f"Vector {name} = Vector({a}) + Vector({b}); for (int x : {name}) {target} = ({target} + x) & 1023;",
            f"if (Vector {name}({a}); {name}) {target} = 1; else {target} = {b} & 7;",
            f"Ring<int> {name}; {name}.push({a}); {name}.push({b}); {name}.push(5); {target} = {name}.sum() & 1023;",
            f"Ring<unsigned, 3> {name}{{{{1, 2, 3}}, 1}}; {name}.push({a}); {target} = (int)({name}.sum() & 1023);",
            f"Grid {name}{{}}; {name}.cell[{self.index(scope, 2)}][1].a = {a} & 255; {name}.row[1] = 9; "
            f"{target} = ({name}.cell[1][1].a + {name}.row[{self.index(scope, 3)}] + {name}.depth) & 1023;",
            f"int {name}[2][4] = {{{{1, 2, 3, 4}}, {{5, 6}}}}; {name}[{two}][{four}] = {a} & 31; "
            f"for (auto& row : {name}) for (int x : row) {target} = (2 * {target} + x) & 1023;",
            f"Pair {name}[2] = {{{{1, 2u}}, both({a}, {b})}}; {target} = ({name}[{two}].a + (int){name}[0].b) & 1023;",
            f"int {name} = 0, {name}m = 0; if (decode({a}, {name}, {name}m)) {target} = {name} * 8 + {name}m;",
            f"int {name}; if ({self.condition(scope, 1)}) {name} = 4; else {name} = {a} & 15; {target} = {name};",
            f"int {name}[4] = {{4, 1, 3, 2}}; int {name}i = 0; {name}[{name}i++ & 3] += {a} & 7; "
            f"{name}[++{name}i & 3] = 9; {target} = search({name}, {name} + {self.random.randint(1, 4)});",
            f"int* {name}[2] = {{&{here}, &{there}}}; *{name}[{two}] = {a} & 511;",
            f"int* {name} = ({self.condition(scope, 1)}) ? &{here} : &{there}; *{name} = {b} & 63;",
            f"(({self.condition(scope, 1)}) ? {here} : {there}) = {a} & 63;",
            f"auto {name} = [&, k = {a} & 7](auto f) {{ return f(k) + k; }}; "
            f"{target} = {name}([&](int x) {{ return (x * 3 + ({b} & 15)) & 255; }});",
            f"unsigned {name} = {a}; {name} = ({name} << 8 | {name} >> 24) ^ 3; {target} = (int)({name} & 255);",
            f"constexpr int {name} = sizeof(Grid) % 7; {target} = {name} + ({a} & 3);",
            f"struct {name}L {{ int a, b; }}; {name}L {name}{{{a} & 7, 2}}; auto {name}c = {name}; {name}c.a += 1; "
            f"{target} = {name}.a * 16 + {name}c.a;",
            f"switch (int {name} = {a} & 3; {name}) "
            f"{{ case 0: {target} = 3; break; case 1: case 2: {target} = {name}; }}",
        ]
        points = [o for o, of in scope.objects if of in ("Point", "Named")]
        if points:
            forms += [f"scale(&{self.random.choice(points)}, Pair{{{a} & 255, 5u}});"] * 2
        if self.shared:
            at = self.random.choice((0, 2))
            forms += [
                f"p_store(mine + {at}, {a} & 1023, {b} & 255);", f"{target} = p_load(mine + {at}) & 1023;",
                f"{target} = ((unsigned char*)mine)[{self.index(scope, 16)}];",
                f"((short*)mine)[{self.index(scope, 8)}] = (short)({a});",
                f"long long {name} = *(long long*)(mine + {at}); {target} = (int)({name} >> 20) & 1023;",
                f"*(uint64_t*)(mine + {at}) = (uint64_t)({a} & 255) * 0x100000001ull;",
            ]  # fmt: skip
        self.put(self.random.choice(forms))

    def guarded(self, scope: Scope) -> None:
        """A block at whose end a destructor runs."""
        with self.block(""):
            inner = scope.inner()
            self.put(f"Counter {self.name('c')}(&{self.random.choice(scope.numbers)}, {self.small(scope)});")
            self.body(inner)

    def endless(self, scope: Scope) -> None:
        """A loop that is left from inside."""
        if self.loops >= 2:
            self.assign(scope)
            return
        name = self.name("i")
        self.put(f"int {name} = {self.small(scope)} & 3;")
        with self.loop(scope, name, self.random.choice(("while (true)", "for (;;)"))) as inner:
            self.put(f"if ({name}++ >= 4) break;")
            self.body(inner, "for")

    def branch(self, scope: Scope) -> None:
        with self.block(f"if ({self.condition(scope, 2)})", "} else {" if self.chance(0.4) else "}"):
            self.body(scope)
        if self.lines[-1].endswith("else {"):
            self.indent += 1
            self.body(scope)
            self.indent -= 1
            self.put("}")

    def plain(self, scope: Scope) -> None:
        with self.block(""):
            self.body(scope)

    def counted(self, scope: Scope) -> None:
        if self.loops >= 2:
            self.assign(scope)
            return
        name = self.name("i")
        end = self.random.choice((str(self.random.randint(1, 6)), f"({self.small(scope)} & 7)"))
        head = self.random.choice((
            f"for (int {name} = 0; {name} < {end}; ++{name})", f"for (int {name} = {end}; {name} > 0; {name} -= 2)",
            f"for (unsigned {name} = 1; {name} < 40; {name} <<= 1)", f"for (int {name} = 0; {name} != 4; {name}++)",
            f"for (int {name} = t; {name} < 64; {name} += 32)",
        ))  # fmt: skip
        if self.chance(0.3):
            self.put(self.random.choice(("#pragma unroll", "#pragma unroll 1", "#pragma unroll 2")))
        with self.loop(scope, name, head) as inner:
            self.body(inner, "for")

    def while_loop(self, scope: Scope) -> None:
        if self.loops >= 2:
            self.assign(scope)
            return
        name = self.name("i")
        self.put(f"int {name} = {self.small(scope)} & 7;")
        with self.loop(scope, name, self.random.choice((f"while ({name}-- > 0)", f"while (--{name} >= 0)"))) as inner:
            self.body(inner, "for")

    def do_loop(self, scope: Scope) -> None:
        if self.loops >= 2:
            self.assign(scope)
            return
        name = self.name("i")
        self.put(f"int {name} = 0;")
        with self.loop(scope, name, "do", f"}} while (++{name} < ({self.small(scope)} & 3));") as inner:
            self.body(inner, "for")

    def choice(self, scope: Scope) -> None:
        with self.block(f"switch ({self.expression(scope, 1)} & 3)"):
            cases = self.random.sample(range(4), self.random.randint(1, 4))
            for n in cases:
                self.put(f"case {n}: {{")
                self.indent += 1
                self.body(scope, "switch")
                self.indent -= 1
                self.put("}" if self.chance(0.3) else "} break;")
            if self.chance(0.5):
                self.put("default: {")
                self.indent += 1
                self.body(scope, "switch")
                self.indent -= 1
                self.put("}")

    def each(self, scope: Scope) -> None:
        if not scope.arrays or self.loops >= 2:
            self.assign(scope)
            return
        array, _ = self.random.choice(scope.arrays)
        name = self.name("e")
        assigned = self.chance(0.5)
        with self.loop(scope, name, f"for ({'int&' if assigned else 'const int'} {name} : {array})") as inner:
            if assigned:
                inner.numbers.append(name)
            self.body(inner, "for")


def program(number: int) -> str:
    """The kernel ``k`` with this number, without what it takes from ``PROLOGUE``."""
    random = Random(number)
    return Grower(random, random.randint(4, 30)).kernel("k")
