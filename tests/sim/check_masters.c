/* check_masters.c - [S15] the record of the masters, read a second time and not by the library.
 *
 * Who has other masters than those on record, and has been shown that, holds nothing. A vote counts
 * only from a master on record; and data that came onto it in place of others vote when no lock is
 * left that was acquired without knowing them. */
#include <stdlib.h>
#include <string.h>

#include "base/mask.h"
#include "core/inspection.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/masters.h"
#include "sim/trace.h"

#define MOST_LISTED 48

/* What a record says of one master. */
struct listed {
    uint64_t mark;
    unsigned from, until; /* epochs; until 0: it still is one */
    bool lost;
    unsigned address;
};

struct list_read {
    unsigned epoch, max_ttl_ms, n;
    struct listed of[MOST_LISTED];
};

/* ---- reading ---- */

/* "MARK FROM UNTIL redis://10.0.0.N:6379/0" */
static const char *read_master(const char *at, struct listed *m)
{
    char *end;

    m->mark = strtoull(at, &end, 16);
    m->from = (unsigned)strtoul(end, &end, 10);
    m->until = end[1] == '-' ? 0 : (unsigned)strtoul(end, &end, 10);
    m->lost = *end == '!';
    at = strchr(end, '\n');
    m->address = (unsigned)strtoul(strstr(end, "10.0.0.") + 7, NULL, 10);
    return at + 1;
}

/* "1 NUMBER ID EPOCH MAX_TTL", and a line for each master. */
static void read_list(const struct world *w, size_t record, struct list_read *ret)
{
    const char *at = masters_text(w, record);
    char *end;

    *ret = (struct list_read){0};
    if (record == 0) {
        return;
    }
    strtoul(at, &end, 10);
    strtoull(end, &end, 10);
    strtoull(end, &end, 16);
    ret->epoch = (unsigned)strtoul(end, &end, 10);
    ret->max_ttl_ms = (unsigned)strtoul(end, &end, 10);
    for (at = end + 1; *at && ret->n < MOST_LISTED; ret->n++) {
        at = read_master(at, &ret->of[ret->n]);
    }
}

static const struct listed *find(const struct list_read *l, uint64_t mark)
{
    unsigned i;

    for (i = 0; i < l->n && l->of[i].mark != mark; i++) {
    }
    return i < l->n && mark != 0 ? &l->of[i] : NULL;
}

static bool is_master(const struct list_read *l, uint64_t mark)
{
    const struct listed *m = find(l, mark);

    return m && m->until == 0;
}

static unsigned count_masters(const struct list_read *l)
{
    unsigned i, n = 0;

    for (i = 0; i < l->n; i++) {
        n += l->of[i].until == 0;
    }
    return n;
}

/* It says what this client was given. Where masters are replaced every list leads to it. */
static bool is_of(const struct world *w, const struct list_read *l, unsigned client)
{
    const struct client *c = &w->clients[client];
    uint64_t listed = 0, given = 0;
    unsigned i;

    if (w->o.operators) {
        return true;
    }
    for (i = 0; i < l->n; i++) {
        listed |= l->of[i].until == 0 ? rlk_mask_bit(l->of[i].address) : 0;
    }
    for (i = 0; i < c->nodes; i++) {
        given |= rlk_mask_bit(c->list[i]);
    }
    return listed == given && count_masters(l) == c->nodes &&
           l->max_ttl_ms == world_max_ttl_ms(w, client);
}

/* It has a master that the record does not know: where masters are replaced, one that it has
 * forgotten. */
static bool knows_not(const struct list_read *l, const struct client *c)
{
    uint64_t known = 0;
    unsigned i;

    for (i = 0; i < l->n; i++) {
        known |= rlk_mask_bit(l->of[i].address);
    }
    for (i = 0; i < c->nodes && known & rlk_mask_bit(c->list[i]); i++) {
    }
    return i < c->nodes;
}

/* ---- what a client is shown ---- */

static bool is_later(const struct on_record *a, const struct on_record *b)
{
    const struct on_record none = {0};

    a = a->record ? a : &none;
    b = b->record ? b : &none;
    return a->accepted != b->accepted ? a->accepted > b->accepted : a->accepted_id > b->accepted_id;
}

/* By those that it names. */
static unsigned shown_by(const struct client *c, size_t record, const struct list_read *l)
{
    unsigned node, n = 0;

    for (node = 0; node < c->nodes; node++) {
        n += c->peers[node].masters.record == record && is_master(l, c->peers[node].mark);
    }
    return n;
}

/* [M1] And by those of the epoch before: here none of them counts whose data are gone. */
static bool is_shown_by_former(const struct client *c, size_t record, const struct list_read *l)
{
    unsigned node, i, n = 0, all = 0;

    for (i = 0; i < l->n; i++) {
        all += l->of[i].from < l->epoch && (l->of[i].until == 0 || l->of[i].until == l->epoch);
    }
    for (node = 0; node < c->nodes; node++) {
        const struct listed *m = find(l, c->peers[node].mark);

        n += c->peers[node].masters.record == record && m && m->from < l->epoch &&
             (m->until == 0 || m->until == l->epoch);
    }
    return all == 0 || n > all / 2;
}

static bool is_agreed(const struct world *w, const struct client *c, size_t record,
                      const struct list_read *l)
{
    return shown_by(c, record, l) > count_masters(l) / 2 &&
           (!w->o.operators || is_shown_by_former(c, record, l));
}

void check_masters_shown(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    struct client *c = &w->clients[client];
    struct peer *p = &c->peers[node];
    struct list_read l;

    if (m->kind == MESSAGE_MARK && !m->reads_masters) {
        return;
    }
    p->mark = m->kind == MESSAGE_MARK ? m->mark.mark : p->mark;
    if (m->masters.record != p->masters.record) {
        p->former_us = c->agreed.record && p->masters.record &&
                               masters_say_same(w, p->masters.record, c->agreed.record)
                           ? p->shown_us
                           : p->former_us;
    }
    p->masters = m->masters;
    p->shown_us = m->sent_us;
    if (m->masters.record == 0) {
        return;
    }
    read_list(w, m->masters.record, &l);
    c->saw_other |= !is_of(w, &l, client) || (w->o.operators && knows_not(&l, c));
    if (is_of(w, &l, client) && is_agreed(w, c, m->masters.record, &l) &&
        is_later(&m->masters, &c->agreed)) {
        c->agreed = m->masters;
    }
}

/* ---- who holds nothing ---- */

static bool has_record(const struct world *w, unsigned client)
{
    return w->o.policy != RLK_QUARANTINE_OFF && (w->o.no_record & rlk_mask_bit(client)) == 0;
}

/* The number or the longest ttl tells at once; another server does when it was connected: its name
 * may be one that only this client has for a master on record. */
static bool can_tell(const struct world *w, unsigned client, const struct list_read *l)
{
    const struct client *c = &w->clients[client];
    unsigned node;

    if (count_masters(l) != c->nodes || l->max_ttl_ms != world_max_ttl_ms(w, client)) {
        return true;
    }
    for (node = 0; node < c->nodes; node++) {
        if (c->peers[node].mark != 0 && find(l, c->peers[node].mark) == NULL) {
            return true;
        }
    }
    return false;
}

/* [M3] An agreed one overrules those from before; a record that does not name the server that has
 * it came there with other data; and where the data changed, the next greeting shows it again. */
static bool is_misfit(const struct world *w, unsigned client, unsigned node)
{
    const struct client *c = &w->clients[client];
    const struct peer *p = &c->peers[node];
    struct list_read l;

    /* A copy may be on record at two addresses. */
    if (w->was_copied || p->masters.record == 0 || !is_later(&p->masters, &c->agreed) ||
        world_node(w, client, node)->quarantine.mark != p->mark) {
        return false;
    }
    read_list(w, p->masters.record, &l);
    return find(&l, p->mark) && !is_of(w, &l, client) && can_tell(w, client, &l);
}

void check_masters_fit(struct world *w, unsigned client, unsigned worker)
{
    const struct claim *c = world_claim(w, world_worker(w, client, worker)->claim);
    unsigned node;

    for (node = 0; node < w->clients[client].nodes && has_record(w, client) && !c->adopted;
         node++) {
        if (is_misfit(w, client, node)) {
            check_violated(
                w, "exclusion",
                "c%u.%u is handed a lock, but n%u has shown it a record of other masters", client,
                worker, world_server(w, client, node));
        }
    }
}

/* ---- whose votes count ---- */

static bool is_there(const struct world *w, uint64_t mark)
{
    unsigned server;

    for (server = 0; server < w->o.servers && w->servers[server].mark.mark != mark; server++) {
    }
    return server < w->o.servers;
}

/* A majority of its masters still has the data that it names. */
static bool is_alive(const struct world *w, const struct list_read *l)
{
    unsigned i, n = 0;

    for (i = 0; i < l->n; i++) {
        n += l->of[i].until == 0 && is_there(w, l->of[i].mark);
    }
    return n > count_masters(l) / 2;
}

/* It may have been agreed on since. */
static bool is_on_later(const struct world *w, const struct client *c, uint64_t mark)
{
    struct list_read l;
    unsigned node;

    for (node = 0; node < c->nodes; node++) {
        read_list(w, c->peers[node].masters.record, &l);
        if (is_later(&c->peers[node].masters, &c->agreed) && is_master(&l, mark)) {
            return true;
        }
    }
    return false;
}

/* With its last change most masters lost their data. Who still has to connect to them again may not
 * go by it yet. */
static bool replaces_most(const struct list_read *l)
{
    unsigned i, lost = 0;

    for (i = 0; i < l->n; i++) {
        lost += l->of[i].lost && l->of[i].until == l->epoch;
    }
    return lost > count_masters(l) / 2;
}

/* As far as this client knows, a majority of those on record have their data. Data may come back.
 */
static bool most_stayed_for(const struct client *c, const struct list_read *l)
{
    unsigned node, lost = 0, all = count_masters(l);

    for (node = 0; node < c->nodes; node++) {
        lost += c->peers[node].mark != 0 && !is_master(l, c->peers[node].mark);
    }
    return all > lost && all - lost > all / 2;
}

/* [M2] */
static void check_on_record(struct world *w, unsigned client, unsigned node)
{
    const struct client *c = &w->clients[client];
    const struct peer *p = &c->peers[node];
    struct list_read l;

    read_list(w, c->agreed.record, &l);
    if (c->agreed.record && !is_master(&l, p->mark) && !is_on_later(w, c, p->mark) &&
        is_alive(w, &l) && most_stayed_for(c, &l) && !replaces_most(&l)) {
        check_violated(w, "exclusion", "c%u counts the vote of n%u, which is not on record", client,
                       world_server(w, client, node));
    }
}

/* When these data came onto the record, most masters had theirs still, as the record says, and as
 * it is. Otherwise it may be as without a record: the quarantine keeps locks apart. */
static bool most_stayed(const struct world *w, const struct list_read *l, uint64_t mark)
{
    const struct listed *newcomer = find(l, mark);
    unsigned i, all = 0, listed = 0, there = 0;

    for (i = 0; i < l->n && newcomer; i++) {
        const struct listed *m = &l->of[i];

        if (m->from < newcomer->from && (m->until == 0 || m->until >= newcomer->from)) {
            all++;
            listed += !(m->lost && m->until == newcomer->from);
            there += m->until > newcomer->from || is_there(w, m->mark);
        }
    }
    return all > 0 && listed > all / 2 && there > all / 2;
}

/* By the slowest clock. */
static uint64_t wait_us(const struct list_read *l)
{
    return ((uint64_t)l->max_ttl_ms * 1000 + 5000000) / 100 * 98;
}

/* Until it is shown such a record, its locks are among those that the newcomer waits for. */
static bool was_shown(const struct world *w, const struct client *c, uint64_t mark)
{
    struct list_read l;
    unsigned node;

    for (node = 0; node < c->nodes; node++) {
        read_list(w, c->peers[node].masters.record, &l);
        if (is_master(&l, mark) && find(&l, mark)->from > 1) {
            return true;
        }
    }
    return false;
}

/* All masters had lost their data, and the client goes by the first record that there was then:
 * somebody who knew the one before goes on with that. */
static bool goes_by_first(const struct world *w, const struct client *c, uint64_t mark)
{
    struct list_read l;
    unsigned node, n = 0;

    for (node = 0; node < c->nodes; node++) {
        read_list(w, c->peers[node].masters.record, &l);
        n += is_master(&l, mark) && find(&l, mark)->from == 1;
    }
    return n > c->nodes / 2;
}

static void check_waited_for_all(struct world *w, unsigned client, unsigned node, const char *does)
{
    unsigned server = world_server(w, client, node);
    const struct peer *p = &w->clients[client].peers[node];
    const struct server *s = &w->servers[server];
    struct list_read l, now;

    /* Clients that were started later go by the clocks of the masters. */
    if (w->moved || s->mark.mark != p->mark || s->newcomer.mark != p->mark ||
        !was_shown(w, &w->clients[client], p->mark) ||
        goes_by_first(w, &w->clients[client], p->mark)) {
        return;
    }
    read_list(w, s->newcomer.record, &l);
    read_list(w, s->masters.record, &now);
    if (is_alive(w, &l) && most_stayed(w, &l, p->mark) && most_stayed(w, &now, p->mark) &&
        w->now_us < s->newcomer.since_us + wait_us(&l)) {
        check_violated(w, "exclusion", "c%u %s n%u, which is on record for %.3f ms only", client,
                       does, server, trace_ms(s->newcomer.since_us, w->now_us));
    }
}

void check_masters_vote(struct world *w, unsigned client, unsigned node)
{
    if (has_record(w, client)) {
        check_on_record(w, client, node);
        check_waited_for_all(w, client, node, "counts the vote of");
    }
}

/* ---- who has followed ---- */

uint64_t check_masters_on_record(const struct world *w)
{
    const struct on_record none = {0}, *last = &none;
    struct list_read l;
    uint64_t listed = 0;
    unsigned i;

    for (i = 0; i < w->o.servers; i++) {
        last = is_later(&w->servers[i].masters, last) ? &w->servers[i].masters : last;
    }
    read_list(w, last->record, &l);
    for (i = 0; i < l.n; i++) {
        listed |= l.of[i].until == 0 ? rlk_mask_bit(l.of[i].address) : 0;
    }
    return listed;
}

/* ---- who extends a lock that is held ---- */

/* The change that brought these data may have taken the place of a master that still has its own.
 */
static bool may_have_former(const struct world *w, const struct server *s)
{
    struct list_read l;
    unsigned i;

    read_list(w, s->newcomer.record, &l);
    for (i = 0; i < l.n; i++) {
        if (l.of[i].until == l.epoch && !l.of[i].lost) {
            return true;
        }
    }
    return false;
}

/* [M2] It shows a later one that this client does not know to be agreed on, and that says something
 * else; and it was asked longer ago when it showed the agreed one. */
static bool shows_other(const struct world *w, unsigned client, const struct peer *p)
{
    const struct client *c = &w->clients[client];
    struct list_read l;

    read_list(w, p->masters.record, &l);
    if (p->former_us && world_client_us(w, client) < p->former_us + RLK_INSPECTION_OLDEST_US) {
        return false;
    }
    return c->agreed.record && is_later(&p->masters, &c->agreed) && find(&l, p->mark) &&
           !masters_say_same(w, p->masters.record, c->agreed.record);
}

/* [M7] Where masters lose their data, too, several newcomers may be one change, and only some of
 * them must not extend. */
void check_masters_extend(struct world *w, unsigned client, unsigned node)
{
    const struct client *c = &w->clients[client];
    unsigned server = world_server(w, client, node);

    if (!w->o.operators || w->o.kinds >> FAULT_FORGET & 1 || !has_record(w, client)) {
        return;
    }
    if (may_have_former(w, &w->servers[server])) {
        check_waited_for_all(w, client, node, "extends a lock on");
    }
    if (shows_other(w, client, &c->peers[node])) {
        check_violated(w, "exclusion", "c%u extends a lock on n%u, which shows a later record",
                       client, server);
    }
}

/* ---- what the servers accept ---- */

static bool has_promised(const struct server *s, const struct on_record *ballot)
{
    return s->masters.number > ballot->accepted ||
           (s->masters.number == ballot->accepted && s->masters.id >= ballot->accepted_id);
}

/* [M1, M4] Before it is accepted anywhere its ballot was promised by a majority, and that of the
 * first record by all. Who has lost its data since, or has older ones, has lost the promise. */
static void check_promised(struct world *w, const struct list_read *l,
                           const struct on_record *there)
{
    unsigned i, server, promised = 0, present = 0, all = count_masters(l);

    for (i = 0; i < l->n; i++) {
        for (server = 0; server < w->o.servers && l->of[i].until == 0; server++) {
            const struct server *s = &w->servers[server];

            present += s->mark.mark == l->of[i].mark;
            promised +=
                s->mark.mark == l->of[i].mark && (s->forgot_us > 0 || has_promised(s, there));
        }
    }
    if (present == all && promised < (w->was_recorded ? all / 2 + 1 : all)) {
        check_violated(w, "exclusion",
                       "a record of epoch %u is accepted, and only %u of %u masters have promised",
                       l->epoch, promised, all);
    }
}

/* [M7] No newcomer of an earlier change is left that may not vote yet, as long as no master loses
 * its data: then both changes become one. */
static void check_changes_apart(struct world *w, const struct list_read *l)
{
    unsigned i, server;

    for (i = 0; i < l->n && w->o.operators && !(w->o.kinds >> FAULT_FORGET & 1); i++) {
        const struct listed *m = &l->of[i];

        for (server = 0; server < w->o.servers && m->from > 1 && m->from < l->epoch; server++) {
            const struct server *s = &w->servers[server];

            if (s->newcomer.mark == m->mark && w->now_us < s->newcomer.since_us + wait_us(l)) {
                check_violated(w, "exclusion",
                               "a change is accepted %.3f ms after n%u came onto the record",
                               trace_ms(s->newcomer.since_us, w->now_us), server);
            }
        }
    }
}

/* A record of a newcomer; the first that names it so counts. */
void check_masters_accepted(struct world *w, const struct on_record *there)
{
    size_t record = there->record;
    struct list_read l;
    unsigned server;

    read_list(w, record, &l);
    if (w->o.other_list <= OTHER_ORDER) {
        check_promised(w, &l, there);
    }
    check_changes_apart(w, &l);
    w->was_recorded = true;
    for (server = 0; server < w->o.servers; server++) {
        struct server *s = &w->servers[server];
        const struct listed *m = find(&l, s->mark.mark);

        if (m && m->until == 0 && m->from == l.epoch && l.epoch > 1 &&
            s->newcomer.mark != m->mark) {
            s->newcomer.mark = m->mark;
            s->newcomer.record = record;
            s->newcomer.since_us = w->now_us;
        }
    }
}
