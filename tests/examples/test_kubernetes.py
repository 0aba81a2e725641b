#!/usr/bin/env python3
"""kubernetes.yaml: its masters are those of compose.yaml, and fit for locks; its clients name them, have few
rights, and commands that redlock accepts. $REDLOCK: the command.

What a container would run is run here, as test_compose.py does.
"""
import copy
import os
import re
import shutil
import subprocess
import sys
import tempfile

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


def pods(objects):
    """(name, spec) of each pod."""
    for one in objects:
        template = one.get('spec', {}).get('jobTemplate', one).get('spec', {}).get('template')
        if template:
            yield one['metadata']['name'], template['spec']


def clients(objects):
    """(name of the pod, container) of each container that runs redlock."""
    for name, spec in pods(objects):
        for container in spec.get('initContainers', []) + spec['containers']:
            if container['command'][0] in ('redlock', '/redlock'):
                yield name, container


def expanded(word, env):
    """A word as Kubernetes expands it. Unknown variables stay."""
    return re.sub(r'\$(?:(\$)|\((\w+)\))', lambda m: m[1] or env.get(m[2], m[0]), word)


def words_of(container, **passwords):
    """The server command that the shell of the container runs. A stand-in prints it. The passwords end with a newline."""
    secret = {'password': compose.PASSWORD, **passwords}
    env = {one['name']: secret[one['valueFrom']['secretKeyRef']['key']] + '\n' for one in container['env']
           if one['valueFrom']['secretKeyRef']['key'] in secret}
    words = [expanded(word, env) for word in container['command'] + container['args']]
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        path = os.path.join(folder, 'redis-server')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\nprintf "%s\\0" redis-server "$@"\n')
        os.chmod(path, 0o700)
        said = subprocess.run(words, env={**env, 'PATH': folder + ':' + os.environ['PATH']}, text=True,
                              stdout=subprocess.PIPE).stdout
    return said.split('\0')[:-1]


def seconds(words, option):
    number, unit = re.fullmatch(r'(\d+)([sm])', words[words.index(option) + 1]).groups()
    return int(number) * {'s': 1, 'm': 60}[unit]


# ---- what is compared ----

def names(objects):
    """The clients name each master by its own name, and nothing else."""
    masters, service = of_kind(objects, 'StatefulSet'), of_kind(objects, 'Service')
    settings = of_kind(objects, 'ConfigMap')
    name, replicas = masters['metadata']['name'], masters['spec']['replicas']
    nodes = settings['data']['REDLOCK_NODES'].split()
    wanted = [f'redis://{name}-{i}.{service["metadata"]["name"]}' for i in range(replicas)]
    if nodes != wanted:
        yield f'REDLOCK_NODES: {nodes}, and not {wanted}'
    if service['spec']['clusterIP'] != 'None' or masters['spec']['serviceName'] != service['metadata']['name']:
        yield 'the service is a load balancer, or that of others'


    for pod, client in clients(objects):
        if client['envFrom'] != [{'configMapRef': {'name': settings['metadata']['name']}}]:
            yield f'{pod} has other settings'


def rights(objects):
    """No container is root, writes to the image, or has a capability. Each has as much memory as it may need."""
    confined = {'allowPrivilegeEscalation': False, 'readOnlyRootFilesystem': True, 'capabilities': {'drop': ['ALL']},
                'seccompProfile': {'type': 'RuntimeDefault'}}
    for name, spec in pods(objects):
        if not spec['securityContext']['runAsNonRoot'] or spec['automountServiceAccountToken']:
            yield f'{name} may be root, or has a token of Kubernetes'
        for container in spec.get('initContainers', []) + spec['containers']:
            if container.get('securityContext') != confined:
                yield f'{name}: {container.get("securityContext")}'
            if container['resources']['limits'].keys() != {'memory'} or not container['resources']['requests']['cpu']:
                yield f'{name}: {container["resources"]}'


def accepted(objects):
    """redlock accepts each command line, as adding --help to its options shows."""
    for name, container in clients(objects):
        words = container['command'][1:]
        words = words[:words.index('--')] if '--' in words else words
        words = [word.replace('$(POD_NAME)', 'pod') for word in words]
        done = subprocess.run([os.environ['REDLOCK'], *words, '--help'], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            yield f'{name}: {done.stdout}'


def probes(objects):
    """Each probe asks an address at which redlock serves."""
    for name, container in clients(objects):
        words, probe = container['command'], container.get('livenessProbe')
        if probe is None:
            continue
        port = {one['name']: one['containerPort'] for one in container['ports']}[probe['httpGet']['port']]
        option = '--listen' if 'exporter' in words else '--metrics'
        if probe['httpGet']['path'] != '/healthz' or words[words.index(option) + 1] != f'0.0.0.0:{port}':
            yield f'{name}: {probe}'


def policies(objects):
    """Only clients reach the masters, and Prometheus reaches each port for metrics."""
    labels = {one['metadata']['name']: one['spec'].get('jobTemplate', one)['spec']['template']['metadata']['labels']
              for one in objects if one['kind'] in ('StatefulSet', 'Deployment', 'CronJob')}
    found = {one['metadata']['name']: one['spec'] for one in objects if one['kind'] == 'NetworkPolicy'}
    for name, policy in found.items():
        chosen = {pod for pod, its in labels.items() if policy['podSelector']['matchLabels'].items() <= its.items()}
        wanted = {'redlock'} if name == 'masters' else labels.keys() - {'redlock'}
        port = 6379 if name == 'masters' else 9469
        if chosen != wanted or policy['ingress'][0]['ports'] != [{'port': port}]:
            yield f'{name}: {chosen}, and not {wanted}; {policy["ingress"]}'
    if found['masters']['ingress'][0]['from'] != [{'podSelector': found['clients']['podSelector']}]:
        yield f'the masters are for {found["masters"]["ingress"]}'


def selectors(objects):
    """All of them select the pods that they are about."""
    masters = of_kind(objects, 'StatefulSet')
    labels = masters['spec']['template']['metadata']['labels']
    spec = masters['spec']['template']['spec']
    apart = spec['affinity']['podAntiAffinity']['requiredDuringSchedulingIgnoredDuringExecution'][0]
    found = [of_kind(objects, 'Service')['spec']['selector'],
             of_kind(objects, 'PodDisruptionBudget')['spec']['selector']['matchLabels'],
             masters['spec']['selector']['matchLabels'], apart['labelSelector']['matchLabels'],
             spec['topologySpreadConstraints'][0]['labelSelector']['matchLabels']]
    yield from (f'selects {one}, and not {labels}' for one in found if one != labels)
    for worker in objects:
        if (worker['kind'] == 'Deployment' and
                not worker['spec']['selector']['matchLabels'].items()
                <= worker['spec']['template']['metadata']['labels'].items()):
            yield 'the deployment does not select its own pods'


def grace(objects):
    """There is time to end before SIGKILL, and the lock lives longer than --grace."""
    worker = of_kind(objects, 'Deployment')
    words = container_of(worker)['command']
    if worker['spec']['template']['spec']['terminationGracePeriodSeconds'] <= seconds(words, '--grace'):
        yield 'terminationGracePeriodSeconds is not longer than --grace'
    if seconds(words, '--ttl') <= seconds(words, '--grace'):
        yield '--ttl is not longer than --grace'
    job = of_kind(objects, 'CronJob')
    words = container_of(job['spec']['jobTemplate'])['command']
    if job['spec']['startingDeadlineSeconds'] + seconds(words, '--wait') + 60 > seconds(words, '--at-least'):
        yield 'a second start may run the job again: --at-least is too short'


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
    with compose.Masters(services) as masters:
        options = ['--username', 'locks', '--quarantine', 'off']
        status, said = masters.redlock('lock', 'worker', '--wait', '10s', *options, '--', 'echo', 'mine')
        if (status, said) != (0, 'mine\n'):
            yield f'lock: {status}: {said}'
        status, said = masters.redlock('doctor', *options)
        if status != 0 or len(re.findall(r'^redis://\S+ +fine .* aof always,', said, re.MULTILINE)) != 5:
            yield f'doctor: {status}: {said}'
        yield from compose.losses(masters)


def takes_both(objects):
    """While the password is changed, the masters accept the former one and the next one."""
    words = words_of(container_of(of_kind(objects, 'StatefulSet')), next='another')
    with compose.Masters({'master': {'command': words}}) as masters:
        for password in compose.PASSWORD, 'another':
            if compose.ask(masters.running[0][1], 'exists', 'k', user='locks', password=password) != '0\n':
                yield f'{password} is refused'


def changed(objects, change):
    broken = copy.deepcopy(objects)
    change(broken)
    return broken


def without_always(objects):
    words = container_of(of_kind(objects, 'StatefulSet'))['args']
    words[words.index('always')] = 'everysec'


def with_long_wait(objects):
    words = container_of(of_kind(objects, 'CronJob')['spec']['jobTemplate'])['command']
    words[words.index('--wait') + 1] = '4m'


def without_label(objects):
    del of_kind(objects, 'CronJob')['spec']['jobTemplate']['spec']['template']['metadata']['labels']['redlock']


def without_rights(objects):
    del of_kind(objects[5:], 'Deployment')['spec']['template']['spec']['containers'][0]['securityContext']


def with_four(objects):
    of_kind(objects, 'StatefulSet')['spec']['replicas'] = 4


def with_little_time(objects):
    of_kind(objects, 'Deployment')['spec']['template']['spec']['terminationGracePeriodSeconds'] = 4


def with_other_label(objects):
    of_kind(objects, 'PodDisruptionBudget')['spec']['selector']['matchLabels']['app'] = 'worker'


def with_root(objects):
    of_kind(objects, 'CronJob')['spec']['jobTemplate']['spec']['template']['spec']['securityContext']['runAsNonRoot'] = False


def with_other_option(objects):
    container_of(of_kind(objects, 'Deployment'))['command'].insert(3, '--no-such-option')


def with_other_port(objects):
    container_of(of_kind(objects, 'Deployment'))['ports'][0]['containerPort'] = 80


def with_other_settings(objects):
    container_of(of_kind(objects, 'Deployment'))['envFrom'] = []


def main():
    try:
        import yaml
    except ImportError:
        skip_all('there is no python3-yaml')
    objects, services = load(yaml, 'kubernetes.yaml'), load(yaml, 'compose.yaml')[0]['services']
    tap = Tap()
    tap.claim('the clients name the masters', names(objects))
    tap.claim('four kinds of pods run redlock', [] if len(list(clients(objects))) == 4 else list(clients(objects)))
    tap.claim('no container has more privileges than it needs', rights(objects))
    tap.claim('redlock accepts its commands', accepted(objects))
    tap.claim('the probes ask the address at which it serves', probes(objects))
    tap.claim('the network policies select the right pods and ports', policies(objects))
    tap.fires('a client that may not connect', policies(changed(objects, without_label)), 'clients')
    tap.fires('a program with all privileges', rights(changed(objects, without_rights)), 'beside')
    tap.fires('a job that waits too long', grace(changed(objects, with_long_wait)), 'run the job again')
    tap.fires('a job that is root', rights(changed(objects, with_root)), 'nightly')
    tap.fires('an unknown option', accepted(changed(objects, with_other_option)), 'no-such-option')
    tap.fires('a probe of another port', probes(changed(objects, with_other_port)), 'worker')
    tap.fires('a client without settings', names(changed(objects, with_other_settings)), 'worker')
    tap.claim('the selectors fit', selectors(objects))
    tap.claim('there is time to end', grace(objects))
    tap.claim('the masters are those of compose.yaml', differences(objects, services))
    tap.fires('a master that is not named', names(changed(objects, with_four)), 'redlock-4')
    tap.fires('another label', selectors(changed(objects, with_other_label)), 'worker')
    tap.fires('too little time to end', grace(changed(objects, with_little_time)), 'terminationGrace')
    tap.fires('another setting', differences(changed(objects, without_always), services), 'everysec')
    if shutil.which('redis-server') and shutil.which('redis-cli'):
        tap.claim('they are fit for locks, and a restart keeps them', runs(objects))
        tap.claim('the password can be changed', takes_both(objects))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
