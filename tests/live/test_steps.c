/* live/test_steps.c - real masters whose wall clocks are set, and which clients notice [S11]. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("steps");

#define LONG_TTL_MS 120000u
#define HEALTH_MS 50u
#define DAY_US INT64_C(86400000000)
#define HOUR_US INT64_C(3600000000)

static struct site s;
static volatile int64_t *off_us[3];

/* The preloaded object is next to this program. */
static void name_shim(char *out, size_t size)
{
    char self[512] = "";
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

    ck_assert_int_gt(len, 0);
    *strrchr(self, '/') = '\0';
    snprintf(out, size, "%s/clock_shim.so", self);
}

static void make_clock(size_t i, char *path, size_t size)
{
    int fd;

    snprintf(path, size, "%s/clock-%zu", rlk_test_folder(), i);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, sizeof(*off_us[i])), 0);
    off_us[i] = mmap(NULL, sizeof(*off_us[i]), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert(off_us[i] != MAP_FAILED);
    close(fd);
}

/* Three masters with clocks of their own, by which their data are more than a day old. */
static void begin(void)
{
    char shim[600], clock[512];
    size_t i;

    name_shim(shim, sizeof(shim));
    for (i = 0; i < 3; i++) {
        make_clock(i, clock, sizeof(clock));
        setenv("RLK_TEST_CLOCK", clock, 1);
        setenv("LD_PRELOAD", shim, 1);
        if (i == 0) {
            site_start(&s, 1, NULL);
        } else {
            s.masters[i] = master_start(NULL);
            s.uris[i] = master_uri(s.masters[i]);
        }
        unsetenv("LD_PRELOAD");
        *off_us[i] = DAY_US;
    }
    s.n = s.options.n_nodes = 3;
    for (i = 0; i < 3; i++) {
        site_make_old(&s, i);
    }
    s.options.quarantine = REDLOCK_QUARANTINE_STRICT;
    s.options.max_ttl_ms = LONG_TTL_MS;
    s.options.inspection_ms = HEALTH_MS;
}

static void end(void)
{
    size_t i;

    site_end(&s);
    for (i = 0; i < 3; i++) {
        munmap((void *)(uintptr_t)off_us[i], sizeof(*off_us[i]));
    }
}

static struct redlock_node_info info_of(size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(s.rl[0], node, &info), REDLOCK_OK);
    return info;
}

static bool is_quarantined(void *arg)
{
    (void)arg;
    return info_of(0).quarantine_ms > 0;
}

static long long born_us(size_t node)
{
    const char *born = strrchr(master_ask(s.masters[node], "GET redlock:incarnation"), ' ');

    ck_assert_ptr_nonnull(born);
    return strtoll(born, NULL, 10);
}

static long long before_us;

static bool is_on_record(void *arg)
{
    (void)arg;
    return born_us(0) >= before_us + HOUR_US;
}

static long inspections(size_t node)
{
    const char *stats =
        strstr(master_ask(s.masters[node], "INFO commandstats"), "cmdstat_eval:calls=");

    return stats ? strtol(stats + strlen("cmdstat_eval:calls="), NULL, 10) : 0;
}

static long inspections_before[3];

static bool was_inspected_often(void *arg)
{
    size_t i;

    (void)arg;
    for (i = 0; i < 3; i++) {
        if (inspections(i) <= inspections_before[i] + 10) {
            return false;
        }
    }
    return true;
}

static void wait_for_inspections(void)
{
    size_t i;

    for (i = 0; i < 3; i++) {
        inspections_before[i] = inspections(i);
    }
    loop_must_true(s.base, was_inspected_often, NULL);
}

/* Both other masters were inspected before the step, and so are witnesses. There are two
 * managers: this one sees the step itself, or the other one's record of it. */
static void step(void)
{
    wait_for_inspections();
    before_us = born_us(0) > born_us(1) ? born_us(0) : born_us(1);
    *off_us[0] = DAY_US + 2 * HOUR_US;
    loop_must_true(s.base, is_quarantined, NULL);
    ck_assert_ptr_nonnull(strstr(info_of(0).error, "its clock")); /* "was set forward", or "set" */
}

/* Managers that are made after the step, and to which the master says that it has been up for a
 * day. */
static bool knows_the_clock(void *arg)
{
    (void)arg;
    return info_of(1).clock_error_us != UINT64_MAX && info_of(2).clock_error_us != UINT64_MAX &&
           info_of(0).clock_error_us != UINT64_MAX;
}

FIXTURE(begin, end);

TEST(the_clock_of_each_master_is_described)
{
    struct redlock_node_info info;
    size_t i;

    *off_us[1] += HOUR_US;
    ck_assert_int_eq(redlock_new(s.base, &s.options, &s.rl[0]), REDLOCK_OK);
    ck_assert_uint_eq(info_of(1).clock_error_us, UINT64_MAX);
    loop_must_true(s.base, knows_the_clock, NULL);
    for (i = 0; i < 3; i++) {
        info = info_of(i);
        ck_assert_int_le(llabs(info.clock_us - (i == 1 ? HOUR_US : 0)),
                         (int64_t)info.clock_error_us);
    }
}

TEST(a_step_is_known_to_clients_that_come_after_it)
{
    long long other_us;
    size_t i;

    site_open(&s);
    for (i = 0; i < 3; i++) {
        ck_assert_msg(info_of(i).quarantine_ms == 0, "%s", info_of(i).error);
    }
    other_us = born_us(1);
    step();
    loop_must_true(s.base, is_on_record, NULL);
    for (i = 0; i < 2; i++) {
        watch_close(s.base, s.rl[i]);
    }
    site_open(&s);
    ck_assert_ptr_nonnull(strstr(info_of(0).error, "had its clock set a short time ago"));
    ck_assert_uint_gt(info_of(0).quarantine_ms, 0);
    ck_assert_uint_eq(info_of(1).quarantine_ms, 0);
    ck_assert_uint_eq(info_of(2).quarantine_ms, 0);
    ck_assert_int_eq(born_us(1), other_us);
}

/* The clock is set back to the right time. Then the record shows a time in the future, and no
 * client makes the data old again: neither a connected one nor a new one. */
TEST(a_clock_step_stays_recorded_when_the_clock_is_set_back)
{
    size_t i;

    site_open(&s);
    step();
    loop_must_true(s.base, is_on_record, NULL);
    for (i = 0; i < 2; i++) {
        watch_close(s.base, s.rl[i]);
    }
    *off_us[0] = DAY_US;
    site_open(&s);
    ck_assert_ptr_nonnull(strstr(info_of(0).error, "had its clock set a short time ago"));
    ck_assert_uint_gt(info_of(0).quarantine_ms, 0);
    ck_assert_uint_eq(info_of(1).quarantine_ms, 0);
    ck_assert(is_on_record(NULL));
    ck_assert_int_lt(born_us(0), before_us + 2 * DAY_US + HOUR_US); /* it was a day ago */
}

/* The master is out of memory and cannot store the record: it is still inspected. */
TEST(a_step_is_recorded_as_soon_as_there_is_memory)
{
    long long born;

    site_open(&s);
    ck_assert_str_eq(master_ask(s.masters[0], "CONFIG SET maxmemory 1"), "OK");
    step();
    born = born_us(0);
    wait_for_inspections();
    ck_assert_int_eq(born_us(0), born);
    ck_assert_ptr_nonnull(strstr(info_of(0).error, "its clock was set forward"));
    ck_assert_uint_ne(info_of(0).quarantine_ms, UINT64_MAX);
    ck_assert_str_eq(master_ask(s.masters[0], "CONFIG SET maxmemory 0"), "OK");
    loop_must_true(s.base, is_on_record, NULL);
}
