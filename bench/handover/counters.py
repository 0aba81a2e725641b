"""What the masters of a run have done: their counters, and their time."""
from processes import cpu_s

# What the scripts of the clients call: the server counts it like what clients send. No client sends one of these by
# itself, but for the EXISTS of libredlock that follows each CLIENT CACHING.
INSIDE = {
    'floor': {'get', 'del'},
    'libredlock': {'exists', 'get', 'del', 'pttl', 'pexpire', 'publish', 'zadd', 'zrem', 'zrange', 'zrank', 'zcard'},
    'redlock': {'exists', 'set', 'get', 'del'},
    'redlock-universal': {'get', 'del'},
}


class Counters:
    """What masters have done and used since this was made."""

    def __init__(self, masters):
        self.masters = masters
        self.calls = [master.calls() for master in masters]
        self.cpu = [cpu_s(master.pid) for master in masters]

    def since(self, family):
        """Commands that clients sent, commands of scripts, messages pushed, and CPU seconds. A read that is tracked is
        answered by one invalidation at most, so `pushed` is an upper bound."""
        sent = inside = pushed = 0
        for master, before in zip(self.masters, self.calls):
            for name, count in master.calls().items():
                count -= before.get(name, 0)
                if name == 'client|caching':
                    sent, inside = sent + count, inside - count
                if name in ('publish', 'client|caching'):
                    pushed += count
                if name == 'info':
                    continue
                if name in INSIDE[family]:
                    inside += count
                else:
                    sent += count
        used = sum(cpu_s(master.pid) - cpu for master, cpu in zip(self.masters, self.cpu))
        return {'sent': sent, 'inside': inside, 'pushed': pushed, 'cpu_s': used}
