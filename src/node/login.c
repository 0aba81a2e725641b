/* login.c - chooses user and password, and reads the file. */
#include "node/login.h"

#include <stdio.h>
#include <string.h>

#include <redlock/error.h>
#include <redlock/manager.h>

#include "base/alloc.h"
#include "base/rare.h"
#include "core/classify.h"
#include "net/secret.h"
#include "net/uri.h"

/* Keeps the former password when the file cannot be read. */
static int read_file(struct rlk_login *l)
{
    char *password;
    const char *why = rlk_secret_read(l->file, &password);

    snprintf(l->unread, sizeof(l->unread), "%s", why ? why : "");
    if (why) {
        return REDLOCK_EINVAL;
    }
    rlk_secret_free(l->password);
    l->password = password;
    return 0;
}

/* A copy of a text of the options; NULL: it is not set, or *status is REDLOCK_ENOMEM now. */
static char *copy_if_set(const char *text, char *(*copy)(const char *text, size_t len), int *status)
{
    char *made = text ? copy(text, strlen(text)) : NULL;

    if (text && made == NULL) {
        *status = REDLOCK_ENOMEM;
    }
    return made;
}

int rlk_login_load(struct rlk_login *l, const struct redlock_options *public)
{
    int status = 0;

    *l = (struct rlk_login){0};
    l->user = copy_if_set(public->username, rlk_uri_copy, &status);
    l->password = copy_if_set(public->password, rlk_secret_copy, &status);
    l->file = copy_if_set(public->password_file, rlk_uri_copy, &status);
    return status == 0 && l->file ? read_file(l) : status;
}

void rlk_login_end(struct rlk_login *l)
{
    rlk_free(l->user);
    rlk_secret_free(l->password);
    rlk_free(l->file);
    *l = (struct rlk_login){0};
}

const char *rlk_login_user(const struct rlk_login *l, const struct rlk_uri *u)
{
    return u->user || u->password ? u->user : l->user;
}

const char *rlk_login_password(const struct rlk_login *l, const struct rlk_uri *u)
{
    return u->password ? u->password : l->password;
}

static bool is_in_file(const struct rlk_login *l, const struct rlk_uri *u)
{
    return u->password == NULL && l->file;
}

bool rlk_login_words(struct rlk_login *l, const struct rlk_uri *u, bool renew,
                     const char *ret_words[RLK_LOGIN_WORDS])
{
    unsigned i = 0;

    if (renew && is_in_file(l, u)) {
        read_file(l);
    }
    ret_words[i++] = "AUTH";
    if (rlk_login_user(l, u)) {
        ret_words[i++] = rlk_login_user(l, u);
    }
    ret_words[i++] = rlk_login_password(l, u);
    ret_words[i] = NULL;
    return rlk_login_password(l, u) != NULL;
}

RLK_RARE bool rlk_login_is_missing(const struct rlk_reply *reply)
{
    return rlk_classify_is_error(reply, "NOAUTH");
}

/* The name of a file in memory (memfd_create()) would not help anybody to fix it. */
static bool is_in_named_file(const struct rlk_login *l, const struct rlk_uri *u)
{
    static const char memory[] = "/proc/self/fd/";

    return is_in_file(l, u) && strncmp(l->file, memory, strlen(memory)) != 0;
}

struct rlk_trouble rlk_login_trouble(const struct rlk_login *l, const struct rlk_uri *u,
                                     const char *error)
{
    struct rlk_trouble t = {
        .kind = RLK_TROUBLE_LOGIN, .other = l->file, .user = rlk_login_user(l, u), .words = error};

    if (rlk_login_password(l, u) == NULL) {
        t.kind = RLK_TROUBLE_PASSWORD_MISSING;
    } else if (is_in_file(l, u) && l->unread[0]) {
        t.kind = RLK_TROUBLE_LOGIN_UNREAD;
        t.words = l->unread;
    } else if (is_in_named_file(l, u)) {
        t.kind = RLK_TROUBLE_LOGIN_FILE;
    }
    return t;
}
