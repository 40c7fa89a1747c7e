// The program's entry, apart from everything else so that tests can link the rest.
#include "command/command.h"

int main(int argc, char **argv) { return hopscotch_main(argc, argv); }
