/* pages.h - the files of the page, built into the command by web/embed.py. */
#ifndef CLI_WEB_PAGES_H
#define CLI_WEB_PAGES_H

/* More than there are files. */
#define CLI_PAGES_ROOM 32

struct cli_page {
    const char *path; /* from the address of the server; NULL: behind the last one */
    const char *type; /* Content-Type */
    const char *text;
};

extern const struct cli_page cli_pages[CLI_PAGES_ROOM];

#endif
