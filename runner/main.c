// The program's entry, apart from everything else so that tests can link the rest.
#include "command/command.h"

#include <signal.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], MADE_COMPILER) == 0) return made_compiler_main(argv[2]); // started by a run
    signal(SIGCHLD, SIG_DFL); // if the caller ignores it, how a child has ended is not known
    return hopscotch_main(argc, argv);
}
