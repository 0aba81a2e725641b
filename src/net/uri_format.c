/* uri_format.c - the parts of a URI, escaped where they may be. */
#include "net/uri_format.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "net/uri.h"

/* The longest name of a machine, and NUL. */
#define MACHINE_SIZE 65

/* Every other byte is escaped: it may end a part. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789-_.~/";

static void say_escaped(struct rlk_text *out, const char *text, bool is_path)
{
    static const char digits[] = "0123456789abcdef";

    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (strchr(plain, c) && (is_path || c != '/')) {
            rlk_text_add(out, text, 1);
        } else {
            rlk_text_add(out, "%", 1);
            rlk_text_add(out, &digits[c >> 4], 1);
            rlk_text_add(out, &digits[c & 15], 1);
        }
    }
}

static void say_number(struct rlk_text *out, const char *before, unsigned number)
{
    char text[32];

    snprintf(text, sizeof(text), "%s%u", before, number);
    rlk_text_say(out, text);
}

void rlk_uri_format_file(const char *name, const char *folder, struct rlk_text *out)
{
    if (name[0] != '/') {
        rlk_text_say(out, folder);
        rlk_text_say(out, "/");
    }
    rlk_text_say(out, name);
}

/* The parameters of a URI are told apart by this before each. */
static const char *separator(bool *any)
{
    const char *text = *any ? "&" : "?";

    *any = true;
    return text;
}

static void say_parameter(struct rlk_text *out, bool *any, const char *name, const char *value)
{
    rlk_text_say(out, separator(any));
    rlk_text_say(out, name);
    say_escaped(out, value, true);
}

static void say_file(struct rlk_text *out, bool *any, const char *name, const char *file,
                     const char *folder)
{
    if (file == NULL) {
        return;
    }
    rlk_text_say(out, separator(any));
    rlk_text_say(out, name);
    if (file[0] != '/') {
        say_escaped(out, folder, true);
        rlk_text_say(out, "/");
    }
    say_escaped(out, file, true);
}

static void say_login(const struct rlk_uri *u, struct rlk_text *out)
{
    if (u->user) {
        say_escaped(out, u->user, false);
    }
    if (u->password) {
        rlk_text_say(out, ":");
        say_escaped(out, u->password, false);
    }
    if (u->user || u->password) {
        rlk_text_say(out, "@");
    }
}

static void say_address(const struct rlk_uri *u, struct rlk_text *out)
{
    bool v6 = strchr(u->host, ':') != NULL;

    rlk_text_say(out, v6 ? "[" : "");
    rlk_text_say(out, u->host);
    if (u->zone) {
        rlk_text_say(out, "%25");
        rlk_text_say(out, u->zone);
    }
    rlk_text_say(out, v6 ? "]" : "");
    say_number(out, ":", u->port);
    say_number(out, "/", u->db);
}

static void say_path(const struct rlk_uri *u, struct rlk_text *out)
{
    rlk_text_say(out, "unix://");
    say_escaped(out, u->path, true);
    if (u->db) {
        say_number(out, "?db=", u->db);
    }
}

/* A link-local address with a zone also leads there only from this machine. */
static bool is_of_this_machine(const struct rlk_uri *u)
{
    return u->path || u->zone || strcmp(u->host, "localhost") == 0 ||
           strncmp(u->host, "127.", 4) == 0 || strcmp(u->host, "::1") == 0;
}

static bool name_machine(char machine[MACHINE_SIZE])
{
    memset(machine, 0, MACHINE_SIZE);
    return gethostname(machine, MACHINE_SIZE - 1) == 0;
}

/* The machine follows this. */
#define ON " on "

bool rlk_uri_read_place(const char *place, char *uri)
{
    const char *on = strstr(place, ON);
    char machine[MACHINE_SIZE], ours[3 * MACHINE_SIZE];
    struct rlk_text escaped = {.to = ours, .size = sizeof(ours)};
    size_t len = on ? (size_t)(on - place) : strlen(place);

    memcpy(uri, place, len);
    uri[len] = '\0';
    if (on == NULL) {
        return true;
    }
    if (!name_machine(machine)) {
        return false;
    }
    say_escaped(&escaped, machine, true);
    return strlen(on + strlen(ON)) == escaped.len &&
           memcmp(on + strlen(ON), ours, escaped.len) == 0;
}

void rlk_uri_format_place(const struct rlk_uri *u, struct rlk_text *out)
{
    char machine[MACHINE_SIZE];

    if (u->path) {
        say_path(u, out);
    } else {
        rlk_text_say(out, u->tls ? "rediss://" : "redis://");
        say_address(u, out);
    }
    if (is_of_this_machine(u) && name_machine(machine)) {
        rlk_text_say(out, ON);
        say_escaped(out, machine, true);
    }
}

void rlk_uri_format(const struct rlk_uri *u, const char *folder, struct rlk_text *out)
{
    bool any = false;

    if (u->path) {
        say_path(u, out);
        return;
    }
    rlk_text_say(out, u->tls ? "rediss://" : "redis://");
    say_login(u, out);
    say_address(u, out);
    if (u->tls) {
        say_file(out, &any, "cacert=", u->cacert, folder);
        say_file(out, &any, "cert=", u->cert, folder);
        say_file(out, &any, "key=", u->key, folder);
        if (u->sni) {
            say_parameter(out, &any, "sni=", u->sni);
        }
        if (u->verify == 0) {
            say_parameter(out, &any, "verify=", "none");
        }
    }
}
