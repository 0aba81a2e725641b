// npm.mjs - the lock libraries of npm, and their connections, in one form.
//
// use(FOLDER, LIBRARY) loads them from where they are installed; LIBRARY is redlock or redlock-universal.
import path from 'node:path';
import { createRequire } from 'node:module';

// Both try again after the shortest time that a timer of node has when they are tuned.
const makers = {
    redlock(load, clients, key, ttl, tuned) {
        const Redlock = load('redlock');
        const lock = new Redlock(clients, tuned ? { retryCount: -1, retryDelay: 1, retryJitter: 1 } : {});
        lock.on('clientError', () => {});
        return {
            acquire: async () => {
                const held = await lock.lock(key, ttl);
                return { tries: held.attempts, held };
            },
            triesOf: error => error.attempts || 0,
            release: held => lock.unlock(held),
        };
    },
    'redlock-universal'(load, clients, key, ttl, tuned) {
        const { createRedlock, IoredisAdapter } = load('redlock-universal');
        const adapters = clients.map(client => new IoredisAdapter(client));
        const lock = createRedlock({ adapters, key, ttl, ...(tuned ? { retryAttempts: 1000, retryDelay: 1 } : {}) });
        return {
            acquire: async () => {
                const held = await lock.acquire();
                return { tries: held.metadata.attempts, held };
            },
            triesOf: error => error.attempts || 0,
            release: held => lock.release(held),
        };
    },
};

export function use(folder, library) {
    const load = createRequire(path.join(path.resolve(folder), 'x.js'));
    const Redis = load('ioredis');

    return {
        connect(uri) {
            const client = new Redis(uri.startsWith('unix://') ? uri.slice('unix://'.length) : uri);
            client.on('error', () => {});
            return client;
        },
        lock: (clients, key, ttl, tuned = false) => makers[library](load, clients, key, ttl, tuned),
    };
}
