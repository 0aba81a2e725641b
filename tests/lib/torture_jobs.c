/* lib/torture_jobs.c - see torture_jobs.h. */
#include "lib/torture_jobs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/runner.h"

#define SLOTS_MOST 64
#define DEFAULT_SLOTS 4
#define DEFAULT_SECONDS 120

struct slot {
    pid_t child; /* 0: free */
    int output;
    struct torture_job job;
};

static struct slot slots[SLOTS_MOST];
static struct torture_run *runs; /* one for each slot, shared with the children */
static unsigned n_slots;
static torture_done *on_done;

unsigned long torture_number(const char *variable, unsigned long otherwise)
{
    const char *text = getenv(variable);

    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

void torture_jobs_init(torture_done *done)
{
    n_slots = (unsigned)torture_number("RLK_TORTURE_JOBS", DEFAULT_SLOTS);
    n_slots = n_slots < 1 ? 1 : n_slots > SLOTS_MOST ? SLOTS_MOST : n_slots;
    on_done = done;
    runs = mmap(NULL, n_slots * sizeof(*runs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
    if (runs == MAP_FAILED) {
        printf("Bail out! mmap: %s\n", strerror(errno));
        exit(1);
    }
}

/* UBSan may report an error and go on. */
static bool has_report(int output)
{
    static char text[65536];
    ssize_t len = pread(output, text, sizeof(text) - 1, 0);

    text[len > 0 ? len : 0] = '\0';
    return strstr(text, "runtime error:") != NULL;
}

static void judge_end(struct torture_run *r, int status, int output)
{
    char text[200] = "";

    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        snprintf(text, sizeof(text), "hangs");
    } else if (WIFSIGNALED(status)) {
        snprintf(text, sizeof(text), "died of signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0 || !r->ended) {
        snprintf(text, sizeof(text), "exited with status %d", WEXITSTATUS(status));
    } else if (has_report(output)) {
        snprintf(text, sizeof(text), "a report of a sanitizer");
    }
    if (text[0] && r->finding[0] == '\0') {
        memcpy(r->finding, text, sizeof(text));
    }
}

/* Handles the end of one child. */
static void reap(void)
{
    struct torture_job job;
    struct torture_run run;
    unsigned i = 0;
    int status = 0, output;
    pid_t child = wait(&status);

    while (i < n_slots && !(child > 0 && slots[i].child == child)) {
        i++;
    }
    if (i == n_slots) {
        return; /* interrupted; or a child that is not a run */
    }
    judge_end(&runs[i], status, slots[i].output);
    rlk_test_remove(i);
    job = slots[i].job;
    run = runs[i];
    output = slots[i].output;
    slots[i].child = 0;
    on_done(&job, &run, output);
    close(output);
}

static struct slot *free_slot(void)
{
    unsigned i;

    for (;;) {
        for (i = 0; i < n_slots; i++) {
            if (slots[i].child == 0) {
                return &slots[i];
            }
        }
        reap();
    }
}

__attribute__((noreturn)) static void be_child(const struct slot *slot)
{
    dup2(slot->output, 1);
    dup2(slot->output, 2);
    alarm((unsigned)torture_number("CK_DEFAULT_TIMEOUT", DEFAULT_SECONDS));
    rlk_test_enter((unsigned)(slot - slots));
    torture_run_one(slot->job.scenario);
}

void torture_jobs_start(const struct torture_job *job)
{
    struct slot *slot = free_slot();
    struct torture_run *run = &runs[slot - slots];

    slot->job = *job;
    slot->output = memfd_create("output", MFD_CLOEXEC);
    *run = (struct torture_run){.k = job->k,
                                .and_later = job->and_later,
                                .patient = job->patient,
                                .may_live = job->may_live};
    torture_run = run;
    fflush(stdout);
    slot->child = fork();
    if (slot->child < 0) {
        printf("Bail out! fork: %s\n", strerror(errno));
        exit(1);
    }
    if (slot->child == 0) {
        be_child(slot);
    }
}

void torture_jobs_wait(void)
{
    unsigned i;

    for (i = 0; i < n_slots; i++) {
        while (slots[i].child != 0) {
            reap();
            i = 0; /* the callback may have started another run */
        }
    }
}
