"""What happens to a leader, and what is seen then."""
import random
import signal
import time

from candidates import wait_for
from figures import figures
from processes import name_of, signal_all

FIRST_S = 60     # until there is a leader at all
SETTLE_S = 1     # from then on until the others wait
ASIDE_S = 0.2    # how long it is watched whether the former leader goes on beside the next one
AWAKE_S = 1      # the same after it has been woken


def kill(election, leader):
    leader.signal(signal.SIGKILL)


def term(election, leader):
    election.system.ask_to_end(leader)


def stop(election, leader):
    leader.signal(signal.SIGSTOP)


def suspend(election, leader):
    signal_all(leader.family(), signal.SIGSTOP)


def both(election, leader):
    """redlock and its supervisor, stopped first: neither runs when the other one is gone."""
    pids = [leader.process.pid, *(pid for pid in leader.family() if name_of(pid) == 'lock-supervisor')]
    signal_all(pids, signal.SIGSTOP)
    signal_all(pids, signal.SIGKILL)


def gone(election, leader):
    """As if the machine were gone: nothing runs any more, and the connections end."""
    pids = leader.family()
    signal_all(pids, signal.SIGSTOP)
    signal_all(pids, signal.SIGKILL)


EVENTS = {'kill': kill, 'term': term, 'stop': stop, 'suspend': suspend}
OUR_EVENTS = {'both': both, 'gone': gone}


def wake(leader):
    """Returns when it was continued; the command comes before those that look after it."""
    woken_ns = time.monotonic_ns()
    signal_all(leader.family()[::-1], signal.SIGCONT)
    time.sleep(AWAKE_S)
    return woken_ns


def settle(election, ttl_s):
    """Wait until one leads and the others wait. The pause is random, as the age of a lease or a lock is when something
    happens. Returns the leader."""
    if not wait_for(election.leader, FIRST_S):
        raise RuntimeError(f'no leader within {FIRST_S} s')
    time.sleep(SETTLE_S + random.uniform(0, ttl_s / 3))
    election.records.clear()
    leader = wait_for(election.leader, FIRST_S)
    if not leader:
        raise RuntimeError('there is no leader any more, although nothing was done to it')
    return leader


def trial(election, event, ttl_s, patience_s):
    """The figures of one trial. The former leader is removed afterwards."""
    vanished = election.fill()
    leader = settle(election, ttl_s)
    event_ns, woken_ns = time.monotonic_ns(), None
    (EVENTS | OUR_EVENTS)[event](election, leader)
    found = wait_for(lambda: election.leader() not in (leader, None), patience_s)
    time.sleep(ASIDE_S)
    if found and event == 'suspend':
        woken_ns = wake(leader)
    acts = election.records.all()
    election.remove(leader)
    return {'trial': event, 'vanished': vanished} | figures(acts, leader.number, event_ns, woken_ns)
