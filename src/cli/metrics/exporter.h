/* exporter.h - redlock exporter: gives Prometheus the state of the masters and of some locks. */
#ifndef CLI_METRICS_EXPORTER_H
#define CLI_METRICS_EXPORTER_H

int cli_exporter_main(int argc, char **argv);

#endif
