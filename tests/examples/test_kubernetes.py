#!/usr/bin/env python3
"""kubernetes.yaml: its masters are those of compose.yaml, and fit for locks. $REDLOCK: the command.

What a container would run is run here, as test_compose.py does.
"""
import copy
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lint'))

import test_compose as compose  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

FOLDER = os.path.join(HERE, '..', '..', 'docs', 'examples')


def load(yaml, name):
    with open(os.path.join(FOLDER, name), encoding='utf-8') as text:
        return list(yaml.safe_load_all(text))


def of_kind(objects, kind):
    return next(one for one in objects if one['kind'] == kind)


def container_of(thing):
    return thing['spec']['template']['spec']['containers'][0]


def words_of(container):
    """Its command, with the variable put in as Kubernetes does."""
    return [word.replace('$(REDLOCK_PASSWORD)', compose.PASSWORD) for word in container['command']]


def seconds(words, option):
    return int(re.fullmatch(r'(\d+)s', words[words.index(option) + 1]).group(1))


# ---- what is compared ----

def names(objects):
    """The worker names each master by itself, and no other."""
    masters, worker = of_kind(objects, 'StatefulSet'), container_of(of_kind(objects, 'Deployment'))
    service = of_kind(objects, 'Service')
    name, replicas = masters['metadata']['name'], masters['spec']['replicas']
    nodes = next(one['value'] for one in worker['env'] if one['name'] == 'REDLOCK_NODES').split()
    wanted = [f'redis://{name}-{i}.{service["metadata"]["name"]}' for i in range(replicas)]
    if nodes != wanted:
        yield f'REDLOCK_NODES: {nodes}, and not {wanted}'
    if service['spec']['clusterIP'] != 'None' or masters['spec']['serviceName'] != service['metadata']['name']:
        yield 'the service is a load balancer, or that of others'


def selectors(objects):
    """All of them select the pods that they are about."""
    masters, worker = of_kind(objects, 'StatefulSet'), of_kind(objects, 'Deployment')
    labels = masters['spec']['template']['metadata']['labels']
    spec = masters['spec']['template']['spec']
    apart = spec['affinity']['podAntiAffinity']['requiredDuringSchedulingIgnoredDuringExecution'][0]
    found = [of_kind(objects, 'Service')['spec']['selector'],
             of_kind(objects, 'PodDisruptionBudget')['spec']['selector']['matchLabels'],
             masters['spec']['selector']['matchLabels'], apart['labelSelector']['matchLabels'],
             spec['topologySpreadConstraints'][0]['labelSelector']['matchLabels']]
    yield from (f'selects {one}, and not {labels}' for one in found if one != labels)
    if worker['spec']['selector']['matchLabels'] != worker['spec']['template']['metadata']['labels']:
        yield 'the deployment does not select its own pods'


def grace(objects):
    """There is time to end before SIGKILL, and the lock lives longer than --grace."""
    worker = of_kind(objects, 'Deployment')
    words = container_of(worker)['command']
    if worker['spec']['template']['spec']['terminationGracePeriodSeconds'] <= seconds(words, '--grace'):
        yield 'terminationGracePeriodSeconds is not longer than --grace'
    if seconds(words, '--ttl') <= seconds(words, '--grace'):
        yield '--ttl is not longer than --grace'


def differences(objects, services):
    """The masters of both files have the same settings, image and health check."""
    master = container_of(of_kind(objects, 'StatefulSet'))
    here = (words_of(master), master['image'], master['readinessProbe']['exec']['command'][-1])
    others = [(compose.command_of(service), service['image'], service['healthcheck']['test'][1])
              for service in services.values()]
    if any(here != there for there in others):
        yield f'here {here}, and there {others[0]}'


def runs(objects):
    """Five of these masters are fit for locks, for the user and the prefix of the worker."""
    services = {f'master{i}': {'command': words_of(container_of(of_kind(objects, 'StatefulSet')))}
                for i in range(of_kind(objects, 'StatefulSet')['spec']['replicas'])}
    with compose.Masters(services, command_of=lambda service: service['command']) as masters:
        options = ['--username', 'locks', '--quarantine', 'off']
        status, said = masters.redlock('lock', 'worker', '--wait', '10s', *options, '--', 'echo', 'mine')
        if (status, said) != (0, 'mine\n'):
            yield f'lock: {status}: {said}'
        status, said = masters.redlock('doctor', *options)
        if status != 0 or len(re.findall(r'^redis://\S+ +fine .* aof always,', said, re.MULTILINE)) != 5:
            yield f'doctor: {status}: {said}'


def changed(objects, change):
    broken = copy.deepcopy(objects)
    change(broken)
    return broken


def without_always(objects):
    words = container_of(of_kind(objects, 'StatefulSet'))['command']
    words[words.index('always')] = 'everysec'


def with_four(objects):
    of_kind(objects, 'StatefulSet')['spec']['replicas'] = 4


def with_little_time(objects):
    of_kind(objects, 'Deployment')['spec']['template']['spec']['terminationGracePeriodSeconds'] = 4


def with_other_label(objects):
    of_kind(objects, 'PodDisruptionBudget')['spec']['selector']['matchLabels']['app'] = 'worker'


def main():
    try:
        import yaml
    except ImportError:
        skip_all('there is no python3-yaml')
    objects, services = load(yaml, 'kubernetes.yaml'), load(yaml, 'compose.yaml')[0]['services']
    tap = Tap()
    tap.claim('the worker names the masters', names(objects))
    tap.claim('the selectors fit', selectors(objects))
    tap.claim('there is time to end', grace(objects))
    tap.claim('the masters are those of compose.yaml', differences(objects, services))
    tap.fires('a master that is not named', names(changed(objects, with_four)), 'redlock-4')
    tap.fires('another label', selectors(changed(objects, with_other_label)), 'worker')
    tap.fires('too little time to end', grace(changed(objects, with_little_time)), 'terminationGrace')
    tap.fires('another setting', differences(changed(objects, without_always), services), 'everysec')
    if shutil.which('redis-server'):
        tap.claim('they are fit for locks', runs(objects))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
