/* tokens.c - maps the ledger, and copies each entry. */
#include "cli/companion/tokens.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/ledger.h"

/* A lock with its texts. */
struct copy {
    const char *keys[RLK_LEDGER_KEYS];
    size_t key_lens[RLK_LEDGER_KEYS];
    char texts[];
};

static const char *map_file(int fd, size_t *ret_size)
{
    struct stat status;
    void *memory;

    if (fstat(fd, &status) != 0 || status.st_size == 0) {
        return NULL;
    }
    *ret_size = (size_t)status.st_size;
    memory = mmap(NULL, *ret_size, PROT_READ, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool cli_tokens_are_there(int fd)
{
    size_t size = 0;
    const char *memory = map_file(fd, &size);
    bool good = memory && rlk_ledger_is_one(memory, size);

    if (memory) {
        munmap((void *)(uintptr_t)memory, size);
    }
    return good;
}

static bool copy_entry(const struct rlk_ledger_entry *entry, struct cli_orphan_lock *ret_lock)
{
    size_t token = (size_t)entry->token_len + 1, keys = rlk_ledger_keys_len(entry);
    struct copy *copy = malloc(sizeof(*copy) + token + keys);
    char *at;
    unsigned i;

    if (copy == NULL) {
        return false;
    }
    memcpy(copy->texts, entry->token, token);
    at = copy->texts + token;
    memcpy(at, entry->keys, keys);
    for (i = 0; i < entry->n_keys; i++) {
        copy->keys[i] = at;
        copy->key_lens[i] = entry->key_len[i];
        at += copy->key_lens[i] + 1;
    }
    *ret_lock = (struct cli_orphan_lock){copy->keys, copy->key_lens, entry->n_keys, copy->texts};
    return true;
}

static void add_lock(struct cli_tokens *tokens, size_t *room, const struct rlk_ledger_entry *entry)
{
    if (tokens->n == *room) {
        size_t more = *room ? 2 * *room : 64;
        struct cli_orphan_lock *locks = realloc(tokens->locks, more * sizeof(*locks));

        if (locks == NULL) {
            return;
        }
        tokens->locks = locks;
        *room = more;
    }
    tokens->n += copy_entry(entry, &tokens->locks[tokens->n]);
}

void cli_tokens_read(int fd, struct cli_tokens *ret_tokens)
{
    static struct rlk_ledger_copy entry;
    size_t size = 0, room = 0;
    const char *memory = map_file(fd, &size);
    uint32_t number = 0;

    *ret_tokens = (struct cli_tokens){.locks = NULL};
    while (memory && rlk_ledger_read(memory, size, &number, &entry)) {
        add_lock(ret_tokens, &room, &entry.entry);
    }
}
