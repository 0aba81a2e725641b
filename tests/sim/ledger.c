/* ledger.c - reading and writing the lines of a ledger. */
#include "sim/ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <redlock/manager.h>

#include "base/hash.h"

#define LINE 600

static const char heading[] = "# version build options seeds histories events violations acquired "
                              "fenced renewed lost faults seconds\n";

/* ---- which runs are one ---- */

/* Of the program itself: another build of the same sources may be another library. */
static uint64_t hash_of_program(void)
{
    struct rlk_hash_seed before = {{0, 0}};
    unsigned char bytes[65536];
    FILE *f = fopen("/proc/self/exe", "r");
    size_t n;

    while (f && (n = fread(bytes, 1, sizeof(bytes), f)) > 0) {
        before.words[0] = rlk_hash(&before, bytes, n);
    }
    if (f) {
        fclose(f);
    }
    return before.words[0];
}

static void name_runs(struct ledger *l, const struct run *r)
{
    const char *broken = options_assumption_name(r->broken);
    char build[64];

    if (r->build) {
        snprintf(build, sizeof(build), "%s", r->build);
    } else {
        snprintf(build, sizeof(build), "%016" PRIx64, hash_of_program());
    }
    snprintf(l->key, sizeof(l->key), "%s %s from=%" PRIu64 "%s%s%s ", redlock_version(), build,
             r->from, r->resizes ? ",resizes" : "", broken ? ",break=" : "", broken ? broken : "");
}

/* ---- reading ---- */

static bool read_seeds(const char *text, uint64_t *ret_last, struct figures *ret)
{
    uint64_t first;
    int len = 0;

    return sscanf(text,
                  "%" SCNu64 "-%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                  " %" SCNu64 " %" SCNu64 " %" SCNu64 " %lf%n",
                  &first, ret_last, &ret->histories, &ret->events, &ret->violations, &ret->acquired,
                  &ret->fenced, &ret->renewed, &ret->lost, &ret->faults, &ret->seconds,
                  &len) == 11 &&
           text[len] == '\n' && first <= *ret_last;
}

/* Where the seeds begin, behind three words; NULL: it is not a line of a ledger. */
static const char *skip_key(const char *line)
{
    unsigned i;

    for (i = 0; i < 3 && line; i++) {
        line = strchr(line, ' ');
        line = line ? line + 1 : NULL;
    }
    return line;
}

/* False: a ledger has no such line. */
static bool take_line(struct ledger *l, const char *line)
{
    const char *seeds = skip_key(line);
    struct figures f;
    uint64_t last;

    if (line[0] == '#') {
        return true;
    }
    if (seeds == NULL || !read_seeds(seeds, &last, &f)) {
        return false;
    }
    if (strncmp(line, l->key, strlen(l->key)) == 0) {
        figures_add(&l->before, &f);
        l->next = last >= l->next ? last + 1 : l->next;
    }
    return true;
}

static int read_lines(struct ledger *l, const char *path)
{
    char line[LINE];
    unsigned n = 0;

    rewind(l->file);
    while (fgets(line, sizeof(line), l->file)) {
        n++;
        if (!take_line(l, line)) {
            printf("redlock-sim: line %u of %s is not a line of a ledger; give "
                   "another file\n",
                   n, path);
            return 65;
        }
    }
    if (n == 0 && (fputs(heading, l->file) < 0 || fflush(l->file) != 0)) {
        printf("redlock-sim: %s cannot be written\n", path);
        return 73;
    }
    return 0;
}

int ledger_open(struct ledger *l, const struct run *r)
{
    int status;

    *l = (struct ledger){.next = r->from};
    l->file = fopen(r->ledger, "a+");
    if (l->file == NULL) {
        printf("redlock-sim: %s: %s\n", r->ledger, strerror(errno));
        return 73;
    }
    if (flock(fileno(l->file), LOCK_EX | LOCK_NB) < 0) {
        printf("redlock-sim: another run uses %s: wait for it, or give another file\n", r->ledger);
        status = 75;
    } else {
        name_runs(l, r);
        status = read_lines(l, r->ledger);
    }
    if (status) {
        ledger_close(l);
    }
    return status;
}

/* ---- writing ---- */

static bool write_line(const struct ledger *l, uint64_t seeds, const struct figures *f)
{
    return fprintf(l->file,
                   "%s%" PRIu64 "-%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                   " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.1f\n",
                   l->key, l->next, l->next + seeds - 1, f->histories, f->events, f->violations,
                   f->acquired, f->fenced, f->renewed, f->lost, f->faults, f->seconds) > 0 &&
           fflush(l->file) == 0 && fsync(fileno(l->file)) == 0;
}

bool ledger_add(struct ledger *l, uint64_t seeds, const struct figures *f)
{
    if (seeds > 0 && !write_line(l, seeds, f)) {
        return false;
    }
    figures_add(&l->before, f);
    l->next += seeds;
    printf("so far: %" PRIu64 " histories, %" PRIu64 " locks acquired, %" PRIu64 " faults, %" PRIu64
           " violations; %.1f s; the next seed is %" PRIu64 "\n",
           l->before.histories, l->before.acquired, l->before.faults, l->before.violations,
           l->before.seconds, l->next);
    return true;
}

void ledger_close(struct ledger *l)
{
    if (l->file) {
        fclose(l->file);
    }
    l->file = NULL;
}
