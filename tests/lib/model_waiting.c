/* lib/model_waiting.c - the waiting lists of a master, as the scripts wait, leave and release use
 * them. A list is an array here, in the order of the tickets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model_inside.h"

#define LONGEST 1024
#define MOST_DEAD 32
#define A_DAY_US UINT64_C(86400000000)

struct model_list {
    struct model_list *next;
    long db;
    char *key;
    uint64_t until_ms;
    size_t n;
    char *channel[LONGEST];
    uint64_t ticket_us[LONGEST];
};

/* ---- lists ---- */

static void drop(struct model_list *list, size_t at)
{
    free(list->channel[at]);
    list->n--;
    memmove(&list->channel[at], &list->channel[at + 1], (list->n - at) * sizeof(list->channel[0]));
    memmove(&list->ticket_us[at], &list->ticket_us[at + 1],
            (list->n - at) * sizeof(list->ticket_us[0]));
}

static void remove_list(struct model_list **at)
{
    struct model_list *list = *at;

    *at = list->next;
    while (list->n > 0) {
        drop(list, list->n - 1);
    }
    free(list->key);
    free(list);
}

void model_forget_lists(struct model *m)
{
    while (m->lists) {
        remove_list(&m->lists);
    }
}

/* NULL: no list. Lists that have expired or are empty go on the way. */
static struct model_list *find_list(struct model *m, long db, const char *key)
{
    struct model_list **at = &m->lists;

    while (*at) {
        if ((*at)->n == 0 || (*at)->until_ms <= model_now_us(m) / 1000) {
            remove_list(at);
        } else if ((*at)->db == db && strcmp((*at)->key, key) == 0) {
            return *at;
        } else {
            at = &(*at)->next;
        }
    }
    return NULL;
}

bool model_is_list(const struct model_call *c, const char *name)
{
    static const char suffix[] = ":redlock-waiting";
    size_t len = strlen(name), more = sizeof(suffix) - 1;
    char *key = strdup(name);
    bool found = len > more && strcmp(name + len - more, suffix) == 0;

    if (found) {
        key[len - more] = '\0';
        found = find_list(c->m, c->s->db, key) != NULL;
    }
    free(key);
    return found;
}

static struct model_list *find_or_make(struct model *m, long db, const char *key)
{
    struct model_list *list = find_list(m, db, key);

    if (!list) {
        list = calloc(1, sizeof(*list));
        list->db = db;
        list->key = strdup(key);
        list->next = m->lists;
        m->lists = list;
    }
    return list;
}

/* From 1; 0: it is not in the list. */
static size_t place_of(const struct model_list *list, const char *channel)
{
    size_t i;

    for (i = 0; i < list->n; i++) {
        if (strcmp(list->channel[i], channel) == 0) {
            return i + 1;
        }
    }
    return 0;
}

const char *model_waiter(struct model *m, const char *key, size_t place)
{
    const struct model_list *list = find_list(m, 0, key);

    return list && place <= list->n ? list->channel[place - 1] : NULL;
}

/* ---- waking ---- */

static size_t tell(const struct model_call *c, const char *channel, char what, const char *key)
{
    char text[2048];

    snprintf(text, sizeof(text), "%c%s", what, key);
    return model_publish(c->m, channel, text, strlen(text));
}

/* Servers sort by the ticket, and by the channel when two are equal. */
static bool is_later(const struct model_list *list, size_t at, const char *channel,
                     uint64_t ticket_us)
{
    return list->ticket_us[at] > ticket_us ||
           (list->ticket_us[at] == ticket_us && strcmp(list->channel[at], channel) > 0);
}

/* Wake the first who listens; those before it go. `ours` is not woken, nor is anybody with a later
 * ticket. */
static bool wake(const struct model_call *c, const char *key, const char *ours, uint64_t ticket_us)
{
    struct model_list *list = find_list(c->m, c->s->db, key);
    bool woken = false;
    unsigned tries;

    for (tries = 0; list && list->n > 0 && !woken && tries < MOST_DEAD; tries++) {
        if (strcmp(list->channel[0], ours) == 0 || is_later(list, 0, ours, ticket_us)) {
            return false;
        }
        woken = tell(c, list->channel[0], 't', key) > 0;
        drop(list, 0);
    }
    if (woken && list->n > 0) {
        tell(c, list->channel[0], 'n', key);
    }
    return woken;
}

static bool is_free(const struct model_call *c, const char *key)
{
    return *model_find(c->m, c->s->db, key) == NULL;
}

/* The one behind it is next, and is told so; quiet: somebody is woken instead. */
static void take_out(const struct model_call *c, const char *key, const char *channel, bool quiet)
{
    struct model_list *list = find_list(c->m, c->s->db, key);
    size_t place = list ? place_of(list, channel) : 0;

    if (place == 0) {
        return;
    }
    drop(list, place - 1);
    if (place == 1 && list->n > 0 && !quiet) {
        tell(c, list->channel[0], 'n', key);
    }
}

bool model_leave(const struct model_call *c, const char *key, const char *channel)
{
    take_out(c, key, channel, is_free(c, key));
    return is_free(c, key) && wake(c, key, "", UINT64_MAX);
}

/* ---- the scripts ---- */

static const char *key_at(const struct model_call *c, size_t i)
{
    return model_word(c, 3 + i);
}

static const char *argument(const struct model_call *c, const struct model_keys *k, size_t i)
{
    return model_word(c, 2 + k->n + i);
}

static uint64_t ticket(const struct model_call *c, const struct model_keys *k)
{
    uint64_t waited_us = strtoull(argument(c, k, 2), NULL, 10);

    return model_now_us(c->m) - (waited_us < A_DAY_US ? waited_us : A_DAY_US);
}

/* The key whose list we enter: the first that is taken, or else the first for which somebody else
 * waits, who is woken. k->n: it is our turn. */
static size_t find_key(const struct model_call *c, const struct model_keys *k)
{
    bool yields = strcmp(argument(c, k, 3), "1") == 0;
    size_t i;

    for (i = 0; i < k->n && is_free(c, key_at(c, i)); i++) {
    }
    if (i < k->n || yields) {
        return i % k->n;
    }
    for (i = 0; i < k->n && !wake(c, key_at(c, i), argument(c, k, 1), ticket(c, k)); i++) {
    }
    return i;
}

/* Returns the place, from 1. */
static size_t insert(struct model_list *list, const char *channel, uint64_t ticket_us)
{
    size_t at = list->n;

    while (at > 0 && is_later(list, at - 1, channel, ticket_us)) {
        list->channel[at] = list->channel[at - 1];
        list->ticket_us[at] = list->ticket_us[at - 1];
        at--;
    }
    list->channel[at] = strdup(channel);
    list->ticket_us[at] = ticket_us;
    list->n++;
    return at + 1;
}

/* The place, or -1: the list is full. */
static long long enter(const struct model_call *c, const char *key, const struct model_keys *k)
{
    struct model_list *list = find_or_make(c->m, c->s->db, key);
    const char *channel = argument(c, k, 1);
    size_t place = place_of(list, channel);

    if (place == 0 && list->n == LONGEST) {
        return -1;
    }
    if (place == 0) {
        place = insert(list, channel, ticket(c, k));
    } else if (list->ticket_us[place - 1] > ticket(c, k)) {
        drop(list, place - 1);
        place = insert(list, channel, ticket(c, k));
    }
    list->until_ms = model_now_us(c->m) / 1000 + strtoull(argument(c, k, 4), NULL, 10);
    return (long long)place;
}

void model_run_wait(const struct model_call *c, const struct model_keys *k)
{
    bool yields = strcmp(argument(c, k, 3), "1") == 0;
    size_t wanted = find_key(c, k), i;
    const struct model_key *key;

    for (i = 0; i < k->n && !yields; i++) {
        if (wanted == k->n) {
            take_out(c, key_at(c, i), argument(c, k, 1), false);
        } else if (i != wanted) {
            model_leave(c, key_at(c, i), argument(c, k, 1));
        }
    }
    resp_put_array(c->out, 3);
    if (wanted == k->n) {
        resp_put_int(c->out, 0);
        resp_put_int(c->out, -2);
        resp_put_text(c->out, "");
        return;
    }
    resp_put_int(c->out, enter(c, key_at(c, wanted), k));
    key = *model_find(c->m, c->s->db, key_at(c, wanted));
    resp_put_int(c->out, model_pttl(c->m, key));
    resp_put_text(c->out, key ? key->value : "");
}

void model_run_leave(const struct model_call *c, const struct model_keys *k)
{
    bool woken = false;
    size_t i;

    for (i = 0; i < k->n; i++) {
        woken |= model_leave(c, key_at(c, i), argument(c, k, 1));
    }
    resp_put_int(c->out, woken);
}
