/* talk_checks.c - see talk_checks.h. */
#include "talk_checks.h"

#include <string.h>

#include "fuzz.h"

#define LONGEST 2048 /* of a sentence */

void talk_check_text(const char *text, size_t most)
{
    FUZZ_CHECK(strlen(text) < most, "a text has its bound");
    for (; *text; text++) {
        FUZZ_CHECK(*text >= ' ' && *text <= '~', "texts from the network are made printable");
    }
}

void talk_check_lock(const struct redlock_lock *lock, int status, bool out_of_memory)
{
    struct redlock_node_detail d = {.size = sizeof(d)};

    FUZZ_CHECK(status == REDLOCK_OK || status == REDLOCK_EHELD || status == REDLOCK_ETOOSLOW ||
                   status == REDLOCK_EDEADLINE || status == REDLOCK_ECANCELED ||
                   status == REDLOCK_ENOQUORUM || status == REDLOCK_ECONFIG ||
                   status == REDLOCK_ELOST || (status == REDLOCK_ENOMEM && out_of_memory),
               "an acquire ends as it is documented");
    FUZZ_CHECK((redlock_lock_validity_ms(lock) > 0) == (status == REDLOCK_OK),
               "what is held is valid, and nothing else");
    FUZZ_CHECK(redlock_lock_fencing_token(lock) < UINT64_C(1) << 53, "a fencing token is a number");
    FUZZ_CHECK(redlock_lock_node(lock, 0, &d) == 0, "a vote can be asked for");
    talk_check_text(d.holder, LONGEST);
    talk_check_text(d.error, LONGEST);
}

void talk_check_query(const struct redlock_query_result *r, int status)
{
    FUZZ_CHECK((r == NULL) == (status == REDLOCK_ECANCELED), "cancelled, or with a result");
    if (r) {
        FUZZ_CHECK(status == REDLOCK_OK || status == REDLOCK_ENOQUORUM,
                   "a query ends as it is documented");
        FUZZ_CHECK(r->n_nodes == 1 && (status == REDLOCK_OK) == (r->answered == 1),
                   "one node's answer");
        FUZZ_CHECK(r->holding <= r->answered && (!r->held || r->holding == 1), "held by one");
        talk_check_text(r->token, LONGEST);
        talk_check_text(r->owner, LONGEST);
        talk_check_text(r->leader, LONGEST);
        talk_check_text(r->value, LONGEST);
        talk_check_text(r->reserved_for, LONGEST);
        talk_check_text(r->nodes[0]->error, LONGEST);
    }
}

void talk_check_list(const struct redlock_list_summary *s, int status)
{
    FUZZ_CHECK((s == NULL) == (status == REDLOCK_ECANCELED), "cancelled, or with a summary");
    if (s) {
        FUZZ_CHECK(status != REDLOCK_OK || s->scanned == 1,
                   "a whole list has the keys of a majority");
        FUZZ_CHECK(s->listed + s->unasked <= s->names, "only keys that were named are listed");
        talk_check_text(s->nodes[0]->error, LONGEST);
    }
}

void talk_check_history(const struct redlock_history_result *h, int status)
{
    size_t i;

    FUZZ_CHECK((h == NULL) == (status == REDLOCK_ECANCELED), "cancelled, or with a history");
    if (h == NULL) {
        return;
    }
    FUZZ_CHECK((status == REDLOCK_OK) <= (h->read == 1), "a history is that of a majority");
    talk_check_text(h->nodes[0]->error, LONGEST);
    for (i = 0; i < h->n_events; i++) {
        const struct redlock_history_event *e = h->events[i];

        FUZZ_CHECK(strlen(e->id) == 0 ||
                       (strlen(e->id) == 8 && strspn(e->id, "0123456789abcdef") == 8),
                   "an event has the id of a token");
        FUZZ_CHECK(strlen(e->owner) < 256 && strlen(e->by) < 256 && strlen(e->to) < 256,
                   "and texts that are cut");
        FUZZ_CHECK((e->masters & ~UINT64_C(1)) == 0 && (e->missing & ~UINT64_C(1)) == 0,
                   "from masters that there are");
        FUZZ_CHECK(i == 0 || h->events[i - 1]->time_ms <= e->time_ms, "the oldest comes first");
    }
}

static void check_examined(const struct redlock_examined *e)
{
    const char *texts[] = {e->name,    e->error, e->product, e->version,    e->run_id,
                           e->role,    e->mode,  e->user,    e->fsync,      e->eviction,
                           e->refusal, e->tls,   e->acl,     e->subscriber, e->addresses};
    size_t i;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        talk_check_text(texts[i], LONGEST);
    }
    FUZZ_CHECK(e->ping_min_us <= e->ping_median_us && e->ping_median_us <= e->ping_max_us,
               "round trips are in order");
}

void talk_check_report(const struct redlock_report *r, int status)
{
    size_t i;

    FUZZ_CHECK((r == NULL) == (status == REDLOCK_ECANCELED), "cancelled, or with a report");
    if (r == NULL) {
        return;
    }
    FUZZ_CHECK(r->n_nodes == 1 && r->quorum == 1 && r->voting <= r->usable && r->usable <= 1,
               "a report is about its masters");
    check_examined(r->nodes[0]);
    for (i = 0; i < r->n_findings; i++) {
        FUZZ_CHECK(r->findings[i]->severity <= r->verdict, "the verdict is the worst finding");
        FUZZ_CHECK(r->findings[i]->node >= -1 && r->findings[i]->node < 1,
                   "a finding has its master");
        talk_check_text(r->findings[i]->text, LONGEST);
        talk_check_text(r->findings[i]->fix, LONGEST);
    }
}

static void check_record(const struct redlock *rl)
{
    struct redlock_record_info info = {.size = sizeof(info)};
    struct redlock_record_master master = {.size = sizeof(master)};
    size_t i;

    FUZZ_CHECK(redlock_get_record(rl, &info) == 0, "the record can be asked for");
    talk_check_text(info.error, LONGEST);
    for (i = 0; i < info.n_entries; i++) {
        FUZZ_CHECK(redlock_get_record_master(rl, i, &master) == 0, "and each of its entries");
        talk_check_text(master.address, LONGEST);
        FUZZ_CHECK(master.node >= -1 && master.node < (int)redlock_node_count(rl),
                   "which is a master of ours, or none");
    }
}

void talk_check_manager(const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    for (i = 0; i < redlock_node_count(rl); i++) {
        FUZZ_CHECK(redlock_get_node_info(rl, i, &info) == 0, "a node can be asked for");
        talk_check_text(info.error, LONGEST);
        talk_check_text(info.server, LONGEST);
        talk_check_text(info.name, LONGEST);
    }
    check_record(rl);
}
