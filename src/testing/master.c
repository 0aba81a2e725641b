/* testing/master.c - see master.h. */
#include "testing/master.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "testing/failure.h"
#include "testing/memory.h"

static void on_deed(void *arg, enum model_deed deed, const char *key)
{
    struct master *m = arg;

    rlk_testing_tally_add(&m->tally, deed, key);
}

static int listen_at_path(struct master *m)
{
    if (rlk_testing_server_listen_unix(&m->server, m->path) == 0) {
        return 0;
    }
    return rlk_testing_failure(errno == ENOMEM ? REDLOCK_ENOMEM : REDLOCK_ESYSTEM,
                               "a master cannot listen at %s: %s", m->path, strerror(errno));
}

/* The path is escaped in the URI: all but letters, digits and some signs become %XX. */
static void write_uri(struct master *m)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
    size_t at = strlen(strcpy(m->uri, "unix://"));
    const char *c;

    for (c = m->path; *c; c++) {
        at += (size_t)snprintf(m->uri + at, sizeof(m->uri) - at,
                               strchr(plain, *c) ? "%c" : "%%%02X", (unsigned char)*c);
    }
    snprintf(m->uri + at, sizeof(m->uri) - at, "?quarantine=off");
}

int rlk_testing_master_init(struct master *m, struct event_base *base, const char *folder,
                            size_t index)
{
    rlk_testing_server_init(&m->server, base);
    m->server.forgets = true;
    m->server.model.deed = on_deed;
    m->server.model.deed_arg = m;
    if (snprintf(m->path, sizeof(m->path), "%s/%zu", folder, index) >= (int)sizeof(m->path)) {
        m->path[0] = '\0';
        return rlk_testing_failure(REDLOCK_ESYSTEM,
                                   "%s is too long for the path of a socket: set TMPDIR", folder);
    }
    write_uri(m);
    return listen_at_path(m);
}

void rlk_testing_master_free(struct master *m)
{
    rlk_testing_server_free(&m->server);
    unlink(m->path);
    rlk_testing_tally_free(&m->tally);
}

/* Its connections end before it answers again, so waiting commands are not carried out. */
static void take_down(struct master *m)
{
    rlk_testing_server_end_all(&m->server, SERVER_CLOSES);
    rlk_testing_server_deafen(&m->server);
    unlink(m->path);
    rlk_testing_server_go_on(&m->server);
    m->state = REDLOCK_TESTING_DOWN;
}

int rlk_testing_master_set_state(struct master *m, enum redlock_testing_state state)
{
    int status = 0;

    if (state == m->state) {
        return 0;
    }
    if (state == REDLOCK_TESTING_DOWN) {
        take_down(m);
        return 0;
    }
    if (m->state == REDLOCK_TESTING_DOWN) {
        status = listen_at_path(m);
    }
    if (status) {
        return status;
    }
    if (state == REDLOCK_TESTING_SILENT) {
        rlk_testing_server_pause(&m->server);
    } else {
        rlk_testing_server_go_on(&m->server);
    }
    m->state = state;
    return 0;
}

int rlk_testing_master_restart(struct master *m)
{
    if (m->state != REDLOCK_TESTING_DOWN) {
        take_down(m);
    }
    rlk_model_restart(&m->server.model);
    return rlk_testing_master_set_state(m, REDLOCK_TESTING_UP);
}

uint64_t rlk_testing_master_count(struct master *m, enum redlock_testing_event event,
                                  const char *key)
{
    switch (event) {
    case REDLOCK_TESTING_GRANTED:
        return rlk_testing_tally_count(&m->tally, MODEL_GRANTED, key);
    case REDLOCK_TESTING_EXTENDED:
        return rlk_testing_tally_count(&m->tally, MODEL_EXTENDED, key);
    case REDLOCK_TESTING_RELEASED:
        return rlk_testing_tally_count(&m->tally, MODEL_RELEASED, key);
    case REDLOCK_TESTING_HELD:
        return rlk_model_get(&m->server.model, key) != NULL;
    }
    return 0;
}
