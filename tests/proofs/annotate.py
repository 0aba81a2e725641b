"""Reads what is to be proved, and puts it into a copy of the sources.

Each TOML file in this folder but sets.toml is about one source file:

    source      the file; a header is proved by itself
    logic       definitions in ACSL that its contracts use

    [[function]]
    name        a function of that file
    says        what is proved, for docs/proofs.md
    contract    in ACSL. It is put before the declaration in the header of the same name, or else before the
                definition: so that callers in other files have it, too
    loops       for each loop, in the order of the text: its invariants
    steps       what the prover is told on the way: {before = a line of the body, say = annotations}
    result      'proved' (the default), or 'defined': only that nothing is undefined

    [[control]]
    name, why   a wrong variant of the source: `from`, which is there exactly once, is replaced by `to`
    breaks      the functions that must no longer be proved

Annotations are comments. So the sources stay as they are for everybody else, and what a compiler reads is
what is proved.
"""
import os
import re
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LOOP = re.compile(r'\s+(for|while|do|RLK_MASK_EACH|RLK_LIST_EACH) ?[({]')


class Problem(Exception):
    """What is to be proved does not fit the code."""


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def load(path):
    with open(path, 'rb') as file:
        return tomllib.load(file)


def load_sets():
    return load(os.path.join(HERE, 'sets.toml'))


def load_units():
    """By the name of the file without its ending, in the order of their sources."""
    names = sorted(name[:-5] for name in os.listdir(HERE) if name.endswith('.toml') and name != 'sets.toml')
    units = [{'name': name, 'function': [], 'control': [], **load(os.path.join(HERE, name + '.toml'))}
             for name in names]
    return sorted(units, key=lambda unit: unit['source'])


# ---- where things are in a source ----

def end_of_head(lines, at):
    while not lines[at].endswith((')', ';')):
        at += 1
    return at


def heads(lines, name, ends):
    """Where declarations of the function begin that end like this."""
    return [at for at, line in enumerate(lines)
            if re.match(rf'\w.*\b{name}\(', line) and lines[end_of_head(lines, at)].endswith(ends)]


def body_of(lines, name):
    """The lines of the body of a function: the first, and that of the } behind the last. None: it is not here."""
    starts = heads(lines, name, ')')
    if not starts:
        return None
    opening = lines.index('{', starts[0])
    return opening + 1, lines.index('}', opening)


# ---- annotations ----

def comment(acsl):
    return [f'/*@ {acsl.strip()} */'] if acsl.strip() else []


def logic(text):
    """Definitions in ACSL. There are no comments inside an annotation."""
    return comment(re.sub(r'/\*.*?\*/', '', text, flags=re.S))


def place_steps(body, function):
    """What is put before which line of the body."""
    loops = [at for at, line in enumerate(body) if LOOP.match(line)]
    wanted = function.get('loops', [])
    if len(loops) != len(wanted):
        raise Problem(f'{function["name"]}() has {len(loops)} loops, not {len(wanted)}')
    before = {at: comment(acsl) for at, acsl in zip(loops, wanted)}
    for step in function.get('steps', []):
        found = [at for at, line in enumerate(body) if line.strip() == step['before']]
        if len(found) != 1:
            raise Problem(f'{function["name"]}() has {len(found)} lines {step["before"]!r}')
        before[found[0]] = [line for say in step['say'] for line in comment(say)] + before.get(found[0], [])
    return before


def annotate(files, functions, definitions=''):
    """Annotates the lines of files, a header before its source."""
    first = logic(definitions)
    for function in functions:
        bodies = [(lines, body_of(lines, function['name'])) for lines in files]
        bodies = [(lines, body) for lines, body in bodies if body]
        if len(bodies) != 1:
            raise Problem(f'{function["name"]}() is defined {len(bodies)} times')
        lines, (start, end) = bodies[0]
        before = place_steps(lines[start:end], function)
        lines[start:end] = [text for at, line in enumerate(lines[start:end]) for text in (*before.get(at, []), line)]
        lines = next(lines for lines in files if heads(lines, function['name'], (')', ';')))
        at = heads(lines, function['name'], (')', ';'))[0]
        lines[at:at] = first + comment(function['contract'])
        first = []


def files_of(unit, root=ROOT):
    """The paths of the source and of its header, which comes first."""
    header = unit['source'][:-2] + '.h'
    return [path for path in dict.fromkeys([header, unit['source']]) if os.path.exists(os.path.join(root, path))]


def annotated_files(unit, root=ROOT, change=None):
    """The texts of the files of a unit by their paths; with the change of a control."""
    texts = {path: read(os.path.join(root, path)) for path in files_of(unit, root)}
    lines = [text.split('\n') for text in texts.values()]
    try:
        annotate(lines, unit['function'], unit.get('logic', ''))
    except Problem as problem:
        raise Problem(f'{unit["source"]}: {problem}') from None
    texts = {path: '\n'.join(text) for path, text in zip(texts, lines)}
    if change:
        apply(change, texts)
    return texts


def apply(control, texts):
    found = [path for path, text in texts.items() for _ in range(text.count(control['from']))]
    if len(found) != 1:
        raise Problem(f'{control["name"]}: {control["from"]!r} is there {len(found)} times')
    texts[found[0]] = texts[found[0]].replace(control['from'], control['to'])


# ---- what every unit sees ----

def axiom(name, acsl):
    label = '{L}' if '*' in acsl else ''
    return f'axiom {name}{label}: {acsl.strip()};'


def binder(parameters):
    return re.sub(r'\bconst ', '', parameters)


def statement(lemma):
    """A lemma as a formula."""
    acsl = f'{lemma["requires"]} ==>\n    {lemma["ensures"]}' if 'requires' in lemma else lemma['ensures']
    return f'\\forall {binder(lemma["forall"])}; {acsl}'


def contract(rule):
    requires = f'requires {rule["requires"]}; ' if 'requires' in rule else ''
    return f'/*@ {requires}assigns \\nothing; ensures {rule["ensures"].strip()}; */'


def head(rule):
    return f'{rule.get("returns", "void")} {rule["name"]}({rule["forall"]})'


def ghost(text):
    """C with annotations, as code that is there for proofs only."""
    return f'/*@ ghost\n{text.replace("/*@", "/@").replace("*/", "@/")}\n*/'


def prelude(sets, lemmas, unfold=False):
    """The facts and these lemmas, as axioms or as ghost functions, and the contracts of what gcc brings. unfold: with
    the definitions."""
    facts = [axiom(fact['name'], fact['acsl']) for fact in sets['fact'] if not fact.get('called')]
    known = [axiom(lemma['name'], statement(lemma)) for lemma in lemmas if not lemma.get('called')]
    called = [f'{contract(rule)}\n{head(rule)};' for rule in (*sets['fact'], *lemmas) if rule.get('called')]
    return '\n'.join([
        *('#include <std%s.h>' % name for name in ('bool', 'def', 'int')),
        '/*@ axiomatic Words {', 'logic integer bit(integer m, integer i);', 'logic integer low(integer m);',
        sets['declared'] if not unfold else '', *facts, '} */',
        *comment(sets['defined'] if unfold else ''), *comment(sets['logic']),
        *(['/*@ axiomatic Lemmas {', *known, '} */'] if known else []),
        *map(ghost, called),
        sets['builtins'], ''])


INDUCTION = """/*@ loop invariant 0 <= n <= 64;
    loop invariant {};
    loop assigns n;
    loop variant 64 - n; */
for (int n = 0; n < 64; n++) {{
}}"""


def lemma_source(lemma):
    """A C function whose contract is the lemma."""
    proof = lemma.get('proof') or INDUCTION.format(lemma['induction'].strip())
    if 'with' in lemma:
        proof = f'{lemma["with"]}\n{proof}'
    return ghost('\n'.join([contract(lemma), head(lemma), '{', proof.strip(), '}']))
