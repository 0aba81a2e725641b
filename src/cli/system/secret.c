/* secret.c - pages of their own for each text, and overwriting what the kernel shows. */
#include "cli/system/secret.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Before each text: how many bytes its pages have. */
#define HEAD sizeof(size_t)

char *cli_secret_alloc(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t all = (HEAD + size + page - 1) / page * page;
    char *pages = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED) {
        return NULL;
    }
    madvise(pages, all, MADV_DONTDUMP);
    mlock(pages, all);
    memcpy(pages, &all, HEAD);
    return pages + HEAD;
}

char *cli_secret_copy(const char *text)
{
    char *copy = cli_secret_alloc(strlen(text) + 1);

    return copy ? strcpy(copy, text) : NULL;
}

void cli_secret_free(char *text)
{
    size_t all;

    if (text) {
        memcpy(&all, text - HEAD, HEAD);
        explicit_bzero(text - HEAD, all);
        munmap(text - HEAD, all);
    }
}

/* ---- what the kernel shows ---- */

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
        argv[i] = cli_secret_copy(original);
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
