// The program as one translation unit: every file of sim, io and runner, in the order of the layers. Not here: the
// kernels (sim/cpu_kernels.c, one object an instruction set; sim/backend_cuda.cu) and main.c, so that the unit tests
// and the benchmarks can link the same unit. `make lint` checks that no file is forgotten and that each compiles alone
// too.
//
// The host computes with one lane, whatever this file is compiled for (sim/real.h).
#ifndef HOPSCOTCH_SCALAR
#define HOPSCOTCH_SCALAR
#endif

#include "../sim/base.c"
#include "../sim/portable_math.c"
#include "../sim/random.c"
#include "../sim/models.c"
#include "../sim/hopper/hopper.c"
#include "../sim/bbob/bbob.c"
#include "../sim/faults.c"
#include "../sim/backend.c"
#include "../sim/backend_cpu.c"
#include "../sim/backend_faulty.c"

#include "../io/clock.c"
#include "../io/file.c"
#include "../io/lock.c"
#include "../io/sha256.c"
#include "../io/row_digest.c"
#include "../io/database.c"
#include "../io/shard.c"
#include "../io/shard_write.c"
#include "../io/shard_read.c"
#include "../io/text.c"
#include "../io/terminal.c"
#include "../io/table.c"
#include "../io/json.c"
#include "../io/progress.c"
#include "../io/diagnostics.c"
#include "../io/yaml.c"

// the spec
#include "expression.c"
#include "expression_parse.c"
#include "expression_errors.c"
#include "expression_text.c"
#include "expression_sql.c"
#include "keys.c"
#include "scalar.c"
#include "values.c"
#include "axes.c"
#include "override.c"
#include "sections.c"
#include "record_section.c"
#include "spec.c"
#include "resolve.c"
#include "schema.c"
#include "reference.c"

// what to run
#include "search.c"
#include "search_grid.c"
#include "search_list.c"
#include "search_random.c"
#include "replicates.c"
#include "objective.c"
#include "plan.c"

// a campaign
#include "store.c"
#include "seal.c"
#include "migration.c"
#include "rows.c"
#include "commit.c"
#include "recovery.c"
#include "catalogue.c"
#include "flight.c"
#include "device.c"
#include "record.c"
#include "writer.c"
#include "interrupt.c"
#include "loop.c"
#include "campaign.c"
#include "stored.c"
#include "digest.c"
#include "replay.c"

// the command line
#include "command_line.c"
#include "command_check.c"
#include "command_plan.c"
#include "command_run.c"
#include "command_campaign.c"
#include "command_status.c"
#include "command_best.c"
#include "command_query.c"
#include "command_show.c"
#include "command_replay.c"
#include "command_models.c"
#include "command_help.c"
#include "commands.c"
