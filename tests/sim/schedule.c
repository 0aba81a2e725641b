/* schedule.c - a binary heap. */
#include "sim/schedule.h"

#include "base/time.h"
#include "sim/memory.h"

void schedule_reset(struct schedule *s)
{
    s->n = 0;
    s->seq = 0;
}

static bool before(const struct scheduled_event *a, const struct scheduled_event *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->seq < b->seq;
}

static void sift_up(struct schedule *s, size_t i, struct scheduled_event ev)
{
    while (i > 0 && before(&ev, &s->heap[(i - 1) / 2])) {
        s->heap[i] = s->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->heap[i] = ev;
}

static void sift_down(struct schedule *s, struct scheduled_event ev)
{
    size_t i = 0, child;

    while ((child = 2 * i + 1) < s->n) {
        if (child + 1 < s->n && before(&s->heap[child + 1], &s->heap[child])) {
            child++;
        }
        if (!before(&s->heap[child], &ev)) {
            break;
        }
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = ev;
}

void schedule_push(struct schedule *s, uint64_t at_us, enum event_kind kind, unsigned target,
                   unsigned worker, unsigned stamp)
{
    struct scheduled_event ev = {at_us, s->seq++, kind, target, worker, stamp};

    if (at_us == RLK_NEVER) {
        return;
    }
    s->heap = memory_room(s->heap, &s->cap, s->n, sizeof(*s->heap));
    sift_up(s, s->n++, ev);
}

bool schedule_pop(struct schedule *s, struct scheduled_event *ret)
{
    if (s->n == 0) {
        return false;
    }
    *ret = s->heap[0];
    s->n--;
    if (s->n > 0) {
        sift_down(s, s->heap[s->n]);
    }
    return true;
}

void schedule_free(struct schedule *s)
{
    memory_free(s->heap);
    *s = (struct schedule){0};
}
