/* test_record_walk.c - clients that write records of the masters at the same time, in every order
 * of what the masters get [S15]: of two records that say different things only one is agreed on.
 *
 * A step is one message: a promise or an acceptance that reaches a master, whose answer arrives at
 * once, or the beginning of either. Messages that never arrive are those of the steps that a
 * sequence has not come to. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mask.h"
#include "core/membership.h"
#include "core/proposal.h"
#include "lib/test.h"
#include "search/hash.h"
#include "unit/records.h"

SUITE("record-walk");

#define PLACES 5
#define WRITERS 3
#define RECORDS 64 /* different writings in a search */

enum phase {
    LOOKING = 0,
    PROMISING,
    ACCEPTING,
    DONE
};

/* What one master keeps. */
struct master {
    char mark;
    uint8_t record; /* its writing; 0: none */
    struct rlk_ballot promised;
};

struct writer {
    uint8_t phase, writes; /* its writing */
    uint8_t promised, accepted;
    struct rlk_ballot ballot;
    struct rlk_membership m;
};

struct world {
    struct master master[PLACES];
    struct writer writer[WRITERS];
    uint8_t has[RECORDS]; /* which masters have ever had a writing */
};

/* ---- what is searched ---- */

struct client {
    const char *places; /* its masters, by their places a, b ... e; "." is down for it */
    uint32_t max_ttl_ms;
    char joins, leaves; /* its change: the places of the server that joins, and of the master that
                           leaves; 0: none */
};

#define CLIENT(list, ttl_ms)                                                                       \
    {                                                                                              \
        .places = (list), .max_ttl_ms = (ttl_ms)                                                   \
    }
#define CHANGER(list, new, old)                                                                    \
    {                                                                                              \
        .places = (list), .max_ttl_ms = RECORDS_MAX_TTL_MS, .joins = (new), .leaves = (old)        \
    }

static const struct space {
    const char *claim;
    const char *marks;  /* of the data at places a, b ... e */
    const char *record; /* of the first epoch; NULL: nobody has one */
    const char *has;    /* the marks that have it */
    struct client client[WRITERS];
    unsigned least; /* how many worlds there are at least */
} spaces[] = {
    {"two_first_records_with_another_max_ttl",
     "abc",
     NULL,
     "",
     {CLIENT("abc", 10), CLIENT("abc", 20)},
     200},
    {"three_first_records_with_another_max_ttl",
     "abc",
     NULL,
     "",
     {CLIENT("abc", 10), CLIENT("abc", 20), CLIENT("abc", 30)},
     2000},
    {"two_that_see_other_losses",
     "abcDE",
     "a1 b1 c1 d1 e1",
     "abc",
     {CLIENT("abcD.", RECORDS_MAX_TTL_MS), CLIENT("abc.E", RECORDS_MAX_TTL_MS)},
     2000},
    {"three_of_which_one_completes_the_record",
     "abcDE",
     "a1 b1 c1 d1 e1",
     "abc",
     {CLIENT("abcD.", RECORDS_MAX_TTL_MS), CLIENT("abc.E", RECORDS_MAX_TTL_MS),
      CLIENT("a.c..", RECORDS_MAX_TTL_MS)},
     2000},
    {"two_of_which_one_sees_both_losses",
     "abcDE",
     "a1 b1 c1 d1 e1",
     "abc",
     {CLIENT("ab.DE", RECORDS_MAX_TTL_MS), CLIENT(".bcD.", RECORDS_MAX_TTL_MS)},
     2000},
    {"two_that_add_other_servers",
     "abcde",
     "a1 b1 c1",
     "abc",
     {CHANGER("abcd", 'd', 0), CHANGER("abce", 'e', 0)},
     2000},
    {"one_that_adds_and_one_that_removes",
     "abcde",
     "a1 b1 c1 d1",
     "abcd",
     {CHANGER("abcde", 'e', 0), CHANGER("abcd", 0, 'a')},
     2000},
    {"two_that_remove_other_masters",
     "abcd",
     "a1 b1 c1 d1",
     "abcd",
     {CHANGER("abcd", 0, 'c'), CHANGER("abcd", 0, 'd')},
     2000},
    {"one_that_adds_and_one_that_sees_a_loss",
     "abCd",
     "a1 b1 c1",
     "ab",
     {CHANGER("ab.d", 'd', 0), CLIENT("abC", RECORDS_MAX_TTL_MS)},
     200},
};

/* ---- the writings ---- */

static struct rlk_record written[RECORDS];
static unsigned n_written;
static bool forgets_promises; /* masters accept any ballot */

static uint8_t find_writing(const struct rlk_record *r)
{
    unsigned i;

    for (i = 1; i < n_written; i++) {
        if (rlk_ballot_compare(&written[i].ballot, &r->ballot) == 0 &&
            rlk_record_is_same(&written[i], r)) {
            return (uint8_t)i;
        }
    }
    ck_assert_uint_lt(n_written, RECORDS);
    written[n_written++] = *r;
    return (uint8_t)i;
}

static bool is_agreed(const struct world *w, unsigned writing)
{
    uint64_t marks[PLACES];
    unsigned i, n = 0;

    for (i = 0; i < PLACES; i++) {
        if (w->has[writing] & 1u << i) {
            marks[n++] = (uint64_t)w->master[i].mark;
        }
    }
    return rlk_record_is_agreed(&written[writing], marks, n);
}

/* Two records of one epoch that say different things, and both were agreed on. */
static bool is_wrong(const struct world *w)
{
    unsigned i, j;

    for (i = 1; i < n_written; i++) {
        for (j = 1; j < i; j++) {
            if (written[i].epoch == written[j].epoch &&
                !rlk_record_is_same(&written[i], &written[j]) && is_agreed(w, i) &&
                is_agreed(w, j)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- the world ---- */

/* The node of a client that is the master at a place, or -1. */
static int node_of(const struct client *c, unsigned place)
{
    unsigned i;

    for (i = 0; c->places[i]; i++) {
        if (c->places[i] != '.' && (c->places[i] | 0x20) == 'a' + (int)place) {
            return (int)i;
        }
    }
    return -1;
}

/* A master answers. */
static void look(struct world *w, const struct space *s, unsigned writer, unsigned place)
{
    struct rlk_membership *m = &w->writer[writer].m;
    int node = node_of(&s->client[writer], place);
    const struct master *master = &w->master[place];

    if (node >= 0) {
        m->shown[node].tried = m->shown[node].connected = m->shown[node].readable = true;
        rlk_membership_set_mark(m, (unsigned)node, (uint64_t)master->mark);
        m->shown[node].record = master->record ? &written[master->record] : NULL;
        m->shown[node].promised = master->promised;
    }
}

static void begin_writer(struct world *w, const struct space *s, unsigned writer)
{
    struct rlk_membership *m = &w->writer[writer].m;
    const struct client *c = &s->client[writer];
    unsigned i;

    rlk_membership_init(m, (unsigned)strlen(c->places), c->max_ttl_ms, 0);
    for (i = 0; i < m->n; i++) {
        m->shown[i].address =
            records_address(c->places[i] == '.' ? (char)('a' + i) : (char)(c->places[i] | 0x20));
        m->shown[i].len = 1;
        m->shown[i].tried = true;
    }
    m->joins = c->joins ? node_of(c, (unsigned)(c->joins - 'a')) : -1;
    m->leaves = c->leaves ? node_of(c, (unsigned)(c->leaves - 'a')) : -1;
    for (i = 0; i < strlen(s->marks); i++) {
        look(w, s, writer, i);
    }
}

static void begin(struct world *w, const struct space *s)
{
    struct rlk_record first;
    unsigned i;

    memset(w, 0, sizeof(*w));
    n_written = 1;
    if (s->record) {
        first = records_make(1, 1, s->record);
        find_writing(&first);
    }
    for (i = 0; i < strlen(s->marks); i++) {
        w->master[i].mark = s->marks[i];
        if (strchr(s->has, s->marks[i])) {
            w->master[i].record = 1;
            w->master[i].promised = first.ballot;
            w->has[1] |= (uint8_t)(1u << i);
        }
    }
    for (i = 0; i < WRITERS && s->client[i].places; i++) {
        begin_writer(w, s, i);
    }
}

/* ---- the steps ---- */

static uint64_t nodes_of(const struct space *s, unsigned writer, uint8_t places)
{
    uint64_t nodes = 0;
    unsigned i;

    for (i = 0; i < PLACES; i++) {
        nodes |= places & 1u << i ? rlk_mask_bit((unsigned)node_of(&s->client[writer], i)) : 0;
    }
    return nodes;
}

/* Begin to ask, or to write; false: that is not possible. */
static bool go_on(struct world *w, const struct space *s, unsigned writer)
{
    struct writer *p = &w->writer[writer];
    struct rlk_membership_verdict v;
    struct rlk_record r;

    rlk_membership_judge(&p->m, 0, &v);
    if (v.task == RLK_RECORD_NOTHING || p->phase >= ACCEPTING) {
        return false;
    }
    if (p->phase == LOOKING) {
        p->ballot = (struct rlk_ballot){rlk_membership_next_number(&p->m), writer + 1};
        p->phase = PROMISING;
        return true;
    }
    if (!rlk_membership_may_write(&p->m, &v, nodes_of(s, writer, p->promised))) {
        return false;
    }
    rlk_membership_write(&p->m, &v, &p->ballot, &r);
    p->writes = find_writing(&r);
    p->phase = ACCEPTING;
    return true;
}

/* As scripts/masters.lua does it. */
static bool has_promised_later(const struct master *m, const struct rlk_ballot *ballot)
{
    return !forgets_promises && rlk_ballot_compare(&m->promised, ballot) > 0;
}

/* Whether a message of a writer to a master is left. */
static bool is_on_its_way(const struct world *w, const struct space *s, unsigned writer,
                          unsigned place)
{
    const struct writer *p = &w->writer[writer];
    unsigned got = p->phase == PROMISING ? p->promised : p->accepted;

    return node_of(&s->client[writer], place) >= 0 && w->master[place].mark != 0 &&
           !(got >> place & 1) &&
           (p->phase == PROMISING || (p->phase == ACCEPTING && (p->promised >> place & 1)));
}

/* It reaches the master. */
static void deliver(struct world *w, const struct space *s, unsigned writer, unsigned place)
{
    struct writer *p = &w->writer[writer];
    struct master *m = &w->master[place];
    uint8_t bit = (uint8_t)(1u << place),
            *got = p->phase == PROMISING ? &p->promised : &p->accepted;
    bool later = has_promised_later(m, &p->ballot);

    if (!later) {
        m->promised = p->ballot;
        *got |= bit;
    }
    if (!later && p->phase == ACCEPTING) {
        m->record = p->writes;
        w->has[p->writes] |= bit;
    }
    look(w, s, writer, place);
}

/* ---- every order ---- */

#define TABLE_SIZE (1u << 22)

static uint64_t *table;

static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    uint64_t word;
    size_t n;

    for (; len > 0; at += n, len -= n) {
        n = len < sizeof(word) ? len : sizeof(word);
        word = 0;
        memcpy(&word, at, n);
        hash = hash_mix(hash, word, 0xff51afd7ed558ccdu, 32);
    }
    return hash;
}

static uint64_t hash_of(const struct world *w)
{
    uint64_t hash = mix(UINT64_C(14695981039346656037), w->master, sizeof(w->master));
    unsigned i;

    for (i = 0; i < WRITERS; i++) {
        const struct writer *p = &w->writer[i];

        hash = mix(hash, p, offsetof(struct writer, m));
        hash = mix(hash, p->m.shown, p->m.n * sizeof(p->m.shown[0]));
        hash = mix(hash, &p->m.in_use, sizeof(p->m.in_use));
        hash = mix(hash, &p->m.last, sizeof(p->m.last));
    }
    return mix(hash, w->has, sizeof(w->has)) | 1;
}

/* Whether the world is new. */
static bool add_world(const struct world *w, unsigned *count)
{
    uint64_t hash = hash_of(w);
    size_t at = hash % TABLE_SIZE;

    while (table[at] != 0 && table[at] != hash) {
        at = (at + 1) % TABLE_SIZE;
    }
    if (table[at] == hash) {
        return false;
    }
    table[at] = hash;
    ++*count;
    ck_assert_uint_lt(*count, TABLE_SIZE / 2);
    return true;
}

/* The next step of a writer: at a place, or its own. The world is large: it is copied only for a
 * step that there is. */
static bool step(const struct world *w, const struct space *s, unsigned writer, unsigned place,
                 struct world *ret_next)
{
    if (place < PLACES && !is_on_its_way(w, s, writer, place)) {
        return false;
    }
    *ret_next = *w;
    if (place == PLACES) {
        return go_on(ret_next, s, writer);
    }
    deliver(ret_next, s, writer, place);
    return true;
}

/* Returns whether something wrong was found. Each step makes the world larger, so this ends. */
static bool search(const struct world *w, const struct space *s, unsigned *count)
{
    unsigned writer, place;

    if (is_wrong(w)) {
        return true;
    }
    for (writer = 0; writer < WRITERS && s->client[writer].places; writer++) {
        for (place = 0; place <= PLACES; place++) {
            struct world next;

            if (step(w, s, writer, place, &next) && add_world(&next, count) &&
                search(&next, s, count)) {
                return true;
            }
        }
    }
    return false;
}

static bool search_space(const struct space *s, unsigned *ret_count)
{
    static struct world w;
    bool wrong;

    table = calloc(TABLE_SIZE, sizeof(*table));
    ck_assert_ptr_nonnull(table);
    begin(&w, s);
    *ret_count = 0;
    wrong = search(&w, s, ret_count);
    free(table);
    return wrong;
}

TEST_ROWS(of_two_records_one_is_agreed_on, spaces)
{
    unsigned count;

    ck_assert(!search_space(&spaces[_i], &count));
    ck_assert_msg(count >= spaces[_i].least, "only %u worlds", count);
}

/* So the search can find something. */
TEST_ROWS(without_promises_two_are, spaces)
{
    unsigned count;

    forgets_promises = true;
    ck_assert(search_space(&spaces[_i], &count));
    forgets_promises = false;
}
