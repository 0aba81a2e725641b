"""What the records of a trial say: when the next leader acted, when the former one had stopped, and whether two acted at once."""
import statistics
import struct
from collections import namedtuple

RECORD = struct.Struct('=QQII')  # as act.c and Latch.java write it

Act = namedtuple('Act', 'ns term instance candidate')
Reign = namedtuple('Reign', 'first last term')  # from the first act of an instance to its last


def acts_in(data):
    """The records, by time. A record that is not yet complete is left out."""
    return sorted(Act(*fields) for fields in RECORD.iter_unpack(data[:len(data) // RECORD.size * RECORD.size]))


def reigns(acts):
    """One for each instance, by their beginnings."""
    found = {}
    for act in acts:
        first = found[act.instance].first if act.instance in found else act.ns
        found[act.instance] = Reign(first, act.ns, act.term)
    return sorted(found.values())


def together(acts):
    """How many began to act while another one went on, and for how many milliseconds at most two of them did."""
    count, longest, end = 0, 0, 0
    for reign in reigns(acts):
        count += reign.first < end
        longest = max(longest, min(end, reign.last) - reign.first)
        end = max(end, reign.last)
    return count, longest / 1e6


def terms_that_do_not_grow(acts):
    terms = [reign.term for reign in reigns(acts) if reign.term]
    return sum(after <= before for before, after in zip(terms, terms[1:]))


def figures(acts, leader, event_ns, woken_ns=None):
    """Of a trial in which something happened to the candidate `leader` at event_ns, and which was continued at woken_ns,
    after the next one had been elected. What it does from then on is only counted as late: nobody can prevent that but the
    resource, by the term."""
    before = [act for act in acts if woken_ns is None or act.ns < woken_ns]
    count, longest = together(before)
    found = {'next_ms': None, 'idle_ms': None, 'late_ms': None, 'together': count, 'together_ms': longest,
             'bad_terms': terms_that_do_not_grow(before)}
    following = [act.ns for act in before if act.candidate != leader and act.ns >= event_ns]
    if following:
        former_end = max((act.ns for act in before if act.candidate == leader), default=event_ns)
        found['next_ms'] = (following[0] - event_ns) / 1e6
        found['idle_ms'] = (following[0] - former_end) / 1e6
    if following and woken_ns is not None:
        found['late_ms'] = max([act.ns - woken_ns for act in acts if act.candidate == leader] + [0]) / 1e6
    return found


def spread(trials, field):
    """Median, least and most; None when no trial has the figure."""
    values = [trial[field] for trial in trials if trial.get(field) is not None]
    return (statistics.median(values), min(values), max(values)) if values else None
