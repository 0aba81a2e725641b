"""A short section of chaos, to see that masters, clients, faults and judge still fit together: `scripts/chaos`
is what looks for bugs. $CHAOS has the programs. Where namespaces are not allowed nothing is tested.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, '..', 'lint'))
from tap import Tap, skip_all  # noqa: E402


def server():
    program = shutil.which('redis-server') or shutil.which('valkey-server') or skip_all('no server is installed')
    version = subprocess.run([program, '--version'], check=True, capture_output=True, text=True).stdout
    return re.search(r'v=([\d.]+)', version)[1] + '=' + program


def main():
    os.environ['PATH'] += ':/usr/sbin:/sbin'
    ended = subprocess.run([sys.executable, '-B', os.path.join(HERE, 'chaos.py'), *shlex.split(os.environ['CHAOS']),
                            '--server', server(), '--minutes', '0.2', '--section-minutes', '0.2', '--calm-seconds', '4',
                            '--masters', '3', '--seed', '1'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if 'not allowed here' in ended.stdout:
        skip_all(ended.stdout.strip())
    tap = Tap()
    tap.claim('faults break nothing', [] if ended.returncode == 0 else [ended.stdout])
    figures = dict(re.findall(r'^  (\w[\w ,-]+?) +([\d,]+)$', ended.stdout, re.MULTILINE))
    idle = [name for name in ('acquisitions', 'holds', 'calls write', 'leaderships') if figures.get(name, '0') == '0']
    tap.claim('locks were acquired, and somebody led', [f'no {name}: {ended.stdout}' for name in idle])
    tap.claim('faults struck', [] if any(name.startswith('fault ') for name in figures) else [ended.stdout])
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
