/* unit/test_ledger.c - entries of a ledger, and what a reader finds when the writer was killed. */
#include "base/ledger.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/runner.h"
#include "lib/test.h"

SUITE("ledger");

#define SLOTS 32

static char memory[SLOTS * RLK_LEDGER_SLOT] __attribute__((aligned(8)));
static struct rlk_ledger ledger;
static struct rlk_ledger_copy copy;

static void begin(void)
{
    memset(memory, 0, sizeof(memory));
    rlk_ledger_begin(&ledger, memory, sizeof(memory));
}

/* Keys of these lengths, all of one letter; the token is that letter, too. */
struct example {
    char token[RLK_LEDGER_TOKEN + 1];
    char keys[RLK_LEDGER_KEYS * (RLK_LEDGER_KEY + 1)];
    uint16_t key_len[RLK_LEDGER_KEYS];
    struct rlk_ledger_entry entry;
};

static const struct rlk_ledger_entry *fill(struct example *e, char letter, uint16_t token_len,
                                           uint16_t key_len, uint16_t n_keys)
{
    uint16_t i;

    memset(e, 0, sizeof(*e));
    memset(e->token, letter, token_len);
    for (i = 0; i < n_keys; i++) {
        e->key_len[i] = key_len;
        memset(e->keys + (size_t)i * (key_len + 1U), letter, key_len);
    }
    e->entry = (struct rlk_ledger_entry){e->token, e->keys, token_len, n_keys, e->key_len};
    return &e->entry;
}

static struct example given;

static uint32_t enter(char letter, uint16_t token_len, uint16_t key_len, uint16_t n_keys)
{
    return rlk_ledger_enter(&ledger, fill(&given, letter, token_len, key_len, n_keys));
}

static void must_be(const struct rlk_ledger_copy *c, const struct rlk_ledger_entry *e)
{
    size_t len = 0;
    unsigned i;

    ck_assert_uint_eq(c->entry.token_len, e->token_len);
    ck_assert_str_eq(c->entry.token, e->token);
    ck_assert_uint_eq(c->entry.n_keys, e->n_keys);
    for (i = 0; i < e->n_keys; i++) {
        ck_assert_uint_eq(c->entry.key_len[i], e->key_len[i]);
        len += e->key_len[i] + 1U;
    }
    ck_assert_mem_eq(c->entry.keys, e->keys, len);
}

static unsigned count_entries(void)
{
    uint32_t number = 0;
    unsigned n = 0;

    while (rlk_ledger_read(memory, sizeof(memory), &number, &copy)) {
        n++;
    }
    return n;
}

TEST(memory_of_another_kind_is_no_ledger)
{
    memset(memory, 0, sizeof(memory));
    ck_assert(!rlk_ledger_is_one(memory, sizeof(memory)));
    begin();
    ck_assert(rlk_ledger_is_one(memory, sizeof(memory)));
    ck_assert(!rlk_ledger_is_one(memory, RLK_LEDGER_SLOT - 1));
    ck_assert_uint_eq(count_entries(), 0);
}

static const struct {
    const char *claim;
    uint16_t token_len, key_len, n_keys;
} shapes[] = {
    {"the shortest entry is read as it was entered", 1, 1, 1},
    {"so is an entry that fills one slot", 40, 71, 1},
    {"and one of a byte more", 40, 72, 1},
    {"and one with an empty key", 40, 0, 2},
    {"and one with many keys", RLK_LEDGER_TOKEN, 100, RLK_LEDGER_KEYS},
};

TEST_ROWS(an_entry_is_read_as_it_was_entered, shapes)
{
    uint32_t number = 0;

    begin();
    ck_assert_uint_gt(enter('a', shapes[_i].token_len, shapes[_i].key_len, shapes[_i].n_keys), 0);
    ck_assert(rlk_ledger_read(memory, sizeof(memory), &number, &copy));
    must_be(&copy, &given.entry);
    ck_assert(!rlk_ledger_read(memory, sizeof(memory), &number, &copy));
}

TEST(the_longest_entry_fits)
{
    static char large[160 * RLK_LEDGER_SLOT] __attribute__((aligned(8)));
    uint32_t number = 0;

    rlk_ledger_begin(&ledger, large, sizeof(large));
    ck_assert_uint_gt(enter('a', RLK_LEDGER_TOKEN, RLK_LEDGER_KEY, RLK_LEDGER_KEYS), 0);
    ck_assert(rlk_ledger_read(large, sizeof(large), &number, &copy));
    must_be(&copy, &given.entry);
}

TEST(all_slots_but_the_first_are_used_and_used_again)
{
    uint32_t numbers[SLOTS];
    unsigned i, round;

    begin();
    for (round = 0; round < 3; round++) {
        for (i = 0; i < SLOTS - 1; i++) {
            numbers[i] = enter('a', 40, 10, 1);
            ck_assert_uint_gt(numbers[i], 0);
        }
        ck_assert_uint_eq(enter('b', 40, 10, 1), 0);
        ck_assert_uint_eq(count_entries(), SLOTS - 1);
        for (i = 0; i < SLOTS - 1; i++) {
            rlk_ledger_remove(&ledger, numbers[i]);
        }
        ck_assert_uint_eq(count_entries(), 0);
    }
}

TEST(an_entry_that_does_not_fit_leaves_nothing)
{
    unsigned i;

    begin();
    for (i = 0; i < SLOTS - 3; i++) {
        ck_assert_uint_gt(enter('a', 40, 10, 1), 0);
    }
    ck_assert_uint_eq(enter('b', 40, 1000, 1), 0); /* two slots are left */
    ck_assert_uint_eq(count_entries(), SLOTS - 3);
    ck_assert_uint_gt(enter('c', 40, 100, 1), 0);
    ck_assert_uint_eq(count_entries(), SLOTS - 2);
}

TEST(memory_that_has_grown_has_room_and_the_former_entries)
{
    static char larger[2 * sizeof(memory)] __attribute__((aligned(8)));
    uint32_t number = 0;
    unsigned n = 0;

    begin();
    while (enter('a', 40, 10, 1)) {
    }
    memset(larger, 0, sizeof(larger));
    memcpy(larger, memory, sizeof(memory));
    rlk_ledger_grow(&ledger, larger, sizeof(larger));
    ck_assert_uint_eq(enter('b', 40, 10, 1), SLOTS);
    while (rlk_ledger_read(larger, sizeof(larger), &number, &copy)) {
        n++;
    }
    ck_assert_uint_eq(n, SLOTS);
    ck_assert_uint_eq(number, SLOTS);
    must_be(&copy, &given.entry);
}

/* ---- bytes that nobody has written like that ---- */

TEST(any_byte_may_be_wrong)
{
    size_t i;
    unsigned bit;

    for (i = 0; i < 6 * RLK_LEDGER_SLOT; i++) {
        for (bit = 0; bit < 8; bit++) {
            begin();
            enter('a', 40, 200, 2);
            enter('b', 40, 10, 1);
            memory[i] = (char)(memory[i] ^ (1 << bit));
            ck_assert_uint_le(count_entries(), SLOTS);
        }
    }
}

/* ---- killed between any two instructions ---- */

#define FEW 8 /* slots */

/* In another process: enter, remove and enter again, in slots that are used again. */
static void write_and_remove(void)
{
    static struct example a, b, c;
    uint32_t first, second;

    fill(&a, 'a', 40, 200, 1);
    fill(&b, 'b', 41, 20, 2);
    fill(&c, 'c', 42, 100, 3);
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    first = rlk_ledger_enter(&ledger, &a.entry);
    second = rlk_ledger_enter(&ledger, &b.entry);
    rlk_ledger_remove(&ledger, first);
    rlk_ledger_enter(&ledger, &c.entry);
    rlk_ledger_remove(&ledger, second);
    rlk_ledger_enter(&ledger, &a.entry);
    raise(SIGSTOP);
}

/* What the reader would find now: a bit for each entry that was found whole. */
static unsigned find_whole(const char *at)
{
    static struct example examples[3];
    static bool filled;
    uint32_t number = 0;
    unsigned found = 0;

    if (!filled) {
        fill(&examples[0], 'a', 40, 200, 1);
        fill(&examples[1], 'b', 41, 20, 2);
        fill(&examples[2], 'c', 42, 100, 3);
        filled = true;
    }
    while (rlk_ledger_read(at, FEW * RLK_LEDGER_SLOT, &number, &copy)) {
        unsigned which = (unsigned)(copy.entry.token[0] - 'a');

        ck_assert_uint_lt(which, 3);
        must_be(&copy, &examples[which].entry);
        found |= 1U << which;
    }
    return found;
}

TEST(a_writer_may_be_killed_between_any_two_instructions)
{
    char *shared = mmap(NULL, FEW * RLK_LEDGER_SLOT, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    static const unsigned expected[] = {0, 1, 3, 2, 6, 4, 5};
    unsigned step = 0, instructions = 0;
    int status;
    pid_t child;

    ck_assert_ptr_ne(shared, MAP_FAILED);
    rlk_ledger_begin(&ledger, shared, FEW * RLK_LEDGER_SLOT);
    child = fork();
    if (child == 0) {
        write_and_remove();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (!WIFSTOPPED(status) || ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        rlk_test_skip("this system has no single steps for us");
        return;
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
           WSTOPSIG(status) == SIGTRAP) {
        unsigned found = find_whole(shared);

        if (found != expected[step]) {
            step++;
            ck_assert_uint_lt(step, N_ROWS(expected));
            ck_assert_uint_eq(found, expected[step]);
        }
        instructions++;
        ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    munmap(shared, FEW * RLK_LEDGER_SLOT);
    ck_assert_uint_eq(step, N_ROWS(expected) - 1);
    ck_assert_uint_gt(instructions, 100);
}
