"""Checks that waiters get a lock in their order.

Of the waiters of one process for one key, only the first is in the queue of the masters: the others wait behind it, and
behind a lock of the key that their own process holds. So a waiter joins the queue when all of that is over. It may have the
position of one of its process that waited before it.
"""
import bisect
import collections

MOST_OVERTAKES = 3  # one that asks at the moment of a release may overtake


def settled(history):
    """From then on nothing of the faults is felt; None: there is no such time."""
    return None if history.calm is None else history.calm + 2 * history.ttl


class Ask:
    """An acquire of one key."""

    def __init__(self, operation):
        self.operation = operation
        self.returned = operation.returned
        self.joined = operation.call  # at the latest, when it is about being overtaken
        self.senior = operation.call  # at the earliest, when it is about overtaking
        self.overtakes = operation.status == 0


def asks_of_one_key(history):
    """{key: its Asks in the calm phase, in their order}"""
    start, found = settled(history), collections.defaultdict(list)
    for operation in history.operations.values():
        if operation.what == 'acquire' and len(operation.asked['keys']) == 1 and operation.call >= start:
            found[operation.asked['keys'][0]].append(Ask(operation))
    return {key: sorted(asks, key=lambda ask: ask.operation.call) for key, asks in found.items()}


def holds_by_key(history):
    found = collections.defaultdict(list)
    for hold in history.holds:
        for key in hold.keys:
            found[key].append(hold)
    return found


def over(hold):
    """When the next one of its process may ask."""
    return hold.release.call if hold.release else hold.end or hold.t


def apart(things, owner):
    found = collections.defaultdict(list)
    for thing in things:
        found[owner(thing)].append(thing)
    return found


def join_after_locks(asks, holds):
    """Those of one process, which has held these locks."""
    times = [hold.t for hold in holds]
    ends = []
    for hold in holds:
        ends.append(max(over(hold), ends[-1] if ends else 0))
    for ask in asks:
        before = bisect.bisect_left(times, ask.returned)  # not its own
        if before:
            ask.joined = max(ask.joined, min(ends[before - 1], ask.returned))


def join_one_by_one(asks):
    """Those of one process, in their order."""
    latest = 0
    for ask in asks:
        if ask.operation.asked['wait'] > 0:
            ask.joined = max(ask.joined, min(latest, ask.returned))
            latest = max(latest, ask.returned)


def waits_by_key(history):
    """{(process, key): its acquires that wait for this key, and perhaps for others, in their order}"""
    found = collections.defaultdict(list)
    for operation in history.operations.values():
        if operation.what == 'acquire' and operation.asked['wait'] > 0:
            for key in operation.asked['keys']:
                found[operation.p, key].append(operation)
    return {at: sorted(waits, key=lambda wait: wait.call) for at, waits in found.items()}


def share_position(asks, waits):
    """Requests of one process share a queue position [W8]: one that is made while others wait may be as old as these."""
    first, latest, following = None, 0, iter(waits)
    wait = next(following, None)
    for ask in asks:
        while wait and wait.call <= ask.operation.call:
            first = wait.call if wait.call > latest else first
            latest = max(latest, wait.returned)
            wait = next(following, None)
        if first is not None and ask.operation.call <= latest:
            ask.senior = min(ask.senior, first)


def ends_of(hold):
    """(when, whether it was released) for each time at which the lock may have ended."""
    call = hold.release.call if hold.release else None
    if hold.end is not None and (call is None or hold.end < call):
        yield hold.end, False
    if call is not None:
        yield call, hold.release.what == 'release'


def leave_out_unreleased(asks, holds):
    """Only a release wakes the first one. When a lock ends by itself all may ask, and one that is handed over may go to
    anybody who waits."""
    ends = sorted(end for hold in holds for end in ends_of(hold))
    for ask in asks:
        before = bisect.bisect(ends, (ask.returned, False))
        if before and not ends[before - 1][1]:
            ask.overtakes = False


def overtakers(asks, ttl):
    """(waiter, those that asked more than one TTL after it had joined, and got the lock before it was answered)"""
    others = sorted((ask for ask in asks if ask.overtakes), key=lambda ask: ask.returned)
    times = [ask.returned for ask in others]
    for ask in asks:
        if ask.operation.asked['wait'] > 0:
            begin, end = bisect.bisect_right(times, ask.joined + ttl), bisect.bisect_left(times, ask.returned)
            yield ask, [other for other in others[begin:end] if other.senior > ask.joined + ttl]


def queue(history):
    """In the calm phase a waiter is not overtaken by many that began to wait more than a TTL later."""
    history.most['overtakes'] = 0
    if settled(history) is None:
        return
    holds, waits = holds_by_key(history), waits_by_key(history)
    for key, asks in asks_of_one_key(history).items():
        held = apart(holds[key], lambda hold: hold.p)
        for p, ours in apart(asks, lambda ask: ask.operation.p).items():
            join_after_locks(ours, held[p])
            join_one_by_one(ours)
            share_position(ours, waits.get((p, key), ()))
        leave_out_unreleased(asks, holds[key])
        for waiter, others in overtakers(asks, history.ttl):
            history.most['overtakes'] = max(history.most['overtakes'], len(others))
            if len(others) > MOST_OVERTAKES:
                since, last = history.seconds(waiter.joined), others[-1].operation
                yield (waiter.returned, waiter.operation.p, f'{waiter.operation} waits for {key} from {since:.3f} s on, and is '
                       f'overtaken {len(others)} times, last by {last} of {last.p}')
