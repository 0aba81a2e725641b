/* leader.c - the reply to GET /leader. */
#include "cli/metrics/leader.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include <event2/buffer.h>
#include <event2/http.h>

#include <redlock/redlock.h>

#include "cli/say/time.h"
#include "cli/say/json.h"

uint64_t cli_held_left_ms(const struct cli_held *held)
{
    uint64_t now_us = redlock_clock_us();

    return held->deadline_us > now_us ? (held->deadline_us - now_us) / 1000 : 0;
}

/* The time of day, `left_ms` from now. */
static void print_deadline(uint64_t left_ms, char text[CLI_TIME_TEXT])
{
    struct timeval now;

    gettimeofday(&now, NULL);
    cli_time_print((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_usec / 1000 + left_ms, text);
}

static void write_held(FILE *out, const struct cli_held *held, uint64_t left_ms, bool here)
{
    char deadline[CLI_TIME_TEXT];
    bool leads = left_ms > 0;

    print_deadline(left_ms, deadline);
    fprintf(out, "{\"name\": ");
    cli_json_string(out, held->name);
    cli_json_flag(out, "leader", leads);
    cli_json_number(out, "term", leads && held->term, (int64_t)held->term);
    cli_json_seconds(out, "left_seconds", leads && here, left_ms);
    cli_json_text(out, "deadline", leads && here ? deadline : NULL);
    fprintf(out, "}\n");
}

int cli_leader_reply(struct evbuffer *body, const struct cli_holder_calls *calls, bool here,
                     void *arg)
{
    struct cli_held held = calls->held(arg);
    uint64_t left_ms = cli_held_left_ms(&held);
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int result = -1;

    if (here && calls->asked) {
        calls->asked(arg);
    }
    if (out) {
        write_held(out, &held, left_ms, here);
        result = fclose(out) == 0 ? evbuffer_add(body, text, length) : -1;
    }
    free(text);
    if (result != 0 || left_ms == 0) {
        return result ? -1 : HTTP_SERVUNAVAIL;
    }
    if (here) {
        calls->promise(arg, held.deadline_us);
    }
    return 0;
}
