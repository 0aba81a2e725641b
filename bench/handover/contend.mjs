// contend.mjs - contenders on a library of npm's: `contend.mjs FOLDER LIBRARY default|tuned OPTION... URI...`
//
// FOLDER is where the library and ioredis are installed, LIBRARY is redlock or redlock-universal. The options, the letters
// on the standard input and the records are those of contend.h. Each contender has its own connections. An acquire that
// gives up (both libraries do so after some tries in their default settings) is simply made again, and the tries add up.
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { use } from '../npm.mjs';

const [folder, library, settings, ...words] = process.argv.slice(2);
const { connect, lock: lockOf } = use(folder, library);
const options = { '--first': 0, '--contenders': 1, '--hold-us': 1000, '--ttl-ms': 10000, '--key': 'bench:handover' };
const uris = [];
const now = process.hrtime.bigint; // the clock of contend.h

for (let i = 0; i < words.length; i++) {
    if (words[i].startsWith('--')) {
        options[words[i]] = words[i + 1];
        i++;
    } else {
        uris.push(words[i]);
    }
}
const key = options['--key'], ttl = Number(options['--ttl-ms']), hold = Number(options['--hold-us']) / 1000;
const records = fs.openSync(options['--records'], 'a');
let resting = false, busy = 0, errors = 0;

function record(contender, tries, asked, held, released) {
    const bytes = Buffer.alloc(32);
    bytes.writeUInt32LE(contender, 0);
    bytes.writeUInt32LE(tries, 4);
    bytes.writeBigUInt64LE(asked, 8);
    bytes.writeBigUInt64LE(held, 16);
    bytes.writeBigUInt64LE(released, 24);
    fs.writeSync(records, bytes);
}

async function acquire(lock) {
    for (let before = 0;;) {
        try {
            const { tries, held } = await lock.acquire();
            return { tries: before + tries, held };
        } catch (error) {
            before += lock.triesOf(error);
            if (resting) {
                return null;
            }
        }
    }
}

async function contend(lock, contender) {
    while (!resting) {
        const asked = now();
        const got = await acquire(lock);
        if (got === null) {
            break;
        }
        const held = now();
        await sleep(hold);
        const released = now();
        try {
            await lock.release(got.held);
        } catch {
            errors++;
        }
        record(contender, got.tries, asked, held, released);
    }
    if (--busy === 0) {
        console.log('rested');
    }
}

const locks = [];
for (let i = 0; i < Number(options['--contenders']); i++) {
    const clients = uris.map(connect);
    await Promise.all(clients.map(client => client.ping()));
    locks.push(lockOf(clients, key, ttl, settings === 'tuned'));
}
process.stdin.on('data', letters => {
    for (const letter of letters.toString()) {
        if (letter === 'g') {
            busy = locks.length;
            locks.forEach((lock, i) => contend(lock, Number(options['--first']) + i));
        } else if (letter === 'r') {
            resting = true;
        }
    }
});
process.stdin.on('end', () => {
    fs.writeSync(1, JSON.stringify({ waiting: busy, errors }) + '\n');
    process.exit(0);
});
console.log('ready');
