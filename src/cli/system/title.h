/* title.h - what a forked process is called. */
#ifndef CLI_SYSTEM_TITLE_H
#define CLI_SYSTEM_TITLE_H

/* Remember where the arguments are. To be called first in main(). */
void cli_title_init(int argc, char **argv);

/* In a forked process that needs the arguments no more: be called `title` in what ps(1) and
 * pkill(1) show, with and without the arguments. It is cut to the room that these had. */
void cli_title_set(const char *title);

#endif
