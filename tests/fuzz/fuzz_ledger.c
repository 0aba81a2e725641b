/* fuzz_ledger.c - any bytes as the ledger of a program that was killed, which its companion reads.
 *
 * The first byte says how it begins: 'E' and a number of entries as the library writes them, then
 * three bytes each overwrite one byte of it: two say where, the third is written. Any other byte:
 * what follows is the ledger. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ledger.h"
#include "fuzz.h"

#define SIZE (32 * RLK_LEDGER_SLOT)
#define MOST_ENTRIES 9

static void check_entry(const struct rlk_ledger_copy *c)
{
    const struct rlk_ledger_entry *e = &c->entry;
    size_t len = 0;
    unsigned i;

    FUZZ_CHECK(e->token_len > 0 && e->token_len <= RLK_LEDGER_TOKEN && !e->token[e->token_len],
               "a token has its length, and a NUL after it");
    FUZZ_CHECK(e->n_keys > 0 && e->n_keys <= RLK_LEDGER_KEYS, "it has some keys");
    for (i = 0; i < e->n_keys; i++) {
        FUZZ_CHECK(e->key_len[i] <= RLK_LEDGER_KEY, "a key has a length that is allowed");
        len += (size_t)e->key_len[i] + 1;
    }
    FUZZ_CHECK(len == rlk_ledger_keys_len(e), "the keys have their lengths");
    FUZZ_CHECK(e->token >= c->bytes && e->keys + len <= c->bytes + sizeof(c->bytes),
               "everything was copied");
}

static unsigned read_all(const char *memory, size_t size)
{
    static struct rlk_ledger_copy copy;
    uint32_t number = 0, last = 0;
    unsigned n = 0;

    while (rlk_ledger_read(memory, size, &number, &copy)) {
        FUZZ_CHECK(number > last && number < size / RLK_LEDGER_SLOT, "each entry comes once");
        check_entry(&copy);
        last = number;
        n++;
    }
    return n;
}

static uint32_t enter(struct rlk_ledger *l, unsigned i)
{
    char token[] = "token-0", keys[2 * (RLK_LEDGER_SLOT + 1)] = "";
    uint16_t lens[] = {(uint16_t)(20 * i), 3};

    token[6] = (char)('0' + i);
    memset(keys, 'k', lens[0]);
    memcpy(keys + lens[0] + 1, "two", 4);
    return rlk_ledger_enter(l, &(struct rlk_ledger_entry){token, keys, 7, 2, lens});
}

/* Returns how many there are. */
static unsigned write_entries(char *memory, unsigned wanted)
{
    struct rlk_ledger l;
    unsigned i;

    rlk_ledger_begin(&l, memory, SIZE);
    for (i = 0; i < wanted; i++) {
        FUZZ_CHECK(enter(&l, i) != 0, "there is room for these entries");
    }
    return wanted;
}

static void try_damaged(const uint8_t *data, size_t size)
{
    char *memory = calloc(1, SIZE);
    unsigned n;

    if (memory == NULL) {
        abort();
    }
    n = write_entries(memory, data[0] % (MOST_ENTRIES + 1));
    FUZZ_CHECK(rlk_ledger_is_one(memory, SIZE), "what the library writes is a ledger");
    FUZZ_CHECK(read_all(memory, SIZE) == n, "what was written is read");
    for (data++, size--; size >= 3; data += 3, size -= 3) {
        memory[(data[0] << 8 | data[1]) % SIZE] = (char)data[2];
    }
    if (rlk_ledger_is_one(memory, SIZE)) {
        read_all(memory, SIZE);
    }
    free(memory);
}

/* The bytes at an address that is good for numbers, as a mapped file is. */
static void try_bytes(const uint8_t *data, size_t size)
{
    char *memory = malloc(size);

    if (memory == NULL) {
        abort();
    }
    memcpy(memory, data, size);
    rlk_ledger_is_one(memory, size);
    read_all(memory, size);
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 && data[0] == 'E') {
        try_damaged(data + 1, size - 1);
    } else if (size > 1) {
        try_bytes(data + 1, size - 1);
    }
    return 0;
}
