// Talking to people, as one unit: the table of contents of this floor (command.h says its contracts).
//
// The host computes with one lane, whatever this file is compiled for (sim/real.h).
#ifndef HOPSCOTCH_SCALAR
#define HOPSCOTCH_SCALAR
#endif

// the command line, one file per command
#include "live.c"
#include "command_line.c"
#include "output_file.c"
#include "open.c"
#include "select.c"
#include "check.c"
#include "plan.c"
#include "run.c"
#include "stop.c"
#include "status.c"
#include "list.c"
#include "label.c"
#include "remove.c"
#include "merge.c"
#include "best_front.c"
#include "best.c"
#include "sensitivity.c"
#include "query.c"
#include "index.c"
#include "export.c"
#include "import.c"
#include "show.c"
#include "show_debug.c"
#include "report.c"
#include "plot.c"
#include "replay.c"
#include "verify.c"
#include "compare.c"
#include "doctor.c"
#include "reindex.c"
#include "models.c"
#include "manual.c"
#include "completion.c"
#include "help.c"
#include "commands.c"
