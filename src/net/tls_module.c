/* tls_module.c - tls_calls.h of the shared library: opens the module with OpenSSL on first use.
 *
 * The module is in the folder `libredlock` beside the library itself. Nothing else is searched, and
 * no variable names another one: who may not replace the library may not replace the module. Its
 * name has the version of the library, because the two share structs. It is never closed. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/version.h>

#include "net/tls_calls.h"

#define MODULE "libredlock/tls-" REDLOCK_VERSION ".so"

/* Its path, in `path`, which has room for PATH_MAX. A relative name of the library is not used: it
 * may have been another folder then. Returns NULL, or why it cannot be had. */
static const char *find_module(char *path)
{
    static const char ours;
    Dl_info library;
    size_t len;

    if (dladdr(&ours, &library) == 0 || library.dli_fname[0] != '/') {
        return "the library was found by a relative path; use a full path in LD_LIBRARY_PATH";
    }
    if (realpath(library.dli_fname, path) == NULL) {
        return strerror(errno); /* of a library that was removed */
    }
    len = (size_t)(strrchr(path, '/') + 1 - path);
    return (size_t)snprintf(path + len, PATH_MAX - len, "%s", MODULE) < PATH_MAX - len
               ? NULL
               : strerror(ENAMETOOLONG);
}

const struct rlk_tls_calls *rlk_tls_find(char *why, size_t size)
{
    char path[PATH_MAX];
    const char *wrong = find_module(path);
    void *module = wrong ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct rlk_tls_calls *const *calls = module ? dlsym(module, "rlk_tls_module") : NULL;

    if (calls == NULL) {
        snprintf(why, size,
                 "the module for TLS cannot be loaded; install it with the library, or restart "
                 "what uses a library that was replaced: %s",
                 wrong ? wrong : dlerror());
        return NULL;
    }
    return *calls;
}
