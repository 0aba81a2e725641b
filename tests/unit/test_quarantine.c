/* test_quarantine.c - whose votes count, and from when on [S11].
 *
 * The cases of the first half are schedules in which two clients would hold one lock if a vote
 * counted too early. In them "a lock" is one that somebody else took just before, with a vote of
 * this server, and that lives for the longest ttl. */
#include <inttypes.h>
#include <string.h>

#include "base/time.h"
#include "core/quarantine.h"
#include "lib/rows.h"
#include "lib/runner.h"
#include "lib/story.h"

#define S UINT64_C(1000000)
#define TTL (10 * S)
#define QUARANTINE_US (TTL + 100000 + 2000) /* with 1 % and 2 ms */
#define NOW (1000 * S)
#define OLD (86400 * S)
#define SERVER_US UINT64_C(1700000000000000)

#define STRICT RLK_QUARANTINE_STRICT
#define OBSERVED RLK_QUARANTINE_OBSERVED
#define OFF RLK_QUARANTINE_OFF
#define EITHER (-1) /* the story is told with STRICT and with OBSERVED */

#define YOUNG RLK_QUARANTINED_YOUNG
#define RESTARTED RLK_QUARANTINED_RESTARTED
#define FORGOT RLK_QUARANTINED_FORGOT
#define CLOCK RLK_QUARANTINED_CLOCK
#define EVICTS RLK_QUARANTINED_EVICTS
#define UNREAD RLK_QUARANTINED_UNREAD

/* A master that we meet at NOW, and that has been up for a day. */
static struct rlk_facts a_master(void)
{
    return (struct rlk_facts){.run = "run-a", .birth.mark = 77, .age_us = OLD, .data_age_us = OLD};
}

static struct rlk_quarantine one_known(enum rlk_quarantine_policy policy)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, policy, TTL, 10000);
    rlk_quarantine_greet(&s, &facts, NOW);
    return s;
}

/* ---- the steps of a story ---- */

struct world {
    struct rlk_quarantine s;
    bool observed; /* what EITHER means */
    unsigned step;
};

struct step {
    void (*take)(struct world *w, const struct step *s);
    uint64_t at_us;
    struct rlk_facts facts;
    uint64_t us, number; /* a moment or an age; a mark or a promotion */
    bool yes;            /* what is to be returned, or an argument */
    enum rlk_quarantine_reason why;
    int policy;
};

struct story {
    const char *claim;
    struct step steps[20];
};

static void expect_returned(const struct world *w, const struct step *s, bool got)
{
    ck_assert_msg(got == s->yes, "step %u: %s is returned", w->step, got ? "true" : "false");
}

static void begin(struct world *w, const struct step *s)
{
    enum rlk_quarantine_policy either = w->observed ? OBSERVED : STRICT;

    rlk_quarantine_init(&w->s, s->policy == EITHER ? either : (enum rlk_quarantine_policy)s->policy,
                        TTL, 10000);
}

static void greet(struct world *w, const struct step *s)
{
    expect_returned(w, s, rlk_quarantine_greet(&w->s, &s->facts, s->at_us));
}

static void meet(struct world *w, const struct step *s)
{
    begin(w, s);
    greet(w, s);
}

static void look(struct world *w, const struct step *s)
{
    expect_returned(w, s, rlk_quarantine_check_mark(&w->s, s->number, s->at_us));
}

static void leave_unread(struct world *w, const struct step *s)
{
    rlk_quarantine_set_unread(&w->s, s->yes);
}

static void see_master(struct world *w, const struct step *s)
{
    expect_returned(w, s, rlk_quarantine_check_role(&w->s, true, s->number, s->at_us));
}

static void see_replica(struct world *w, const struct step *s)
{
    expect_returned(w, s, rlk_quarantine_check_role(&w->s, false, 0, s->at_us));
}

static void evict(struct world *w, const struct step *s)
{
    rlk_quarantine_set_evicts(&w->s, s->yes, s->at_us);
}

static void read_birth(struct world *w, const struct step *s)
{
    rlk_quarantine_check_birth(&w->s, &s->facts.birth, s->at_us);
}

/* From a second after it was met. */
static void read_birth_each_second(struct world *w, const struct step *s)
{
    struct rlk_birth birth = {.mark = 77, .born_us = SERVER_US - OLD, .server_us = SERVER_US};
    uint64_t now_us;

    for (now_us = NOW + S; now_us <= s->at_us; now_us += S) {
        rlk_quarantine_check_birth(&w->s, &birth, now_us);
    }
}

static void move_clock(struct world *w, const struct step *s)
{
    rlk_quarantine_clock_moved(&w->s, s->us, s->at_us);
}

static void keep_time(struct world *w, const struct step *s)
{
    rlk_quarantine_clock_steady(&w->s, s->at_us);
}

static void excuse_clock(struct world *w, const struct step *s)
{
    (void)s;
    rlk_quarantine_clock_excused(&w->s);
}

static void expect_bar(const struct world *w, uint64_t now_us, enum rlk_quarantine_reason why,
                       uint64_t until_us)
{
    uint64_t until = 1;
    enum rlk_quarantine_reason got = rlk_quarantine_reason(&w->s, now_us, &until);

    ck_assert_msg(got == why && until == until_us,
                  "step %u: reason %d until %" PRIu64 ", not %d until %" PRIu64, w->step, got,
                  until, why, until_us);
    ck_assert_int_eq(rlk_quarantine_reason(&w->s, now_us, NULL), why);
}

/* Barred for this reason up to a moment, and not at it. */
static void expect_until(struct world *w, const struct step *s)
{
    expect_bar(w, s->at_us - 1, s->why, s->at_us);
    expect_bar(w, s->at_us, RLK_QUARANTINED_NOT, 0);
}

static void expect_no_end(struct world *w, const struct step *s)
{
    expect_bar(w, s->at_us, s->why, RLK_NEVER);
}

static void expect_clock_suspect(struct world *w, const struct step *s)
{
    ck_assert_msg(rlk_quarantine_is_clock_suspect(&w->s, s->at_us) == s->yes,
                  "step %u: it is%s clock_suspect", w->step, s->yes ? " not" : "");
}

static void expect_counted(struct world *w, const struct step *s)
{
    expect_bar(w, s->at_us, RLK_QUARANTINED_NOT, 0);
    expect_clock_suspect(w, s);
}

static void expect_note(struct world *w, const struct step *s)
{
    uint64_t note_us = rlk_quarantine_step_to_record(&w->s, s->at_us);

    ck_assert_msg(note_us == s->us, "step %u: %" PRIu64 " is to be noted", w->step, note_us);
}

static void expect_data_replaced(struct world *w, const struct step *s)
{
    expect_returned(w, s, rlk_quarantine_take_data_replaced(&w->s));
}

static void expect_known(struct world *w, const struct step *s)
{
    expect_returned(w, s, rlk_quarantine_knows(&w->s, s->facts.run));
}

/* All times are from NOW. What a server says of itself is as a_master() does, but for ...: these
 * take the place of that. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define AT(time, ...) STEP(.at_us = NOW + (time), __VA_ARGS__)
#define SAYS(...)                                                                                  \
    .facts = {.run = "run-a", .birth = {.mark = 77}, .age_us = OLD, .data_age_us = OLD, __VA_ARGS__}
#define SILENT .run = "", .birth = {.mark = 0}, .age_us = RLK_NEVER, .data_age_us = RLK_NEVER
#define BORN_AGO(time)                                                                             \
    {                                                                                              \
        .mark = 77, .born_us = SERVER_US - (time), .server_us = SERVER_US                          \
    }

#define NEW(p) STEP(.take = begin, .policy = (p))
#define MET(p) AT(0, .take = meet, .policy = (p), SAYS(.durable = false))
#define GREET(time, ...) AT(time, .take = greet, SAYS(__VA_ARGS__))
#define AGAIN(time) GREET(time, .durable = false)
#define RESTART(time, ...) AT(time, .take = greet, SAYS(__VA_ARGS__), .yes = true)
#define LOOK(time, mark) AT(time, .take = look, .number = (mark))
#define FIND_OTHER(time, mark) AT(time, .take = look, .number = (mark), .yes = true)
#define CANNOT_READ STEP(.take = leave_unread, .yes = true) /* the mark, for now */
#define MAY_NOT_READ STEP(.take = leave_unread)             /* nor ever */
#define MASTER(time, promotion) AT(time, .take = see_master, .number = (promotion))
#define PROMOTED(time, promotion) AT(time, .take = see_master, .number = (promotion), .yes = true)
#define REPLICA(time) AT(time, .take = see_replica, .yes = true)
#define EVICT(time, does) AT(time, .take = evict, .yes = (does))
#define BORN(time, ago) AT(time, .take = read_birth, .facts.birth = BORN_AGO(ago))
#define BORN_OF(time, m) AT(time, .take = read_birth, .facts.birth = {m, SERVER_US, SERVER_US})
#define BORN_EACH_SECOND(time) AT(time, .take = read_birth_each_second)
#define CLOCK_MOVED(time, shows) AT(time, .take = move_clock, .us = (shows))
#define KEPT_TIME(time) AT(time, .take = keep_time)
#define EXCUSED STEP(.take = excuse_clock)

#define QUARANTINED(reason, since)                                                                 \
    AT((since) + QUARANTINE_US, .take = expect_until, .why = (reason))
#define QUARANTINED_UNTIL(reason, time) AT(time, .take = expect_until, .why = (reason))
#define NO_END(reason, time) AT(time, .take = expect_no_end, .why = (reason))
#define COUNTED(time) AT(time, .take = expect_counted)
#define CLOCK_SUSPECT(time) AT(time, .take = expect_clock_suspect, .yes = true)
#define TIMELY(time) AT(time, .take = expect_clock_suspect)
#define NOTE(time, note) AT(time, .take = expect_note, .us = (note))
#define EXCHANGED STEP(.take = expect_data_replaced, .yes = true)
#define KEPT STEP(.take = expect_data_replaced)
#define KNOWN(name) STEP(.take = expect_known, .facts.run = (name), .yes = true)
#define UNKNOWN(name) STEP(.take = expect_known, .facts.run = (name))

static void tell(const struct story *story, bool observed)
{
    struct world w = {.observed = observed};

    STORY_PLAY(&w, story->steps);
}

/* ---- schedules that would break exclusion ---- */

static const struct story schedules[] = {
    /* The server restarts at once, forgets the lock, and we meet it for the first time. It has no
     * history with us: its age is all that there is. It may have been up for a second less than it
     * says. */
    {"a_young_server_that_we_never_met_is_quarantined_until_it_is_old_enough",
     {NEW(STRICT), GREET(0, .age_us = 3 * S), QUARANTINED_UNTIL(YOUNG, QUARANTINE_US - 3 * S + S),
      NEW(STRICT), GREET(0, .age_us = QUARANTINE_US + S - 1), QUARANTINED_UNTIL(YOUNG, 1),
      NEW(STRICT), GREET(0, .age_us = QUARANTINE_US), QUARANTINED_UNTIL(YOUNG, S), NEW(STRICT),
      GREET(0, .age_us = QUARANTINE_US + S), COUNTED(0)}},

    /* The lock is taken, the server restarts, we were away meanwhile. We see the restart late, and
     * cannot know how late: the bar is a whole one from then on. */
    {"a_restart_seen_late_bars_from_when_it_is_seen",
     {MET(STRICT),
      RESTART(60 * S, .run = "run-b", .birth = {.mark = 78}, .age_us = QUARANTINE_US - 5 * S),
      QUARANTINED(RESTARTED, 60 * S)}},

    /* While it is quarantined it gives a vote to somebody who does not know of the first restart,
     * and restarts again. The second one bars as the first one did. */
    {"a_second_restart_bars_anew",
     {MET(STRICT), RESTART(S, .run = "run-b"), QUARANTINED(RESTARTED, S),
      RESTART(9 * S, .run = "run-c"), QUARANTINED(RESTARTED, 9 * S),
      RESTART(10 * S, .run = "run-b"), QUARANTINED(RESTARTED, 10 * S)}},

    /* The server starts with its clock an hour slow, is asked for the lock, and then the clock is
     * set: its uptime is an hour now. Who has seen the restart is not impressed; and who met it
     * young and greets it again keeps to what was said first. */
    {"an_uptime_that_lies_does_not_end_a_bar",
     {MET(STRICT), RESTART(S, .run = "run-b", .age_us = 2 * S),
      GREET(3 * S, .run = "run-b", .age_us = 3603 * S), QUARANTINED(RESTARTED, S), NEW(STRICT),
      GREET(0, .age_us = 2 * S), GREET(S, .age_us = 3603 * S),
      QUARANTINED_UNTIL(YOUNG, QUARANTINE_US - 2 * S + S)}},

    /* INFO is refused once, of all times after the restart (an ACL that is loaded late). A run that
     * is not told any more may be another one, and so may the next that is told. At 2 s it has
     * restarted once more, or not. */
    {"a_run_that_is_not_told_does_not_hide_a_restart",
     {MET(EITHER), RESTART(S, SILENT), QUARANTINED(RESTARTED, S), RESTART(2 * S, SILENT),
      QUARANTINED(RESTARTED, 2 * S), RESTART(3 * S, .run = "run-b"),
      QUARANTINED(RESTARTED, 3 * S)}},

    /* The same, but the mark is told: it is another one, which is as good as another run. */
    {"a_run_that_is_not_told_does_not_hide_another_mark",
     {MET(STRICT), RESTART(S, SILENT, .birth = {.mark = 78}), QUARANTINED(RESTARTED, S),
      FIND_OTHER(2 * S, 79), QUARANTINED(FORGOT, 2 * S)}},

    /* It does not tell its run at first, restarts, and tells it then: nothing shows the restart,
     * and its age is by a clock that may have been set. From there on we know it. */
    {"a_run_that_becomes_known_late_is_another_one",
     {NEW(EITHER), GREET(0, SILENT), COUNTED(0), GREET(0, SILENT), COUNTED(0),
      RESTART(S, .birth = {.mark = 0}), QUARANTINED(RESTARTED, S),
      GREET(3 * S, .birth = {.mark = 0}), QUARANTINED(RESTARTED, S)}},

    /* It is out of memory when it is greeted, and cannot write its mark. Then there is memory,
     * FLUSHALL takes the lock away, and the first mark is read. */
    {"the_first_mark_after_none_could_be_read_bars",
     {NEW(EITHER), GREET(0, .birth = {.mark = 0}, .unread = true),
      NO_END(UNREAD, 1000 * QUARANTINE_US), FIND_OTHER(S, 78), QUARANTINED(FORGOT, S),
      LOOK(2 * S, 78), QUARANTINED(FORGOT, S)}},

    /* Whoever knew it before has something to compare with. In the end its mark will never be
     * read: it votes unseen. */
    {"a_mark_that_could_not_be_read_for_a_while_is_compared",
     {MET(STRICT), CANNOT_READ, NO_END(UNREAD, S), LOOK(2 * S, 77), COUNTED(2 * S), CANNOT_READ,
      FIND_OTHER(3 * S, 78), QUARANTINED(FORGOT, 3 * S), CANNOT_READ, MAY_NOT_READ,
      QUARANTINED(FORGOT, 3 * S)}},

    /* REPLICAOF takes the lock away, and what its master has in its place; a replica that may be
     * written to goes on granting. It is no master for as long as nobody greets it as one. No mark
     * can be read: nothing else tells. */
    {"a_master_that_was_a_replica_is_quarantined_from_when_it_is_none",
     {MET(EITHER), MASTER(0, 0), COUNTED(0), REPLICA(S), QUARANTINED(FORGOT, S),
      GREET(50 * S, .promotion = 9, .birth = {.mark = 0}), QUARANTINED(FORGOT, 50 * S),
      GREET(51 * S, .promotion = 9, .birth = {.mark = 0}), QUARANTINED(FORGOT, 50 * S),
      MASTER(52 * S, 9), QUARANTINED(FORGOT, 50 * S)}},

    {"a_replica_that_tells_no_promotion_is_quarantined_likewise",
     {MET(EITHER), REPLICA(S), GREET(50 * S, .birth = {.mark = 0}), QUARANTINED(FORGOT, 50 * S),
      GREET(51 * S, .birth = {.mark = 0}), QUARANTINED(FORGOT, 50 * S), MASTER(52 * S, 0),
      QUARANTINED(FORGOT, 50 * S)}},

    /* It is a replica and a master again between two looks, or between two connections, and once
     * more; or it was long before we met it. */
    {"a_promotion_that_nobody_saw_bars",
     {MET(OBSERVED), PROMOTED(S, 9), QUARANTINED(FORGOT, S), MET(OBSERVED),
      GREET(2 * S, .promotion = 9), QUARANTINED(FORGOT, 2 * S), MASTER(3 * S, 9),
      PROMOTED(4 * S, 10), QUARANTINED(FORGOT, 4 * S), NEW(OBSERVED), GREET(0, .promotion = 9),
      COUNTED(0)}},

    {"a_look_finds_other_data",
     {MET(STRICT), LOOK(S, 77), KEPT, FIND_OTHER(2 * S, 78), EXCHANGED, LOOK(3 * S, 0), EXCHANGED,
      FIND_OTHER(4 * S, 78), EXCHANGED}},

    /* FLUSHALL takes the lock away, and the next look finds no mark. */
    {"a_mark_that_is_gone_bars",
     {MET(OBSERVED), LOOK(S, 77), COUNTED(S), LOOK(2 * S, 0), QUARANTINED(FORGOT, 2 * S)}},

    /* FLUSHALL, and another client has put a new mark there before our next look: there is a mark,
     * and it is not ours. And then the first again, as after a restore of a copy. */
    {"a_mark_that_another_client_has_made_anew_bars",
     {MET(STRICT), FIND_OTHER(2 * S, 78), QUARANTINED(FORGOT, 2 * S), LOOK(3 * S, 78),
      QUARANTINED(FORGOT, 2 * S), FIND_OTHER(4 * S, 77), QUARANTINED(FORGOT, 4 * S)}},

    /* FLUSHALL; we look: no mark. A newcomer takes the lock, FLUSHALL again; we look: no mark, as
     * before. Nothing tells these two apart, so the bar begins with each look until there is a mark
     * again, and with that one. The new mark may be told by a greeting as well (one that does not
     * tell it says nothing). */
    {"without_a_mark_data_can_be_lost_again",
     {MET(STRICT), LOOK(S, 0), LOOK(9 * S, 0), QUARANTINED(FORGOT, 9 * S), FIND_OTHER(10 * S, 79),
      QUARANTINED(FORGOT, 10 * S), LOOK(11 * S, 79), QUARANTINED(FORGOT, 10 * S), LOOK(20 * S, 0),
      GREET(21 * S, .birth = {.mark = 0}), QUARANTINED(FORGOT, 20 * S),
      GREET(22 * S, .birth = {.mark = 80}), QUARANTINED(FORGOT, 22 * S)}},

    /* The restart is seen, FLUSHALL comes after it, and then only the mark is looked at: the bar
     * for the restart is too short for what was forgotten after it. */
    {"a_mark_that_a_restart_did_not_tell_is_still_compared",
     {MET(STRICT), RESTART(S, .run = "run-b", .birth = {.mark = 0}), FIND_OTHER(5 * S, 78),
      QUARANTINED(FORGOT, 5 * S)}},

    /* Every write is on the disk before it is answered, and the mark is the same: nothing is lost,
     * nor is its clock another one. The run is remembered all the same. */
    {"a_durable_server_that_kept_its_mark_restarts_freely",
     {NEW(STRICT), GREET(0, .durable = true, .age_us = S), COUNTED(0),
      GREET(S, .run = "run-b", .durable = true, .age_us = S), COUNTED(S),
      RESTART(2 * S, .run = "run-c", .age_us = S), QUARANTINED(RESTARTED, 2 * S)}},

    /* The disk is replaced, or somebody removed the file: durable, and empty. Or the greeting does
     * not tell, and the look does. */
    {"a_durable_server_that_lost_its_mark_is_quarantined",
     {NEW(STRICT), GREET(0, .durable = true),
      GREET(S, .run = "run-b", .durable = true, .birth = {.mark = 78}), QUARANTINED(FORGOT, S),
      NEW(STRICT), GREET(0, .durable = true),
      GREET(S, .run = "run-b", .durable = true, .birth = {.mark = 0}, .unread = true),
      LOOK(2 * S, 0), QUARANTINED(FORGOT, 2 * S)}},

    /* The disk is replaced, and nobody may look at the mark: that it is durable proves nothing. */
    {"a_durable_server_that_shows_no_mark_counts_by_its_run",
     {NEW(STRICT), GREET(0, SILENT, .run = "run-a", .durable = true, .age_us = 3 * S),
      QUARANTINED_UNTIL(YOUNG, QUARANTINE_US - 3 * S + S),
      RESTART(60 * S, SILENT, .run = "run-b", .durable = true, .age_us = 3 * S),
      QUARANTINED(RESTARTED, 60 * S)}},

    /* The operator makes it durable, by a restart: which loses the last second of what was not
     * durable until then: the lock, and not the mark. */
    {"a_restart_that_makes_a_server_durable_is_none_of_a_durable_server",
     {MET(STRICT), RESTART(S, .run = "run-b", .durable = true), QUARANTINED(RESTARTED, S),
      GREET(2 * S, .run = "run-c", .durable = true), QUARANTINED(RESTARTED, S)}},

    /* The lock is thrown away to make room. Nothing but its word tells that it does not do that any
     * more: the bar has no end by itself. And then what it has thrown away just before is waited
     * for: a vote that was counted before it was told to evict, evicted before it was told not
     * to. */
    {"a_server_that_evicts_is_quarantined_until_long_after_it_says_that_it_does_not",
     {MET(STRICT), GREET(S, .evicts = true), NO_END(EVICTS, 1000 * QUARANTINE_US),
      NO_END(EVICTS, RLK_NEVER - NOW), LOOK(2 * S, 77), NO_END(EVICTS, 2 * S), AGAIN(3 * S),
      QUARANTINED(EVICTS, 3 * S), AGAIN(4 * S), QUARANTINED(EVICTS, 3 * S)}},

    /* Switching eviction off ends no other bar. */
    {"a_server_that_stops_evicting_by_a_restart_is_still_quarantined",
     {MET(STRICT), GREET(S, .evicts = true), RESTART(2 * S, .run = "run-b"),
      RESTART(3 * S, .run = "run-c"), QUARANTINED(RESTARTED, 3 * S)}},

    /* Between two greetings, too. */
    {"eviction_that_is_switched_on_bars_until_long_after_it_is_off",
     {MET(STRICT), EVICT(0, false), COUNTED(0), EVICT(S, true),
      NO_END(EVICTS, 1000 * QUARANTINE_US), EVICT(2 * S, false), EVICT(3 * S, false),
      QUARANTINED(EVICTS, 2 * S), MET(OBSERVED), EVICT(S, true), COUNTED(S)}},

    /* Its clock is set forward: the lock ends before its time. This is the one reason for which
     * what it says of our own key does not count either. */
    {"a_clock_that_moved_bars_votes_and_confirmations",
     {MET(OBSERVED), CLOCK_MOVED(S, 0), QUARANTINED(CLOCK, S), CLOCK_SUSPECT(S),
      CLOCK_SUSPECT(S + QUARANTINE_US - 1), TIMELY(S + QUARANTINE_US), CLOCK_MOVED(5 * S, 0),
      QUARANTINED(CLOCK, 5 * S)}},

    /* It is set forward once, and for as long as the locks that it ended too early could have lived
     * it votes for no other. What it says of our key is by its length again when it has kept time
     * for a second: not by one look right behind the step, which a clock that is too fast passes as
     * well. */
    {"a_clock_that_keeps_time_again_confirms_and_does_not_vote",
     {MET(OBSERVED), CLOCK_MOVED(0, 0), KEPT_TIME(S - 1), CLOCK_SUSPECT(S), CLOCK_MOVED(S, 0),
      KEPT_TIME(2 * S - 1), CLOCK_SUSPECT(2 * S), KEPT_TIME(2 * S), TIMELY(2 * S),
      QUARANTINED(CLOCK, S), CLOCK_MOVED(3 * S, 0), CLOCK_SUSPECT(3 * S)}},

    /* Every write is on its disk, and so is the FLUSHALL: its data are younger than the lock. That
     * it has just started is nothing. */
    {"a_durable_stranger_is_as_old_as_its_data",
     {NEW(STRICT), GREET(0, .durable = true, .data_age_us = 3 * S),
      QUARANTINED_UNTIL(YOUNG, QUARANTINE_US - 3 * S + S), NEW(STRICT),
      GREET(0, .durable = true, .age_us = 0, .data_age_us = QUARANTINE_US + S), COUNTED(0),
      NEW(STRICT), GREET(0, .durable = true, .age_us = 0, .data_age_us = RLK_NEVER), COUNTED(0),
      NEW(STRICT), GREET(0, .data_age_us = 5 * S),
      QUARANTINED_UNTIL(YOUNG, QUARANTINE_US - 5 * S + S)}},
};

START_TEST(schedule)
{
    tell(&schedules[_i], false);
    tell(&schedules[_i], true);
}
END_TEST

/* [S7] Whether a key that it has now can be one that it has had all the time. _i: */
START_TEST(data_are_data_replaced_or_kept)
{
    static const struct {
        bool replica; /* seen as one */
        const char *run;
        uint64_t promotion, mark;
        bool data_replaced;
    } greetings[] = {
        {false, "run-a", 0, 77, false}, /* the same */
        {false, "run-b", 0, 77, false}, /* restarted */
        {false, "run-b", 0, 78, true},  /* and empty */
        {false, "run-a", 0, 78, true},  /* emptied */
        {false, "run-a", 9, 77, true},  /* it was a replica for a while */
        {false, "run-b", 9, 77, false}, /* its own replica has taken its place */
        {false, "run-b", 9, 78, true},  /* another's has */
        {true, "run-a", 9, 77, true},   {true, "run-b", 9, 78, true},
    };
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    ck_assert(!rlk_quarantine_take_data_replaced(&s));
    ck_assert_int_eq(rlk_quarantine_check_role(&s, !greetings[_i].replica, 0, NOW + S),
                     greetings[_i].replica);
    facts.run = greetings[_i].run;
    facts.promotion = greetings[_i].promotion;
    facts.birth.mark = greetings[_i].mark;
    rlk_quarantine_greet(&s, &facts, NOW + 2 * S);
    ck_assert_int_eq(rlk_quarantine_take_data_replaced(&s), greetings[_i].data_replaced);
    ck_assert(!rlk_quarantine_take_data_replaced(&s)); /* once */
}
END_TEST

/* ---- what strangers are to know ---- */

#define BACK (QUARANTINE_US + 3600 * S)

static const struct story records[] = {
    /* Until it is there, and no later than the step matters. At 2 s it could not be written; at 3 s
     * there is another step, in the same answer. */
    {"a_step_is_to_be_put_on_record_once",
     {MET(STRICT), NOTE(0, 0), BORN(S, OLD), CLOCK_MOVED(S, SERVER_US), NOTE(S, SERVER_US),
      NOTE(S + QUARANTINE_US - 1, SERVER_US), NOTE(S + QUARANTINE_US, 0), BORN(2 * S, OLD),
      NOTE(2 * S, SERVER_US), BORN(3 * S, 0), NOTE(3 * S, 0), QUARANTINED(CLOCK, S),
      CLOCK_MOVED(3 * S, SERVER_US + S), NOTE(4 * S, SERVER_US + S), EXCUSED, NOTE(4 * S, 0)}},

    /* Another has put an earlier step on record, and does not live to see this one. Its record is
     * as old as our last look, or older. */
    {"the_record_of_an_earlier_step_is_none_of_this_one",
     {MET(STRICT), BORN(S, OLD), BORN(2 * S, S), CLOCK_MOVED(2 * S, SERVER_US), NOTE(2 * S, 0),
      MET(STRICT), BORN(S, OLD), BORN(2 * S, S + 1), CLOCK_MOVED(2 * S, SERVER_US),
      NOTE(2 * S, SERVER_US)}},

    /* The clock is put right before the step is on record: that says what the clock shows then. It
     * is ours, and not written with each look. */
    {"a_record_is_no_later_than_the_clock",
     {MET(STRICT), BORN(S, OLD), CLOCK_MOVED(S, SERVER_US),
      AT(2 * S, .take = read_birth, .facts.birth = {77, SERVER_US - 60 * S, SERVER_US - 60 * S}),
      NOTE(2 * S, 0), QUARANTINED(CLOCK, S), CLOCK_MOVED(3 * S, SERVER_US),
      NOTE(3 * S, SERVER_US)}},

    {"nothing_is_put_on_record_without_a_quarantine",
     {MET(OFF), CLOCK_MOVED(S, SERVER_US), NOTE(S, 0)}},

    /* Another was faster: who puts each step there again keeps strangers waiting for ever. What was
     * seen of the run before says nothing of the next. */
    {"a_step_that_another_put_on_record_is_left_at_that",
     {MET(STRICT), BORN(S, OLD), BORN(2 * S, 500), CLOCK_MOVED(2 * S, SERVER_US), NOTE(2 * S, 0),
      QUARANTINED(CLOCK, 2 * S), BORN(3 * S, 500), CLOCK_MOVED(3 * S, SERVER_US),
      NOTE(3 * S, SERVER_US), RESTART(4 * S, .run = "run-b", .birth = BORN_AGO(0)),
      NOTE(4 * S, 0)}},

    /* A step just before we met it, by somebody who saw it, and told behind our greeting; or it
     * stood there for long, and we did not look. Whoever has known the clock for longer than a lock
     * lives has seen every step that matters. */
    {"a_record_bars_who_has_not_known_the_clock_for_long",
     {MET(EITHER), BORN(S, OLD), COUNTED(S), BORN(3 * S, 2 * S), QUARANTINED(YOUNG, S),
      BORN(5 * S, 2 * S), QUARANTINED(YOUNG, S), TIMELY(5 * S), MET(STRICT), BORN(S, OLD),
      BORN(3 * S, 7 * S), QUARANTINED(YOUNG, 3 * S + S - 7 * S), MET(STRICT),
      BORN_EACH_SECOND(QUARANTINE_US), BORN(QUARANTINE_US + S, 0), COUNTED(QUARANTINE_US + S)}},

    /* It stood still, or was cut off: the step hides in what drift may do in so long a time. And so
     * it is for a step that is put on record behind the first look after that. */
    {"a_record_bars_who_has_not_looked_for_long",
     {MET(STRICT), BORN_EACH_SECOND(QUARANTINE_US), BORN(BACK + S, S / 2),
      QUARANTINED(YOUNG, BACK + S + S / 2), MET(STRICT), BORN_EACH_SECOND(QUARANTINE_US),
      BORN(BACK, OLD), BORN(BACK + S, S / 2), QUARANTINED(YOUNG, BACK + S)}},

    /* Older than it was: its clock was set back. Or of other data, for which there is another bar;
     * or of none that are told. */
    {"only_a_later_birth_of_the_same_data_is_a_record",
     {MET(STRICT), BORN(S, 5 * S), BORN(S, 9 * S), BORN(S, 9 * S), BORN_OF(S, 78), BORN_OF(S, 0),
      COUNTED(S)}},

    /* A replica took the place of a durable master, and lacks the lock; another client saw that,
     * and put on record that these data are from then. It restarts with them, and says no more of a
     * promotion. Its key may not be readable at first. */
    {"a_record_of_a_run_that_we_have_not_met_bars",
     {NEW(STRICT), GREET(0, .durable = true, .birth = BORN_AGO(OLD)),
      GREET(S, .run = "run-c", .durable = true, .birth = BORN_AGO(3 * S)),
      QUARANTINED(YOUNG, S + S - 3 * S), NEW(STRICT),
      GREET(0, .durable = true, .birth = BORN_AGO(OLD)),
      GREET(S, .run = "run-c", .durable = true, .birth = {.mark = 0}, .unread = true),
      GREET(S, .run = "run-c", .durable = true, .birth = BORN_AGO(3 * S)),
      QUARANTINED(YOUNG, S + S - 3 * S)}},

    /* The bar of the restart is enough; and a step that shows now is not on record by that. */
    {"what_is_on_record_of_a_run_that_lost_its_data_is_no_news",
     {NEW(STRICT), GREET(0, .birth = BORN_AGO(OLD)),
      RESTART(S, .run = "run-c", .birth = BORN_AGO(0)), QUARANTINED(RESTARTED, S),
      CLOCK_MOVED(S, SERVER_US), NOTE(S, SERVER_US)}},
};

START_TEST(record)
{
    tell(&records[_i], false);
    tell(&records[_i], true);
}
END_TEST

/* ---- the rest of the rules ---- */

#define FORTY "0123456789012345678901234567890123456789"

static const char only_forty[RLK_RUN_MAX] = FORTY;

static const struct story rules[] = {
    {"a_clock_that_is_excused_bars_no_more",
     {MET(STRICT), FIND_OTHER(0, 78), CLOCK_MOVED(S, 0), EXCUSED, QUARANTINED(FORGOT, 0),
      TIMELY(S)}},

    {"only_a_clock_makes_a_server_clock_suspect",
     {MET(STRICT), RESTART(S, .run = "run-b", .evicts = true), LOOK(S, 0), TIMELY(S)}},

    /* Its clock was set back. */
    {"the_same_again_bars_nothing",
     {MET(STRICT), COUNTED(0), GREET(S, .age_us = S), LOOK(2 * S, 77), COUNTED(2 * S)}},

    {"a_mark_that_becomes_known_late_is_remembered",
     {NEW(STRICT), GREET(0, .birth = {.mark = 0}), LOOK(S, 0), COUNTED(S), FIND_OTHER(2 * S, 5),
      QUARANTINED(FORGOT, 2 * S), FIND_OTHER(3 * S, 6), QUARANTINED(FORGOT, 3 * S)}},

    {"the_mark_of_another_run_is_remembered",
     {MET(STRICT), LOOK(S, 0), RESTART(2 * S, .run = "run-b", .birth = {.mark = 78}),
      LOOK(3 * S, 78), QUARANTINED(RESTARTED, 2 * S)}},

    {"only_what_was_seen_bars_when_only_that_is_wanted",
     {NEW(OBSERVED), GREET(0, .age_us = 0, .evicts = true), COUNTED(0),
      RESTART(S, .run = "run-b", .age_us = 0, .evicts = true), QUARANTINED(RESTARTED, S)}},

    {"nothing_bars_when_nothing_is_wanted_but_it_is_remembered",
     {MET(OFF), RESTART(S, .run = "run-b", .birth = {.mark = 78}, .age_us = 0, .evicts = true),
      KNOWN("run-b"), LOOK(S, 78), FIND_OTHER(S, 79), LOOK(S, 79), LOOK(S, 0), CLOCK_MOVED(S, 0),
      COUNTED(S)}},

    {"a_server_that_tells_no_age_is_not_young",
     {NEW(STRICT), GREET(0, .age_us = RLK_NEVER), COUNTED(0)}},

    /* The others come out when it is over. */
    {"the_reason_is_the_one_that_lasts_longest",
     {MET(STRICT), CLOCK_MOVED(3 * S, 0), RESTART(2 * S, .run = "run-b"), LOOK(S, 0),
      QUARANTINED(CLOCK, 3 * S), EXCUSED, QUARANTINED(RESTARTED, 2 * S)}},

    /* Time that seems to go back, as between two loop turns. */
    {"no_bar_gets_shorter",
     {MET(STRICT), RESTART(2 * S, .run = "run-b"), RESTART(S, .run = "run-c"),
      QUARANTINED(RESTARTED, 2 * S), GREET(3 * S, .run = "run-c", .durable = true),
      QUARANTINED(RESTARTED, 2 * S)}},

    /* A bar that cannot be reckoned any more does not end. */
    {"a_bar_beyond_the_end_of_time_is_for_good",
     {MET(STRICT), CLOCK_MOVED(RLK_NEVER - QUARANTINE_US + 1 - NOW, 0),
      NO_END(CLOCK, RLK_NEVER - NOW), CLOCK_SUSPECT(RLK_NEVER - NOW), EXCUSED,
      CLOCK_MOVED(RLK_NEVER - QUARANTINE_US - 1 - NOW, 0),
      QUARANTINED_UNTIL(CLOCK, RLK_NEVER - 1 - NOW)}},

    {"a_young_server_at_the_end_of_time_is_quarantined_for_good",
     {NEW(STRICT), GREET(RLK_NEVER - QUARANTINE_US - S + 1 - NOW, .age_us = 0),
      NO_END(YOUNG, RLK_NEVER - 1 - NOW)}},

    {"the_run_that_was_greeted_last_is_known_and_no_other",
     {NEW(STRICT), UNKNOWN("run-a"), UNKNOWN(""), AGAIN(0), KNOWN("run-a"), UNKNOWN("run-b"),
      RESTART(0, .run = "run-b"), KNOWN("run-b"), UNKNOWN("run-a")}},

    /* Forty characters are compared, whatever stands after them; and no byte beyond them is read. A
     * shorter one is another one. */
    {"of_a_run_only_so_much_counts",
     {NEW(STRICT), GREET(0, SILENT, .run = FORTY " and more"), KNOWN(FORTY),
      GREET(0, SILENT, .run = only_forty), COUNTED(0),
      RESTART(0, SILENT, .run = "012345678901234567890123456789012345678x"),
      QUARANTINED(RESTARTED, 0), RESTART(S, SILENT, .run = "0123456789"), QUARANTINED(RESTARTED, S),
      KNOWN("0123456789")}},
};

START_TEST(rule)
{
    tell(&rules[_i], false);
    tell(&rules[_i], true);
}
END_TEST

START_TEST(the_quarantine_is_the_longest_ttl_with_the_drift_against_us)
{
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, STRICT, TTL, 10000);
    ck_assert_uint_eq(s.quarantine_us, QUARANTINE_US);
    rlk_quarantine_init(&s, STRICT, 86400 * S, 0);
    ck_assert_uint_eq(s.quarantine_us, 86400 * S + 2000);
    ck_assert_int_eq(rlk_quarantine_reason(&s, 0, NULL), RLK_QUARANTINED_NOT);
}
END_TEST

static TCase *of_schedules(void)
{
    TCase *c = tcase_create("schedules");

    tcase_add_rows(c, schedule, schedules);
    tcase_add_loop_test(c, data_are_data_replaced_or_kept, 0, 9);
    tcase_add_rows(c, record, records);
    return c;
}

static TCase *of_rules(void)
{
    TCase *c = tcase_create("rules");

    tcase_add_rows(c, rule, rules);
    tcase_add_test(c, the_quarantine_is_the_longest_ttl_with_the_drift_against_us);
    return c;
}

static Suite *suite(void)
{
    Suite *s = suite_create("quarantine");

    suite_add_tcase(s, of_schedules());
    suite_add_tcase(s, of_rules());
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
