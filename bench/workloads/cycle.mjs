// cycle.mjs - the workload of cycle.c on a library of npm's: `cycle.mjs FOLDER LIBRARY OPTION... URI...`
//
// FOLDER is where the library and ioredis are installed, LIBRARY is redlock or redlock-universal. The options, the keys and
// the line of JSON are those of common.c. All cycles share one connection to each master, on which commands do not wait for
// the answers to those before. What ioredis calls auto-pipelining is off: it took more of the client's time.
import { use } from '../npm.mjs';

const TTL_MS = 10000;
const [folder, library, ...words] = process.argv.slice(2);
const options = { '--in-flight': 64, '--seconds': 2, '--warmup': 0.5 };
const uris = [];
const now = process.hrtime.bigint;

for (let i = 0; i < words.length; i++) {
    if (words[i].startsWith('--')) {
        options[words[i]] = Number(words[i + 1]);
        i++;
    } else {
        uris.push(words[i]);
    }
}
const { connect, lock } = use(folder, library);
const times = [];
let counting = false, over = false, cycles = 0, errors = 0, began, cpu;

function cpuSeconds() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
}

async function cycle(slot) {
    const asked = now();
    try {
        const { held } = await slot.acquire();
        if (counting) {
            times.push(Number(now() - asked) / 1000);
        }
        await slot.release(held);
    } catch {
        errors++;
    }
    cycles += counting;
}

async function run(slot) {
    while (!over) {
        await cycle(slot);
    }
}

function begin() {
    counting = true;
    began = now();
    cpu = cpuSeconds();
    setTimeout(end, options['--seconds'] * 1000);
}

function end() {
    const seconds = Number(now() - began) / 1e9, used = cpuSeconds() - cpu;

    over = true;
    counting = false;
    times.sort((a, b) => a - b);
    console.log(JSON.stringify({
        client: library, in_flight: options['--in-flight'], cycles, seconds, cycles_per_s: cycles / seconds,
        cpu_s_per_100k: used * 1e5 / cycles, acquire_p50_us: times[Math.floor(times.length * 0.5)],
        acquire_p99_us: times[Math.floor(times.length * 0.99)], errors,
    }));
}

const clients = uris.map(connect);
await Promise.all(clients.map(client => client.ping()));
const slots = Array.from({ length: options['--in-flight'] },
    (_, i) => lock(clients, `bench:lock:${String(i).padStart(6, '0')}`, TTL_MS));
setTimeout(begin, options['--warmup'] * 1000);
await Promise.all(slots.map(run));
await Promise.all(clients.map(client => client.quit()));
