/* masters.c - the key of the record on each master, and the texts of the records. */
#include "sim/masters.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/check.h"
#include "sim/clock.h"
#include "sim/facts.h"
#include "sim/memory.h"
#include "sim/trace.h"

/* ---- texts ---- */

/* What it says begins behind its version and its ballot. */
static size_t find_content(const char *text)
{
    const char *at = text;
    unsigned i;

    for (i = 0; i < 3 && at; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at ? (size_t)(at - text) : strlen(text);
}

static void add_text(struct world *w, const char *text, size_t len)
{
    size_t i;

    for (i = 0; i <= len; i++) {
        w->records.text = memory_room(w->records.text, &w->records.text_cap, w->records.len, 1);
        w->records.text[w->records.len++] = i < len ? text[i] : '\0';
    }
}

/* What is written to several masters is the same text. */
size_t masters_keep(struct world *w, const char *text, size_t len)
{
    const char *last = masters_text(w, w->records.n);
    struct kept_record *r;

    if (len == 0 || (strlen(last) == len && memcmp(last, text, len) == 0)) {
        return len == 0 ? 0 : w->records.n;
    }
    w->records.n++;
    w->records.of = memory_room(w->records.of, &w->records.cap, w->records.n, sizeof(*r));
    r = &w->records.of[w->records.n];
    r->text = w->records.len;
    r->is_read = false;
    add_text(w, text, len);
    r->content = r->text + find_content(w->records.text + r->text);
    return w->records.n;
}

const char *masters_text(const struct world *w, size_t record)
{
    return record ? w->records.text + w->records.of[record].text : "";
}

static const char *content(const struct world *w, size_t record)
{
    return record ? w->records.text + w->records.of[record].content : "";
}

bool masters_say_same(const struct world *w, size_t record, size_t other)
{
    return record == other || strcmp(content(w, record), content(w, other)) == 0;
}

/* ---- the key ---- */

static bool is_later(const struct on_record *a, const struct on_record *b)
{
    return a->number != b->number ? a->number > b->number : a->id > b->id;
}

/* Every write reaches the replicas. */
static void write(struct world *w, unsigned server, const struct on_record *value)
{
    struct server *s = &w->servers[server];
    unsigned other;

    s->masters_before = s->masters;
    s->masters = *value;
    for (other = 0; other < w->o.servers; other++) {
        if (w->servers[other].master == server && w->servers[other].state != SERVER_DOWN) {
            w->servers[other].masters = *value;
        }
    }
}

void masters_read(const struct world *w, unsigned server, struct message *m)
{
    m->masters = w->servers[server].masters;
}

void masters_write(struct world *w, unsigned server, struct message *m)
{
    const struct on_record *there = &w->servers[server].masters;
    struct on_record value = m->masters;
    bool accepts = value.record != 0;

    facts_time(w, server, m);
    if (is_later(there, &value)) {
        trace(w, "n%u    has promised a later ballot than %llu", server,
              (unsigned long long)value.number);
        m->masters = *there;
        return;
    }
    if (!accepts) {
        value.record = there->record;
        value.accepted = there->accepted;
        value.accepted_id = there->accepted_id;
    }
    value.since_us = there->number ? there->since_us : m->server_us;
    if (accepts && (there->record == 0 || !masters_say_same(w, there->record, value.record))) {
        value.since_us = m->server_us;
    }
    trace(w, "n%u    %s ballot %llu", server, accepts ? "accepts a record with" : "promises",
          (unsigned long long)value.number);
    write(w, server, &value);
    m->masters = value;
    if (accepts) {
        check_masters_accepted(w, &value);
    }
}

/* ---- a record from before the history ---- */

#define OLD_ID UINT64_C(0x5eed)

/* As src/node/record_text.h has it. */
static size_t write_old(const struct world *w, char *text, size_t size)
{
    const struct client *c = &w->clients[0];
    size_t len = (size_t)snprintf(text, size, "1 1 %016" PRIx64 " 1 %u\n", OLD_ID,
                                  (unsigned)(options_max_ttl_us(&w->o) / 1000));
    unsigned node;

    for (node = 0; node < c->nodes; node++) {
        unsigned address = c->list[node];

        len += (size_t)snprintf(text + len, size - len,
                                "%016" PRIx64 " 1 - redis://10.0.0.%u:6379/0\n",
                                w->servers[c->names[address]].mark.mark, address);
    }
    return len;
}

void masters_old(struct world *w, uint64_t ago_us)
{
    const struct client *c = &w->clients[0];
    char text[SIM_NODES * 64 + 64];
    size_t record = masters_keep(w, text, write_old(w, text, sizeof(text)));
    unsigned node;

    for (node = 0; node < c->nodes; node++) {
        struct server *s = &w->servers[c->names[c->list[node]]];

        s->masters = (struct on_record){.number = 1,
                                        .id = OLD_ID,
                                        .accepted = 1,
                                        .accepted_id = OLD_ID,
                                        .since_us = clock_wall(&s->clock, w->now_us) - ago_us,
                                        .record = record};
        s->masters_before = s->masters;
    }
    w->was_recorded = true;
    w->changes[w->n_changes++] = (struct change_seen){record, 1, 1};
}

bool masters_are_on_record(const struct world *w)
{
    unsigned server;

    for (server = 0; server < w->o.servers && w->servers[server].masters.record == 0; server++) {
    }
    return server < w->o.servers;
}

/* ---- the data of a master ---- */

void masters_forget(struct world *w, unsigned server)
{
    w->servers[server].masters = w->servers[server].masters_before = (struct on_record){0};
}

void masters_lack_last(struct world *w, unsigned server)
{
    w->servers[server].masters = w->servers[server].masters_before;
}

void masters_copy(struct world *w, unsigned server, unsigned from)
{
    w->servers[server].masters = w->servers[server].masters_before = w->servers[from].masters;
}
