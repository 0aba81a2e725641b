"""A copy of the source tree, in which one file at a time may have a bug.

The known bugs are built from it, so the sources themselves are never touched and the files of the
build know nothing of it. The copy stays from run to run, and its build with it: what has changed is
compiled again, and nothing else. For this to hold,

- it consists of real copies. A link to a source would be as old as the source, and ninja takes what
  is older than its object for built; Python would look for modules beside the file linked to;
- a file is written only when its contents differ, and then it is as new as the moment. That goes
  for a bug, and for the file without it as well;
- follow() looks at contents, not at times, so it also repairs what an interrupted run has left.
"""
import contextlib
import fcntl
import os
import shutil

# How meson marks its builds, and how ours are marked.
IGNORED = '.gitignore'


def is_build(folder):
    """Whether the folder contains only generated files."""
    try:
        with open(os.path.join(folder, IGNORED), encoding='utf-8') as lines:
            return '*' in lines.read().split()
    except OSError:
        return False


def mark_as_build(folder):
    os.makedirs(folder, exist_ok=True)
    if not is_build(folder):
        write(os.path.join(folder, IGNORED), b'*\n')


def files_of(root):
    """The sources below a folder, by their paths from there."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in ('.git', '__pycache__')
                      and not is_build(os.path.join(folder, name))]
        for name in names:
            path = os.path.join(folder, name)
            if name != '.git' and os.path.isfile(path):
                yield os.path.relpath(path, root)


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def write(path, contents):
    with open(path, 'wb') as file:
        file.write(contents)


class Tree:
    def __init__(self, folder):
        self.folder = folder
        self.lock = None

    def claim(self):
        """Locks the tree for this process; False when another process has it.

        Whoever builds it is given the lock, too: a compiler that outlives an interrupted run would
        put the object of a bug beside the repaired source."""
        mark_as_build(os.path.dirname(self.folder))
        self.lock = open(self.folder + '.lock', 'w', encoding='utf-8')
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def follow(self, source):
        """Makes the copy equal to the source tree."""
        os.makedirs(self.folder, exist_ok=True)
        sources = set(files_of(source))
        for path in set(files_of(self.folder)) - sources:
            self.remove(path)
        for path in sources:
            self.copy(source, path)

    def remove(self, path):
        path = os.path.join(self.folder, path)
        os.remove(path)
        with contextlib.suppress(OSError):
            os.removedirs(os.path.dirname(path))  # those that are empty now

    def copy(self, source, path):
        original, ours = os.path.join(source, path), os.path.join(self.folder, path)
        contents = read(original)
        if not os.path.exists(ours) or read(ours) != contents:
            os.makedirs(os.path.dirname(ours), exist_ok=True)
            write(ours, contents)
        shutil.copymode(original, ours)

    @contextlib.contextmanager
    def changed(self, path, text):
        """Inside the with block the file has another text."""
        path = os.path.join(self.folder, path)
        contents = read(path)
        try:
            write(path, text.encode())
            yield
        finally:
            write(path, contents)
