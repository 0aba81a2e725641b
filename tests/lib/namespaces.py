"""Network namespaces for tests in Python: whether they are allowed here, and a program that begins again in one."""
import os
import shutil
import subprocess
import sys


BRIDGE = ('bridge',)
PAIR = ('veth', 'peer', 'name', 'peer')


def refusal(tools, words, kind):
    """Why `unshare WORDS` cannot have a network with this kind of link here; None if it can."""
    for tool in tools:
        if not shutil.which(tool):
            return f'{tool} is not installed'
    tried = subprocess.run(['unshare', *words, 'ip', 'link', 'add', 'name', 'probe', 'type', *kind], capture_output=True,
                           text=True)
    return 'network namespaces are not allowed here: ' + tried.stderr.strip() if tried.returncode else None


def as_root(*words):
    """The options of unshare: in the namespace we are root."""
    return [*words] if os.geteuid() == 0 else [*words, '--map-root-user']


def begin_again(words, mark):
    """Run this program again in `unshare WORDS`, with $MARK."""
    os.execvpe('unshare', ['unshare', *words, sys.executable, '-B', *sys.argv], {**os.environ, mark: '1'})
