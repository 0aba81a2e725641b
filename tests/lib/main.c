/* lib/main.c - the main() of a test program that has none of its own. */
#include "lib/runner.h"

int main(int argc, char **argv)
{
    return rlk_test_main(argc, argv);
}
