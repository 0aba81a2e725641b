/* testing/model_streams.c - the streams of a master: scripts keep the audit stream in one. Here a
 * stream is a list of its entries, the oldest first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>

#include "testing/memory.h"
#include "testing/model_inside.h"

struct model_id {
    uint64_t ms, seq;
};

struct model_entry {
    struct model_entry *next;
    struct model_id id;
    size_t n;               /* fields and values together */
    struct evbuffer *words; /* as XRANGE shows them */
};

static void remove_entry(struct model_entry **at)
{
    struct model_entry *entry = *at;

    *at = entry->next;
    if (entry->words) {
        evbuffer_free(entry->words);
    }
    free(entry);
}

void rlk_model_free_entries(struct model_key *key)
{
    while (key->entries) {
        remove_entry(&key->entries);
    }
}

static struct model_key *find_stream(const struct model_call *c)
{
    return *rlk_model_find(c->m, c->s->db, rlk_model_word(c, 1));
}

static size_t count_entries(const struct model_key *stream)
{
    const struct model_entry *entry;
    size_t n = 0;

    for (entry = stream ? stream->entries : NULL; entry; entry = entry->next) {
        n++;
    }
    return n;
}

static void put_id(struct evbuffer *out, struct model_id id)
{
    char text[48];

    snprintf(text, sizeof(text), "%" PRIu64 "-%" PRIu64, id.ms, id.seq);
    rlk_resp_put_text(out, text);
}

/* ---- XADD key MAXLEN ~ n * field value... ---- */

static struct model_entry **find_end(struct model_key *stream, struct model_id *last)
{
    struct model_entry **at = &stream->entries;

    for (; *at; at = &(*at)->next) {
        *last = (*at)->id;
    }
    return at;
}

/* Later than the last one, also when the clock was set back. */
static struct model_id next_id(const struct model *m, struct model_id last)
{
    struct model_id id = {rlk_model_now_us(m) / 1000, 0};

    return id.ms > last.ms ? id : (struct model_id){last.ms, last.seq + 1};
}

static void append_entry(const struct model_call *c, struct model_key *stream, size_t first)
{
    struct model_entry *entry = rlk_testing_memory_new(sizeof(*entry));
    struct model_id last = {0, 0};
    size_t i;

    if (!entry) {
        return;
    }
    *find_end(stream, &last) = entry;
    entry->id = next_id(c->m, last);
    entry->n = c->request->argc - first;
    entry->words = evbuffer_new();
    rlk_testing_memory_note(entry->words != NULL);
    for (i = first; entry->words && i < c->request->argc; i++) {
        rlk_resp_put_bulk(entry->words, c->request->argv[i], c->request->len[i]);
    }
    put_id(c->out, entry->id);
}

static void add_entry(const struct model_call *c)
{
    size_t most = strtoul(rlk_model_word(c, 4), NULL, 10);
    struct model_key *stream = find_stream(c);

    if (c->request->argc < 8 || c->request->argc % 2 != 0 ||
        !rlk_resp_is(c->request, 2, "MAXLEN") || !rlk_resp_is(c->request, 3, "~") ||
        !rlk_resp_is(c->request, 5, "*")) {
        rlk_resp_put_error(c->out, "ERR syntax error");
        return;
    }
    if (!stream) {
        stream = rlk_model_put(c->m, c->s->db, rlk_model_word(c, 1), "", 0, 0);
    }
    if (!stream) {
        return;
    }
    stream->is_stream = true;
    append_entry(c, stream, 6);
    while (count_entries(stream) > most) {
        remove_entry(&stream->entries);
    }
}

/* ---- XREVRANGE key end start COUNT n ---- */

/* '-' and '+' are the first and the last; without a part behind '-' the whole millisecond. */
static struct model_id read_id(const char *text, uint64_t seq)
{
    struct model_id id = {0, seq};

    if (strcmp(text, "-") == 0) {
        return (struct model_id){0, 0};
    }
    if (strcmp(text, "+") == 0) {
        return (struct model_id){UINT64_MAX, UINT64_MAX};
    }
    sscanf(text, "%" SCNu64 "-%" SCNu64, &id.ms, &id.seq);
    return id;
}

static bool is_after(struct model_id a, struct model_id b)
{
    return a.ms > b.ms || (a.ms == b.ms && a.seq > b.seq);
}

static void put_entry(struct evbuffer *out, const struct model_entry *entry)
{
    const unsigned char *words = entry->words ? evbuffer_pullup(entry->words, -1) : NULL;

    rlk_resp_put_array(out, 2);
    put_id(out, entry->id);
    rlk_resp_put_array(out, entry->n);
    rlk_testing_memory_note(words &&
                            evbuffer_add(out, words, evbuffer_get_length(entry->words)) == 0);
}

/* The newest first: entry by entry, each before those found so far. */
static void reverse_range(const struct model_call *c)
{
    struct model_id end = read_id(rlk_model_word(c, 2), UINT64_MAX);
    struct model_id start = read_id(rlk_model_word(c, 3), 0);
    size_t most = strtoul(rlk_model_word(c, 5), NULL, 10), n = 0, skip;
    const struct model_key *stream = find_stream(c);
    const struct model_entry *first = NULL, *entry;

    for (entry = stream ? stream->entries : NULL; entry; entry = entry->next) {
        if (!is_after(start, entry->id) && !is_after(entry->id, end)) {
            first = first ? first : entry;
            n++;
        }
    }
    rlk_resp_put_array(c->out, n < most ? n : most);
    for (; n > 0 && most > 0; n--, most--) {
        entry = first;
        for (skip = 1; skip < n; skip++) {
            entry = entry->next;
        }
        put_entry(c->out, entry);
    }
}

static void length(const struct model_call *c)
{
    rlk_resp_put_int(c->out, (long long)count_entries(find_stream(c)));
}

void rlk_model_stream(const struct model_call *c)
{
    const struct model_key *key = find_stream(c);

    if (key && !key->is_stream) {
        rlk_resp_put_error(c->out, MODEL_WRONGTYPE);
    } else if (rlk_resp_is(c->request, 0, "XADD")) {
        add_entry(c);
    } else if (rlk_resp_is(c->request, 0, "XREVRANGE")) {
        reverse_range(c);
    } else {
        length(c);
    }
}

bool rlk_model_is_string(const struct model_key *key)
{
    return !key->members && !key->is_stream;
}
