#!/usr/bin/env python3
"""Every link of the documents leads somewhere, and the index has every document: `links.py ROOT`.

A link that is not a URL names a file of the tree, from the folder of its document; after a # comes a
heading of that file, as GitHub makes an anchor of it. docs/README.md links every docs/*.md.
"""
import glob
import os
import re
import sys

from tap import Tap

INDEX = 'docs/README.md'
DOCUMENTS = ['*.md', 'docs/*.md', 'docs/examples/*.md', 'bench/*.md']
LINK = re.compile(r'\[[^][]*\]\(([^()\s]+)\)')


def read(root, name):
    with open(os.path.join(root, name), encoding='utf-8') as file:
        return file.read()


def documents(root):
    return sorted(os.path.relpath(path, root) for pattern in DOCUMENTS
                  for path in glob.glob(os.path.join(root, pattern)))


def prose(markdown):
    """Without blocks and spans of code."""
    markdown = re.sub(r'^( *)```.*?^\1```', '', markdown, flags=re.M | re.S)
    return re.sub(r'`[^`]*`', '', re.sub(r'(?m)(?<=\n\n)(?: {4}.*\n|\n(?= {4}))+', '', markdown))


def anchors(markdown):
    """GitHub: lower case, no punctuation, a hyphen for each space; a second one of a name gets a number."""
    seen = []
    blocks = re.sub(r'^( *)```.*?^\1```', '', markdown, flags=re.M | re.S)
    for heading in re.findall(r'^#+ +(.*?) *$', blocks, re.M):
        text = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', heading)
        slug = re.sub(r'[^\w\- ]', '', text.lower()).replace(' ', '-')
        seen.append(f'{slug}-{seen.count(slug)}' if slug in seen else slug)
    return seen


def targets(name, markdown):
    """(link, path from the root, anchor or '') for links that are no URLs."""
    for link in LINK.findall(prose(markdown)):
        if not re.match(r'[a-z]+:', link):
            path, _, anchor = link.partition('#')
            yield link, os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name, anchor


def broken(root, name, markdown):
    for link, path, anchor in targets(name, markdown):
        if path != name and not os.path.exists(os.path.join(root, path)):
            yield f'{name} links {link}: there is no {path}'
        elif anchor and anchor not in anchors(markdown if path == name else read(root, path)):
            yield f'{name} links {link}: {path} has no such heading'


def not_linked(index, names):
    linked = {path for _, path, _ in targets(INDEX, index)}
    return [f'{INDEX} does not link {name}' for name in names if name not in linked]


def fires(tap, root):
    def of(text):
        return broken(root, 'docs/x.md', text)

    tap.fires('a file that is not there', of('see [the rules](rulez.md)'), 'there is no docs/rulez.md')
    tap.fires('a heading that is not there', of('see [S1](algorithm.md#no-such-rule)'), 'no such heading')
    tap.fires('a heading of its own that is not there', of('# A\n[b](#b)'), 'no such heading')
    tap.fires('a picture that is not there', of('![the house](hause.svg)'), 'docs/hause.svg')
    tap.fires('a document that the index lacks', not_linked('[a](a.md)', ['docs/a.md', 'docs/b.md']), 'docs/b.md')
    tap.claim('passes: links', of('# One `two`: three\n[a](../README.md) [b](https://a.b/c) [c](#one-two-three)'
                                  '\n```\n[d](no.md)\n```\n`[e](no.md)`'))
    tap.claim('passes: two headings of one name', of('# A\n# A\n[b](#a) [c](#a-1)'))


def main(root):
    tap = Tap()
    names = documents(root)
    for name in names:
        tap.claim(f'the links of {name} lead somewhere', broken(root, name, read(root, name)))
    tap.claim('the index has every document', not_linked(read(root, INDEX), [
        name for name in names if re.fullmatch(r'docs/[^/]*\.md', name) and name != INDEX]))
    fires(tap, root)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
