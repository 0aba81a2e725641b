"""Networks that fail: three masters, each in a network namespace of its own, and what happens to
the network of the first one. Where namespaces are not allowed nothing is tested, and the test says so.

A firewall is nftables on the machine of the master. The delay is a proxy there. Each claim is about
what the user sees; times are only printed. NETWORKS_LONG=1: also what takes half a minute."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "lib"))
from namespaces import PAIR, as_root, begin_again, refusal  # noqa: E402
from servers import die_with_parent  # noqa: E402

PROXY = os.environ["PROXY"]
CLIENT, REDLOCK = os.environ["CLIENT"], os.environ["REDLOCK"]
SERVER = shutil.which("redis-server") or shutil.which("valkey-server")
BOUND_S = 60
claims = failures = 0


def claim(text, holds, why=""):
    global claims, failures
    claims += 1
    failures += not holds
    print(f"{'ok' if holds else 'not ok'} {claims} - {text}", flush=True)
    if not holds:
        print(f"# {why}", flush=True)


def wait_for(what):
    """The first result that is true, or the last one."""
    until = time.monotonic() + BOUND_S
    while True:
        result = what()
        if result or time.monotonic() > until:
            return result
        time.sleep(0.05)


def must(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def start(*words, **options):
    return subprocess.Popen(words, preexec_fn=die_with_parent, **options)


def enter_namespace():
    """Begin again in a namespace of our own, as root of it."""
    if os.environ.get("NETWORKS_INSIDE"):
        return
    words = as_root("--net")
    why = refusal(("unshare", "nsenter", "ip", "nft"), words, PAIR) or (None if SERVER else "no redis-server is installed")
    if why:
        skip(why)
    begin_again(words, "NETWORKS_INSIDE")


def skip(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


class Master:
    """A server at 10.77.NUMBER.2, in a namespace of its own."""

    def __init__(self, number, folder):
        self.address = f"10.77.{number}.2"
        self.process = start("unshare", "--net", "sh", "-c", 'read _; exec "$@"', "sh", SERVER,
                             "--bind", self.address, "--port", "6379", "--protected-mode", "no", "--save", "",
                             "--dir", folder, "--logfile", os.path.join(folder, f"{number}.log"),
                             stdin=subprocess.PIPE, text=True)
        self.inside = ["nsenter", "--target", str(self.process.pid), "--net"]
        ours = os.readlink("/proc/self/ns/net")
        wait_for(lambda: os.readlink(f"/proc/{self.process.pid}/ns/net") != ours)
        must("ip", "link", "add", "name", f"client{number}", "type", "veth", "peer", "name", "master")
        must("ip", "link", "set", "dev", "master", "netns", str(self.process.pid))
        must("ip", "address", "add", f"10.77.{number}.1/24", "dev", f"client{number}")
        must("ip", "link", "set", "dev", f"client{number}", "up")
        for words in (["link", "set", "dev", "lo", "up"],
                      ["address", "add", self.address + "/24", "dev", "master"],
                      ["link", "set", "dev", "master", "up"]):
            must(*self.inside, "ip", *words)
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def uri(self, port=6379):
        return f"redis://{self.address}:{port}"

    def firewall(self, rule, way="input"):
        """Add a rule for the packets that come in, or for those that go out (output)."""
        face = "iif" if way == "input" else "oif"
        must(*self.inside, "nft", f"add table inet t; add chain inet t {way} "
             f"{{ type filter hook {way} priority 0; }}; add rule inet t {way} {face} != lo {rule}")

    def no_firewall(self):
        must(*self.inside, "nft", "flush", "ruleset")

    def ports(self):
        """The client's ports of the connections that are open now."""
        lines = subprocess.run([*self.inside, "cat", "/proc/net/tcp"], check=True, text=True,
                               capture_output=True).stdout.splitlines()[1:]
        fields = [line.split() for line in lines]
        return [int(f[2].split(":")[1], 16) for f in fields if f[3] == "01" and f[1].endswith(":18EB")]


class Client:
    def __init__(self, uris):
        self.process = start(CLIENT, *uris, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def nodes(self):
        """For each master its state, and what is wrong with it."""
        lines = [self.ask("nodes")]
        while lines[-1] != ".":
            lines.append(self.process.stdout.readline().rstrip("\n"))
        return [tuple(line.split(" ", 2)[1:]) for line in lines[:-1]]

    def is_up(self, *masters):
        return all(self.nodes()[i][0] == "up" for i in masters)

    def acquire(self, n=100):
        """How many of n locks it got, and the median in microseconds."""
        held, median = self.ask(f"acquire {n}").split()
        return int(held), int(median)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def compare(what, client, before):
    """With one sick master every lock is had, and a majority decides."""
    held, median = client.acquire()
    claim(f"{what}: every lock is acquired", held == 100, f"{held} of 100")
    print(f"# {what}: {median} us, {median / before[1]:.2f} times the {before[1]} us without", flush=True)


def says(client, master, state, text):
    def look():
        return client.nodes()[master][0] == state and text in client.nodes()[master][1]

    return wait_for(look), client.nodes()[master]


def test_swallowed_before(masters):
    """The packets of the first master are dropped before a connection is made."""
    what = "a firewall that swallows packets"
    client = Client([m.uri() for m in masters])
    wait_for(lambda: client.is_up(0, 1, 2))
    before = client.acquire()
    client.end()
    masters[0].firewall("drop")
    client = Client([m.uri() for m in masters])
    wait_for(lambda: client.is_up(1, 2))
    compare(what, client, before)
    claim(f"{what}: the state says so", *says(client, 0, "down", "a firewall may drop"))
    compare(what + ", after the timeout", client, before)
    shown = subprocess.run([REDLOCK, "doctor"], text=True, capture_output=True, check=False,
                           env={**os.environ, "REDLOCK_NODES": " ".join(m.uri() for m in masters)})
    claim(f"{what}: the doctor says so", "a firewall may drop" in shown.stdout, shown.stdout + shown.stderr)
    masters[0].no_firewall()
    claim(f"{what}: without it the master comes up", wait_for(lambda: client.is_up(0, 1, 2)), client.nodes())
    client.end()


def test_swallowed_later(masters):
    """The machine is gone, or a firewall begins to drop: the connection is half open."""
    what = "a half-open connection"
    client = Client([m.uri() for m in masters])
    wait_for(lambda: client.is_up(0, 1, 2))
    before = client.acquire()
    masters[0].firewall("drop")
    compare(what, client, before)
    claim(f"{what}: the inspection notices it, and says so",
          *says(client, 0, "unresponsive", "and the network to it"))
    compare(what + ", noticed", client, before)
    masters[0].no_firewall()
    claim(f"{what}: the same connection goes on when the network is back",
          wait_for(lambda: client.is_up(0, 1, 2)), client.nodes())
    client.end()


def test_nat(masters):
    """What is between us has forgotten the connections that there are; new ones pass."""
    for how, state, text in (("drop", "unresponsive", "and the network to it"),
                             ("reject with tcp reset", "down", "Connection reset by peer")):
        what = f"a NAT that forgets ({how})"
        client = Client([m.uri() for m in masters])
        wait_for(lambda: client.is_up(0, 1, 2))
        before = client.acquire()
        ports = masters[0].ports()
        masters[0].firewall(f"tcp sport {{ {', '.join(map(str, ports))} }} {how}")
        if how == "drop":
            claim(f"{what}: the inspection notices it", *says(client, 0, state, text))
        else:
            claim(f"{what}: the inspection notices it, and a new connection is made",
                  wait_for(lambda: client.is_up(0) and masters[0].ports() not in ([], ports)),
                  client.nodes())
        compare(what, client, before)
        masters[0].no_firewall()
        client.end()


def test_half_open_ends(masters):
    """The kernel ends the connection about 30 s after the last packet, and a new one is made: that
    of the commands by TCP_USER_TIMEOUT, because the inspection is not acknowledged."""
    what = "a connection that was silently forgotten"
    client = Client([m.uri() for m in masters])
    wait_for(lambda: client.is_up(0, 1, 2))
    ports, began = masters[0].ports(), time.monotonic()
    masters[0].firewall(f"tcp sport {{ {', '.join(map(str, ports))} }} drop")
    wait_for(lambda: client.nodes()[0][0] == "unresponsive")
    claim(f"{what} is replaced", wait_for(lambda: client.is_up(0)), client.nodes())
    print(f"# {what}: {time.monotonic() - began:.0f} s", flush=True)
    client.end()
    masters[0].no_firewall()


def test_slow(masters):
    what = "200 ms and 5 % loss"
    proxy = start(*masters[0].inside, PROXY, "--listen", f"{masters[0].address}:6380", "--to",
                  f"{masters[0].address}:6379", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    proxy.stdin.write("delay 100 100\n")
    proxy.stdin.flush()
    client = Client([m.uri() for m in masters])
    wait_for(lambda: client.is_up(0, 1, 2))
    before = client.acquire()
    client.end()
    for way in ("input", "output"):
        masters[0].firewall("numgen random mod 100 < 5 drop", way)
    client = Client([masters[0].uri(6380)] + [m.uri() for m in masters[1:]])
    claim(f"{what}: the master comes up", wait_for(lambda: client.is_up(0, 1, 2)), client.nodes())
    compare(what, client, before)
    claim(f"{what}: it stays up", client.nodes()[0][0] in ("up", "unresponsive"), client.nodes())
    client.end()
    proxy.stdin.close()
    proxy.wait()
    masters[0].no_firewall()


def main():
    enter_namespace()
    with tempfile.TemporaryDirectory() as folder:
        masters = [Master(i, folder) for i in range(3)]
        tests = [test_swallowed_before, test_swallowed_later, test_nat, test_slow]
        for test in tests + ([test_half_open_ends] if os.environ.get("NETWORKS_LONG") else []):
            test(masters)
    print(f"1..{claims}")
    return failures > 0


sys.exit(main())
