/* secret.c - overwrites passwords where the kernel shows them. */
#include "cli/system/secret.h"

#include <stdlib.h>
#include <string.h>

#include "net/secret.h"

/* Where the password of the URI at `uri` begins, and its length; 0: it has none. */
static size_t find_password(char *uri, char **ret_password)
{
    char *login = strstr(uri, "://") + 3;
    size_t len = strcspn(login, ", \t\r\n");
    char *at = memrchr(login, '@', len);
    char *colon = at ? memchr(login, ':', (size_t)(at - login)) : NULL;

    *ret_password = colon ? colon + 1 : login;
    return colon ? (size_t)(at - colon - 1) : 0;
}

static void hide_passwords(char *text)
{
    char *uri = text, *password;
    size_t len;

    while ((uri = strstr(uri, "://"))) {
        len = find_password(uri, &password);
        memset(password, '*', len);
        uri = password + len;
    }
}

int cli_secret_hide_arguments(int argc, char **argv)
{
    char *original;
    int i;

    for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        original = argv[i];
        if (strstr(original, "://") == NULL || strchr(original, '@') == NULL) {
            continue;
        }
        argv[i] = rlk_secret_copy(original, strlen(original));
        if (argv[i] == NULL) {
            return -1;
        }
        hide_passwords(original);
    }
    return 0;
}

void cli_secret_unset(const char *name)
{
    char *value = getenv(name);

    if (value) {
        explicit_bzero(value, strlen(value));
        unsetenv(name);
    }
}
