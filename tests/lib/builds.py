"""What meson knows of one of its builds: the tests, and what has to be built for them."""
import json
import os


class Missing(Exception):
    """There is no such test."""


class Build:
    def __init__(self, folder):
        self.folder = folder

    def info(self, name):
        with open(os.path.join(self.folder, 'meson-info', f'intro-{name}.json'),
                  encoding='utf-8') as file:
            return json.load(file)

    def tests(self):
        return self.info('tests')

    def test(self, name):
        for test in self.tests():
            if test['name'] == name:
                return test
        raise Missing(f'there is no test called {name}')

    def program(self, name):
        """The path of an executable; None when this build has none of that name."""
        for target in self.info('targets'):
            if target['name'] == name:
                return target['filename'][0]
        return None

    def programs_of(self, source):
        """The executables that are compiled from a source file, by its real path."""
        return [target['filename'][0] for target in self.info('targets')
                if target['type'] == 'executable' and
                any(source in part.get('sources', []) for part in target['target_sources'])]

    def files_of(self, tests):
        """What ninja has to make for these tests, by the paths from the build's folder."""
        targets = {target['id']: target['filename'][0] for target in self.info('targets')}
        files = {targets[needed] for test in tests for needed in test['depends']}
        return sorted(os.path.relpath(file, self.folder) for file in files)
