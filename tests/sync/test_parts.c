/* sync/test_parts.c - the parts that know nothing of locks: how the I/O thread is asked and woken,
 * how threads wait, and what an error says. */
#include <string.h>

#include <redlock/redlock.h>

#include "lib/test.h"
#include "sync/failure.h"
#include "sync/flag.h"
#include "sync/gate.h"
#include "sync/inbox.h"
#include "sync/rig.h"

SUITE("parts");

static struct rlk_sync_inbox inbox;
static struct rlk_sync_task tasks[3];

static void start(void)
{
    ck_assert_int_eq(rlk_sync_inbox_init(&inbox), 0);
}

static void end(void)
{
    rlk_sync_inbox_end(&inbox);
}

TEST(tasks_are_taken_in_the_order_of_their_pushes)
{
    struct rlk_sync_task *task;
    int i;

    start();
    ck_assert_ptr_null(rlk_sync_inbox_take(&inbox));
    for (i = 0; i < 3; i++) {
        ck_assert(rlk_sync_inbox_push(&inbox, &tasks[i]));
    }
    task = rlk_sync_inbox_take(&inbox);
    for (i = 0; i < 3; i++, task = task->next) {
        ck_assert_ptr_eq(task, &tasks[i]);
    }
    ck_assert_ptr_null(task);
    ck_assert_ptr_null(rlk_sync_inbox_take(&inbox));
    end();
}

/* Nobody reads the file descriptor: it wakes by being written. So this looks at the first time. */
TEST(whoever_sleeps_is_woken_and_nobody_else)
{
    start();
    ck_assert(rlk_sync_inbox_push(&inbox, &tasks[0]));
    ck_assert(!rig_is_readable(inbox.fd, 0));
    ck_assert_ptr_eq(rlk_sync_inbox_take(&inbox), &tasks[0]);
    ck_assert(rlk_sync_inbox_sleep(&inbox));
    rlk_sync_inbox_stay_awake(&inbox);
    ck_assert(rlk_sync_inbox_push(&inbox, &tasks[0]));
    ck_assert(!rig_is_readable(inbox.fd, 0));
    ck_assert_ptr_eq(rlk_sync_inbox_take(&inbox), &tasks[0]);
    ck_assert(rlk_sync_inbox_sleep(&inbox));
    ck_assert(rlk_sync_inbox_push(&inbox, &tasks[0]));
    ck_assert(rig_is_readable(inbox.fd, 0));
    end();
}

TEST(nobody_sleeps_while_there_is_a_task)
{
    start();
    ck_assert(rlk_sync_inbox_push(&inbox, &tasks[0]));
    ck_assert(!rlk_sync_inbox_sleep(&inbox));
    ck_assert(rlk_sync_inbox_push(&inbox, &tasks[1]));
    ck_assert(!rig_is_readable(inbox.fd, 0));
    end();
}

TEST(an_inbox_that_is_closed_takes_nothing)
{
    start();
    ck_assert(rlk_sync_inbox_push(&inbox, &tasks[0]));
    ck_assert_ptr_eq(rlk_sync_inbox_close(&inbox), &tasks[0]);
    ck_assert(!rlk_sync_inbox_push(&inbox, &tasks[1]));
    end();
}

static void *open_gate(void *arg)
{
    rlk_sync_gate_open(arg);
    return NULL;
}

TEST(a_gate_is_waited_for_or_open_already)
{
    struct rlk_sync_gate gate;
    pthread_t thread;

    rlk_sync_gate_init(&gate);
    thread = rig_thread(open_gate, &gate);
    rlk_sync_gate_wait(&gate);
    rig_join(thread);
    rlk_sync_gate_init(&gate);
    rlk_sync_gate_open(&gate);
    rlk_sync_gate_wait(&gate);
}

TEST(a_flag_is_readable_whenever_its_descriptor_was_made)
{
    struct rlk_sync_flag flag;
    int fd;

    rlk_sync_flag_init(&flag);
    fd = rlk_sync_flag_fd(&flag);
    ck_assert(!rig_is_readable(fd, 0));
    rlk_sync_flag_raise(&flag);
    ck_assert(rig_is_readable(fd, 0));
    ck_assert_int_eq(rlk_sync_flag_fd(&flag), fd);
    rlk_sync_flag_end(&flag);
    rlk_sync_flag_init(&flag);
    rlk_sync_flag_raise(&flag);
    ck_assert(rig_is_readable(rlk_sync_flag_fd(&flag), 0));
    rlk_sync_flag_end(&flag);
}

TEST(a_text_that_is_too_long_is_cut)
{
    struct rlk_sync_failure *f = rlk_sync_failure_begin();
    int i;

    for (i = 0; i < 300; i++) {
        rlk_sync_failure_add(f, "%s", "12345");
    }
    ck_assert_uint_eq(strlen(redlock_sync_error_text()), RLK_SYNC_TEXT - 1);
    ck_assert_str_eq(redlock_sync_error_text() + RLK_SYNC_TEXT - 1 - 5, "45...");
    rlk_sync_failure_begin();
    ck_assert_str_eq(redlock_sync_error_text(), "");
}
