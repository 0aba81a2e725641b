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
#include "sim/operator.h"
#include "sim/trace.h"

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
static void read_text(const char *text, struct list_read *ret)
{
    const char *at;
    char *end;

    *ret = (struct list_read){0};
    strtoul(text, &end, 10);
    strtoull(end, &end, 10);
    strtoull(end, &end, 16);
    ret->epoch = (unsigned)strtoul(end, &end, 10);
    ret->max_ttl_ms = (unsigned)strtoul(end, &end, 10);
    for (at = end + 1; *at && ret->n < MOST_LISTED; ret->n++) {
        at = read_master(at, &ret->of[ret->n]);
    }
}

/* Each is read once. */
static const struct list_read *list_of(const struct world *w, size_t record)
{
    static const struct list_read none;
    struct kept_record *r = record ? &w->records.of[record] : NULL;

    if (r && !r->is_read) {
        read_text(masters_text(w, record), &r->list);
        r->is_read = true;
    }
    return r ? &r->list : &none;
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

/* It was one before the change that the record makes. */
static bool was_master(const struct list_read *l, const struct listed *m)
{
    return m->from < l->epoch && (m->until == 0 || m->until == l->epoch);
}

static unsigned count_former(const struct list_read *l)
{
    unsigned i, n = 0;

    for (i = 0; i < l->n; i++) {
        n += was_master(l, &l->of[i]);
    }
    return n;
}

/* [M8] The change is one of the number, and most of the old masters have their data. */
static bool resizes(const struct list_read *l)
{
    unsigned i, lost = 0, all = count_former(l);

    for (i = 0; i < l->n; i++) {
        lost += l->of[i].lost && l->of[i].until == l->epoch;
    }
    return all != count_masters(l) && all > lost && all - lost > all / 2;
}

/* [M1] New data that are on record in place of lost data agree in their place. Without this rule
 * the checker would learn later than clients that a record is agreed on. Then it would not know
 * data that have joined and left in between, and would complain about their votes. */
static bool agrees_as_old(const struct list_read *l, const struct listed *m)
{
    unsigned i;

    for (i = 0; i < l->n && m->until == 0 && m->from == l->epoch; i++) {
        if (l->of[i].lost && was_master(l, &l->of[i]) && l->of[i].until == l->epoch &&
            l->of[i].address == m->address) {
            return true;
        }
    }
    return was_master(l, m) && !m->lost;
}

static bool changes_servers(const struct list_read *l)
{
    unsigned i;

    for (i = 0; i < l->n && l->of[i].from != l->epoch && l->of[i].until != l->epoch; i++) {
    }
    return i < l->n && l->epoch > 1;
}

/* How long newcomers wait, by the slowest clock; and by the fastest of all, with the time that a
 * client takes to notice. */
static uint64_t wait_us(const struct list_read *l)
{
    return ((uint64_t)l->max_ttl_ms * 1000 + 5000000) / 100 * 98;
}

static uint64_t longest_wait_us(const struct list_read *l)
{
    return ((uint64_t)l->max_ttl_ms * 1000 + 5000000) / 100 * 105;
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
    for (i = 0; i < c->nodes && (c->vacant >> i & 1 || known & rlk_mask_bit(c->list[i])); i++) {
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

/* [M1] And by those of the epoch before. */
static bool is_shown_by_former(const struct client *c, size_t record, const struct list_read *l)
{
    unsigned node, n = 0, all = count_former(l);

    for (node = 0; node < c->nodes; node++) {
        const struct listed *m = find(l, c->peers[node].mark);

        n += c->peers[node].masters.record == record && m && agrees_as_old(l, m);
    }
    return all == 0 || n > all / 2;
}

static bool is_agreed(const struct world *w, const struct client *c, size_t record,
                      const struct list_read *l)
{
    return shown_by(c, record, l) > count_masters(l) / 2 &&
           (!w->o.operators || is_shown_by_former(c, record, l));
}

/* [M6] It is relied on for as long as one that shows a later record. */
static void note_hidden(const struct world *w, const struct client *c, struct peer *p)
{
    if (!p->denies_record && c->agreed.record && p->masters.record &&
        masters_say_same(w, p->masters.record, c->agreed.record)) {
        p->former_us = p->shown_us;
    }
    p->denies_record = true;
}

void check_masters_shown(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    struct client *c = &w->clients[client];
    struct peer *p = &c->peers[node];
    const struct list_read *l;

    if (m->kind == MESSAGE_MARK && !m->reads_masters) {
        return;
    }
    if (m->answer == ANSWER_ERROR) { /* it denies the mark, too */
        if (m->kind == MESSAGE_MARK && strncmp(m->error, "NOPERM", 6) == 0) {
            note_hidden(w, c, p);
        }
        return;
    }
    if (m->denies_record) {
        note_hidden(w, c, p);
        return;
    }
    p->denies_record = false;
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
    l = list_of(w, m->masters.record);
    c->saw_other |= !is_of(w, l, client) || (w->o.operators && knows_not(l, c));
    c->saw_other |= w->o.operators && w->refounded;
    if (is_of(w, l, client) && is_agreed(w, c, m->masters.record, l) &&
        is_later(&m->masters, &c->agreed)) {
        if (!masters_say_same(w, m->masters.record, c->agreed.record)) {
            c->agreed_us = world_client_us(w, client);
        }
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
    const struct list_read *l;

    /* A copy may be on record at two addresses. */
    if (w->was_copied || p->masters.record == 0 || !is_later(&p->masters, &c->agreed) ||
        world_node(w, client, node)->quarantine.mark != p->mark) {
        return false;
    }
    l = list_of(w, p->masters.record);
    return find(l, p->mark) && !is_of(w, l, client) && can_tell(w, client, l);
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

static bool votes_by(const struct list_read *l, uint64_t mark)
{
    const struct listed *m = find(l, mark);

    return m && (m->until == 0 || (resizes(l) && was_master(l, m) && !m->lost));
}

/* It may have been agreed on since; where masters lost their data, a change began anew with it. */
static bool is_on_later(const struct world *w, const struct client *c, uint64_t mark)
{
    const struct list_read *l;
    unsigned node;

    for (node = 0; node < c->nodes; node++) {
        l = list_of(w, c->peers[node].masters.record);
        if (is_later(&c->peers[node].masters, &c->agreed) && votes_by(l, mark)) {
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

/* [M8] The client went by the old masters when it asked this one, and this was one. */
static bool counts_as_old(const struct world *w, unsigned client, const struct list_read *l,
                          uint64_t mark, uint64_t asked_us)
{
    const struct listed *m = find(l, mark);
    uint64_t over_us = w->clients[client].agreed_us + longest_wait_us(l);

    return m && was_master(l, m) && !m->lost && resizes(l) && asked_us <= over_us;
}

/* [M2] */
static void check_on_record(struct world *w, unsigned client, unsigned node, uint64_t asked_us)
{
    const struct client *c = &w->clients[client];
    const struct peer *p = &c->peers[node];
    const struct list_read *l;

    l = list_of(w, c->agreed.record);
    if (c->agreed.record && !is_master(l, p->mark) && !is_on_later(w, c, p->mark) &&
        !counts_as_old(w, client, l, p->mark, asked_us) && is_alive(w, l) &&
        most_stayed_for(c, l) && !replaces_most(l)) {
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

/* Until it is shown such a record, its locks are among those that the newcomer waits for. A record
 * on a master that it does not name counts as none [M3]: that one may have lost its data again. */
static bool was_shown(const struct world *w, const struct client *c, uint64_t mark)
{
    const struct list_read *l;
    unsigned node;

    for (node = 0; node < c->nodes; node++) {
        l = list_of(w, c->peers[node].masters.record);
        if (find(l, c->peers[node].mark) && is_master(l, mark) && find(l, mark)->from > 1) {
            return true;
        }
    }
    return false;
}

/* All masters had lost their data, and the client goes by the first record that there was then:
 * somebody who knew the one before goes on with that. */
static bool goes_by_first(const struct world *w, const struct client *c, uint64_t mark)
{
    const struct list_read *l;
    unsigned node, n = 0;

    for (node = 0; node < c->nodes; node++) {
        l = list_of(w, c->peers[node].masters.record);
        n += is_master(l, mark) && find(l, mark)->from == 1;
    }
    return n > c->nodes / 2;
}

static void check_waited_for_all(struct world *w, unsigned client, unsigned node, const char *does)
{
    unsigned server = world_server(w, client, node);
    const struct peer *p = &w->clients[client].peers[node];
    const struct server *s = &w->servers[server];
    const struct list_read *l, *now;

    /* Clients that were started later go by the clocks of the masters. */
    if (w->moved || s->mark.mark != p->mark || s->newcomer.mark != p->mark ||
        !was_shown(w, &w->clients[client], p->mark) ||
        goes_by_first(w, &w->clients[client], p->mark)) {
        return;
    }
    l = list_of(w, s->newcomer.record);
    now = list_of(w, s->masters.record);
    if (is_alive(w, l) && most_stayed(w, l, p->mark) && most_stayed(w, now, p->mark) &&
        w->now_us < s->newcomer.since_us + wait_us(l)) {
        check_violated(w, "exclusion", "c%u %s n%u, which is on record for %.3f ms only", client,
                       does, server, trace_ms(s->newcomer.since_us, w->now_us));
    }
}

/* [M6] What it showed long ago says nothing about what it has on record now. */
static void check_shows(struct world *w, unsigned client, unsigned node, const char *does)
{
    const struct peer *p = &w->clients[client].peers[node];

    if (p->denies_record && world_client_us(w, client) >= p->shown_us + RLK_INSPECTION_OLDEST_US) {
        check_violated(w, "exclusion", "c%u %s n%u, which shows it no record any more", client,
                       does, world_server(w, client, node));
    }
}

void check_masters_vote(struct world *w, unsigned client, unsigned node, uint64_t asked_us)
{
    if (has_record(w, client)) {
        check_shows(w, client, node, "counts the vote of");
        check_on_record(w, client, node, asked_us);
        check_waited_for_all(w, client, node, "counts the vote of");
    }
}

/* ---- whose majority decides ---- */

/* True time: when some master accepted a record that says this; 0: none has. */
static uint64_t accepted_us(const struct world *w, size_t record)
{
    unsigned i;

    for (i = 0; i < w->n_changes; i++) {
        if (masters_say_same(w, w->changes[i].record, record)) {
            return w->changes[i].since_us;
        }
    }
    return 0;
}

/* Where masters lose their data, too, several changes may be one, and a client may know more than
 * is known here. Operators have no locks. */
static bool goes_by_agreed(const struct world *w, unsigned client)
{
    const struct client *c = &w->clients[client];

    return w->o.operators && client < w->o.clients && !(w->o.kinds >> FAULT_FORGET & 1) &&
           c->agreed.record && !c->saw_other && has_record(w, client);
}

static bool lacks_any(const struct client *c, const struct list_read *l)
{
    uint64_t theirs = 0;
    unsigned i;

    for (i = 0; i < c->nodes; i++) {
        theirs |= c->vacant >> i & 1 ? 0 : rlk_mask_bit(c->list[i]);
    }
    for (i = 0; i < l->n && (l->of[i].until != 0 || theirs & rlk_mask_bit(l->of[i].address)); i++) {
    }
    return i < l->n;
}

/* One that left counts no more as soon as the new number does. While the client lacks a master, it
 * may not have connected to that one yet, whose place it took [M7]. */
static void check_no_former(struct world *w, unsigned client, const struct list_read *l)
{
    const struct client *c = &w->clients[client];
    uint64_t set = c->rl->voters.set;
    unsigned node;

    RLK_MASK_EACH (node, set) {
        const struct listed *m = find(l, c->peers[node].mark);

        if (m && m->until != 0 && !lacks_any(c, l)) {
            check_violated(w, "exclusion", "c%u counts n%u among the masters, which has left",
                           client, world_server(w, client, node));
        }
    }
}

/* [M8] The old number counts until the wait is over, and then the new one. */
void check_masters_voters(struct world *w, unsigned client)
{
    const struct client *c = &w->clients[client];
    unsigned size = c->rl->voters.size, old, new;
    const struct list_read *l;
    bool waits, over;

    if (!goes_by_agreed(w, client)) {
        return;
    }
    l = list_of(w, c->agreed.record);
    new = count_masters(l);
    old = resizes(l) ? count_former(l) : new;
    waits = w->now_us < accepted_us(w, c->agreed.record) + wait_us(l);
    over = world_client_us(w, client) > c->agreed_us + longest_wait_us(l);
    if ((waits && size != old) || (over && size != new) || (size != old && size != new)) {
        check_violated(w, "exclusion",
                       "c%u goes by %u masters, %.3f ms after a change from %u to %u", client, size,
                       trace_ms(accepted_us(w, c->agreed.record), w->now_us), old, new);
    }
    if (old != new &&size == new) {
        check_no_former(w, client, l);
    }
}

/* [M8] Who leaves a master that votes has one vote less than the others. */
void check_masters_left(struct world *w, unsigned client, unsigned node)
{
    const struct client *c = &w->clients[client];
    const struct listed *m;
    const struct list_read *l;

    if (!goes_by_agreed(w, client)) {
        return;
    }
    l = list_of(w, c->agreed.record);
    m = find(l, c->peers[node].mark);
    if (m && was_master(l, m) && resizes(l) &&
        w->now_us < accepted_us(w, c->agreed.record) + wait_us(l)) {
        check_violated(w, "live", "c%u leaves n%u, which votes until the change is over", client,
                       world_server(w, client, node));
    }
}

/* ---- who has followed ---- */

/* By those that have it now, under any ballot: who goes by the former masters is shown it. */
static bool is_agreed_now(const struct world *w, const struct on_record *there)
{
    unsigned i, old = 0, new = 0;
    const struct list_read *l;

    l = list_of(w, there->record);
    for (i = 0; i < w->o.servers; i++) {
        const struct listed *m = find(l, w->servers[i].mark.mark);

        if (m && masters_say_same(w, w->servers[i].masters.record, there->record)) {
            old += agrees_as_old(l, m);
            new += m->until == 0;
        }
    }
    return new > count_masters(l) / 2 && (count_former(l) == 0 || old > count_former(l) / 2);
}

/* The latest one that is agreed on; otherwise the latest one. */
static const struct list_read *latest(const struct world *w)
{
    const struct on_record none = {0}, *last = &none, *agreed = &none;
    bool by_agreed = w->o.resizes || w->o.kinds >> FAULT_FORGET & 1;
    unsigned i;

    for (i = 0; i < w->o.servers; i++) {
        const struct on_record *there = &w->servers[i].masters;

        last = is_later(there, last) ? there : last;
        agreed = is_later(there, agreed) && is_agreed_now(w, there) ? there : agreed;
    }
    return list_of(w, by_agreed && agreed->record ? agreed->record : last->record);
}

static uint64_t masters_of(const struct list_read *l)
{
    uint64_t listed = 0;
    unsigned i;

    for (i = 0; i < l->n; i++) {
        listed |= l->of[i].until == 0 ? rlk_mask_bit(l->of[i].address) : 0;
    }
    return listed;
}

static bool lists(const struct list_read *l, unsigned address)
{
    return (masters_of(l) & rlk_mask_bit(address)) != 0;
}

/* By the records that were agreed on. The present one may have forgotten a former master. */
static bool has_left(const struct world *w, unsigned server)
{
    const struct list_read *l = list_of(w, 0);
    bool was = false;
    unsigned i;

    for (i = 0; i < w->n_changes; i++) {
        if (w->changes[i].agreed_us > 0) {
            l = list_of(w, w->changes[i].record);
            was |= lists(l, server);
        }
    }
    return was && !lists(l, server);
}

bool check_masters_left_unaware(const struct world *w, unsigned server)
{
    const struct server *s = &w->servers[server];
    const struct list_read *own;

    own = list_of(w, s->state == SERVER_DOWN && s->forgets ? 0 : s->masters.record);
    return has_left(w, server) && (own->epoch == 0 || lists(own, server));
}

uint64_t check_masters_on_record(const struct world *w)
{
    const struct list_read *l;

    l = latest(w);
    return masters_of(l);
}

uint64_t check_masters_known(const struct world *w)
{
    const struct list_read *l;
    uint64_t known = 0;
    unsigned i;

    l = latest(w);
    for (i = 0; i < l->n; i++) {
        known |= rlk_mask_bit(l->of[i].address);
    }
    return known;
}

uint64_t check_masters_shown_to(const struct world *w, unsigned client)
{
    const struct list_read *l;

    l = list_of(w, w->clients[client].agreed.record);
    return masters_of(l);
}

uint64_t check_masters_before(const struct world *w)
{
    const struct list_read *l;
    uint64_t listed = 0;
    unsigned i;

    l = latest(w);
    for (i = 0; i < l->n; i++) {
        bool was = l->epoch == 1 ? l->of[i].until == 0 : was_master(l, &l->of[i]);

        listed |= was ? rlk_mask_bit(l->of[i].address) : 0;
    }
    return listed;
}

/* ---- who extends a lock that is held ---- */

/* The change that brought these data may have taken the place of a master that still has its own.
 */
static bool may_have_former(const struct world *w, const struct server *s)
{
    const struct list_read *l;
    unsigned i;

    l = list_of(w, s->newcomer.record);
    for (i = 0; i < l->n; i++) {
        if (l->of[i].until == l->epoch && !l->of[i].lost) {
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
    const struct list_read *l;

    l = list_of(w, p->masters.record);
    if (p->former_us && world_client_us(w, client) < p->former_us + RLK_INSPECTION_OLDEST_US) {
        return false;
    }
    return c->agreed.record && is_later(&p->masters, &c->agreed) && find(l, p->mark) &&
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
    check_shows(w, client, node, "extends a lock on");
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

/* [M7, M8] The same for every change that was agreed on, also where a master was removed. */
static void check_changes_wait(struct world *w, const struct list_read *l)
{
    const struct list_read *before;
    unsigned i;

    for (i = 0; i < w->n_changes && w->o.resizes && !(w->o.kinds >> FAULT_FORGET & 1); i++) {
        before = list_of(w, w->changes[i].record);
        if (before->epoch < l->epoch && changes_servers(before) && w->changes[i].agreed_us &&
            w->now_us < w->changes[i].agreed_us + wait_us(l)) {
            check_violated(w, "exclusion",
                           "a record of epoch %u is accepted %.3f ms after one of epoch %u",
                           l->epoch, trace_ms(w->changes[i].agreed_us, w->now_us), before->epoch);
        }
    }
}

/* While the new one does not vote, the others are no majority. */
static bool starves(const struct list_read *l)
{
    return l->epoch > 1 && changes_servers(l) && !resizes(l) && count_masters(l) < 3;
}

static void trace_change(const struct world *w, const struct list_read *l)
{
    uint64_t masters = 0, known = 0;
    unsigned i;

    for (i = 0; i < l->n; i++) {
        masters |= l->of[i].until == 0 ? rlk_mask_bit(l->of[i].address) : 0;
        known |= rlk_mask_bit(l->of[i].address);
    }
    trace(w, "----  a record of epoch %u: %s; former ones: %s", l->epoch, trace_nodes(masters),
          trace_nodes(known & ~masters));
}

static void note_agreed(struct world *w, const struct on_record *there)
{
    unsigned i, n = 0;

    for (i = 0; i < w->n_changes; i++) {
        if (w->changes[i].agreed_us == 0 &&
            masters_say_same(w, w->changes[i].record, there->record) && is_agreed_now(w, there)) {
            w->changes[i].agreed_us = w->now_us;
            n++;
        }
    }
    if (n > 0) {
        operator_has_changed(w);
    }
}

static void note_accepted(struct world *w, const struct on_record *there, const struct list_read *l)
{
    if (accepted_us(w, there->record) == 0 && w->n_changes < CHANGES_SEEN) {
        w->changes[w->n_changes++] = (struct change_seen){there->record, w->now_us, 0};
        trace_change(w, l);
    }
    note_agreed(w, there);
}

/* A record of a newcomer; the first that names it so counts. */
void check_masters_accepted(struct world *w, const struct on_record *there)
{
    size_t record = there->record;
    const struct list_read *l;
    unsigned server;

    l = list_of(w, record);
    if (w->o.other_list <= OTHER_ORDER) {
        check_promised(w, l, there);
    }
    check_changes_apart(w, l);
    check_changes_wait(w, l);
    w->refounded |= l->epoch == 1 && w->was_recorded && accepted_us(w, record) == 0;
    note_accepted(w, there, l);
    w->starved |= starves(l);
    w->was_recorded = true;
    for (server = 0; server < w->o.servers; server++) {
        struct server *s = &w->servers[server];
        const struct listed *m = find(l, s->mark.mark);

        if (m && m->until == 0 && m->from == l->epoch && l->epoch > 1 &&
            s->newcomer.mark != m->mark) {
            s->newcomer.mark = m->mark;
            s->newcomer.record = record;
            s->newcomer.since_us = w->now_us;
        }
    }
}
