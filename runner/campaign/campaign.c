// What was done, as one unit: the table of contents of this floor (contracts: campaign.h).
//
// The host computes with one lane, whatever this file is compiled for (sim/real.h).
#ifndef HOPSCOTCH_SCALAR
#define HOPSCOTCH_SCALAR
#endif

// what is kept of a campaign: campaign.db, shards, the catalogue
#include "store/recording.c"
#include "store/suggested_commands.c"
#include "store/cursor.c"
#include "store/store.c"
#include "store/seal.c"
#include "store/schema.c"
#include "store/rows.c"
#include "store/columns.c"
#include "store/trials.c"
#include "store/array_places.c"
#include "store/lost.c"
#include "store/indices.c"
#include "store/integrity.c"
#include "store/rewrite.c"
#include "store/retries.c"
#include "store/labels.c"
#include "store/searches.c"
#include "store/batches.c"
#include "store/campaign_row.c"
#include "store/database_upkeep.c"
#include "store/trials_index.c"
#include "store/trial_parameters.c"
#include "store/commit.c"
#include "store/recovery.c"
#include "store/catalogue.c"
#include "store/find.c"
#include "store/rounds.c"
#include "store/outer_points.c"
#include "store/overrides.c"
#include "store/extend.c"
#include "store/campaign_open.c"
#include "store/timings.c"
#include "store/front.c"
#include "store/wanted_arrays.c"
#include "store/unwanted_shards.c"
#include "store/sensitivity.c"
#include "store/digest.c"
#include "store/edit.c"
#include "store/origin.c"
#include "store/status.c"
#include "store/status_many.c"
#include "store/status_cache.c"

// a batch of trials on a device
#include "batch/interrupt.c"
#include "batch/batch_size.c"
#include "batch/made.c"
#include "batch/device.c"
#include "batch/trials_in_flight.c"

// time, memory and disk of a run, before it starts
#include "plan/plan.c"
#include "plan/pilot.c"
#include "plan/space.c"
#include "plan/explain.c"

// a run: the loop from ask to commit, and what may end it
#include "run/record.c"
#include "run/writer.c"
#include "run/loop.c"
#include "run/retry.c"
#include "run/run.c"
#include "run/replay.c"
#include "run/trace.c"
#include "run/warm_start.c"

// checks a campaign for damage, and repairs it
#include "doctor/doctor.c"
#include "doctor/model_files.c"
#include "doctor/shards.c"
#include "doctor/repair.c"
#include "doctor/trials.c"
#include "doctor/places.c"
