"""What the figures were measured on."""
import os
import platform
import re


def cpu_name():
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as file:
            return re.search(r'^model name\s*: (.*)', file.read(), re.M).group(1)
    except (OSError, AttributeError):
        return platform.machine()


def machine(masters, server, transport):
    """masters: how many; server: what its --version says."""
    version = re.search(r'(\S*server\S*|Redis|Valkey).*?v=(\S+)', server)
    name = 'valkey-server' if 'alkey' in server else 'redis-server'
    return {
        'masters': masters,
        'server': f'{name} {version.group(2)}' if version else server,
        'transport': transport,
        'cores': len(os.sched_getaffinity(0)),
        'cpu': cpu_name(),
        'kernel': platform.release(),
    }


def in_words(about):
    return (f"{about['masters']} masters ({about['server']}) over {about['transport']} sockets, "
            f"{about['cores']} cores ({about['cpu']})")
