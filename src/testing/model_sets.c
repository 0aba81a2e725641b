/* testing/model_sets.c - the sorted sets of a master: scripts keep wait queues in them. Here a set
 * is a list in the order of ZRANGE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing/memory.h"
#include "testing/model_inside.h"

struct model_member {
    struct model_member *next;
    double score;
    char name[];
};

static void remove_member(struct model_member **at)
{
    struct model_member *member = *at;

    *at = member->next;
    free(member);
}

void rlk_model_free_members(struct model_key *key)
{
    while (key->members) {
        remove_member(&key->members);
    }
}

/* Where the pointer to the member is, or to the end of the set. */
static struct model_member **find_member(struct model_key *set, const char *name)
{
    struct model_member **at = &set->members;

    while (*at && strcmp((*at)->name, name) != 0) {
        at = &(*at)->next;
    }
    return at;
}

static void insert(struct model_key *set, double score, const char *name)
{
    struct model_member **at = &set->members, *new;

    new = rlk_testing_memory_new(sizeof(*new) + strlen(name) + 1);
    if (!new) {
        return;
    }
    while (*at &&
           ((*at)->score < score || ((*at)->score == score && strcmp((*at)->name, name) < 0))) {
        at = &(*at)->next;
    }
    new->next = *at;
    new->score = score;
    strcpy(new->name, name);
    *at = new;
}

static size_t count_to(const struct model_key *set, const struct model_member *end)
{
    const struct model_member *member;
    size_t n = 0;

    for (member = set->members; member != end; member = member->next) {
        n++;
    }
    return n;
}

const char *rlk_model_waiter(struct model *m, const char *key, size_t place)
{
    const struct model_member *member;
    const struct model_key *set;
    char name[2048];

    snprintf(name, sizeof(name), "%s:redlock-waiting", key);
    set = *rlk_model_find(m, 0, name);
    for (member = set ? set->members : NULL; member && place > 1; place--) {
        member = member->next;
    }
    return member ? member->name : NULL;
}

/* ---- the commands, about a set that may be NULL ---- */

/* ZADD key score member */
static void add_member(const struct model_call *c, struct model_key *set)
{
    const char *name = rlk_model_word(c, 3);
    struct model_member **at;

    if (!set) {
        set = rlk_model_put(c->m, c->s->db, rlk_model_word(c, 1), "", 0, 0);
    }
    if (!set) {
        return;
    }
    at = find_member(set, name);
    rlk_resp_put_int(c->out, *at == NULL);
    if (*at) {
        remove_member(at);
    }
    insert(set, strtod(rlk_model_word(c, 2), NULL), name);
    rlk_model_changed(c->m, set->name);
}

static void card(const struct model_call *c, struct model_key *set)
{
    rlk_resp_put_int(c->out, set ? (long long)count_to(set, NULL) : 0);
}

/* ZRANGE key start stop: start from 0, a stop of -1 is the end. */
static void range(const struct model_call *c, struct model_key *set)
{
    size_t first = strtoul(rlk_model_word(c, 2), NULL, 10), i = 0;
    size_t last = strtoul(rlk_model_word(c, 3), NULL, 10), n = set ? count_to(set, NULL) : 0;
    const struct model_member *member;

    last = last < n ? last + 1 : n;
    rlk_resp_put_array(c->out, first < last ? last - first : 0);
    for (member = set ? set->members : NULL; member; member = member->next, i++) {
        if (i >= first && i < last) {
            rlk_resp_put_text(c->out, member->name);
        }
    }
}

/* ZRANK key member, ZSCORE key member */
static void look_up(const struct model_call *c, struct model_key *set)
{
    const struct model_member *member = set ? *find_member(set, rlk_model_word(c, 2)) : NULL;
    char score[32];

    if (!member) {
        rlk_resp_put_nil(c->out);
    } else if (rlk_resp_is(c->request, 0, "ZRANK")) {
        rlk_resp_put_int(c->out, (long long)count_to(set, member));
    } else {
        snprintf(score, sizeof(score), "%.17g", member->score);
        rlk_resp_put_text(c->out, score);
    }
}

/* ZREM key member. A set ends with its last member. */
static void rem(const struct model_call *c, struct model_key *set)
{
    struct model_member **at = set ? find_member(set, rlk_model_word(c, 2)) : NULL;

    rlk_resp_put_int(c->out, at && *at);
    if (!at || !*at) {
        return;
    }
    remove_member(at);
    if (set->members) {
        rlk_model_changed(c->m, set->name);
    } else {
        rlk_model_remove(c->m, rlk_model_find(c->m, c->s->db, set->name));
    }
}

void rlk_model_sorted_set(const struct model_call *c)
{
    static const struct {
        const char *name;
        void (*run)(const struct model_call *c, struct model_key *set);
    } commands[] = {{"ZADD", add_member}, {"ZCARD", card}, {"ZRANGE", range},
                    {"ZRANK", look_up},   {"ZREM", rem},   {"ZSCORE", look_up}};
    struct model_key *set = *rlk_model_find(c->m, c->s->db, rlk_model_word(c, 1));
    size_t i = 0;

    if (set && !set->members) {
        rlk_resp_put_error(c->out, MODEL_WRONGTYPE);
        return;
    }
    while (!rlk_resp_is(c->request, 0, commands[i].name)) {
        i++;
    }
    commands[i].run(c, set);
}
