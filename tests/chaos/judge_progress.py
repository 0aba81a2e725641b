"""Checks that somebody gets a lock, and that the history makes sense."""
from judge_queue import settled


def keys_asked_for(history):
    """{key: the first that asked for it in the calm phase, and was answered}."""
    start, found = settled(history), {}
    for operation in history.operations.values():
        if operation.what == 'acquire' and operation.call >= start and operation.answer:
            for key in operation.asked['keys']:
                found.setdefault(key, operation)
    return found


def keys_served(history):
    """The keys that somebody got, or relied on, in the calm phase."""
    return {key for hold in history.holds for key in hold.keys
            if hold.t >= history.calm or hold.end is not None and hold.end > settled(history)}


def progress(history):
    """Somebody gets a lock; in the calm phase each key that is asked for."""
    if not history.holds:
        yield history.facts['ended'], 'nobody', 'got any lock'
    if settled(history) is None:
        return
    served = keys_served(history)
    for key, operation in keys_asked_for(history).items():
        if key not in served:
            yield operation.call, operation.p, f'{operation} asks for {key}, which nobody gets in the calm phase'


def sanity(history):
    """What an acquire has got is held at once. (What else is odd, the reader has seen.)"""
    for (p, lock), operation in history.gained.items():
        if history.last[p]['t'] > operation.returned or p in history.stops:
            yield operation.returned, p, f'{operation} got lock {lock}, which is never held'
