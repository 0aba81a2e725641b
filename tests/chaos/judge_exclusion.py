"""Checks of who held what: exclusion, the order of fencing tokens, and the order of acquires and releases."""
import collections
import math

import linear

GRACE_US = 5_000_000  # an outside fault explains an overlap for that long after max_ttl

Overlap = collections.namedtuple('Overlap', 'key first second begin end excuse')


def intervals_by_key(history):
    found = collections.defaultdict(list)
    for hold in history.holds:
        for begin, end in hold.intervals:
            for key in hold.keys:
                found[key].append((begin, end, hold))
    return found


def outside_faults(history):
    return [fault for fault in history.faults.values()
            if fault['outside'] and fault['kind'] in history.facts['outside']]


def excuse(history, moment):
    """The kind of the outside fault that may have caused what began then, or None."""
    for fault in reversed(outside_faults(history)):
        over = fault['until'] if fault['until'] is not None else fault['t']
        if fault['t'] <= moment <= over + history.max_ttl + GRACE_US:
            return fault['kind']
    return None


def overlaps_of(key, intervals, history):
    latest = None
    for begin, end, hold in sorted(intervals, key=lambda one: one[:2]):
        if latest and begin < latest[1]:
            yield Overlap(key, latest[2], hold, begin, min(end, latest[1]), excuse(history, begin))
        if not latest or end > latest[1]:
            latest = begin, end, hold


def overlaps(history):
    """Where two locks of one key were relied on at the same moment."""
    if not hasattr(history, 'overlaps'):
        history.overlaps = [overlap for key, intervals in intervals_by_key(history).items()
                            for overlap in overlaps_of(key, intervals, history)]
    return history.overlaps


def exclusion(history):
    """No two processes rely on one key at the same moment, unless an outside fault explains it."""
    for one in overlaps(history):
        if one.excuse:
            history.figures[f'broken as documented, {one.excuse}'] += 1
            continue
        yield (one.begin, f'{one.first.p} and {one.second.p}',
               f'both rely on {one.key} for {(one.end - one.begin) / 1000:.3f} ms: {one.first}, {one.second}')


# ---- fencing tokens ----

def tokens_by_key(history):
    """{key: the holds of it with tokens}"""
    found = collections.defaultdict(list)
    for hold in history.holds:
        if hold.fence > 0 and not hold.again:
            for key in hold.keys:
                found[key].append(hold)
    return found


def renamed(hold):
    """It was adopted without a token of its own: it goes on with its former one."""
    return hold.operation is not None and hold.operation.what == 'adopt' and not hold.operation.asked['fencing']


def out_of_order(holds):
    """(earlier, later) with tokens that do not grow: the later acquire began when the earlier was answered."""
    answered = sorted((hold for hold in holds if not renamed(hold)), key=lambda hold: hold.t)
    asked = sorted((hold for hold in answered if hold.invoked is not None), key=lambda hold: hold.invoked)
    at, largest = 0, None
    for hold in asked:
        while at < len(answered) and answered[at].t < hold.invoked:
            if largest is None or answered[at].fence > largest.fence:
                largest = answered[at]
            at += 1
        if largest and hold.fence <= largest.fence:
            yield largest, hold


def out_of_turn(holds):
    """(earlier, later) with tokens that do not grow, in the order in which they were relied on."""
    relied = [hold for hold in holds if hold.intervals and not renamed(hold)]
    largest = None
    for hold in sorted(relied, key=lambda hold: hold.intervals[0][0]):
        if largest and hold.fence <= largest.fence:
            yield largest, hold
        if largest is None or hold.fence > largest.fence:
            largest = hold


def twice(holds):
    seen = {}
    for hold in holds:
        if hold.fence in seen and not renamed(hold):
            yield seen[hold.fence], hold
        seen.setdefault(hold.fence, hold)


def wants_token(hold):
    operation = hold.operation
    return operation is not None and (operation.what == 'campaign' or operation.asked.get('fencing') == 1)


def fencing(history):
    """The tokens of a key grow, and no two locks have the same; also under outside faults."""
    for hold in history.holds:
        if wants_token(hold) and hold.fence <= 0:
            yield hold.t, hold.p, f'lock {hold.lock} has no fencing token, though it was asked for'
    for key, holds in tokens_by_key(history).items():
        found = {}
        for earlier, later in list(twice(holds)) + list(out_of_order(holds)):
            found[later] = earlier
        if not history.facts['outside']:  # else exclusion may be broken, and the order of holding with it
            for earlier, later in out_of_turn(holds):
                found[later] = earlier
        for later, earlier in found.items():
            yield later.t, later.p, f'the token of {key} does not grow: {earlier}, then {later}'


# ---- FencedMutex ----

def calls_of(hold, slowest):
    """The calls on the model. The release begins when the lock is no longer relied on.

    When a command's lock was asked for is unknown: `slowest` before the command says that it has it, at the earliest.
    """
    call = hold.invoked if hold.invoked is not None else hold.t - slowest
    if not hold.intervals:
        yield linear.Call(call, hold.t, ('pass', hold, hold.fence), True, f'{hold}, over before it was known')
        return
    yield linear.Call(call, hold.t, ('acquire', hold, hold.fence), True, f'the acquire of {hold}')
    over = hold.end
    if over < math.inf:
        returned = hold.release.returned if hold.release else over
        yield linear.Call(over, max(over, returned), ('release', hold, 0), True, f'the release of {hold}')


def fenced_by_key(history):
    found = collections.defaultdict(list)
    for hold in history.holds:
        if hold.fence > 0 and len(hold.keys) == 1 and not renamed(hold) and not hold.again:
            found[hold.keys[0]].append(hold)
    return found


def mutex(history):
    """Acquires and releases of each key are linearizable: a mutex whose tokens grow."""
    excused = {one.key for one in overlaps(history) if one.excuse}
    for key, holds in fenced_by_key(history).items():
        if key in excused:
            continue
        calls = [call for hold in holds for call in calls_of(hold, history.max_ttl + GRACE_US)]
        bad, pairs = linear.search(linear.Mutex, calls)
        history.figures['states searched'] += pairs
        if bad:
            call, before = bad
            held = ' or '.join(sorted(f'{holder or "free"} (largest token {fence})' for holder, fence in before))
            yield call.returned, call.what[1].p, f'{key} is not linearizable at {call.name}: before it {held}'
