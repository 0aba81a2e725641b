/* lib/skip.c - a test that cannot be asked here says so; see runner.h.
 *
 * A test runs in a child of the runner, so its reason is in memory that both share. */
#include "lib/runner.h"

#include <stdio.h>
#include <sys/mman.h>

#define ROOM 200

static char *reason;

void rlk_test_skip(const char *why)
{
    if (reason) {
        snprintf(reason, ROOM, "%s", why);
    }
}

void rlk_test_expect_skip(void)
{
    if (!reason) {
        void *at = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        reason = at == MAP_FAILED ? NULL : at;
    }
    rlk_test_skip("");
}

const char *rlk_test_skipped(void)
{
    return reason ? reason : "";
}
