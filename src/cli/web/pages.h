/* pages.h - the files of the page, built into the command by web/embed.py. */
#ifndef CLI_WEB_PAGES_H
#define CLI_WEB_PAGES_H

extern const char cli_page_page_html[];
extern const char cli_page_page_css[];
extern const char cli_page_page_js[];

#endif
