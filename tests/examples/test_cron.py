#!/usr/bin/env python3
"""The examples of a job that cron starts on ten machines, on the masters of a sandbox.
$REDLOCK: the command."""
import re

import place
from lib import Tap, wrong
from place import Place, until

MACHINES = 10
QUICK = 'echo began >>ran; echo result; echo ended >>ran'
# Sleeps for longer than the test, unless the file `again` was there when it began.
LONG = 'test -e again && t=0; echo $$ >>ran; echo began; sleep ${t:-60}; echo ended >>ran'


def cron_line(it, job):
    """The command of nightly.cron with our job, and what cron would put into its environment."""
    text = it.read('example', 'nightly.cron')
    variables = dict(re.findall('^([A-Z_]+)=(.*)$', text, re.M))
    assert set(variables) == {'SHELL', 'PATH'}
    command = re.search(r'^\S+ \S+ \* \* \* root (.*)$', text, re.M)[1]
    assert command.count('/usr/local/bin/report') == 1 and '%' not in command
    return [variables['SHELL'], '-c', command.replace('/usr/local/bin/report', job)]


def until_done(it, job):
    return [f'{it.examples}/until_done.sh', it.file('result'), job]


def key_of(it, way):
    return 'nightly' if way is cron_line else f'until-done:{it.file("result")}'


def start_all(it, way, text):
    command = way(it, it.script(text))
    return command, [it.start(*command) for _ in range(MACHINES)]


def one_of_ten(way, *changes):
    """Ten at the same time, and one whose clock is behind: one run, no failure."""
    with Place('cron', *changes) as it:
        command, machines = start_all(it, way, QUICK)
        until(lambda: 'ended' in it.lines('ran'), 'the job has run')
        machines.append(it.start(*command))
        ended = [it.end(machine) for machine in machines]
        quiet = (0, 'result\n') if way is cron_line else (0, '')
        return (wrong('how they ended', sorted(set(ended)), sorted({(0, ''), quiet})) +
                wrong('what has run', it.lines('ran'), ['began', 'ended']))


def killed_in_the_middle(way, runs):
    """kill -9 for the one that has the lock: its job ends with it. Then `runs` begin in all."""
    with Place('cron') as it:
        _, machines = start_all(it, way, LONG)
        first = until(lambda: it.lines('ran'), 'the job has begun')[0]
        it.write('', 'again')
        it.kill_holder(key_of(it, way))
        until(lambda: place.is_dead(first), 'the job is dead')
        ended = sorted(it.end(machine)[0] for machine in machines)
        killed = [status for status in ended if status]
        ran = it.lines('ran')
        return (wrong('those that failed', len(killed) == 1 and killed[0] in (-9, 137), True) +
                wrong('those that began', len([line for line in ran if line != 'ended']), runs) +
                wrong('those that ended', ran.count('ended'), runs - 1))


def result_of_the_second():
    """The same, and the result is whole, without a draft beside it."""
    with Place('cron') as it:
        _, machines = start_all(it, until_done, LONG)
        until(lambda: it.lines('ran'), 'the job has begun')
        it.write('', 'again')
        for machine in machines[1:]:
            machine.terminate()
        machines[0].terminate()
        ended = {it.end(machine)[0] for machine in machines}
        last = it.end(it.start(*until_done(it, it.file('cmd'))))
        return (wrong('how they ended', ended <= {143, -15}, True) + wrong('the last', last, (0, '')) +
                wrong('the result', it.lines('result'), ['began']) +
                wrong('drafts', [name for name in place.os.listdir(it.path) if 'draft' in name], []))


def run():
    tap = Tap()
    place.tell_all(tap, [
        ('nightly.cron: ten machines, one run', lambda: one_of_ten(cron_line)),
        ('nightly.cron: one is killed in the middle: no second run',
         lambda: killed_in_the_middle(cron_line, 1)),
        ('until_done.sh: ten machines, one run', lambda: one_of_ten(until_done)),
        ('until_done.sh: one is killed in the middle: another one does it',
         lambda: killed_in_the_middle(until_done, 2)),
        ('until_done.sh: all are ended in the middle: the next one does it', result_of_the_second)])
    place.fires(tap, 'no --at-least',
                one_of_ten(cron_line, ('nightly.cron', ' --at-least 5m --wait', ' --wait')))
    place.fires(tap, 'nobody looks for a result',
                one_of_ten(until_done, ('until_done.sh', '[ ! -e "$result" ] || exit 0', '')))
    return tap.finish()


if __name__ == '__main__':
    place.main(run)
