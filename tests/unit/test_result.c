/* unit/test_result.c - the copy of a result has every field, and outlives the original. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "core/validity.h"
#include "lib/test.h"
#include "lock/result.h"

SUITE("result");

struct field {
    const char *name;
    size_t at, size;
    bool points; /* to memory that the copy has anew */
};

#define FIELD(field, is_pointer)                                                                   \
    {                                                                                              \
        .name = #field, .at = offsetof(struct OF, field), .size = sizeof(((struct OF *)0)->field), \
        .points = is_pointer                                                                       \
    }

#define OF redlock_query_result
static const struct field result_fields[] = {
    FIELD(size, false),          FIELD(nodes, true),    FIELD(n_nodes, false),
    FIELD(answered, false),      FIELD(holding, false), FIELD(token, true),
    FIELD(owner, true),          FIELD(ttl_ms, false),  FIELD(held, false),
    FIELD(fencing_token, false), FIELD(unknown, false), FIELD(waiters, false),
    FIELD(leader, true),         FIELD(value, true),    FIELD(priority, false),
    FIELD(reserved_for, true)};
_Static_assert(RLK_SIZED_ENDS_WITH(struct OF, reserved_for),
               "add a new field, here and to the copy");
#undef OF

#define OF redlock_query_node
static const struct field node_fields[] = {
    FIELD(size, false), FIELD(reply, false),   FIELD(token, true),   FIELD(ttl_ms, false),
    FIELD(error, true), FIELD(counter, false), FIELD(waiters, false)};
_Static_assert(RLK_SIZED_ENDS_WITH(struct OF, waiters), "add a new field, here and to the copy");
#undef OF

/* ---- an original ---- */

struct original {
    struct redlock_query_result result;
    struct redlock_query_node nodes[RLK_MAX_NODES];
    const struct redlock_query_node *list[RLK_MAX_NODES];
    char texts[2 * RLK_MAX_NODES + 5][RLK_FOUND_SHOWN];
    unsigned n_texts;
};

/* Texts of all lengths: empty, short, and the longest. */
static const char *another_text(struct original *o)
{
    static const size_t lens[] = {5, 0, 1, RLK_FOUND_SHOWN - 1, 40};
    char *text = o->texts[o->n_texts];

    memset(text, 'a' + (int)(o->n_texts % 26), lens[o->n_texts % N_ROWS(lens)]);
    o->n_texts++;
    return text;
}

/* Each byte of each field is another one than that beside it, and none is 0. */
static void fill(void *to, size_t size, unsigned salt)
{
    size_t i;

    for (i = 0; i < size; i++) {
        ((unsigned char *)to)[i] = (unsigned char)(1 + (i * 7 + salt) % 255);
    }
}

static struct original *make_original(size_t n)
{
    struct original *o = calloc(1, sizeof(*o));
    struct redlock_query_result *r;
    size_t i;

    ck_assert_ptr_nonnull(o);
    r = &o->result;
    fill(r, sizeof(*r), 0);
    r->nodes = o->list;
    r->n_nodes = n;
    r->token = another_text(o);
    r->owner = another_text(o);
    r->leader = another_text(o);
    r->value = another_text(o);
    r->reserved_for = another_text(o);
    for (i = 0; i < n; i++) {
        fill(&o->nodes[i], sizeof(o->nodes[i]), 1 + (unsigned)i);
        o->nodes[i].token = another_text(o);
        o->nodes[i].error = another_text(o);
        o->list[i] = &o->nodes[i];
    }
    return o;
}

/* ---- the copy ---- */

/* Every field is the same, but pointers: each is another one. */
static void must_be_copied(const void *original, const void *copy, const struct field *f, size_t n)
{
    const char *a = original, *b = copy;

    for (; n > 0; n--, f++) {
        bool same = memcmp(a + f->at, b + f->at, f->size) == 0;

        ck_assert_msg(same != f->points, "%s %s", f->name, same ? "is shared" : "was not copied");
    }
}

static void compare_structs(const struct redlock_query_result *a,
                            const struct redlock_query_result *b)
{
    size_t i;

    must_be_copied(a, b, result_fields, N_ROWS(result_fields));
    for (i = 0; i < a->n_nodes; i++) {
        must_be_copied(a->nodes[i], b->nodes[i], node_fields, N_ROWS(node_fields));
    }
}

static void compare_texts(const struct redlock_query_result *a,
                          const struct redlock_query_result *b)
{
    size_t i;

    ck_assert_str_eq(a->token, b->token);
    ck_assert_str_eq(a->owner, b->owner);
    ck_assert_str_eq(a->leader, b->leader);
    ck_assert_str_eq(a->value, b->value);
    ck_assert_str_eq(a->reserved_for, b->reserved_for);
    for (i = 0; i < a->n_nodes; i++) {
        ck_assert_str_eq(a->nodes[i]->token, b->nodes[i]->token);
        ck_assert_str_eq(a->nodes[i]->error, b->nodes[i]->error);
    }
}

TEST(the_copy_has_every_field_and_outlives_the_original)
{
    static const size_t counts[] = {0, 1, 2, 5, RLK_MAX_NODES};
    size_t i;

    for (i = 0; i < N_ROWS(counts); i++) {
        struct original *o = make_original(counts[i]), *again = make_original(counts[i]);
        struct redlock_query_result *copy = rlk_result_copy(&o->result);

        ck_assert_ptr_nonnull(copy);
        compare_structs(&o->result, copy);
        memset(o, 0x5a, sizeof(*o));
        free(o);
        compare_texts(&again->result, copy);
        rlk_free(copy);
        free(again);
    }
}

/* A copy of a copy is another one: it shares nothing either. */
TEST(a_copy_can_be_copied)
{
    struct original *o = make_original(3);
    struct redlock_query_result *copy = rlk_result_copy(&o->result), *second;

    ck_assert_ptr_nonnull(copy);
    second = rlk_result_copy(copy);
    ck_assert_ptr_nonnull(second);
    compare_structs(copy, second);
    rlk_free(copy);
    compare_texts(&o->result, second);
    rlk_free(second);
    free(o);
}
