/* scheduler.c - spreads 100 jobs over any number of workers, in any number of processes.
 *
 *     scheduler FOLDER THREADS
 *
 * Start it on as many machines as you like; FOLDER is the same for all. Each thread is a worker. It
 * takes jobs that nobody has: a job is taken with a lock of its own. When a worker is killed, its
 * lock ends, and another worker does the job again.
 *
 * So a job may begin twice, but it never has two results: a result appears whole, and only if there
 * was none. That is what protects it from a worker whose lock was lost without its knowledge.
 */
#include <pthread.h>
#include <redlock/redlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define JOBS 100
#define TTL_MS 3000
#define MOST_THREADS 64

struct worker {
    struct redlock_sync *s;
    const char *folder;
    char name[32];
    int first; /* the job that it looks at first: so not all begin with the same */
    pthread_t thread;
};

/* ---- results ---- */

static void path_of(const struct worker *w, int job, char *path, size_t size)
{
    snprintf(path, size, "%s/result-%d", w->folder, job);
}

static int is_done(const struct worker *w, int job)
{
    char path[4096];

    path_of(w, job, path, sizeof(path));
    return access(path, F_OK) == 0;
}

/* link() fails when there is a result. */
static int publish(const struct worker *w, int job, const char *draft)
{
    char path[4096];

    path_of(w, job, path, sizeof(path));
    return link(draft, path);
}

/* ---- a job ---- */

/* Here is the work. Its result is a file that nobody else sees yet. */
static int make_draft(const struct worker *w, int job, const char *draft)
{
    static const struct timespec some_time = {0, 20000000};
    FILE *file = fopen(draft, "w");

    nanosleep(&some_time, NULL);
    return file && fprintf(file, "%d by %s\n", job, w->name) > 0 && fclose(file) == 0 ? 0 : -1;
}

/* The lock may be lost meanwhile: then the work was in vain, and somebody else does it. */
static void do_job(const struct worker *w, int job, const struct redlock_sync_lock *lock)
{
    char draft[4096];

    snprintf(draft, sizeof(draft), "%s/draft-%s", w->folder, w->name);
    printf("%s begins %d\n", w->name, job);
    if (make_draft(w, job, draft) == 0 && redlock_sync_lock_validity_ms(lock) > 0 &&
        publish(w, job, draft) == 0) {
        printf("%s has done %d\n", w->name, job);
    }
    unlink(draft);
}

static void give_up(const char *what, int status)
{
    fprintf(stderr, "%s: %s; %s\n", what, redlock_strerror(status), redlock_sync_error_text());
    exit(1);
}

/* Do the job, if nobody else does it within wait_ms. The holder checks again whether
 * there is a result, because the one before may have made it. */
static void take_job(const struct worker *w, int job, uint32_t wait_ms)
{
    struct redlock_sync_lock *lock;
    struct redlock_request request;
    char key[32];
    int status;

    snprintf(key, sizeof(key), "job-%d", job);
    redlock_request_init(&request);
    request.key = key;
    request.owner = w->name;
    request.ttl_ms = TTL_MS;
    request.wait_ms = wait_ms;
    status = redlock_sync_acquire(w->s, &request, NULL, &lock);
    if (status == REDLOCK_EHELD || status == REDLOCK_EDEADLINE) {
        return;
    }
    if (status) {
        give_up(key, status);
    }
    if (!is_done(w, job)) {
        do_job(w, job, lock);
    }
    redlock_sync_release(lock);
}

/* ---- workers ---- */

/* Returns how many jobs have no result yet. */
static int look_at_all(const struct worker *w, uint32_t wait_ms)
{
    int i, left = 0;

    for (i = 0; i < JOBS; i++) {
        int job = (w->first + i) % JOBS;

        if (!is_done(w, job)) {
            take_job(w, job, wait_ms);
            left += !is_done(w, job);
        }
    }
    return left;
}

/* First the jobs that are free; then wait for those that others have: one of these may die. The
 * release wakes us, so this is no polling. */
static void *work(void *arg)
{
    const struct worker *w = arg;
    int left = look_at_all(w, 0);

    while (left > 0) {
        left = look_at_all(w, 2 * TTL_MS);
    }
    return NULL;
}

static void run(struct redlock_sync *s, const char *folder, int n)
{
    static struct worker workers[MOST_THREADS];
    int i;

    for (i = 0; i < n; i++) {
        struct worker *w = &workers[i];

        w->s = s;
        w->folder = folder;
        snprintf(w->name, sizeof(w->name), "%d.%d", (int)getpid(), i);
        w->first = (int)((unsigned)getpid() * 37u + (unsigned)i * JOBS / (unsigned)n) % JOBS;
        if (pthread_create(&w->thread, NULL, work, w) != 0) {
            give_up("a thread", REDLOCK_ESYSTEM);
        }
    }
    for (i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
    }
}

/* To the masters that redlock(1) uses: those of REDLOCK_NODES or /etc/redlock/nodes. */
static int connect_masters(struct redlock_sync **ret_s)
{
    struct redlock_options options;
    struct redlock_settings *settings;
    char why[512] = "";
    int status;

    redlock_options_init(&options);
    options.error_text = why;
    options.error_text_size = sizeof(why);
    if ((status = redlock_settings_read(&options, &settings)) == 0) {
        status = redlock_sync_new(&options, ret_s);
        redlock_settings_free(settings);
    }
    if (status) {
        fprintf(stderr, "%s\n", why[0] ? why : redlock_strerror(status));
    }
    return status;
}

int main(int argc, char **argv)
{
    struct redlock_sync *s;
    int n = argc > 2 ? atoi(argv[2]) : 0;

    if (argc != 3 || n < 1 || n > MOST_THREADS) {
        fprintf(stderr, "usage: scheduler FOLDER THREADS\n");
        return 64;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (connect_masters(&s) != 0) {
        return 1;
    }
    run(s, argv[1], n);
    redlock_sync_close(s);
    return 0;
}
