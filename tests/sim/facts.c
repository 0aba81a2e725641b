/* facts.c - what a server reports about itself, from the state of the world. */
#include "sim/facts.h"

#include "base/time.h"
#include "sim/masters.h"
#include "sim/trace.h"

static uint64_t wall_us(const struct world *w, unsigned server)
{
    return clock_wall(&w->servers[server].clock, w->now_us);
}

void facts_started(struct world *w, unsigned server, uint64_t ago_us)
{
    w->servers[server].since_us = wall_us(w, server) - ago_us;
}

/* In whole seconds; negative when the clock was set back since the start. */
static int64_t uptime_s(const struct world *w, unsigned server)
{
    return (int64_t)(wall_us(w, server) / 1000000) -
           (int64_t)(w->servers[server].since_us / 1000000);
}

void facts_of(const struct world *w, unsigned server, struct facts *out)
{
    const struct server *s = &w->servers[server];

    *out = (struct facts){.run = s->run,
                          .uptime_s = uptime_s(w, server),
                          .promotion = s->promotion,
                          .flushed = s->flushed,
                          .durable = w->o.durable,
                          .replay_failed = s->replay_failed,
                          .loading = s->loading_us > w->now_us};
}

void facts_time(const struct world *w, unsigned server, struct message *m)
{
    m->server_us = wall_us(w, server);
}

void facts_old_mark(struct world *w, unsigned server, uint64_t ago_us)
{
    struct server *s = &w->servers[server];

    s->mark =
        (struct mark){.run = s->run, .mark = server + 1, .born_us = wall_us(w, server) - ago_us};
}

/* As in src/scripts/incarnation.lua: data that are kept do not get older, and do not begin later
 * than now. */
void facts_mark(struct world *w, unsigned server, struct message *m)
{
    struct mark *there = &w->servers[server].mark;

    facts_time(w, server, m);
    if (there->mark != 0 && (there->run == m->mark.run || m->keeps)) {
        if (there->born_us < m->note_us) {
            trace(w, "n%u    that its clock was set is on record", server);
        }
        there->born_us = rlk_time_min(rlk_time_max(there->born_us, m->note_us), m->server_us);
    } else {
        there->born_us = m->server_us;
    }
    there->mark = there->mark ? there->mark : m->mark.mark;
    there->run = m->mark.run;
    m->mark = *there;
    masters_read(w, server, m);
}

bool facts_same(const struct world *w, unsigned server, const struct message *m)
{
    const struct mark *there = &w->servers[server].mark;

    return m->mark.mark == 0 || (there->mark == m->mark.mark && there->run == m->mark.run);
}
