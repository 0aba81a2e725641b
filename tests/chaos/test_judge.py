#!/usr/bin/env python3
"""Each check of the judge passes histories that are fine, and fires on those that are not. Speaks TAP."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lint'))
import judge  # noqa: E402
import judge_exclusion  # noqa: E402
from judge_story import ENDED, Story  # noqa: E402
from tap import Tap  # noqa: E402
from test_judge_search import converter, searches  # noqa: E402  (a part of this test)


class Checks(Tap):
    def __init__(self):
        super().__init__()
        self.fired = {}

    def fine(self, claim, story):
        self.claim('passes: ' + claim, [judge.text_of(one) for one in story.violations()])

    def fires_on(self, check, claim, story, word, also=()):
        """The check complains with this word, and no other one does, unless it is in `also`."""
        found = story.violations()
        good = any(one.check == check and word in one.what for one in found)
        others = {one.check for one in found} - {check, *also}
        self.fired[check] = self.fired.get(check, 0) + 1
        self.claim(f'{check} fires: {claim}',
                   [] if good and not others else [f'wanted {check} with {word!r}, got {[judge.text_of(one) for one in found]}'])

    def all_are_shown(self):
        self.claim('each check is shown to fire, twice at least',
                   [name for name in judge.CHECKS if self.fired.get(name, 0) < 2])


def exclusion(tap):
    def two(first, begin):
        """One that holds k until 1000 at most, and another one that holds it from `begin` on."""
        return first.acquire('c2', begin - 50, begin, 7)

    def held(**facts):
        return Story(**facts).acquire('c1', 0, 10, 1, deadline=1000)

    tap.fine('one lock after the other', two(held(), 1100))
    tap.fine('exactly when the other ends', two(held(), 1000))
    tap.fine('another key', held().acquire('c2', 100, 200, 7, 'other'))
    tap.fires_on('exclusion', 'before the deadline', two(held(), 999), 'both rely on k for 1.000 ms')
    tap.fires_on('exclusion', 'two locks of one process',
                 held().acquire('c1', 100, 200, 7), 'both rely on k')
    tap.fires_on('exclusion', 'one of several keys',
                 Story().acquire('c1', 0, 10, 1, 'a+k+b', 1000).acquire('c2', 100, 200, 7, 'k+c'), 'both rely on k')
    tap.fine('after a release', two(held().release('c1', 300, 310, 1), 301))
    tap.fires_on('exclusion', 'before a release', two(held().release('c1', 300, 310, 1), 299), '1.000 ms')
    tap.fine('after an extension has ended', two(held().deadline('c1', 500, 1, 2000, 400), 2000))
    tap.fires_on('exclusion', 'during an extension', two(held().deadline('c1', 500, 1, 2000, 400), 1500), '500.000 ms')


def leniency(tap):
    def lost(why, since, begin):
        return (Story().acquire('c1', 0, 10, 1, deadline=1000).unhold('c1', 600, 1, why, since)
                .acquire('c2', begin - 50, begin, 7))

    def shorter(begin):
        return (Story().acquire('c1', 0, 10, 1, deadline=1000).deadline('c1', 600, 1, 550, 400)
                .acquire('c2', begin - 50, begin, 7))

    tap.fine('a lost lock: it may have been told', lost('lost', 500, 501))
    tap.fires_on('exclusion', 'a lost lock: it was not told yet', lost('lost', 500, 499), 'both rely on k')
    tap.fires_on('exclusion', 'nobody is told of a release', lost('released', 500, 501), 'both rely on k')
    tap.fine('an earlier deadline', shorter(550))
    tap.fires_on('exclusion', 'before an earlier deadline', shorter(549), 'both rely on k')
    late = Story().acquire('c1', 0, 10, 1, deadline=1000).deadline('c1', 1400, 1, 2400, 900)
    tap.fine('between a deadline and an extension that was told later',
             late.acquire('c2', 1050, 1100, 7, deadline=1400))
    fast = Story(rates={'c1': 1.01}).acquire('c1', 0, 10, 1, deadline=1000)
    tap.fine('a clock that is fast', fast.acquire('c2', 900, 1000.1, 7))
    slow = Story(rates={'c1': 0.99}).acquire('c1', 0, 10, 1, deadline=1000)
    tap.fires_on('exclusion', 'a clock that is slow', slow.acquire('c2', 900, 999, 7), 'both rely on k')


def the_dead(tap):
    def killed():
        return Story().acquire('c1', 0, 10, 1, deadline=1000).kill('c1', 400)

    def command():
        story = Story().hold('w1', 10, 1, ['k'], None).line('w1', 300, 'beat', lock=1).line('w1', 600, 'beat', lock=1)
        story.ended.add('w1')
        return story

    tap.fine('the dead rely on nothing', killed().acquire('c2', 390, 401, 7))
    tap.fires_on('exclusion', 'until a process is killed', killed().acquire('c2', 390, 399, 7), 'both rely on k')
    tap.fine('a command without a beat', command().acquire('c2', 590, 601, 7))
    tap.fires_on('exclusion', 'a command that beats', command().acquire('c2', 590, 599, 7), 'both rely on k')
    tap.fires_on('exclusion', 'a command whose `redlock` was killed',
                 command().driver(200, 'killed', p='w1').acquire('c2', 390, 401, 7), 'both rely on k')
    tap.fine('a command that was stopped', command().driver(200, 'stopped', who=['w1']).acquire('c2', 190, 201, 7))


def outside(tap):
    def broken(kinds, begin, **fault):
        story = Story(outside=kinds).driver(500, 'fault', id=1, who=['m1'], **fault)
        if fault['kind'] == 'flush':
            story.driver(500, 'heal', id=1)
        return story.acquire('c1', begin - 500, begin - 400, 1, deadline=begin + 1000).acquire('c2', begin - 50, begin, 7)

    good = broken(['flush'], 7000, kind='flush', outside=True)
    tap.fine('an overlap after an outside fault', good)
    history = good.history()
    list(judge_exclusion.exclusion(history))
    tap.claim('it is counted by kind', [] if history.figures['broken as documented, flush'] == 1 else [history.figures])
    fenced = Story(outside=['flush']).driver(500, 'fault', id=1, who=['m1'], kind='flush', outside=True)
    tap.fine('an overlap of fenced locks after an outside fault', fenced.acquire('c1', 600, 610, 1, fence=4).acquire(
        'c2', 700, 800, 7, fence=5))
    tap.fires_on('exclusion', 'long after an outside fault', broken(['flush'], 7600, kind='flush', outside=True), 'both')
    tap.fires_on('exclusion', 'after a fault inside the model', broken(['flush'], 900, kind='kill', outside=False), 'both')
    tap.fires_on('sanity', 'an outside fault that is not allowed',
                 broken([], 900, kind='flush', outside=True), 'does not allow', also=['exclusion'])


def fencing(tap):
    def two(first, second, begin=600):
        return Story().lock('c1', 0, 500, 1, fence=first).lock('c2', begin, 1000, 7, fence=second)

    adopted = Story().acquire('c1', 0, 10, 1, fence=4).unhold('c1', 500, 1, 'detached')
    tap.fine('tokens grow', two(4, 5))
    tap.fine('a lock without a token', two(4, 0))
    tap.fires_on('fencing', 'a smaller one', two(4, 3), 'does not grow', also=['mutex'])
    tap.fires_on('fencing', 'the same one', two(4, 4), 'does not grow', also=['mutex'])
    tap.fine('adopted without a token of its own', adopted.acquire(
        'c2', 600, 700, 7, deadline=900, fence=4, what='adopt', fencing=0))
    tap.fires_on('fencing', 'adopted with the former one', Story().acquire('c1', 0, 10, 1, fence=4).unhold(
        'c1', 500, 1, 'detached').acquire('c2', 600, 700, 7, fence=4, what='adopt'), 'does not grow', also=['mutex'])
    tap.fires_on('fencing', 'asked for, and not given', Story().acquire('c1', 0, 10, 1, fencing=1), 'no fencing token')
    tap.fires_on('fencing', 'a command with a smaller one', Story().lock('c1', 0, 500, 1, fence=4).hold(
        'w1', 2000, 1, ['k'], None, 3).unhold('w1', 2500, 1, 'ended'), 'does not grow', also=['mutex'])
    tap.fires_on('fencing', 'one of several keys', Story().lock('c1', 0, 500, 1, 'a+b', 4).lock(
        'c2', 600, 1000, 7, 'b+c', 4), 'token of b')
    lead = Story().line('c1', 5, 'begin', op=1, what='campaign', keys=['k']).hold('c1', 100, 1, ['k'], 1000, 5)
    lead.unhold('c1', 900, 1, 'demoted').hold('c1', 1500, 2, ['k'], 2000, 4).line('c1', 3000, 'end', op=1, status=0)
    tap.fires_on('fencing', 'a term that is smaller', lead, 'does not grow', also=['mutex'])


def after_faults(tap):
    flushed = Story(outside=['flush']).lock('c1', 0, 500, 1, fence=4)
    flushed.driver(550, 'fault', id=1, kind='flush', who=['m1'], outside=True)
    flushed.lock('c2', 600, 1000, 7, fence=4).lock('c3', 1100, 1500, 7, fence=5)
    tap.fires_on('fencing', 'one master is flushed', flushed, 'does not grow', also=['mutex'])


def mutex(tap):
    def overlapping(first, second):
        """The second acquire begins while the first lock is held."""
        return Story().lock('c1', 0, 500, 1, fence=first).acquire('c2', 100, 520, 7, fence=second)

    tap.fine('a waiter gets a larger token', overlapping(4, 5))
    tap.fires_on('mutex', 'a waiter gets a smaller one', overlapping(5, 4), 'not linearizable', also=['fencing'])
    tap.fires_on('mutex', 'two hold it', Story().acquire('c1', 0, 10, 1, fence=4).acquire('c2', 100, 200, 7, fence=5),
                 'is not linearizable at the acquire of lock 7', also=['exclusion'])
    tap.fires_on('mutex', 'the same token', overlapping(4, 4), 'not linearizable', also=['fencing'])
    late = Story().acquire('c1', 0, 3000, 1, deadline=1000, fence=4).unhold('c1', 3001, 1, 'lost', 3000)
    tap.fine('a lock that was over when its holder heard of it', late.lock('c2', 1100, 2000, 7, fence=5))
    lapsed = Story().acquire('c1', 0, 10, 1, deadline=1000, fence=4)
    tap.fine('a lock that ended by itself', lapsed.acquire('c2', 900, 1001, 7, fence=5))
    handed = Story().acquire('c1', 0, 10, 1, fence=4).release('c1', 500, 900, 1, 'hand-over')
    tap.fine('the next holder, while the hand-over goes on', handed.acquire('c2', 400, 600, 7, fence=5))


def registers(tap):
    def one():
        return Story().lock('c1', 0, 3000, 1, fence=4).read('c1', 20, 30, 4, 0).write('c1', 40, 50, 4, 1)

    def final(story, value):
        return story.driver(ENDED - 1, 'registers', values={'k': value})

    tap.fine('a read and a write', final(one(), 1))
    tap.fires_on('register', 'another value at the end', final(one(), 2), 'the value at the end (2)')
    tap.fires_on('register', 'a write that is not read', one().read('c1', 60, 70, 4, 0), 'not linearizable at read 5')
    tap.fires_on('register', 'a smaller token that is accepted', one().read('c2', 60, 70, 3, 1), 'before it 1 under 4')
    tap.fires_on('register', 'a token that is refused', one().read('c2', 60, 70, 5, status='refused'), 'not linearizable')
    tap.fine('a smaller token is refused', one().read('c2', 60, 70, 3, status='refused'))
    unknown = one().read('c1', 60, 70, 4, 1).write('c1', 80, 90, 4, 2, 'unknown')
    tap.fine('an unknown write may have no effect', final(unknown, 1))
    tap.fine('an unknown write may have an effect later', final(unknown.read('c1', 95, 99, 4, 1), 2))
    tap.fires_on('register', 'an unknown write has an effect, and then none', final(
        unknown.read('c1', 100, 110, 4, 2).read('c1', 120, 130, 4, 1), 2), 'not linearizable')
    killed = one().read('c2', 60, 70, 5, 1).write('c2', 80, None, 5, 2).kill('c2', 90)
    tap.fine('a write of the dead', final(killed.read('c3', 100, 110, 6, 2), 2))
    tap.fires_on('register', 'a write of the dead under a smaller token', final(one().read('c2', 60, 70, 5, 1).write(
        'c2', 80, None, 5, 2).kill('c2', 90).read('c3', 100, 110, 6, 1), 2), 'the value at the end')


def updates(tap):
    def one():
        return Story().lock('c1', 0, 3000, 1, fence=4).read('c1', 20, 30, 4, 0)

    tap.fine('one more', one().write('c1', 40, 50, 4, 1))
    tap.fires_on('updates', 'two more', one().write('c1', 40, 50, 4, 2), 'writes 2, but 0 was read')
    tap.fires_on('updates', 'nothing was read', one().write('c1', 40, 50, 5, 1), 'nothing was read')
    tap.fires_on('updates', 'written twice', one().write('c1', 40, 50, 4, 1).write('c1', 60, 70, 4, 1), 'c1 wrote it already')
    tap.fine('written again when it is unknown whether it was', one().write('c1', 40, 50, 4, 1, 'unknown').read(
        'c1', 60, 70, 4, 0).write('c1', 80, 90, 4, 1))


def answered(tap):
    def asked(end):
        return Story().lock('c1', 0, 500, 1).call('c1', 600, end, 'query', keys=['k'])

    def ends(**fields):
        story = asked(700)
        story.ended.add('c1')
        return story.driver(900, 'exit', p='c1', **fields)

    tap.fine('answered', asked(700))
    tap.fine('unanswered because it was killed', asked(None).kill('c1', 800))
    tap.fires_on('answered', 'a call without an end', asked(None), 'query 3 was never answered')
    tap.fires_on('answered', 'an end without a begin', asked(700).line('c1', 800, 'end', op=9, status=0), 'without a begin')
    tap.fires_on('answered', 'two ends', asked(700).line('c1', 800, 'end', op=3, status=0), 'a second time')
    tap.fires_on('answered', 'two begins', asked(700).line('c1', 800, 'begin', op=3, what='query', keys=['k']), 'a second time')
    tap.fine('an exit that is expected', ends(status=0, expected=True))
    tap.fires_on('answered', 'an exit that is not', ends(status=-6, expected=False, said='abort'), '-6: abort')
    vanished = asked(700)
    vanished.ended.add('c1')
    tap.fires_on('answered', 'a process vanishes', vanished, 'no exit of it')
    mute = Story().lock('c1', 0, 500, 1)
    mute.lines = [line for line in mute.lines if line['e'] != 'start']
    tap.fires_on('answered', 'a process never starts', mute, 'never said that it starts')


def queue(tap):
    def waiter(until, overtakers, calm=100, end='release'):
        """c1 waits from 3000 until then; others ask 2000 later, and get the lock one after the other."""
        story = Story(calm=calm).lock('c0', 2900, 3900, 1)
        story.acquire('c1', 3000, until, 1, wait=50000)
        for i in range(overtakers):
            begin = 5000 + 1000 * i
            story.acquire(f'd{i}', begin, begin + 300, 7, deadline=begin + 950, wait=9000)
            if end != 'none':
                story.release(f'd{i}', begin + 900, begin + 910, 7, end)
        return story

    tap.fine('one after the other', waiter(4000, 0))
    tap.fine('some overtake', waiter(20000, 3))
    tap.fires_on('queue', 'many overtake', waiter(20000, 4), 'overtaken 4 times, last by acquire 1 of d3')
    tap.fires_on('queue', 'many overtake one that is not served', unserved(), 'overtaken 5 times')
    behind = waiter(20000, 0)
    for i in range(6):
        behind.lock(f'd{i}', 12000 + 1000 * i, 12500 + 1000 * i, 7)
    tap.fires_on('queue', 'the first of its process', behind, 'overtaken 6 times')
    tap.fine('one that waits behind another one of its process', behind_others())
    tap.fine('one that waits behind others of its process that give up', behind_losers())
    tap.fine('one that waits behind a lock of its process', behind_a_lock())
    tap.fine('those that overtake have the positions of others of their processes', heirs())
    tap.fine('many overtake while there are faults', waiter(20000, 6, calm=2000))
    tap.fine('the lock is handed over to them', waiter(20000, 5, end='hand-over'))
    tap.fine('the locks end by themselves', waiter(20000, 5, end='none'))


def behind_others():
    """c1 asks three times at once. Each of these is overtaken three times after the one before it was answered."""
    story = Story(calm=100)
    for i in range(3):
        until = 9000 + 6000 * i
        story.acquire('c1', 3000 + 10 * i, until, i, deadline=until + 900, wait=50000).release('c1', until + 500, until + 510, i)
        for j in range(3):
            begin = until - 4000 + 1000 * j
            story.lock(f'd{j}', begin, begin + 500, i)
    return story


def gives_up(story, p, begin, end):
    return story.call(p, begin, end, 'acquire', -203, keys=['k'], fencing=0, ttl=1000, wait=end - begin)


def behind_losers():
    """The same, but the first three give up."""
    story = Story(calm=100)
    for i in range(3):
        gives_up(story, 'c1', 3000 + 10 * i, 9000 + 6000 * i)
        for j in range(3):
            begin = 5000 + 6000 * i + 1000 * j
            story.lock(f'd{j}', begin, begin + 500, i)
    return story.acquire('c1', 3100, 22000, 9, wait=50000)


def heirs():
    """c1 waits, and five others get the lock. Each of these comes late, while another one of its process waits in vain."""
    story = Story(calm=100).acquire('c1', 3000, 20000, 1, wait=50000)
    for i in range(5):
        begin = 5000 + 1000 * i
        gives_up(story, f'd{i}', 3050, begin + 5)
        story.acquire(f'd{i}', begin, begin + 10, 7, wait=100).release(f'd{i}', begin + 500, begin + 510, 7)
    return story


def behind_a_lock():
    """c1 waits for 20 s, nearly all of it behind a lock of its own. In that time six others get the key."""
    story = Story(calm=100).acquire('c1', 2900, 2950, 1, 'k+other', deadline=4000).release('c1', 19500, 19510, 1)
    story.acquire('c1', 3000, 20000, 2, wait=50000)
    for i in range(6):
        story.lock(f'd{i}', 5000 + 1000 * i, 5500 + 1000 * i, 7)
    return story


def unserved():
    story = Story(calm=100).call('c1', 3000, 30000, 'acquire', -203, keys=['k'], fencing=0, ttl=1000, wait=27000)
    for i in range(5):
        story.lock(f'd{i}', 5000 + 1000 * i, 5500 + 1000 * i, 7)
    return story


def ends(tap):
    def well():
        return Story().lock('c1', 0, 500, 1)

    tap.fine('nothing is left', well())
    tap.fires_on('left', 'a key', well().driver(900, 'left-key', master='m1', key='k', ttl_ms=5), '5 ms to live')
    tap.fires_on('left', 'a key that stays', well().driver(900, 'left-key', master='m1', key='k', ttl_ms=-1), 'no time')
    tap.fires_on('process', 'a process', well().driver(900, 'left-process', pid=7, command='sleep'), 'sleep was left')
    tap.fires_on('process', 'a client', well().driver(900, 'left-process', pid=8, command='c1'), 'c1 was left')

    def sampled(fds, rss):
        story = well()
        for i, (number, size) in enumerate(zip(fds, rss)):
            story.driver(1000 + i, 'sample', p='c1', fds=number, rss_kb=size)
        return story

    tap.fine('no growth', sampled([9, 12, 30, 9, 12, 16], [9000, 10000, 9000, 9000, 12000, 16000]))
    tap.fine('too few samples', sampled([9, 12, 99], [9000, 9000, 90000]))
    tap.fires_on('flat', 'descriptors', sampled([9, 12, 13, 14, 15, 17], [9000] * 6), '17 descriptors')
    added = sampled([9, 12, 13, 14, 15, 19], [9000] * 6).driver(500, 'fault', id=1, kind='change', who=['add', 'm4'], outside=False)
    tap.fine('descriptors of a master that was added', added)
    removed = sampled([9, 12, 13, 14, 15, 19], [9000] * 6).driver(500, 'fault', id=1, kind='change', who=['remove', 'm4'],
                                                                  outside=False)
    tap.fires_on('flat', 'descriptors of a master that was removed', removed, '19 descriptors')
    tap.fires_on('flat', 'memory', sampled([9] * 6, [9000, 9000, 10000, 14000, 16000, 17000]), '17000 KB')


def progress(tap):
    tap.fires_on('progress', 'nobody gets a lock', Story().call(
        'c1', 0, 10, 'acquire', -203, keys=['k'], fencing=0, ttl=1000, wait=0), 'got any lock')

    def in_calm(key):
        return Story(calm=1000).lock('c1', 0, 500, 1, 'k+other').lock('c1', 1500, 1600, 2, key).call(
            'c1', 4000, 5000, 'acquire', -201, keys=['k'], fencing=0, ttl=1000, wait=0)

    tap.fine('when it is calm the key is got', in_calm('k'))
    tap.fires_on('progress', 'a key that nobody gets', in_calm('other'), 'acquire 5 asks for k, which nobody gets')


def sanity(tap):
    def well():
        return Story().lock('c1', 0, 500, 1)

    tap.fires_on('sanity', 'nothing is held', well().call(
        'c1', 600, 700, 'acquire', answer={'lock': 2}, keys=['k'], fencing=0, ttl=1000, wait=0), 'never held')
    tap.fires_on('sanity', 'nothing is held for a while, and then it is killed', well().call(
        'c1', 600, 700, 'acquire', answer={'lock': 2}, keys=['k'], fencing=0, ttl=1000, wait=0).call(
            'c1', 710, 720, 'query', keys=['k']).kill('c1', 800), 'never held')
    tap.fine('killed before it could say that it holds', well().call(
        'c1', 600, 700, 'acquire', answer={'lock': 2}, keys=['k'], fencing=0, ttl=1000, wait=0).kill('c1', 701))
    tap.fires_on('sanity', 'held twice', Story().acquire('c1', 0, 10, 1).hold('c1', 100, 1, ['k'], 900), 'held again')
    tap.fires_on('sanity', 'given up and never held', well().unhold('c1', 600, 5), 'never held')
    tap.fires_on('sanity', 'a deadline of nothing', well().deadline('c1', 600, 5, 900, 500), 'never held')
    tap.fires_on('sanity', 'a beat of nothing', well().line('c1', 600, 'beat', lock=5), 'never held')


# ---- the command ----

def command(*words):
    done = subprocess.run([sys.executable, '-B', os.path.join(HERE, 'judge.py'), *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def gives(tap, claim, got, status, *texts):
    tap.claim(claim, [] if got[0] == status and all(text in got[1] + got[2] for text in texts) else [got])


def damage(path, before, after):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text.replace(before, after))


def append(path, text):
    with open(path, 'a', encoding='utf-8') as file:
        file.write(text)


def the_command(tap, place):
    good = Story().lock('c1', 0, 500, 1).lock('c2', 600, 700, 1).kill('c2', 800).save(os.path.join(place, 'good'))
    bad = Story().acquire('c1', 0, 10, 1).acquire('c2', 100, 200, 1).save(os.path.join(place, 'bad'))
    gives(tap, 'a good section', command(good), 0, '1 sections, 4 operations, 0 violations', 'calls acquire')
    gives(tap, 'a bad section', command(good, bad), 1, '2 sections, 6 operations, 1 violations',
          'VIOLATION exclusion: c1 and c2, at 0.200000 s: both rely on k')
    status, text, _ = command('--json', good, bad)
    said = json.loads(text)
    tap.claim('as JSON', [] if status == 1 and said['figures']['calls acquire'] == 4 and len(said['violations']) == 1
              and said['violations'][0].startswith('exclusion: ') and len(said['sections']) == 2 else [text])
    append(os.path.join(good, 'c2.jsonl'), '{"t":5000')
    gives(tap, 'the last line of a killed process may be cut off', command(good), 0, ' 0 violations')
    append(os.path.join(good, 'c1.jsonl'), '{"t":5000')
    gives(tap, 'that of another one may not', command(good), 2, 'is cut off')
    gives(tap, 'no section', command(os.path.join(place, 'none')), 2, 'none')
    gives(tap, 'no argument', command(), 2, 'usage')
    damage(os.path.join(bad, 'c1.jsonl'), '"fence"', '"sense"')
    gives(tap, 'a field is missing', command(bad), 2, 'without its fields')
    damage(os.path.join(bad, 'c2.jsonl'), '"e"', 'e"')
    gives(tap, 'no JSON', command(bad), 2, 'c1.jsonl')


def times(tap, place):
    folder = Story().lock('c1', 0, 500, 1).save(os.path.join(place, 'times'))
    path = os.path.join(folder, 'c1.jsonl')
    with open(path, encoding='utf-8') as file:
        lines = file.readlines()
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines([*lines[:-2], lines[-1], lines[-2]])
    gives(tap, 'sanity fires: the time goes back', command(folder), 1, 'VIOLATION sanity', 'the time goes back')


def main():
    tap = Checks()
    for part in (exclusion, leniency, the_dead, outside, fencing, after_faults, mutex, registers, updates, answered, queue,
                 ends, progress, sanity):
        part(tap)
    tap.all_are_shown()
    with tempfile.TemporaryDirectory() as place:
        the_command(tap, place)
        times(tap, place)
        converter(tap, place)
    searches(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
