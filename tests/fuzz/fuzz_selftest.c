/* fuzz_selftest.c - a target that does what its input says, for the test of replay.c. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);

    FUZZ_CHECK(strcmp(text, "break") != 0, "this input breaks a rule");
    if (strcmp(text, "crash") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(text, "hang") == 0) {
        raise(SIGALRM); /* what the end of its time is */
    } else if (strcmp(text, "leave") == 0) {
        _exit(3);
    }
    free(text);
    return 0;
}
