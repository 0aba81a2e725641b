/* deadline.c - the arithmetic of a deadline. Pure: no clock, no signal. */
#include "cli/run/deadline.h"

/* SIGKILL is sent this long before the end of the lock (a hundredth of the ttl, within these
 * bounds), as it takes time to wake up and for processes to die. */
#define MARGIN_MIN_MS 2
#define MARGIN_MAX_MS 20

/* To kill takes about this many times as long as to search: the search, the processes' own deaths,
 * and redlock, which searches at the same time. */
#define KILL_SEARCHES 3

/* How long before the kill a search is timed: a part of the ttl, so that no renewal in time is
 * later, and at most this. */
#define LOOK_PARTS 5
#define LOOK_MAX_MS 2000

/* Two ends that are closer than this count as the same. It covers the rounding to a millisecond,
 * and is not more than the margin. */
#define SAME_US 2000

uint64_t cli_deadline_before(uint64_t at_us, uint64_t span_us)
{
    return at_us > span_us ? at_us - span_us : 0;
}

static uint64_t margin_us(uint32_t ttl_ms)
{
    uint64_t margin_ms = ttl_ms / 100;

    margin_ms = margin_ms < MARGIN_MIN_MS ? MARGIN_MIN_MS : margin_ms;
    return (margin_ms > MARGIN_MAX_MS ? MARGIN_MAX_MS : margin_ms) * 1000;
}

uint64_t cli_deadline_look_us(uint64_t kill_us, uint32_t ttl_ms)
{
    uint32_t part_ms = ttl_ms / LOOK_PARTS;

    part_ms = part_ms > LOOK_MAX_MS ? LOOK_MAX_MS : part_ms;
    return cli_deadline_before(kill_us, (uint64_t)part_ms * 1000);
}

uint64_t cli_deadline_begin_us(uint64_t kill_us, uint32_t ttl_ms, uint64_t search_us)
{
    return cli_deadline_before(kill_us,
                               cli_deadline_before(KILL_SEARCHES * search_us, margin_us(ttl_ms)));
}

void cli_deadline_init(struct cli_deadline *deadline, const struct cli_terms *terms,
                       uint64_t now_us)
{
    *deadline = (struct cli_deadline){
        .terms = terms, .latest_us = UINT64_MAX, .stop_us = UINT64_MAX, .given_us = UINT64_MAX};
    if (terms->max_hold_ms) {
        deadline->latest_us = now_us + (uint64_t)terms->max_hold_ms * 1000;
    }
}

static uint64_t earlier(uint64_t a_us, uint64_t b_us)
{
    return a_us < b_us ? a_us : b_us;
}

static void move(struct cli_deadline *deadline, uint64_t end_us)
{
    const struct cli_terms *terms = deadline->terms;

    deadline->end_us = end_us;
    deadline->kill_us = cli_deadline_before(end_us, margin_us(terms->ttl_ms));
    deadline->term_us = cli_deadline_before(deadline->kill_us, (uint64_t)terms->grace_ms * 1000);
    deadline->kill_us = earlier(deadline->kill_us, deadline->given_us);
    deadline->term_us = earlier(deadline->term_us, deadline->stop_us);
}

/* The validity is rounded, so ends that differ by a millisecond are the same. A lock that was lost
 * ends now. */
enum cli_deadline_change cli_deadline_update(struct cli_deadline *deadline, uint64_t now_us,
                                             uint64_t validity_ms, bool asked)
{
    uint64_t old_us = deadline->end_us;
    uint64_t renewed_us = old_us + (uint64_t)deadline->terms->ttl_ms * 50 + 1000;
    uint64_t end_us = now_us + validity_ms * 1000;

    end_us = end_us < deadline->latest_us ? end_us : deadline->latest_us;
    asked = asked && deadline->stop_us == UINT64_MAX;
    if (end_us + SAME_US > old_us && (end_us <= old_us || asked)) {
        return CLI_DEADLINE_SAME;
    }
    if (end_us == now_us) {
        deadline->kill_us = 0;
        return CLI_DEADLINE_DENIED;
    }
    move(deadline, end_us);
    return old_us > 0 && end_us > renewed_us ? CLI_DEADLINE_RENEWED : CLI_DEADLINE_MOVED;
}

/* The deadline of a lock that is lost has passed already. */
void cli_deadline_stop(struct cli_deadline *deadline, uint64_t now_us, uint32_t grace_ms)
{
    deadline->stop_us = now_us;
    deadline->given_us =
        grace_ms == UINT32_MAX ? deadline->kill_us : now_us + (uint64_t)grace_ms * 1000;
    if (deadline->kill_us > 0) {
        move(deadline, deadline->end_us);
    }
}

bool cli_deadline_is_given(const struct cli_deadline *deadline)
{
    return deadline->kill_us == deadline->given_us;
}

uint64_t cli_deadline_pause_us(unsigned searches)
{
    return UINT64_C(2000) << (searches < 6 ? searches : 6);
}
