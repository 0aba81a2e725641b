"""Certificates of the masters, and those of somebody else."""
import os
import subprocess


def openssl(*words):
    subprocess.run(['openssl', *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Authority:
    """A CA with files in a folder: `ca.pem`, and for each name `NAME.pem` and `NAME.key`."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder)
        openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days',
                '2', '-subj', '/CN=chaos', '-keyout', self.path('ca.key'), '-out', self.path('ca.pem'))

    def path(self, name):
        return os.path.join(self.folder, name)

    def issue(self, name, address, into=None):
        """A new certificate for an address, in the place of the former one."""
        folder = into or self.folder
        key, request, new = (os.path.join(folder, name + end) for end in ('.key', '.csr', '.new'))
        openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=' + name,
                '-addext', f'subjectAltName=IP:{address}', '-keyout', key, '-out', request)
        openssl('x509', '-req', '-in', request, '-CA', self.path('ca.pem'), '-CAkey', self.path('ca.key'),
                '-days', '2', '-copy_extensions', 'copyall', '-out', new)
        os.rename(new, os.path.join(folder, name + '.pem'))

    def lines(self, name):
        """Of redis.conf."""
        return [f'tls-cert-file {self.path(name + ".pem")}', f'tls-key-file {self.path(name + ".key")}',
                f'tls-ca-cert-file {self.path("ca.pem")}']
