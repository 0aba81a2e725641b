"""A headless Chromium with one page, spoken to over a pipe (DevTools protocol)."""
import base64
import json
import os
import shutil
import subprocess
import tempfile


def find():
    return next(filter(None, map(shutil.which, ['chromium', 'chromium-browser', 'google-chrome'])), None)


class Browser:
    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix='redlock-test-')
        theirs_in, self.out = os.pipe()
        back, theirs_out = os.pipe()
        words = [program, '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--no-first-run',
                 '--disable-dev-shm-usage', f'--user-data-dir={self.folder}', '--remote-debugging-pipe', 'about:blank']
        # It reads commands from 3 and writes to 4.
        script = f'exec 3<&{theirs_in} 4>&{theirs_out}; exec "$@"'
        self.process = subprocess.Popen(['bash', '-c', script, 'bash', *words], pass_fds=[theirs_in, theirs_out],
                                        start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.messages = self.read(back)
        self.number = 0
        self.errors = []
        self.session = None

    def __enter__(self):
        pages = self.call('Target.getTargets')['targetInfos']
        target = next(page['targetId'] for page in pages if page['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ['Page', 'Runtime', 'Log', 'Accessibility']:
            self.call(f'{domain}.enable')
        self.call('Emulation.setFocusEmulationEnabled', enabled=True)
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, 9)
        self.process.wait()
        os.close(self.out)
        self.messages.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def read(fd):
        with os.fdopen(fd, 'rb') as pipe:
            rest = b''
            while True:
                data = pipe.read1(65536)
                if not data:
                    raise EOFError('the browser has ended')
                *whole, rest = (rest + data).split(b'\0')
                yield from map(json.loads, whole)

    def call(self, method, **params):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.out, json.dumps(message).encode() + b'\0')
        for reply in self.messages:
            if reply.get('id') == self.number:
                assert 'error' not in reply, reply
                return reply['result']
            if reply.get('method') in ('Runtime.exceptionThrown', 'Log.entryAdded', 'Page.javascriptDialogOpening'):
                self.errors.append(reply['params'])
        raise EOFError(method)

    def value(self, expression):
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True)
        assert 'exceptionDetails' not in result, result
        return result['result'].get('value')

    def resize(self, width, height=900):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def prefer(self, **features):
        """Media features with their values, such as prefers_color_scheme='dark'. The others are as usual."""
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': name.replace('_', '-'), 'value': value} for name, value in features.items()])

    def picture(self):
        """What is in the window, as PNG."""
        return base64.b64decode(self.call('Page.captureScreenshot')['data'])

    def write(self, text):
        self.call('Input.insertText', text=text)

    def press(self, key, code):
        for kind in ['keyDown', 'keyUp']:
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      **({'text': '\r'} if key == 'Enter' and kind == 'keyDown' else {}))
