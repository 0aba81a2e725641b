"""--metrics-file of lock and elect: what the textfile collector of node_exporter reads when the command
has ended, and that the alerts of docs/examples fire on it.

Runs itself in a sandbox. $REDLOCK is the command under test; the output is TAP.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ['lint', 'lib']:
    sys.path.insert(0, os.path.join(HERE, '..', folder))
from inside import run_in_sandbox  # noqa: E402
from prometheus import Page  # noqa: E402
from servers import Client  # noqa: E402
from tap import Tap  # noqa: E402

ALERTS = os.path.join(HERE, '..', '..', 'docs', 'examples', 'alerts.yml')
REDLOCK = os.environ['REDLOCK']
PATIENT = ['--node-timeout', '20s']
PATIENCE_S = 60
REASONS = {'no_majority', 'keys_gone', 'suspended', 'late', 'limit', 'outranked', 'unhealthy'}


def ask_masters(*questions):
    """All of them, each over one connection. Returns the replies that are not OK or 0."""
    replies = []
    for number in range(1, 6):
        master = Client(f"{os.environ['REDLOCK_SANDBOX']}/{number}.sock")
        for words in questions:
            master.send(*words)
            replies.append(master.reply())
        master.close()
    return [reply for reply in replies if reply not in ('OK', '0')]


def start(path, *words, cmd, **how):
    return subprocess.Popen([REDLOCK, *words, *PATIENT, '--metrics-file', path, '--', *cmd], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)


def run(path, *words, cmd=('true',), **how):
    """The exit status, stderr, and the page; None: there is no file."""
    process = start(path, *words, cmd=cmd, **how)
    _, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, err, read(path)


def read(path):
    if not os.path.isfile(path):
        return None
    with open(path, encoding='utf-8') as file:
        return Page(file.read())


def ones(page, name, label):
    return {dict(key)[label] for sample, key in page.samples if sample == name and page.samples[sample, key] == 1}


def differs(page, status, outcome, reason=None, name='k'):
    if page is None:
        yield 'there is no file'
        return
    yield from page.mistakes
    for what, got, wanted in [('outcome', ones(page, 'redlock_run_outcome', 'outcome'), {outcome}),
                              ('loss', ones(page, 'redlock_run_lost', 'reason'), {reason} - {None}),
                              ('status', page.value('redlock_run_exit_status', name=name), status),
                              ('success', page.value('redlock_run_success_time_seconds', name=name) is not None,
                               outcome == 'ok')]:
        if got != wanted:
            yield f'{what}: {got}, not {wanted}'


def promtool(tap, path):
    tool = shutil.which('promtool')
    if tool is None:
        tap.claim('promtool finds nothing wrong # SKIP there is no promtool', [])
        return
    with open(path, 'rb') as file:
        done = subprocess.run([tool, 'check', 'metrics'], stdin=file, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    tap.claim('promtool finds nothing wrong', [done.stdout] if done.stdout or done.returncode else [])


# ---- what is in the file ----

def a_run_that_succeeds(tap, folder):
    path, before = os.path.join(folder, 'k.prom'), int(time.time())
    status, err, page = run(path, 'lock', 'k', cmd=['test', '!', '-e', path])
    tap.claim('a run that succeeds is in the file, and not before its end',
              [f'exit {status}: {err}'] if status else differs(page, 0, 'ok'))
    if page is None:
        return
    begun, ended, done, waited, held = [
        page.value(f'redlock_run_{name}_seconds', name='k')
        for name in ['start_time', 'end_time', 'success_time', 'wait', 'held']]
    tap.claim('and when it was, and how long it waited and held the lock',
              [] if before <= begun <= ended == done <= time.time() and waited > 0 and held > 0
              else [str([before, begun, ended, done, waited, held])])
    tap.claim('there is a sample for each reason of a loss',
              REASONS ^ {dict(key)['reason'] for name, key in page.samples if name == 'redlock_run_lost'})
    tap.claim('no other file is left', set(os.listdir(folder)) ^ {'k.prom'})
    old = os.umask(0o022)
    run(path + '2', 'lock', 'k')
    os.umask(old)
    tap.claim('others may read it, as the umask allows', [] if os.stat(path + '2').st_mode & 0o777 == 0o644
              else [oct(os.stat(path + '2').st_mode)])
    promtool(tap, path)


def other_outcomes(tap, folder):
    path = os.path.join(folder, 'other.prom')
    nowhere = ['--nodes', f'unix://{folder}/none.sock']
    for what, words, cmd, wanted in [
            ('fails', ['lock', 'k'], ['sh', '-c', 'exit 7'], (7, 'failed')),
            ('lasts longer than --max-hold', ['lock', 'k', '--max-hold', '5s'], ['sleep', '60'],
             (76, 'lost', 'limit')),
            ('is not renewed', ['lock', 'k', '--no-renew', '--ttl', '5s'], ['sleep', '60'],
             (76, 'lost', 'limit')),
            ('cannot be run', ['lock', 'k'], [folder + '/none'], (127, 'failed')),
            ('has no masters', ['lock', 'k', '--wait', '10ms', *nowhere], ['true'], (69, 'unreachable')),
            ('leads and ends', ['elect', 'k'], ['sh', '-c', 'exit 3'], (3, 'failed')),
            ('leads and succeeds', ['elect', 'k'], ['true'], (0, 'ok'))]:
        status, err, page = run(path, *words, cmd=cmd)
        tap.claim(f'a run that {what} is in the file',
                  [*differs(page, *wanted)] + ([] if status == wanted[0] else [f'exit {status}: {err}']))
    holder = start(path, 'lock', 'k', cmd=['sh', '-c', 'echo held; exec sleep 600'])
    holder.stdout.readline()
    status, err, page = run(path, 'lock', 'k', '--no-wait', '-qE', '0')
    tap.claim('a lock that somebody else holds is in the file, whatever the exit status',
              [err] if status else differs(page, 0, 'held'))
    waiter = start(path, 'lock', 'k', '-v', cmd=['true'])
    for message in waiter.stderr:
        if 'waiting for' in message:
            break
    waiter.send_signal(signal.SIGTERM)
    waiter.communicate(timeout=PATIENCE_S)
    tap.claim('a wait that a signal ends is, too', differs(read(path), 143, 'interrupted'))
    holder.send_signal(signal.SIGTERM)
    holder.communicate(timeout=PATIENCE_S)
    tap.claim('and a command that a signal to redlock ends', differs(read(path), 143, 'interrupted'))


def stop(process):
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)


def lost_keys(tap, folder):
    path = os.path.join(folder, 'lost.prom')
    for command, once in [('lock', []), ('elect', ['--once'])]:
        process = start(path, command, 'k', '--ttl', '12s', *once, cmd=['sh', '-c', 'echo held; sleep 60'])
        process.stdout.readline()
        stop(process)  # a renewal meanwhile would restore the keys of a minority
        ask_masters(('FLUSHALL',))
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=PATIENCE_S)
        tap.claim(f'{command}: keys that a majority has lost are in the file, with the reason',
                  differs(read(path), 76, 'lost', 'keys_gone'))
    # The first renewal comes after a hundredth of the TTL, the second one after a tenth or later.
    process = start(path, 'lock', 'k', '--ttl', '120s', '-vv',
                    cmd=['sh', '-c', 'trap "exit 0" TERM; sleep 60 & echo held; wait'])
    for message in process.stderr:
        if "renewed 'k', valid for" in message:
            break
    ask_masters(('FLUSHALL',))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_S)
    tap.claim('also when that is noticed only at the release', differs(read(path), 0, 'ok', 'keys_gone'))


def other_losses(tap, folder):
    path = os.path.join(folder, 'lost.prom')
    process = start(path, 'lock', 'k', '--ttl', '6s', cmd=['sh', '-c', 'echo held; sleep 60'])
    process.stdout.readline()
    ask_masters(('CONFIG', 'SET', 'requirepass', 'secret'), ('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'))
    process.communicate(timeout=PATIENCE_S)
    ask_masters(('AUTH', 'secret'), ('CONFIG', 'SET', 'requirepass', ''))
    tap.claim('a loss without a majority is in the file', differs(read(path), 76, 'lost', 'no_majority'))
    process = start(path, 'lock', 'k', '--ttl', '2s', cmd=['sh', '-c', 'echo held; exec sleep 60'])
    process.stdout.readline()
    stop(process)
    end = time.monotonic() + PATIENCE_S
    while any(ask_masters(('EXISTS', 'k'))) and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=PATIENCE_S)
    tap.claim('a suspension that lost the lock is in the file', differs(read(path), 76, 'lost', 'suspended'))


# ---- what can go wrong ----

def limit_files():
    """As a full disk. Python ignores the signal of the limit, and so does what it starts."""
    import resource  # pylint: disable=import-outside-toplevel
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def bad_files(tap, folder):
    path = os.path.join(folder, 'bad.prom')
    seven = ['sh', '-c', 'exit 7']
    run(path, 'lock', 'k')
    with open(path, encoding='utf-8') as file:
        before = file.read()
    status, err, _ = run(path, 'lock', 'k', cmd=seven, preexec_fn=limit_files, restore_signals=False)
    with open(path, encoding='utf-8') as file:
        tap.claim('a full disk is said, and changes neither the exit status nor the former file',
                  [] if status == 7 and f'cannot write the metrics to {path}: File too large' in err
                  and file.read() == before else [f'exit {status}: {err}'])
    tap.claim('and leaves nothing behind', [name for name in os.listdir(folder) if 'tmp' in name])
    for bad, why in [(folder + '/none/k.prom', 'No such file or directory'), (folder, 'it is not a regular file'),
                     ('/dev/null', 'it is not a regular file'), (path + '/x', 'Not a directory')]:
        status, err, _ = run(bad, 'lock', 'k', cmd=seven)
        tap.claim(f'a file that cannot be written is said ({why}), and changes no exit status',
                  [] if status == 7 and f'cannot write the metrics to {bad}: {why}' in err
                  else [f'exit {status}: {err}'])
    status, err, _ = run('', 'lock', 'k')
    tap.claim('a file without a name is refused', [] if status == 64 and '--metrics-file is empty' in err
              else [f'exit {status}: {err}'])
    done = subprocess.run([REDLOCK, 'elect', 'k', '--observe', '--metrics-file', path], check=False, text=True,
                          stderr=subprocess.PIPE, timeout=PATIENCE_S)
    tap.claim('who only observes has no run to write of', [] if done.returncode == 64 and '--metrics-file' in done.stderr
              else [done.stderr])


# ---- the alerts ----

def series_of(page, labels, shift):
    """The samples of a page as promtool wants them: for three days, the times counted from `shift`."""
    for (name, key), value in page.samples.items():
        at = value - shift if name.endswith('_time_seconds') else value
        every = ','.join(f'{label}="{text}"' for label, text in [*key, *labels.items()])
        yield f"      - series: '{name}{{{every}}}'\n        values: '{at}x4320'"


def fires(tool, alert, series, at):
    """promtool is told that the alert does not fire."""
    with tempfile.NamedTemporaryFile('w', suffix='.yml', encoding='utf-8') as file:
        file.write('\n'.join([f'rule_files: [{os.path.realpath(ALERTS)}]', 'evaluation_interval: 1m', 'tests:',
                              '  - interval: 1m', '    input_series:', *series, '    alert_rule_test:',
                              f'      - eval_time: {at}', f'        alertname: {alert}',
                              '        exp_alerts: []', '']))
        file.flush()
        done = subprocess.run([tool, 'test', 'rules', file.name], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0 and not re.search(rf'alertname: ?{alert},', done.stdout):
        raise RuntimeError(done.stdout)
    return done.returncode != 0


def alerts(tap, folder):
    tool = shutil.which('promtool')
    if tool is None:
        tap.claim('the alerts fire # SKIP there is no promtool', [])
        return
    good, lost = os.path.join(folder, 'good.prom'), os.path.join(folder, 'bad.prom')
    page = run(good, 'lock', 'nightly')[2]
    bad = run(lost, 'lock', 'nightly', '--max-hold', '500ms', cmd=['sleep', '60'])[2]
    node = {'instance': 'a', 'job': 'node'}
    after, after_loss = [
        list(series_of(one, node, one.value('redlock_run_end_time_seconds', name='nightly'))) for one in (page, bad)]
    up, down = [[f"      - series: 'up{{instance=\"a\",job=\"redlock\"}}'\n        values: '{value}x4320'"]
                for value in (1, 0)]
    for what, alert, series, at, wanted in [
            ('after a loss', 'RedlockLockLost', after_loss, '5m', True),
            ('not permanently', 'RedlockLockLost', after_loss, '90m', False),
            ('not without a loss', 'RedlockLockLost', after, '5m', False),
            ('not after a night', 'RedlockNightlyDidNotRun', after, '25h', False),
            ('when a night was left out', 'RedlockNightlyDidNotRun', after, '27h', True),
            ('when the job has only failed', 'RedlockNightlyDidNotRun', after_loss, '1h', True),
            ('when the exporter does not answer', 'RedlockExporterDown', down, '5m', True),
            ('when nobody asks it', 'RedlockExporterDown', after, '5m', True),
            ('not when it answers', 'RedlockExporterDown', up, '5m', False)]:
        tap.claim(f'{alert} fires: {what}' if wanted else f'{alert} does not fire: {what}',
                  [] if fires(tool, alert, series, at) == wanted else ['it does not' if wanted else 'it does'])


def main():
    run_in_sandbox()
    tap = Tap()
    for part in [a_run_that_succeeds, other_outcomes, lost_keys, other_losses, bad_files, alerts]:
        with tempfile.TemporaryDirectory() as folder:
            part(tap, folder)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
