"""Is there an order of calls that a model allows, in which a call that had returned comes before those that began later?

A search as by Wing and Gong, with Lowe's cache: it keeps the set of all pairs (state, calls that have taken effect already)
that are possible, and goes through the calls and returns in their order in time. At a return, each pair in which
that call has not taken effect is continued by every order of the calls in progress that lets it take effect. Where
no call is in progress only states are left, so the history falls apart into pieces by itself.
"""
import collections

MOST = 300_000  # pairs at one return: above that the search gives up

# certain: the call returned as `what` says. Otherwise it may take effect at any time after `call`, or never.
Call = collections.namedtuple('Call', 'call returned what certain name')


class TooLarge(Exception):
    """There are too many pairs."""


class Register:
    """A fenced register. The state is (largest token shown, value)."""
    initial = (0, 0)

    @staticmethod
    def step(state, what):
        """The state after the call, or None: the model does not allow it."""
        kind, fence, value, status = what
        if kind == 'final':  # the value is looked at, without a token
            return state if value == state[1] else None
        if status == 'refused' or status == 'unknown' and fence < state[0]:
            return state if fence < state[0] else None
        if fence < state[0]:
            return None
        if kind == 'write':
            return fence, value
        return (fence, state[1]) if status == 'unknown' or value == state[1] else None

    @staticmethod
    def spent(state, what):
        """Whether the call can no longer change anything, if it is uncertain that it ever did."""
        return what[1] < state[0] or what[0] == 'read' and what[1] == state[0]


class Mutex:
    """The model of Hazelcast's FencedMutex. The state is (holder or None, largest token)."""
    initial = (None, 0)

    @staticmethod
    def step(state, what):
        kind, who, fence = what
        holder, largest = state
        if kind == 'release':
            return (None, largest) if holder == who else None
        if holder is not None or fence <= largest:
            return None
        return (None if kind == 'pass' else who), fence  # a pass: it was over before its holder knew

    @staticmethod
    def spent(_state, _what):
        return False


def moments(calls):
    """(time, 0 for a call or 1 for a return, number), in order. What happens at the same moment overlaps."""
    found = [(one.call, 0, number) for number, one in enumerate(calls)]
    found += [(one.returned, 1, number) for number, one in enumerate(calls) if one.certain]
    return sorted(found)


class Search:
    def __init__(self, model, calls, most):
        self.model, self.calls, self.most = model, calls, most
        self.pairs = {(model.initial, frozenset())}
        self.pending = set()    # begun, and not returned
        self.uncertain = set()  # those of them that will not return
        self.visited = 0

    def settle(self, state, done):
        """Uncertain calls that can no longer change anything count as done."""
        more = [j for j in self.uncertain
                if j not in done and self.model.spent(state, self.calls[j].what)]
        return state, done.union(more) if more else done

    def continued(self, state, done):
        for j in self.pending:
            if j in done:
                continue
            after = self.model.step(state, self.calls[j].what)
            if after is not None and (self.calls[j].certain or after != state):
                yield self.settle(after, done | {j})

    def returns(self, number):
        """Only the pairs stay in which this call has taken effect."""
        seen, stack, kept = set(self.pairs), list(self.pairs), set()
        while stack:
            state, done = stack.pop()
            if number in done:
                kept.add((state, done - {number}))
                continue
            for pair in self.continued(state, done):
                if pair not in seen:
                    seen.add(pair)
                    stack.append(pair)
            if len(seen) > self.most:
                raise TooLarge(f'more than {self.most} orders are possible at {self.calls[number].name}')
        self.visited += len(seen)
        self.pending.discard(number)
        self.pairs = kept

    def drop_settled(self):
        """A call that has taken effect in every pair, or can have none, is no longer pending."""
        settled = self.uncertain.intersection(*(done for _, done in self.pairs))
        if settled:
            self.pending -= settled
            self.uncertain -= settled
            self.pairs = {(state, done - settled) for state, done in self.pairs}

    def run(self):
        """None, or the call that nothing explains, and the states before it."""
        for _, is_return, number in moments(self.calls):
            if not is_return:
                self.pending.add(number)
                if not self.calls[number].certain:
                    self.uncertain.add(number)
                continue
            before = self.pairs
            if self.uncertain:
                self.pairs = {self.settle(*pair) for pair in self.pairs}
            self.returns(number)
            if not self.pairs:
                return self.calls[number], {state for state, _ in before}
            if self.uncertain:
                self.drop_settled()
        return None


def search(model, calls, most=MOST):
    """(None, or the call that no order explains and the states before it; how many pairs were visited)."""
    run = Search(model, calls, most)
    return run.run(), run.visited
