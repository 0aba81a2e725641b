/* companion_settings.c - counts the text, gets memory, and writes it there. */
#include "node/companion_settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/error.h>

#include "base/companion.h"
#include "base/text.h"
#include "base/wipe.h"
#include "net/own_files.h"
#include "net/uri_format.h"
#include "node/login.h"
#include "node/options.h"

static void say_name(struct rlk_text *out, const char *name)
{
    rlk_text_add(out, name, strlen(name) + 1);
}

static void say_text(struct rlk_text *out, const char *name, const char *value)
{
    if (value) {
        say_name(out, name);
        say_name(out, value);
    }
}

static void say_number(struct rlk_text *out, const char *name, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    say_text(out, name, text);
}

/* ---- names of files ---- */

/* A name that means another file in another process, or cannot be made absolute. The password's may
 * be an open file. */
static bool is_refused(const char *file, const char *folder)
{
    return file && (rlk_own_file_is(file) || (file[0] != '/' && folder[0] == '\0'));
}

static const char *find_refused(const struct rlk_options *o, const char *folder)
{
    const char *password = o->login->file;
    unsigned i;

    if (password && rlk_own_file_number(password) < 0 && is_refused(password, folder)) {
        return password;
    }
    for (i = 0; i < o->n_nodes; i++) {
        const struct rlk_uri *u = &o->uris[i];

        if (is_refused(u->cacert, folder) || is_refused(u->cert, folder) ||
            is_refused(u->key, folder)) {
            return is_refused(u->cacert, folder) ? u->cacert
                   : is_refused(u->cert, folder) ? u->cert
                                                 : u->key;
        }
    }
    return NULL;
}

/* ---- the text ---- */

static void say_password_file(const char *file, const char *folder, struct rlk_text *out)
{
    say_name(out, RLK_COMPANION_PASSWORD_FILE);
    if (rlk_own_file_number(file) >= 0) {
        char name[32];

        snprintf(name, sizeof(name), "/proc/self/fd/%d",
                 RLK_COMPANION_FIRST_FD + RLK_COMPANION_PASSWORD);
        rlk_text_say(out, name);
    } else {
        rlk_uri_format_file(file, folder, out);
    }
    rlk_text_add(out, "", 1);
}

static void say_login_of(const struct rlk_options *o, const char *folder, struct rlk_text *out)
{
    say_text(out, RLK_COMPANION_USERNAME, o->login->user);
    if (o->login->file) {
        say_password_file(o->login->file, folder, out);
    } else {
        say_text(out, RLK_COMPANION_PASSWORD_TEXT, o->login->password);
    }
}

static void say_settings(const struct rlk_options *o, const char *folder, struct rlk_text *out)
{
    unsigned i;

    say_text(out, RLK_COMPANION_VERSION, RLK_COMPANION_THIS_VERSION);
    for (i = 0; i < o->n_nodes; i++) {
        say_name(out, RLK_COMPANION_NODE);
        rlk_uri_format(&o->uris[i], folder, out);
        rlk_text_add(out, "", 1);
    }
    say_login_of(o, folder, out);
    say_text(out, RLK_COMPANION_CLIENT_NAME, o->client_name);
    say_number(out, RLK_COMPANION_MAX_TTL_MS, o->max_ttl_ms);
    say_number(out, RLK_COMPANION_NODE_TIMEOUT_MS, o->node_timeout_us / 1000);
    say_number(out, RLK_COMPANION_CONNECT_TIMEOUT_MS, o->connect_timeout_us / 1000);
    rlk_text_add(out, "", 1);
}

int rlk_companion_settings(const struct rlk_options *o, struct rlk_shared *ret_settings,
                           int *ret_password_fd, const char **ret_refused)
{
    char folder[4096];
    struct rlk_text text = {.to = NULL};
    int status;

    rlk_own_folder(folder, sizeof(folder));
    *ret_refused = find_refused(o, folder);
    if (*ret_refused) {
        return REDLOCK_EINVAL;
    }
    say_settings(o, folder, &text);
    status = rlk_shared_open(ret_settings, "redlock settings", text.len);
    if (status == 0) {
        text = (struct rlk_text){.to = ret_settings->memory, .size = text.len};
        say_settings(o, folder, &text);
        *ret_password_fd = o->login->file ? rlk_own_file_number(o->login->file) : -1;
    }
    rlk_wipe_stack();
    return status;
}
