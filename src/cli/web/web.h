/* web.h - redlock web: a page that shows masters, locks and elections. */
#ifndef CLI_WEB_WEB_H
#define CLI_WEB_WEB_H

/* Run it: argv[0] is its name. Returns the code to exit with. */
int cli_web_main(int argc, char **argv);

#endif
