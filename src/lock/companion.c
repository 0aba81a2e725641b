/* companion.c - starts the companion, and hears of its end.
 *
 * The companion gets three or four files (base/companion.h): the socket whose end says that this
 * process is dead, the settings, the tokens, and perhaps the password. */
#include "lock/companion.h"

#include <stdio.h>
#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/companion.h"
#include "base/sized.h"
#include "net/spawn.h"
#include "node/companion_settings.h"

/* The longest path of a program. */
#define PATH_SIZE 4096

_Static_assert(RLK_COMPANION_FIRST_FD == RLK_SPAWN_FIRST_FD &&
                   RLK_COMPANION_FILES <= RLK_SPAWN_FILES,
               "the companion finds its files");

static const struct redlock_companion_options companion_defaults = {
    .size = sizeof(companion_defaults), .command = "redlock"};

/* The fields that every version of the struct has. */
#define LEAST_COMPANION RLK_SIZED_UP_TO(struct redlock_companion_options, arg)

REDLOCK_EXPORT void redlock_companion_options_init_sized(struct redlock_companion_options *options,
                                                         size_t size)
{
    rlk_sized_init(options, size, &companion_defaults, sizeof(companion_defaults));
}

/* ---- what happens to it ---- */

static void report_companion(struct rlk_call *call)
{
    struct rlk_companion *c = RLK_CONTAINER(call, struct rlk_companion, report);

    if (c->cb && !c->rl->closing) {
        c->cb(c->rl, c->state, c->state == REDLOCK_COMPANION_GONE ? c->why : "", c->arg);
    }
}

static void on_companion_heard(struct rlk_life *life, const char *text)
{
    struct rlk_companion *c = RLK_CONTAINER(life, struct rlk_companion, life);

    if (text && strcmp(text, RLK_COMPANION_READY) == 0) {
        c->state = REDLOCK_COMPANION_READY;
    } else if (text) {
        snprintf(c->why, sizeof(c->why), "%s", text);
        return; /* it is about to end */
    } else {
        rlk_life_end(&c->life);
        c->state = REDLOCK_COMPANION_GONE;
    }
    rlk_turn_report(&c->rl->loop.turn, &c->report);
}

static void ignore_event(struct rlk_operation *op, const struct rlk_event *ev)
{
    (void)op;
    (void)ev;
}

/* Locks are still being released. */
static void close_companion(struct rlk_operation *op)
{
    (void)op;
}

/* The manager has ended: its claims are gone, or will not be looked up any more. */
static void free_companion(struct rlk_operation *op)
{
    struct rlk_companion *c = RLK_CONTAINER(op, struct rlk_companion, operation);

    c->rl->claims.entries = NULL;
    c->rl->companion = NULL;
    rlk_list_remove(&c->operation.link);
    rlk_list_remove(&c->report.link);
    rlk_life_end(&c->life);
    rlk_entries_end(&c->entries);
    rlk_free(c);
}

/* ---- starting it ---- */

static int refuse_settings(struct redlock *rl, int status, const char *file)
{
    if (status == REDLOCK_EINVAL) {
        return rlk_manager_refuse(rl, status,
                                  "the companion cannot open %.100s: give the file a name that "
                                  "means the same in every process",
                                  file);
    }
    return status;
}

static int run_companion(struct rlk_companion *c, const char *path, const int *fds, unsigned n)
{
    char name[] = "redlock", command[] = RLK_COMPANION_COMMAND, pid[16];
    char *const argv[] = {name, command, pid, NULL};
    int error;

    snprintf(pid, sizeof(pid), "%d", (int)c->rl->loop.fork.pid);
    error = rlk_spawn(path, argv, fds, n);
    return error ? rlk_manager_refuse(c->rl, REDLOCK_ESYSTEM, "cannot run %.100s: %s", path,
                                      strerror(error))
                 : 0;
}

/* The companion has its own copies of the files afterwards. */
static int start_companion(struct rlk_companion *c, const char *path)
{
    int fds[RLK_COMPANION_FILES] = {-1, -1, c->entries.shared.fd, -1};
    struct rlk_shared settings;
    const char *refused;
    int status =
        rlk_companion_settings(&c->rl->options, &settings, &fds[RLK_COMPANION_PASSWORD], &refused);

    if (status) {
        return refuse_settings(c->rl, status, refused);
    }
    fds[RLK_COMPANION_SETTINGS] = settings.fd;
    status = rlk_life_begin(&c->life, c->rl->loop.base, &c->rl->loop.fork, on_companion_heard,
                            &fds[RLK_COMPANION_LIFE]);
    if (status == 0) {
        status =
            run_companion(c, path, fds, RLK_COMPANION_FILES - (fds[RLK_COMPANION_PASSWORD] < 0));
        rlk_life_close_other(fds[RLK_COMPANION_LIFE]);
    }
    if (status) {
        explicit_bzero(settings.memory, settings.size); /* otherwise the companion does */
    }
    rlk_shared_end(&settings);
    if (status) {
        rlk_life_end(&c->life);
    } else {
        c->state = REDLOCK_COMPANION_STARTING;
        c->why[0] = '\0';
    }
    return status;
}

static int make_companion(struct redlock *rl)
{
    static const struct rlk_operation_kind kind = {
        .event = ignore_event, .close = close_companion, .free = free_companion};
    struct rlk_companion *c = rlk_alloc(sizeof(*c));
    int status = c ? rlk_entries_open(&c->entries) : REDLOCK_ENOMEM;

    if (status) {
        rlk_free(c);
        return status;
    }
    c->rl = rl;
    rlk_life_init(&c->life);
    rlk_call_init(&c->report, report_companion);
    rlk_manager_add(rl, &c->operation, &kind, RLK_OPERATION_NONE);
    rlk_manager_reported(rl, &c->operation); /* nobody waits for it */
    rl->companion = c;
    return 0;
}

/* Locks that exist already are not in its memory. */
static int check_companion(struct redlock *rl)
{
    int status = rlk_manager_check_call(rl, RLK_OPERATION_NONE);

    if (status) {
        return status;
    }
    if (rl->companion && rl->companion->state != REDLOCK_COMPANION_GONE) {
        return rlk_manager_refuse(rl, REDLOCK_ESTATE, "the manager has a companion already");
    }
    if (rl->companion == NULL && rl->n_locks > 0) {
        return rlk_manager_refuse(rl, REDLOCK_ESTATE,
                                  "the manager was asked for a lock before; open its companion "
                                  "right after redlock_new()");
    }
    return 0;
}

static int find_command(struct redlock *rl, const char *command, char path[PATH_SIZE])
{
    if (rlk_spawn_find(command, path, PATH_SIZE)) {
        return 0;
    }
    return rlk_manager_refuse(rl, REDLOCK_ESYSTEM,
                              "the command %.80s was not found%s; install it, or set `command`",
                              command, strchr(command, '/') ? "" : " in PATH");
}

/* The tokens may stay, with a companion that is gone; but not without any. */
static int open_companion(struct redlock *rl, const char *path)
{
    bool again = rl->companion != NULL;
    int status = again ? 0 : make_companion(rl);

    if (status == 0) {
        status = start_companion(rl->companion, path);
        if (status && !again) {
            free_companion(&rl->companion->operation);
        }
    }
    return status;
}

REDLOCK_EXPORT int redlock_companion_open(struct redlock *rl,
                                          const struct redlock_companion_options *options)
{
    struct redlock_companion_options o = companion_defaults;
    char path[PATH_SIZE];
    int status = check_companion(rl);

    if (status) {
        return status;
    }
    if (options && rlk_sized_read(options, LEAST_COMPANION, &o, sizeof(o)) != RLK_SIZED_READ) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "the options of the companion are not initialised, or are of a "
                                  "newer version");
    }
    status = find_command(rl, o.command ? o.command : companion_defaults.command, path);
    if (status == 0) {
        status = open_companion(rl, path);
    }
    if (status == 0) {
        rl->companion->cb = o.cb;
        rl->companion->arg = o.arg;
        rl->claims.entries = &rl->companion->entries;
    }
    return status;
}

REDLOCK_EXPORT enum redlock_companion_state redlock_companion_state(const struct redlock *rl)
{
    return rl && rl->companion ? rl->companion->state : REDLOCK_COMPANION_NONE;
}
