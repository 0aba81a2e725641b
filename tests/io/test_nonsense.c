/* io/test_nonsense.c - masters that report anything about themselves. */
#include <string.h>

#include "io/rig.h"
#include "lib/test.h"

SUITE("nonsense");

static const struct {
    const char *command;
    const char *bytes;
} nonsense[] = {
    {"INFO memory", "-NOPERM no\r\n"},
    {"INFO memory", "$-1\r\n"},
    {"INFO memory", ":7\r\n"},
    {"INFO memory", "*2\r\n*0\r\n:1\r\n"},
    {"INFO memory", "$33\r\nmaxmemory:-99999999999999999999\r\n\r\n"},
    {"INFO memory", "$18\r\nmaxmemory_policy:\x1b\r\n"},
    {"INFO persistence", "+loading:1\r\n"},
    {"INFO persistence", "$20\r\naof_enabled:\r\n:::\r\n:\r\n"},
    {"INFO persistence", "*0\r\n"},
    {"INFO commandstats", "$8\r\ncmdstat_\r\n"},
    {"INFO commandstats", "$0\r\n\r\n"},
    {"INFO server", "$29\r\nuptime_in_seconds:1e99\r\nrun_i\r\n"},
    {"INFO server", "$29\r\nuptime_in_seconds:-99999999\r\n\r\n"},
    {"INFO server", "$51\r\nuptime_in_seconds:999999999999999999999\r\nrun_id:xyz\r\n\r\n"},
    {"CONFIG", "*0\r\n"},
    {"CONFIG", "*2\r\n*0\r\n*0\r\n"},
    {"CONFIG", "*2\r\n:1\r\n:2\r\n"},
    {"CONFIG", "*4\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n"},
    {"CONFIG", "*-1\r\n"},
    {"CONFIG", "-ERR unknown command\r\n"},
    {"EVAL", "-OOM command not allowed when used memory > 'maxmemory'.\r\n"},
    {"EVAL", "-NOSCRIPT No matching script.\r\n"},
    {"EVAL", "-NOPERM \x1b[31m\r\n"},
    {"EVAL", "$-1\r\n"},
    {"EVAL", "*0\r\n"},
    {"EVAL", "*-1\r\n"},
    {"EVAL", "*1\r\n$1\r\na\r\n"},
    {"EVAL", "*2\r\n$-1\r\n$-1\r\n"},
    {"EVAL", "*2\r\n:1\r\n:2\r\n"},
    {"EVAL", "*2\r\n$1\r\n \r\n$0\r\n\r\n"},
    {"EVAL", "*2\r\n$3\r\nr x\r\n$1\r\nx\r\n"},
    {"EVAL", "*2\r\n$4\r\nr 1 \r\n$20\r\n99999999999999999999\r\n"},
    {"EVAL", "*2\r\n$25\r\nr ffffffffffffffffffff 99 \r\n$2\r\n-1\r\n"},
    {"EVAL", "*2\r\n$5\r\nr 1 9\r\n$1\r\n1\r\n"},
    {"EVAL", "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"},
    {"EVAL", "*2\r\n*1\r\n$1\r\na\r\n$1\r\nb\r\n"},
    {"EVAL", "*2147483647\r\n"},
    {"EVAL", ""},
    {"TIME", "-NOPERM no\r\n"},
    {"TIME", "*2\r\n$-1\r\n:3\r\n"},
    {"TIME", "*2\r\n$20\r\n18446744073709551615\r\n$20\r\n18446744073709551615\r\n"},
    {"TIME", "*2\r\n$2\r\n-1\r\n$2\r\n-1\r\n"},
    {"TIME", "*2\r\n$0\r\n\r\n$0\r\n\r\n"},
    {"TIME", "+OK\r\n"},
};
#define N_NONSENSE ((int)(sizeof(nonsense) / sizeof(nonsense[0])))

static void must_be_printable(const char *text)
{
    for (; *text; text++) {
        ck_assert_msg((unsigned char)*text >= ' ' && *text != 127, "byte %d in a text", *text);
    }
}

static void others_must_decide(const char *key)
{
    struct outcome got = farm_acquire(&rig, key);

    ck_assert_int_eq(got.status, REDLOCK_OK);
    must_be_printable(farm_error(&rig, 0));
    ck_assert_int_eq(farm_release(&rig, got.lock), REDLOCK_OK);
}

static void start_hostile(const char *command)
{
    rig_set_up(strcmp(command, "TIME") == 0 ? REDLOCK_QUARANTINE_OFF : REDLOCK_QUARANTINE_STRICT,
               RIG_HEALTH_MS);
}

TEST_LOOP(nonsense_in_the_greeting_hurts_nobody, 0, N_NONSENSE)
{
    start_hostile(nonsense[_i].command);
    fake_on(rig.nodes[0], nonsense[_i].command, FAKE_REPLY, nonsense[_i].bytes);
    farm_open_at_once(&rig);
    farm_wait(&rig, 1, REDLOCK_NODE_UP);
    farm_wait(&rig, 2, REDLOCK_NODE_UP);
    others_must_decide("k");
    rig_pass_ms(RIG_HEALTH_MS);
    others_must_decide("l");
    farm_end(&rig);
}

TEST_LOOP(nonsense_in_a_probe_hurts_nobody, 0, N_NONSENSE)
{
    start_hostile(nonsense[_i].command);
    farm_open(&rig);
    fake_on(rig.nodes[0], nonsense[_i].command, FAKE_REPLY, nonsense[_i].bytes);
    rig_pass_ms(RIG_HEALTH_MS);
    loop_settle(rig.base);
    others_must_decide("k");
    rig_pass_ms(RIG_HEALTH_MS);
    others_must_decide("l");
    farm_end(&rig);
}
