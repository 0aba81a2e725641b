/* testing/model_info.c - what a model says about itself: INFO and CONFIG GET. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "testing/model_inside.h"

#define DEQUEUED 512

static void tell_server(const struct model *m, char *out)
{
    snprintf(out, DEQUEUED,
             "# Server\r\nredis_version:%d.0.15\r\nredis_mode:%s\r\nprocess_id:%d\r\n"
             "run_id:%s\r\nserver_time_usec:%llu\r\nuptime_in_seconds:%lld\r\n",
             m->major, m->mode, 4711, m->run_id, (unsigned long long)rlk_model_now_us(m),
             m->uptime_s);
}

static void tell_memory(const struct model *m, char *out)
{
    snprintf(out, DEQUEUED, "# Memory\r\nmaxmemory:%llu\r\nmaxmemory_policy:%s\r\n",
             (unsigned long long)m->maxmemory, m->policy);
}

static void tell_persistence(const struct model *m, char *out)
{
    snprintf(
        out, DEQUEUED,
        "# Persistence\r\nloading:%d\r\nasync_loading:0\r\naof_enabled:%d\r\n"
        "aof_rewrite_in_progress:%d\r\naof_rewrite_scheduled:0\r\naof_last_write_status:%s\r\n",
        m->loading, m->aof, m->aof_rewrites, m->aof_fails ? "err" : "ok");
}

static void tell_replication(const struct model *m, char *out)
{
    snprintf(out, DEQUEUED,
             "# Replication\r\nrole:%s\r\nconnected_slaves:0\r\nsecond_repl_offset:%d\r\n",
             strcmp(m->role, "replica") == 0 ? "slave" : m->role, m->promoted ? 4711 : -1);
}

static void tell_commandstats(const struct model *m, char *out)
{
    char flushed[64] = "";

    if (m->flushes) {
        snprintf(flushed, sizeof(flushed), "cmdstat_flushall:calls=%u,usec=9\r\n", m->flushes);
    }
    snprintf(out, DEQUEUED, "# Commandstats\r\ncmdstat_hello:calls=1,usec=9\r\n%s%s", flushed,
             m->config_set ? "cmdstat_config|set:calls=1,usec=9\r\n" : "");
}

static void tell_stats(const struct model *m, char *out)
{
    snprintf(out, DEQUEUED, "# Stats\r\nunexpected_error_replies:%u\r\n", m->replay_errors);
}

static const struct {
    const char *name;
    void (*tell)(const struct model *m, char *out);
} sections[] = {{"server", tell_server},
                {"memory", tell_memory},
                {"persistence", tell_persistence},
                {"replication", tell_replication},
                {"commandstats", tell_commandstats},
                {"stats", tell_stats}};
#define N_SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* INFO without a section has all of them. */
void rlk_model_info(const struct model_call *c)
{
    char text[N_SECTIONS * DEQUEUED] = "", section[DEQUEUED];
    size_t i, len = 0;

    for (i = 0; i < N_SECTIONS; i++) {
        if (c->request->argc == 1 || rlk_resp_is(c->request, 1, sections[i].name)) {
            sections[i].tell(c->m, section);
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len ? "\r\n" : "",
                                    section);
        }
    }
    rlk_resp_put_text(c->out, text);
}

/* CONFIG GET of a pattern. */
static void get_config(const struct model_call *c)
{
    const char *const known[][2] = {
        {"appendfsync", c->m->fsync},
        {"no-appendfsync-on-rewrite", c->m->fsync_pauses ? "yes" : "no"}};
    const size_t n_known = sizeof(known) / sizeof(known[0]);
    size_t i, n = 0;

    for (i = 0; i < n_known; i++) {
        n += fnmatch(rlk_model_word(c, 2), known[i][0], 0) == 0;
    }
    rlk_resp_put_array(c->out, 2 * n);
    for (i = 0; i < n_known; i++) {
        if (fnmatch(rlk_model_word(c, 2), known[i][0], 0) == 0) {
            rlk_resp_put_text(c->out, known[i][0]);
            rlk_resp_put_text(c->out, known[i][1]);
        }
    }
}

void rlk_model_config(const struct model_call *c)
{
    if (rlk_resp_is(c->request, 1, "GET")) {
        get_config(c);
    } else {
        rlk_resp_put_error(c->out, "ERR unknown subcommand. Try CONFIG HELP.");
    }
}
