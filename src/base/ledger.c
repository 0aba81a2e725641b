/* ledger.c - writes and reads entries, a slot at a time. */
#include "base/ledger.h"

#include <string.h>

static const char head[] = "redlock ledger 1";

struct slot {
    uint32_t state; /* 1: an entry begins here */
    uint32_t next;  /* slot of the entry, or of the free list; 0: the last */
    char bytes[RLK_LEDGER_SLOT - 2 * sizeof(uint32_t)];
};

_Static_assert(sizeof(struct slot) == RLK_LEDGER_SLOT, "slots are side by side");

static struct slot *slot_at(const struct rlk_ledger *l, uint32_t number)
{
    return (struct slot *)(void *)(l->memory + (size_t)number * RLK_LEDGER_SLOT);
}

static uint32_t slots_in(size_t size)
{
    size_t n = size / RLK_LEDGER_SLOT;

    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* ---- the program ---- */

void rlk_ledger_begin(struct rlk_ledger *l, void *memory, size_t size)
{
    *l = (struct rlk_ledger){.memory = memory, .n_slots = slots_in(size), .used = 1};
    memcpy(slot_at(l, 0)->bytes, head, sizeof(head));
}

void rlk_ledger_grow(struct rlk_ledger *l, void *memory, size_t size)
{
    l->memory = memory;
    l->n_slots = slots_in(size);
}

static uint32_t take_slot(struct rlk_ledger *l)
{
    uint32_t number = l->free;

    if (number) {
        l->free = slot_at(l, number)->next;
    } else if (l->used < l->n_slots) {
        number = l->used++;
    } else {
        return 0;
    }
    slot_at(l, number)->next = 0;
    return number;
}

/* Give back a slot, and all that it is linked to. */
static void give_slots(struct rlk_ledger *l, uint32_t first)
{
    struct slot *last = slot_at(l, first);

    while (last->next) {
        last = slot_at(l, last->next);
    }
    last->next = l->free;
    l->free = first;
}

/* Where the next byte of an entry is. */
struct place {
    const char *memory;
    uint32_t n_slots;
    struct slot *slot;
    size_t used; /* bytes of this slot */
};

static bool put(struct rlk_ledger *l, struct place *at, const void *from, size_t len)
{
    const char *bytes = from;

    while (len > 0) {
        size_t room = sizeof(at->slot->bytes) - at->used, part = len < room ? len : room;

        if (part == 0) {
            at->slot->next = take_slot(l);
            if (at->slot->next == 0) {
                return false;
            }
            at->slot = slot_at(l, at->slot->next);
            at->used = 0;
            continue;
        }
        memcpy(at->slot->bytes + at->used, bytes, part);
        at->used += part;
        bytes += part;
        len -= part;
    }
    return true;
}

size_t rlk_ledger_keys_len(const struct rlk_ledger_entry *e)
{
    size_t len = 0;
    unsigned i;

    for (i = 0; i < e->n_keys; i++) {
        len += (size_t)e->key_len[i] + 1;
    }
    return len;
}

static bool put_entry(struct rlk_ledger *l, struct place *at, const struct rlk_ledger_entry *e)
{
    return put(l, at, &e->token_len, sizeof(e->token_len)) &&
           put(l, at, &e->n_keys, sizeof(e->n_keys)) &&
           put(l, at, e->key_len, e->n_keys * sizeof(e->key_len[0])) &&
           put(l, at, e->token, (size_t)e->token_len + 1) &&
           put(l, at, e->keys, rlk_ledger_keys_len(e));
}

/* This is for the compiler: what a killed process has stored is what its instructions up to
 * there have stored. */
static void set_state(struct slot *s, uint32_t state)
{
    __atomic_store_n(&s->state, state, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

uint32_t rlk_ledger_enter(struct rlk_ledger *l, const struct rlk_ledger_entry *entry)
{
    uint32_t number = take_slot(l);
    struct place at = {.used = 0};

    if (number == 0) {
        return 0;
    }
    at.slot = slot_at(l, number);
    if (!put_entry(l, &at, entry)) {
        give_slots(l, number);
        return 0;
    }
    set_state(slot_at(l, number), 1);
    return number;
}

void rlk_ledger_remove(struct rlk_ledger *l, uint32_t number)
{
    set_state(slot_at(l, number), 0);
    give_slots(l, number);
}

/* ---- the reader ---- */

bool rlk_ledger_is_one(const void *memory, size_t size)
{
    return size >= RLK_LEDGER_SLOT &&
           memcmp(((const struct slot *)memory)->bytes, head, sizeof(head)) == 0;
}

/* False: the entry ends before. */
static bool get(struct place *at, void *to, size_t len)
{
    char *bytes = to;

    while (len > 0) {
        size_t left = sizeof(at->slot->bytes) - at->used, part = len < left ? len : left;

        if (part == 0) {
            if (at->slot->next == 0 || at->slot->next >= at->n_slots) {
                return false;
            }
            at->slot =
                (struct slot *)(uintptr_t)(at->memory + (size_t)at->slot->next * RLK_LEDGER_SLOT);
            at->used = 0;
            continue;
        }
        memcpy(bytes, at->slot->bytes + at->used, part);
        at->used += part;
        bytes += part;
        len -= part;
    }
    return true;
}

static bool are_lengths_allowed(const struct rlk_ledger_entry *e, const uint16_t *key_len)
{
    unsigned i;

    for (i = 0; i < e->n_keys; i++) {
        if (key_len[i] > RLK_LEDGER_KEY) {
            return false;
        }
    }
    return true;
}

static bool get_entry(struct place *at, struct rlk_ledger_copy *c)
{
    struct rlk_ledger_entry *e = &c->entry;
    size_t token;

    if (!get(at, &e->token_len, sizeof(e->token_len)) || !get(at, &e->n_keys, sizeof(e->n_keys)) ||
        e->token_len == 0 || e->token_len > RLK_LEDGER_TOKEN || e->n_keys == 0 ||
        e->n_keys > RLK_LEDGER_KEYS || !get(at, c->key_len, e->n_keys * sizeof(c->key_len[0])) ||
        !are_lengths_allowed(e, c->key_len)) {
        return false;
    }
    token = (size_t)e->token_len + 1;
    e->key_len = c->key_len;
    e->token = c->bytes;
    e->keys = c->bytes + token;
    return get(at, c->bytes, token) && c->bytes[e->token_len] == '\0' &&
           get(at, c->bytes + token, rlk_ledger_keys_len(e));
}

bool rlk_ledger_read(const void *memory, size_t size, uint32_t *number, struct rlk_ledger_copy *ret)
{
    struct place start = {.memory = memory, .n_slots = slots_in(size)};
    uint32_t n = *number;

    while (++n < start.n_slots) {
        struct place at = start;

        at.slot = (struct slot *)(uintptr_t)(at.memory + (size_t)n * RLK_LEDGER_SLOT);
        if (at.slot->state == 1 && get_entry(&at, ret)) {
            *number = n;
            return true;
        }
    }
    return false;
}
