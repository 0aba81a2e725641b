#!/usr/bin/env python3
"""The systemd units among the examples: systemd reads them, redlock runs their command lines, and they
give it few privileges. $REDLOCK: the command."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lint'))

from tap import Tap  # noqa: E402

EXAMPLES = os.path.join(HERE, '..', '..', 'docs', 'examples')
UNITS = ['redlock-elect@.service', 'cron/redlock-nightly.service', 'redlock-exporter.service',
         'redlock-web.service', 'cron/redlock-nightly.timer']
SERVICES = UNITS[:-1]
MOST_EXPOSED = 3  # of 10, as systemd-analyze counts
REDLOCK = os.environ['REDLOCK']


def read(unit):
    with open(os.path.join(EXAMPLES, unit), encoding='utf-8') as text:
        return text.read()


def exposed(unit, change=lambda text: text):
    """What systemd-analyze says about the privileges that a unit gives."""
    name = os.path.basename(unit).replace('@', '@daemon')
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        path = os.path.join(folder, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(change(read(unit)))
        done = subprocess.run(['systemd-analyze', 'security', '--offline=true', '--no-pager', path],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    level = re.search(r'exposure level for \S+: ([\d.]+)', done.stdout)
    if level is None or float(level[1]) >= MOST_EXPOSED:
        yield f'{unit}: {level[0] if level else done.stdout}'


def has_offline():
    """From systemd 250 on."""
    return '--offline' in subprocess.run(['systemd-analyze', '--help'], text=True, stdout=subprocess.PIPE).stdout


def verified(change=lambda text: text):
    """What systemd-analyze says of them: as if their programs were there."""
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        for unit in UNITS:
            text = change(read(unit)).replace('ExecStart=redlock', 'ExecStart=true')
            with open(os.path.join(folder, os.path.basename(unit)), 'w', encoding='utf-8') as file:
                file.write(text.replace('/etc/redlock/elect-%i', '/dev/null'))
        names = [os.path.join(folder, os.path.basename(unit).replace('@', '@daemon')) for unit in UNITS]
        shutil.copy(os.path.join(folder, 'redlock-elect@.service'), names[0])
        done = subprocess.run(['systemd-analyze', 'verify', '--man=no', *names], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = [said for said in done.stdout.splitlines() if folder in said or 'redlock' in said]
    return said + ([] if done.returncode == 0 or said else [f'status {done.returncode}: {done.stdout}'])


def command_line(unit, **variables):
    """The words that systemd makes of it."""
    command = re.search(r'^ExecStart=(.*)$', read(unit), re.MULTILINE)[1]
    command = command.replace('%i', 'daemon').replace('%H', 'host')
    return [part for word in command.split()
            for part in (shlex.split(variables[word[1:]]) if word.startswith('$') else [word])]


def runs(words, wanted):
    words = [REDLOCK if word == 'redlock' else word for word in words]
    done = subprocess.run([REDLOCK, 'sandbox', '-n', '1', '--', *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0 or wanted not in done.stdout.splitlines():
        yield f'{words}: {done.returncode}: {done.stdout}'


def serves(words, wanted):
    """It runs until it gets SIGTERM, and then exits as the unit expects."""
    words = [REDLOCK if word == 'redlock' else word for word in words]
    child = subprocess.Popen([REDLOCK, 'sandbox', '-n', '1', '--', *words], text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    said = []
    for text in child.stdout:
        said.append(text)
        if wanted in text:
            break
    child.terminate()
    child.stdout.read()
    if child.wait() != 143 or wanted not in said[-1]:
        yield f'{words}: {child.returncode}: {"".join(said)}'


def elect(command, options='--ttl 5s'):
    return command_line(UNITS[0], OPTIONS=options, COMMAND=command)


def nightly(report):
    words = command_line(UNITS[1])
    assert words[-1] == '/usr/local/bin/report' and words[4:6] == ['5m', '--wait'], words
    # The test does not wait for five minutes.
    return words[:4] + ['10ms'] + words[5:-1] + report


def main():
    tap = Tap()
    tap.claim('the elected daemon runs', runs(elect('printenv REDLOCK_VALUE'), 'host'))
    tap.claim('without options, too', runs(elect('printenv REDLOCK_ID', ''), 'host'))
    tap.fires('an option that is not there', runs(elect('true', '--no-such-option'), 'host'), 'such-option')
    tap.claim('the nightly job runs', runs(nightly(['echo', 'report']), 'report'))
    tap.claim('it is the job of nightly.cron',
              [] if ' '.join(command_line(UNITS[1])[1:]) in read('cron/nightly.cron') else ['it is not'])
    for unit, place in ('redlock-exporter.service', '/metrics'), ('redlock-web.service', 'listening on'):
        tap.claim(f'{unit} serves', serves(command_line(unit, OPTIONS='k --listen 127.0.0.1:0'), place))
    tap.fires('an option that is not there',
              serves(command_line(unit, OPTIONS='--no-such-option'), 'listening on'), 'such-option')
    for unit in SERVICES:
        path = re.search(r'^ExecStart=(\S*)', read(unit), re.MULTILINE)[1]
        tap.claim(f'{unit} finds redlock in /usr and in /usr/local', [] if path == 'redlock' else [path])
    if shutil.which('systemd-analyze') and has_offline():
        for unit in SERVICES:
            tap.claim(f'{unit} gives few privileges', exposed(unit))
        tap.fires('a unit that runs as root', exposed(SERVICES[0], lambda text: re.sub(
            '^(DynamicUser|CapabilityBoundingSet|SystemCallFilter|NoNewPrivileges)=.*$', '', text, flags=re.M)),
            'exposure')
    if shutil.which('systemd-analyze'):
        tap.claim('systemd reads the units', verified())
        tap.fires('a unit with a mistake', verified(lambda text: text.replace('WatchdogSec=', 'WatchDog=')),
                  'WatchDog')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
