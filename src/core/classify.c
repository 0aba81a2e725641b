/* classify.c - for each question the replies that prove something. */
#include "core/classify.h"

#include <string.h>

#include "base/hash.h"
#include "base/rare.h"
#include "base/time.h"
#include "core/fence.h"

#define NESTED "ERR Error running script"
#define PLACE "@user_script:"

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static const char *skip_number(const char *text)
{
    while (*text == ' ' || (*text >= '0' && *text <= '9')) {
        text++;
    }
    while (*text == ' ' || *text == ':') {
        text++;
    }
    return text;
}

/* Redis before 7.0 first says where in a script a command was rejected, once or twice:
 *
 *     ERR Error running script (call to f_...): @user_script:5: @user_script: 5: -MISCONF ...
 *     ERR Error running script (call to f_...): @user_script:5: WRONGTYPE ...
 */
const char *rlk_classify_skip_places(const char *text)
{
    const char *place = text;

    if (!begins_with(text, NESTED)) {
        return text;
    }
    while (*place != '\0' && !begins_with(place, PLACE)) {
        place++;
    }
    if (*place == '\0') {
        return text;
    }
    while (begins_with(place, PLACE)) {
        place = skip_number(place + strlen(PLACE));
    }
    return place + (*place == '-');
}

RLK_COLD bool rlk_classify_is_error(const struct rlk_reply *reply, const char *word)
{
    size_t len = strlen(word);
    const char *text;

    if (reply->type != RLK_REPLY_ERROR) {
        return false;
    }
    text = rlk_classify_skip_places(reply->str);
    return begins_with(text, word) && (text[len] == ' ' || text + len == reply->str + reply->len);
}

enum rlk_vote rlk_classify_set(const struct rlk_reply *reply)
{
    if (reply->type == RLK_REPLY_NIL) {
        return RLK_VOTE_NO;
    }
    if (reply->type == RLK_REPLY_STATUS && reply->len == 2 && memcmp(reply->str, "OK", 2) == 0) {
        return RLK_VOTE_YES;
    }
    return RLK_VOTE_UNKNOWN;
}

static bool is_number(const struct rlk_reply *reply, int64_t number)
{
    return reply->type == RLK_REPLY_INTEGER && reply->integer == number;
}

/* The value of somebody else's key, or an error that the key is no string. */
static bool is_holder(const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_STRING || rlk_classify_is_error(reply, "WRONGTYPE");
}

static bool is_text(const struct rlk_reply *reply, const char *text, size_t len)
{
    return reply->type == RLK_REPLY_STRING && reply->len == len &&
           memcmp(reply->str, text, len) == 0;
}

enum rlk_vote rlk_classify_set_get(const struct rlk_reply *reply, const char *token, size_t len)
{
    if (reply->type == RLK_REPLY_NIL) {
        return RLK_VOTE_YES;
    }
    if (is_text(reply, token, len)) {
        return RLK_VOTE_OURS;
    }
    return is_holder(reply) ? RLK_VOTE_NO : RLK_VOTE_UNKNOWN;
}

enum rlk_vote rlk_classify_key(const struct rlk_reply *reply, bool returns_holder,
                               const char *token, size_t len)
{
    return returns_holder ? rlk_classify_set_get(reply, token, len) : rlk_classify_set(reply);
}

/* Nobody gains by choosing values with the same number: that only confuses which contender leads a
 * split vote. So the hash needs no seed. */
RLK_RARE uint64_t rlk_classify_holder(const struct rlk_reply *reply)
{
    static const struct rlk_hash_seed none;

    return reply->type == RLK_REPLY_STRING ? rlk_hash(&none, reply->str, reply->len) : 0;
}

enum rlk_vote rlk_classify_set_all(const struct rlk_reply *reply)
{
    if (is_number(reply, 1)) {
        return RLK_VOTE_YES;
    }
    if (is_number(reply, 2)) {
        return RLK_VOTE_OURS;
    }
    return is_holder(reply) ? RLK_VOTE_NO : RLK_VOTE_UNKNOWN;
}

/* A counter out of range proves nothing: the vote is unknown. */
enum rlk_vote rlk_classify_fenced(const struct rlk_reply *reply, uint64_t *ret_fence)
{
    bool pair = reply->type == RLK_REPLY_ARRAY && reply->integer == 2 &&
                reply[1].type == RLK_REPLY_INTEGER && reply[2].type == RLK_REPLY_INTEGER;

    *ret_fence = 0;
    if (!pair) {
        return is_number(reply, 1) ? RLK_VOTE_UNKNOWN : rlk_classify_set_all(reply);
    }
    if (reply[1].integer < 1 || (uint64_t)reply[1].integer >= RLK_FENCE_LIMIT) {
        return RLK_VOTE_UNKNOWN;
    }
    *ret_fence = (uint64_t)reply[1].integer;
    return reply[2].integer == 1 ? RLK_VOTE_YES : RLK_VOTE_QUARANTINED;
}

enum rlk_answer rlk_classify_confirm(const struct rlk_reply *reply)
{
    if (is_number(reply, 1)) {
        return RLK_ANSWER_OURS;
    }
    return is_number(reply, 0) ? RLK_ANSWER_GONE : RLK_ANSWER_UNKNOWN;
}

enum rlk_answer rlk_classify_keep(const struct rlk_reply *reply)
{
    if (is_number(reply, 1)) {
        return RLK_ANSWER_OURS;
    }
    if (is_number(reply, 0)) {
        return RLK_ANSWER_GONE;
    }
    return is_holder(reply) ? RLK_ANSWER_TAKEN : RLK_ANSWER_UNKNOWN;
}

enum rlk_vote rlk_classify_adopt(const struct rlk_reply *reply)
{
    switch (rlk_classify_keep(reply)) {
    case RLK_ANSWER_OURS:
        return RLK_VOTE_YES;
    case RLK_ANSWER_GONE:
    case RLK_ANSWER_TAKEN:
        return RLK_VOTE_NO;
    case RLK_ANSWER_UNKNOWN:
        break;
    }
    return RLK_VOTE_UNKNOWN;
}

enum rlk_vote rlk_classify_adopt_fenced(const struct rlk_reply *reply, uint64_t *ret_fence)
{
    enum rlk_vote vote = rlk_classify_fenced(reply, ret_fence);

    if (is_number(reply, 0)) {
        return RLK_VOTE_NO;
    }
    return vote == RLK_VOTE_OURS ? RLK_VOTE_UNKNOWN : vote;
}

enum rlk_answer rlk_classify_release(const struct rlk_reply *reply)
{
    if (reply->type != RLK_REPLY_INTEGER) {
        return rlk_classify_is_error(reply, "WRONGTYPE") ? RLK_ANSWER_TAKEN : RLK_ANSWER_UNKNOWN;
    }
    switch (reply->integer) {
    case 2:
    case 1:
        return RLK_ANSWER_OURS;
    case 0:
        return RLK_ANSWER_GONE;
    case -1:
        return RLK_ANSWER_TAKEN;
    default:
        return RLK_ANSWER_UNKNOWN;
    }
}

enum rlk_answer rlk_classify_swap(const struct rlk_reply *reply, const char *token, size_t len,
                                  uint64_t *ret_left_us)
{
    *ret_left_us = 0;
    if (is_number(reply, 0)) {
        return RLK_ANSWER_GONE;
    }
    if (reply->type == RLK_REPLY_INTEGER && reply->integer > 0) {
        *ret_left_us = rlk_time_from_ms((uint64_t)reply->integer);
        return RLK_ANSWER_OURS;
    }
    return is_holder(reply) && !is_text(reply, token, len) ? RLK_ANSWER_TAKEN : RLK_ANSWER_UNKNOWN;
}

enum rlk_answer rlk_classify_delete(const struct rlk_reply *reply)
{
    if (is_number(reply, 1)) {
        return RLK_ANSWER_OURS;
    }
    if (rlk_classify_is_error(reply, "WRONGTYPE")) {
        return RLK_ANSWER_TAKEN;
    }
    return is_number(reply, 0) ? RLK_ANSWER_GONE : RLK_ANSWER_UNKNOWN;
}

enum rlk_answer rlk_classify_remains(const struct rlk_reply *reply)
{
    if (is_number(reply, 1)) {
        return RLK_ANSWER_TAKEN;
    }
    return is_number(reply, 0) ? RLK_ANSWER_GONE : RLK_ANSWER_UNKNOWN;
}

bool rlk_classify_is_listed(const struct rlk_reply *reply)
{
    return is_number(reply, 1);
}

bool rlk_classify_woke(const struct rlk_reply *reply)
{
    return is_number(reply, 2);
}

/* {position, left, value}, and nothing that wait.lua never says. */
static bool is_position(const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_ARRAY && reply->integer == 3 &&
           reply[1].type == RLK_REPLY_INTEGER && reply[2].type == RLK_REPLY_INTEGER &&
           reply[3].type == RLK_REPLY_STRING && reply[1].integer >= -1 &&
           reply[1].integer <= UINT32_MAX && reply[2].integer >= -2 &&
           (reply[1].integer != 0 || reply[2].integer == -2);
}

void rlk_classify_wait(const struct rlk_reply *reply, struct rlk_event *ev)
{
    int64_t position, left_ms;

    ev->woken = ev->listed = false;
    ev->position = 0;
    ev->left_us = 0;
    if (!is_position(reply)) {
        return;
    }
    position = reply[1].integer;
    left_ms = reply[2].integer;
    ev->woken = position == 0;
    ev->listed = position > 0;
    ev->position = position > 0 ? (uint32_t)position : 0;
    ev->left_us = left_ms == -1 ? RLK_NEVER : left_ms < 0 ? 0 : rlk_time_from_ms((uint64_t)left_ms);
}

enum rlk_answer rlk_classify_leave(const struct rlk_reply *reply)
{
    return is_number(reply, 1) || is_number(reply, 0) ? RLK_ANSWER_OURS : RLK_ANSWER_UNKNOWN;
}

bool rlk_classify_refused_for_now(const struct rlk_reply *reply)
{
    static const char *const words[] = {"NOSCRIPT",   "BUSY", "LOADING",  "MISCONF", "NOREPLICAS",
                                        "MASTERDOWN", "OOM",  "TRYAGAIN", "NOAUTH",  "READONLY"};
    unsigned i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (rlk_classify_is_error(reply, words[i])) {
            return true;
        }
    }
    return false;
}

bool rlk_classify_refused(const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_ERROR && !rlk_classify_refused_for_now(reply) &&
           !rlk_classify_is_error(reply, "WRONGTYPE");
}

bool rlk_classify_unknown_command(const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_ERROR && begins_with(reply->str, "ERR unknown command");
}

bool rlk_classify_known_command(const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_ERROR &&
           begins_with(reply->str, "ERR wrong number of arguments");
}

bool rlk_classify_no_script(const struct rlk_reply *reply)
{
    return rlk_classify_is_error(reply, "NOSCRIPT");
}

bool rlk_classify_denied(const struct rlk_reply *reply)
{
    return rlk_classify_is_error(reply, "NOPERM") ||
           (reply->type == RLK_REPLY_ERROR &&
            begins_with(reply->str, "ERR The user executing the script can't"));
}
