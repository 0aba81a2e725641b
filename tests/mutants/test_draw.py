#!/usr/bin/env python3
"""Mutants are drawn as draw.py says, and the list of those without effect fits the code. Speaks TAP."""
import contextlib
import os
import sys
import types

import draw
import mutate
import run

sys.path.insert(0, os.path.join(run.ROOT, 'tests', 'lint'))
from tap import Tap  # noqa: E402  (beside the lints)

REAL = 'src/core/validity.c'


def body(text):
    return f'static int f(int a, int b)\n{{\n    {text}\n}}\n'


def made(text):
    """The bodies of what is made of a function with that body."""
    before = body(text)
    return [draw.apply(before, edit)[len(body('')) - 3:-3] for edit in draw.mutants_of(before)]


def makes(tap, claim, text, *wanted):
    found = made(text)
    tap.claim(claim, [f'wanted {one!r}, got {found}' for one in wanted if one not in found])


def leaves(tap, claim, text, *refused):
    tap.claim(claim, [f'made {one!r}' for one in made(text) if not refused or one in refused])


def the_operators(tap):
    makes(tap, 'a comparison is moved, and turned round', 'return a < b;', 'return a <= b;', 'return a > b;')
    makes(tap, 'and becomes or', 'return a && b;', 'return a || b;')
    makes(tap, 'an operand goes', 'return a && !f(b) && c;', 'return !f(b) && c;', 'return a && c;',
          'return a && !f(b);')
    makes(tap, 'a bit is not taken away', 'a &= b & ~c;', 'a &= b & c;', 'a &= b;', 'a = b & ~c;')
    makes(tap, 'a constant is one more, or one less', 'return 7;', 'return 8;', 'return 6;')
    makes(tap, 'a condition is negated, and becomes constant', 'if (a) { b(); }', 'if (!(a)) { b(); }',
          'if (true) { b(); }', 'if (false) { b(); }')
    makes(tap, 'a statement goes', 'a(b, c); return;', '; return;', 'a(b, c); ;')
    makes(tap, 'an assignment goes', 'if (b) { r->x = 1; }', 'if (b) { ; }')
    leaves(tap, 'a declaration stays', 'struct x y = z; int i = a;')
    leaves(tap, 'a value that is returned stays', 'return a;')
    leaves(tap, 'the header of a loop stays', 'for (i = a; i < b; i++) { }', 'for (; i < b; i++) { }')
    leaves(tap, 'a pointer is not multiplied', 'f(*a, &b);', 'f(/a, &b);', 'f(*a, |b);')
    leaves(tap, 'texts and comments stay', 'return "a < 1"; /* b < 2 */')
    tap.claim('a define is a constant, too',
              [] if draw.mutants_of('#define A 7\n#define B 8\n') else ['none'])
    tap.claim('what is outside of functions stays',
              draw.mutants_of('enum { A = 1 };\nstatic int x[] = {A < 2, 3};\n'))


def options(seed, only=None):
    return types.SimpleNamespace(seed=seed, only=only, count=20)


def names(seed, only=None):
    return [one.name for one in draw.choose([REAL], options(seed, only))]


def refused(name):
    try:
        names(1, [name])
    except mutate.Problem as problem:
        return [str(problem)]
    return []


def the_choice(tap):
    tap.claim('a seed chooses the same mutants', [] if names(1) == names(1) else ['others'])
    tap.claim('another seed chooses others', [] if names(1) != names(2) else ['the same'])
    name = names(1)[0]
    tap.claim('a name chooses one', [] if names(2, [name]) == [name] else [names(2, [name])])
    tap.fires('a name that is not there', refused(REAL + ':1.99'), 'no such mutant')
    tap.claim('the mutants without effect fit the code',
              [] if isinstance(draw.equivalents(), dict) else ['no'])


class FakeBuild:
    """Builds nothing; the tests of `fails` fail."""

    def __init__(self, fails, builds=True):
        self.fails, self.builds, self.tree = fails, builds, self
        self.known = types.SimpleNamespace(tests=lambda: [
            {'name': name, 'suite': ['redlock:unit'], 'cmd': [name]} for name in ('unit-x', 'unit-validity')])

    def changed(self, _file, _text):
        return contextlib.nullcontext()

    def make(self, _killers):
        if not self.builds:
            raise run.Broken('error: expected expression')

    def run(self, killer):
        return run.Result(killer in self.fails, '')


def verdict(*fails, builds=True):
    mutant = draw.choose([REAL], options(1))[0]
    return ' '.join(draw.judge(FakeBuild(fails, builds), mutant)).strip()


def says(tap, claim, text, wanted):
    tap.claim(claim, [] if text == wanted else [f'wanted {wanted!r}, got {text!r}'])


def the_judge(tap):
    says(tap, 'one test that fails has killed it', verdict('unit-x'), 'killed unit-x')
    says(tap, 'the tests of the file come first', verdict('unit-x', 'unit-validity'), 'killed unit-validity')
    says(tap, 'the simulator kills, too', verdict('sim'), 'killed sim')
    says(tap, 'without a failure it has survived', verdict(), 'SURVIVED')
    says(tap, 'what does not build is not judged', verdict('unit-x', builds=False), 'does not build')


def main():
    tap = Tap()
    the_operators(tap)
    the_choice(tap)
    the_judge(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
