"""What the acquisitions of a run say: owner changes, times, shares, and whether two held at once."""
from collections import Counter


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else None


def overlaps(acquisitions):
    """How often the lock was held by somebody when the next one held it too."""
    count, last_end = 0, 0
    for held, released, _, _ in acquisitions:
        count += held < last_end
        last_end = max(last_end, released)
    return count


def figures(acquisitions, contenders, begin_ns, end_ns):
    """The figures of those that began in the time that is measured."""
    counted = [a for a in acquisitions if begin_ns <= a[0] < end_ns]
    seconds = (end_ns - begin_ns) / 1e9
    gaps = [(after[0] - before[1]) / 1e6 for before, after in zip(counted, counted[1:])
            if after[2] != before[2]]
    shares = Counter(a[2] for a in counted)
    counts = [shares[i] for i in range(contenders)]
    n = len(counted)
    return {
        'changes_per_s': len(gaps) / seconds,
        'acquisitions_per_s': n / seconds,
        'gap_p50_ms': percentile(gaps, 0.50),
        'gap_p99_ms': percentile(gaps, 0.99),
        'gap_max_ms': max(gaps, default=None),
        'share': min(counts) / max(counts) if n else None,
        'served': sum(count > 0 for count in counts) / contenders,
        'tries': sum(a[3] for a in counted) / n if n else None,
        'hold_p50_ms': percentile([(a[1] - a[0]) / 1e6 for a in counted], 0.50),
        'changes': len(gaps),
    }
