// A part of a campaign: what is checked before it is joined, and what is copied of it.
#include "gather.h"

#include "../campaign/parts.h"
#include "../commit/seal.h"
#include "../trials/best_rows.h"
#include "../trials/trial_blocks.h"

#include <string.h>

// ---- checks ---------------------------------------------------------------------------------------------------------

static Error gather_check_spec(const Gather *gather, const JoinSource *source, PartOf part)
{
    const StoredCampaign *campaign = &source->campaign;
    const PartOf stored = campaign->spec.part;
    const char *name = source->location.name;
    if (stored.count == 0)
        return error_make(ERROR_USER, "%.300s is a campaign, not a part: move it", source->location.folder);
    if (stored.number != part.number || stored.count != part.count)
        return error_make(ERROR_USER, "%.40s holds part %d of %d: its folder was renamed or copied", name,
                          stored.number, stored.count);
    TRY(campaign_check_meaning(campaign));
    if (campaign->numerics_version != NUMERICS_VERSION)
        return error_make(ERROR_USER,
                          "%.40s was computed with numerics version %d and this program has version %d: the results "
                          "differ in their last bits: run the part again with this version",
                          name, campaign->numerics_version, NUMERICS_VERSION);
    if (gather->spec != NULL && strcmp(gather->spec->hash.hex, campaign->spec.hash.hex) != 0)
        return error_make(ERROR_USER,
                          "%.40s has another spec (%.12s) than %.100s (%.12s): remove its folder, and run the part "
                          "again",
                          name, campaign->spec.hash.hex, gather->name, gather->spec->hash.hex);
    if (gather->spec != NULL && gather->spec->replicates.store != campaign->spec.replicates.store)
        return error_make(ERROR_USER, "replicates.store differs between %.40s and %.100s", name, gather->name);
    return error_none();
}

Error gather_check_program(const Gather *gather, const JoinSource *source)
{
    ProgramNoted part, whole;
    if (!source->campaign.spec.model->runs_program || gather->options->accept_version) return error_none();
    TRY(program_noted(source->campaign.database, gather->arena, &part));
    TRY(program_noted(gather->store->database, gather->arena, &whole));
    if (part.version == NULL || whole.version == NULL || strcmp(part.version, whole.version) == 0) return error_none();
    return error_make(ERROR_USER,
                      "%.40s was computed by version '%.100s' of the program, and the parts that are joined by version "
                      "'%.100s': remove its folder and run the part again, or add --accept-version",
                      source->location.name, text_visible(part.version, gather->arena),
                      text_visible(whole.version, gather->arena));
}

Error gather_check_digests(const JoinSource *source)
{
    const CampaignLocation *location = &source->location;
    SealDamage damage;
    Arena arena;
    TRY(arena_create_growing(&arena, (size_t)1 << 30, "the digests of a part"));
    Error error = seal_check(source->campaign.database, &arena, &damage);
    if (error.kind == OK && damage.count > 0)
        error = error_make(ERROR_MACHINE,
                           "%.40s is damaged: table %.40s differs from what was written; `%s` repairs it, then gather "
                           "again",
                           location->name, damage.broken[0].table,
                           command_again(location->results, "doctor %.40s --repair", location->name).text);
    arena_destroy(&arena);
    return error;
}

// Reads the state under the lock: since parts_find another process may have gone on with the part.
static Error gather_check_state(const JoinSource *source, Arena *arena, bool *busy)
{
    const char *state = NULL;
    TRY(store_text(source->campaign.database, "SELECT state FROM campaign", arena, &state));
    *busy = state == NULL || strcmp(state, "done") != 0;
    return error_none();
}

Error gather_open(const Gather *gather, int index, JoinSource *source, bool *busy)
{
    const CampaignLocation *location = &gather->parts->part[index].location;
    char holder[160];
    Error error = join_open(location, gather->arena, source);
    const char *lock = arena_format(gather->arena, "%s/" CAMPAIGN_LOCK, location->folder);
    *busy = error.kind != OK && lock_holder(lock, holder, sizeof holder).kind == OK && holder[0] != '\0';
    if (*busy) return error_none();
    TRY(error);
    error = gather_check_spec(gather, source, (PartOf){index + 1, gather->parts->count});
    if (error.kind == OK) error = gather_check_state(source, gather->arena, busy);
    if (error.kind != OK || *busy) join_close(source);
    return error;
}

// ---- copies ---------------------------------------------------------------------------------------------------------

Error gather_changed(const Gather *gather)
{
    return error_make(ERROR_MACHINE, "another process changed a part of %.100s while it was joined: gather again",
                      gather->name);
}

// Of the names of files that come from a part.
static const char *gather_prefix(const Gather *gather, const JoinSource *source)
{
    return arena_format(gather->arena, "%s_", part_name(source->campaign.spec.part).text);
}

Error gather_copy_files(const Gather *gather, const JoinSource *source)
{
    return join_copy_files(source, gather->store, gather->store->next_shard, gather_prefix(gather, source), false);
}

// Tables that are alike are copied row by row without a look at the values, and their digests with them.
static Error gather_copy_attached(const Gather *gather)
{
    Database *database = gather->store->database;
    TRY(database_run(database, "INSERT INTO main.trials SELECT * FROM other.trials"));
    if (gather->spec->replicates.store)
        TRY(database_run(database, "INSERT INTO main.replicates SELECT * FROM other.replicates"));
    return seal_add_attached(database);
}

// Blocks of a part hold trials that no other part has. Their files were copied by gather_copy_files.
static Error gather_copy_blocks(const Gather *gather, const JoinSource *source)
{
    Database *database = gather->store->database;
    TRY(database_run(database,
                     arena_format(gather->arena,
                                  "INSERT INTO main.blocks SELECT NULL, first, last, rows, 'rows_%s' || substr(name, "
                                  "6), bytes, columns, sha256, digest, seal FROM other.blocks ORDER BY first",
                                  gather_prefix(gather, source))));
    TRY(seal_add_attached(database));
    return trial_blocks_show_to_run(database);
}

static Error gather_copy_trials(const Gather *gather, const JoinSource *source)
{
    const bool from_blocks = trial_blocks_exist(source->campaign.database), blocks = gather->store->blocks != NULL;
    if (gather->learns) return gather_learned_trials(gather, source);
    if (from_blocks && blocks) return gather_copy_blocks(gather, source);
    if (!from_blocks && !blocks) return gather_copy_attached(gather);
    return join_trials(source, gather->store, NULL, NULL);
}

// Cells 2 and 3 are ids of trials.
static Error gather_copy_batches(const Gather *gather, const JoinSource *source)
{
    const PartOf part = source->campaign.spec.part;
    return join_rows(source, gather->store, "SELECT * FROM batches ORDER BY id",
                     arena_format(gather->arena,
                                  "INSERT INTO batches VALUES((SELECT ifnull(max(id) + 1, 0) FROM batches), %s, %s, "
                                  "?4, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                  gather_learned_id(gather, part, 2), gather_learned_id(gather, part, 3)));
}

// Shard `id` of the part is shard `id + next_shard`.
static Error gather_copy_arrays(const Gather *gather, const JoinSource *source)
{
    static const char *const tables[] = {"trajectories", "debug_rows"};
    const long long shift = gather->store->next_shard;
    Arena *arena = gather->arena;
    TRY(join_rows(source, gather->store, "SELECT * FROM shards",
                  arena_format(arena, "INSERT INTO shards VALUES(?1 + %lld, printf('%%06lld.h5', ?1 + %lld), ?3, ?4)",
                               shift, shift)));
    for (int i = 0; i < 2; i++)
        TRY(join_rows(source, gather->store,
                      arena_format(arena, "SELECT trial, replicate, shard, row, samples, recipe FROM %s", tables[i]),
                      arena_format(arena, "INSERT INTO %s VALUES(?1, ?2, ?3 + %lld, ?4, ?5, ?6)", tables[i], shift)));
    return error_none();
}

static Error gather_copy_rounds(const Gather *gather, const JoinSource *source)
{
    TRY(join_rows(source, gather->store, "SELECT id, method FROM searches WHERE id <> 0",
                  "INSERT OR IGNORE INTO searches(id, method) VALUES(?, ?)"));
    TRY(join_rows(source, gather->store,
                  "SELECT search, round, debug, population, evaluations, sigma, condition, best, stop FROM rounds",
                  "INSERT INTO rounds VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    TRY(join_rows(source, gather->store, "SELECT search, round, front, hypervolume FROM fronts",
                  "INSERT INTO fronts VALUES(?, ?, ?, ?)"));
    if (!gradients_are_kept(source->campaign.database) || !gather->store->has_gradients) return error_none();
    return join_rows(source, gather->store, "SELECT search, round, norm, spread, cosine, growth FROM gradients",
                     "INSERT INTO gradients(search, round, norm, spread, cosine, growth) VALUES(?, ?, ?, ?, ?, ?)");
}

// Without the events of the user's program: gather_note_program.
static Error gather_copy_events(const Gather *gather, const JoinSource *source)
{
    return join_rows(source, gather->store,
                     "SELECT time, kind, text FROM events WHERE kind NOT IN ('" PROGRAM_FOLDER "', '" PROGRAM_VERSION
                     "', '" PROGRAM_FILE "') ORDER BY id",
                     arena_format(gather->arena, "INSERT INTO events(time, kind, text) VALUES(?, ?, '%s: ' || ?)",
                                  source->location.name));
}

// The program stands in the joined campaign as after a run.
static Error gather_note_program(const Gather *gather, const JoinSource *source)
{
    ProgramNoted noted;
    if (!source->campaign.spec.model->runs_program) return error_none();
    TRY(program_noted(source->campaign.database, gather->arena, &noted));
    if (noted.folder == NULL || noted.version == NULL) return error_none(); // it had no trials
    TRY(program_files_adopt(gather->store, source->campaign.database, source->location.folder, gather->arena));
    return program_note(gather->store, noted.folder, noted.version, gather->arena);
}

Error gather_add(Gather *gather, const JoinSource *source)
{
    const Spec *spec = &source->campaign.spec;
    TRY(gather_copy_trials(gather, source));
    TRY(best_rows_again(gather->store));
    TRY(gather_copy_batches(gather, source));
    TRY(gather->learns ? gather_copy_rounds(gather, source) : gather_copy_arrays(gather, source));
    TRY(gather_copy_events(gather, source));
    TRY(gather_note_program(gather, source));
    return gathered_note(gather->store->database, spec->part, spec->hash.hex);
}
