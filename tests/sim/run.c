/* run.c - choosing seeds, sharing them among processes, gathering what they found. */
#include "sim/run.h"

#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/place.h"
#include "sim/coverage.h"
#include "sim/history.h"
#include "sim/ledger.h"
#include "sim/tally.h"

/* So many violations of each job are printed in full, as soon as they are found. */
#define SHOWN 3
#define MOST_JOBS 256

/* What the jobs share. Each takes the next seed when it is done with one, so those that were taken
 * have no gaps, however the run ends. */
struct shared {
    _Atomic unsigned long taken;
    _Atomic int stopped; /* by this signal; 0: it was not */
};

static struct shared *shared;

static struct world world;

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const char *broken_text(enum assumption broken, char *text, size_t room)
{
    if (broken == ASSUME_ALL) {
        return "";
    }
    snprintf(text, room, " --break %s", options_assumption_name(broken));
    return text;
}

void figures_add(struct figures *sum, const struct figures *f)
{
    sum->histories += f->histories;
    sum->events += f->events;
    sum->violations += f->violations;
    sum->acquired += f->acquired;
    sum->fenced += f->fenced;
    sum->renewed += f->renewed;
    sum->lost += f->lost;
    sum->faults += f->faults;
    sum->seconds += f->seconds;
}

static void add_history(struct figures *f, const struct world *w)
{
    figures_add(f, &(struct figures){.histories = 1,
                                     .events = w->events,
                                     .violations = w->violated,
                                     .acquired = w->acquired,
                                     .fenced = w->fenced,
                                     .renewed = w->renewed,
                                     .lost = w->lost,
                                     .faults = w->faults});
}

static void show_command(const char *before, uint64_t seed, enum assumption broken)
{
    char program[300], text[64];

    place_of_program(program, sizeof(program));
    printf("%srepeat: %s --seed %" PRIu64 "%s --trace\n", before, program, seed,
           broken_text(broken, text, sizeof(text)));
    fflush(stdout);
}

static void show(const struct world *w)
{
    printf("seed %" PRIu64 ": %s\n", w->o.seed, w->violation);
    show_command("", w->o.seed, w->o.broken);
}

static bool is_asked_for(const struct run *r, uint64_t seed)
{
    struct options o;
    struct rlk_prng p;

    if (r->resizes) {
        options_draw(&o, &p, seed, r->broken);
    }
    return !r->resizes || o.resizes;
}

/* ---- several processes ---- */

static void on_signal(int number)
{
    shared->stopped = number;
}

/* A second signal kills. */
static bool prepare_sharing(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND | SA_RESTART};

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared != MAP_FAILED && sigaction(SIGINT, &action, NULL) == 0 &&
           sigaction(SIGTERM, &action, NULL) == 0;
}

static bool take_seed(const struct run *r, double until, uint64_t *ret_seed)
{
    unsigned long i;

    if (shared->stopped || (r->seconds && seconds() >= until)) {
        return false;
    }
    i = shared->taken++;
    *ret_seed = r->from + i;
    return r->seconds || i < r->histories;
}

/* How many were tried; each job may have taken one too many. */
static uint64_t seeds_tried(const struct run *r)
{
    return r->seconds || shared->taken < r->histories ? shared->taken : r->histories;
}

static struct figures work(const struct run *r, double until, struct coverage *coverage,
                           FILE *violations)
{
    struct figures f = {0};
    uint64_t seed;

    while (take_seed(r, until, &seed)) {
        if (!is_asked_for(r, seed)) {
            continue;
        }
        history_run(&world, seed, r->broken, false);
        add_history(&f, &world);
        if (world.violated && f.violations <= SHOWN) {
            show(&world);
        }
        if (world.violated) {
            tally_write(violations, world.o.seed, r->broken, world.violation);
        }
    }
    history_free(&world);
    if (coverage) {
        coverage_save(coverage);
    }
    return f;
}

struct job {
    pid_t pid;
    int fd;           /* sends its figures */
    FILE *violations; /* that it has found */
};

/* coverage: NULL: nobody asks for it. */
static void start_job(const struct run *r, double until, struct coverage *coverage,
                      struct job *ret_job)
{
    int ends[2];
    struct figures f;

    ret_job->violations = tmpfile();
    if (!ret_job->violations || pipe(ends) < 0 || (ret_job->pid = fork()) < 0) {
        perror("redlock-sim");
        exit(71);
    }
    if (ret_job->pid == 0) {
        close(ends[0]);
        f = work(r, until, coverage, ret_job->violations);
        _exit(fflush(ret_job->violations) == 0 &&
                      write(ends[1], &f, sizeof(f)) == (ssize_t)sizeof(f)
                  ? 0
                  : 71);
    }
    close(ends[1]);
    ret_job->fd = ends[0];
}

/* A job that crashed sends no figures: the whole run has failed. */
static bool gather(const struct job *job, struct figures *sum, struct tally *violations)
{
    struct figures f;
    bool good = read(job->fd, &f, sizeof(f)) == (ssize_t)sizeof(f);

    close(job->fd);
    waitpid(job->pid, NULL, 0);
    tally_read(violations, job->violations);
    fclose(job->violations);
    if (good) {
        figures_add(sum, &f);
    }
    return good;
}

/* Returns whether all was written that was asked for. */
static bool report_violations(const struct run *r, struct tally *violations)
{
    bool good;

    tally_print(violations);
    good = r->violations == NULL || tally_save(violations, r->violations) == 0;
    if (!good) {
        printf("redlock-sim: %s cannot be written\n", r->violations);
    }
    tally_free(violations);
    return good;
}

static bool run_jobs(const struct run *r, double began, struct figures *sum,
                     struct tally *violations)
{
    struct coverage *coverage = r->coverage ? coverage_share(r->jobs) : NULL;
    struct job jobs[MOST_JOBS];
    bool good = true;
    uint64_t i;

    fflush(stdout);
    for (i = 0; i < r->jobs; i++) {
        start_job(r, began + (double)r->seconds, coverage ? &coverage[i] : NULL, &jobs[i]);
    }
    for (i = 0; i < r->jobs; i++) {
        good &= gather(&jobs[i], sum, violations);
    }
    sum->seconds = seconds() - began;
    if (coverage) {
        coverage_print(coverage, r->jobs);
    }
    return good;
}

static void print_figures(const struct run *r, const struct figures *sum)
{
    printf("seeds from %" PRIu64 ": %" PRIu64 " locks acquired, %" PRIu64
           " of them fenced, %" PRIu64 " renewals, %" PRIu64 " lost, %" PRIu64
           " faults; %.1f s, %.0f histories a minute\n",
           r->from, sum->acquired, sum->fenced, sum->renewed, sum->lost, sum->faults, sum->seconds,
           (double)sum->histories * 60 / sum->seconds);
    printf("%" PRIu64 " histories, %" PRIu64 " events, %" PRIu64 " violations\n", sum->histories,
           sum->events, sum->violations);
}

/* A run of which a process crashed is not in the ledger: nobody knows which seeds it has tried. */
static int run_seeds(const struct run *r, struct ledger *ledger)
{
    struct figures sum = {0};
    struct tally violations = {0};
    bool good = run_jobs(r, seconds(), &sum, &violations);

    if (good && ledger) {
        good = ledger_add(ledger, seeds_tried(r), &sum);
    }
    good &= report_violations(r, &violations);
    print_figures(r, &sum);
    if (!good) {
        printf("redlock-sim: a process ended early, or a file could not be written\n");
    }
    return good && sum.violations == 0 ? 0 : 1;
}

int run_many(const struct run *r)
{
    struct run next = *r;
    struct ledger ledger;
    int status;

    if (!prepare_sharing()) {
        perror("redlock-sim");
        return 71;
    }
    if (r->ledger && (status = ledger_open(&ledger, r)) != 0) {
        return status;
    }
    next.from = r->ledger ? ledger.next : r->from;
    status = run_seeds(&next, r->ledger ? &ledger : NULL);
    if (r->ledger) {
        ledger_close(&ledger);
    }
    if (shared->stopped) {
        fflush(stdout);
        signal(shared->stopped, SIG_DFL);
        raise(shared->stopped);
    }
    return status;
}

int run_hunt(const struct run *r)
{
    uint64_t i;
    bool caught = false;

    for (i = 0; i < r->histories && !caught; i++) {
        if (is_asked_for(r, r->from + i)) {
            history_run(&world, r->from + i, r->broken, false);
            caught = world.violated;
        }
    }
    if (caught) {
        show_command("", world.o.seed, world.o.broken);
        printf("caught by seed %" PRIu64 ": %s\n", world.o.seed, world.violation);
    } else {
        printf("%" PRIu64 " histories, no violation\n", r->histories);
    }
    history_free(&world);
    return caught ? 1 : 0;
}

int run_one(uint64_t seed, enum assumption broken, bool trace)
{
    struct options o;
    struct rlk_prng p;
    int status;

    options_draw(&o, &p, seed, broken);
    options_print(&o, stdout);
    history_run(&world, seed, broken, trace);
    printf("%s%s; %u locks acquired, %u renewals, %u lost, %u faults, hash %016" PRIx64 "\n",
           world.violated ? "VIOLATION " : "no violation", world.violation, world.acquired,
           world.renewed, world.lost, world.faults, world.hash);
    printf("1 histories, %" PRIu64 " events, %d violations\n", world.events, world.violated);
    status = world.violated ? 1 : 0;
    history_free(&world);
    return status;
}

/* ---- a file of seeds ---- */

/* "SEED [ASSUMPTION] # why"; false for an empty line or a comment. */
static bool parse(char *line, uint64_t *ret_seed, enum assumption *ret_broken, char **ret_why)
{
    char *at, *hash = strchr(line, '#');
    char name[32];

    line[strcspn(line, "\n")] = '\0';
    *ret_why = hash ? hash + 1 + strspn(hash + 1, " ") : line + strlen(line);
    if (hash) {
        *hash = '\0';
    }
    *ret_seed = strtoull(line, &at, 10);
    *ret_broken = sscanf(at, "%31s", name) == 1 ? options_assumption(name) : ASSUME_ALL;
    return at != line;
}

/* What is wrong with it, run twice; NULL: nothing. */
static const char *judge_seed(uint64_t seed, enum assumption broken)
{
    uint64_t hash;

    if (broken == ASSUME_KINDS) {
        return "no such assumption";
    }
    history_run(&world, seed, broken, false);
    hash = world.hash;
    history_run(&world, seed, broken, false);
    if (world.hash != hash) {
        return "two histories";
    }
    if (world.violated == (broken != ASSUME_ALL)) {
        return NULL;
    }
    return world.violated ? world.violation : "no violation, with an assumption broken";
}

/* Returns whether it is good. */
static bool run_seed(unsigned number, uint64_t seed, enum assumption broken, const char *why)
{
    const char *wrong = judge_seed(seed, broken);

    printf("%s %u - seed %" PRIu64 ": %s\n", wrong ? "not ok" : "ok", number, seed, why);
    if (wrong) {
        printf("# %s\n", wrong);
        show_command("# ", seed, broken == ASSUME_KINDS ? ASSUME_ALL : broken);
    }
    return wrong == NULL;
}

int run_file(const char *path)
{
    FILE *f = fopen(path, "r");
    unsigned n = 0, bad = 0;
    enum assumption broken;
    char line[512], *why;
    uint64_t seed;

    if (f == NULL) {
        printf("Bail out! %s cannot be opened\n", path);
        return 66;
    }
    while (fgets(line, sizeof(line), f)) {
        if (parse(line, &seed, &broken, &why)) {
            bad += !run_seed(++n, seed, broken, why);
        }
    }
    printf("1..%u\n", n);
    fclose(f);
    history_free(&world);
    return bad || n == 0 ? 1 : 0;
}
