/* former.c - the list of former connections, which ends with the run of the server. */
#include "core/former.h"

#include <string.h>

void rlk_former_drop(struct rlk_former *f)
{
    if (f->count > 0) {
        f->count--;
        memmove(f->ids, f->ids + 1, f->count * sizeof(f->ids[0]));
    }
}

static void remember_run(struct rlk_former *f, const char *run_id)
{
    size_t len = strlen(run_id), room = sizeof(f->run_id) - 1;

    len = len < room ? len : room;
    memcpy(f->run_id, run_id, len);
    f->run_id[len] = '\0';
}

/* Ids are numbers of one process: in another run the same number may belong to another client. */
void rlk_former_note_run(struct rlk_former *f, const char *run_id)
{
    if (strcmp(f->run_id, run_id) != 0) {
        f->count = 0;
        remember_run(f, run_id);
    }
}

void rlk_former_ended(struct rlk_former *f, const char *run_id, int64_t id, size_t unanswered)
{
    if (unanswered == 0 || run_id[0] == '\0' || id == 0) {
        return;
    }
    rlk_former_note_run(f, run_id);
    if (f->count == RLK_FORMER_MAX) {
        rlk_former_drop(f);
    }
    f->ids[f->count++] = id;
}
