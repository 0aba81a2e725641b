/* ledger.h - the tokens that a program uses, in memory that another process reads when this program
 * is dead.
 *
 * The memory is slots of RLK_LEDGER_SLOT bytes. The first one says what this is. An entry takes one
 * or more of the others, which are linked:
 *
 *     head: state 1, next --> state 0, next --> state 0, next 0
 *           bytes             bytes             bytes
 *
 * The program may be killed between any two instructions. So all bytes of an entry are there before
 * its state becomes 1, and its state is 0 before one of its slots is used again. The list of free
 * slots is for the program alone: the reader looks at states only.
 *
 * The library and the command compile ledger.c each for themselves. All numbers are those of this
 * machine. */
#ifndef RLK_BASE_LEDGER_H
#define RLK_BASE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RLK_LEDGER_SLOT 128

/* A token and its keys, at most that many, with all their bytes. */
#define RLK_LEDGER_TOKEN 255
#define RLK_LEDGER_KEYS 16
#define RLK_LEDGER_KEY 1024

struct rlk_ledger_entry {
    const char *token; /* NUL terminated */
    const char *keys;  /* one after the other, each with a NUL after it */
    uint16_t token_len, n_keys;
    const uint16_t *key_len;
};

/* The bytes of all its keys, with a NUL after each. */
size_t rlk_ledger_keys_len(const struct rlk_ledger_entry *entry);

/* ---- the program ---- */

struct rlk_ledger {
    char *memory;
    uint32_t n_slots; /* in the memory */
    uint32_t used;    /* the slots from here on were never used */
    uint32_t free;    /* the first of those that are free again; 0: none */
};

/* Begin in zeroed memory of at least one slot. */
void rlk_ledger_begin(struct rlk_ledger *l, void *memory, size_t size);

/* The memory has grown, and may be at another place. What is new in it is zeroed. */
void rlk_ledger_grow(struct rlk_ledger *l, void *memory, size_t size);

/* Enter a token. The number of the entry; 0: not enough slots are free, and nothing was entered. */
uint32_t rlk_ledger_enter(struct rlk_ledger *l, const struct rlk_ledger_entry *entry);

/* Remove an entry. */
void rlk_ledger_remove(struct rlk_ledger *l, uint32_t number);

/* ---- the reader ---- */

/* An entry that was read; its texts are in `bytes`. */
struct rlk_ledger_copy {
    struct rlk_ledger_entry entry;
    uint16_t key_len[RLK_LEDGER_KEYS];
    char bytes[RLK_LEDGER_TOKEN + 1 + RLK_LEDGER_KEYS * (RLK_LEDGER_KEY + 1)];
};

/* Whether this is a ledger that this version reads. */
bool rlk_ledger_is_one(const void *memory, size_t size);

/* Read the first entry whose number is greater than *number, and set *number to its number; begin
 * with 0. False: no more entries. What is no entry is passed over, whatever bytes it has. */
bool rlk_ledger_read(const void *memory, size_t size, uint32_t *number,
                     struct rlk_ledger_copy *ret);

#endif
