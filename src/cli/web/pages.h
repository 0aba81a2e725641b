/* pages.h - the files of the page, built into the command by web/embed.py. */
#ifndef CLI_WEB_PAGES_H
#define CLI_WEB_PAGES_H

extern const char cli_page_page_html[];
extern const char cli_page_page_css[];
extern const char cli_page_parts_css[];
extern const char cli_page_bars_js[];
extern const char cli_page_dom_js[];
extern const char cli_page_elections_js[];
extern const char cli_page_events_js[];
extern const char cli_page_listed_js[];
extern const char cli_page_locks_js[];
extern const char cli_page_masters_js[];
extern const char cli_page_names_js[];
extern const char cli_page_page_js[];
extern const char cli_page_rows_js[];
extern const char cli_page_sparkline_js[];
extern const char cli_page_terms_js[];
extern const char cli_page_verdict_js[];
extern const char cli_page_words_js[];

#endif
