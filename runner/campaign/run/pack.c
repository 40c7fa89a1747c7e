// Packs: a trial with hashes of its states, and a replay that compares them (campaign.h says what a pack is).
//
// States are the columns of a trajectory, of all replicates, or of the first if there are too many. They are sampled at
// the same ticks on every device, and sampling changes no bit. A state's hash says whether it differs, a tag per column
// says which column does.
#include "replay.h"

#include "../store/queries.h"
#include "../store/ground/rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define PACK_STEPS_BYTES ((int64_t)64 << 20) // of states of every tick, when the first that differs is sought

// ---- states ---------------------------------------------------------------------------------------------------------

static ReplayRequest pack_request(const Spec *spec, int64_t trial, int replicates, int64_t every)
{
    return (ReplayRequest){.trial = trial,
                           .sample = (double)every * spec->configured.tick_duration,
                           .drawn = true, // all columns
                           .every_replicate = replicates > 1};
}

static bool pack_has_states(const Spec *spec)
{
    return spec->configured.n_columns > 0 && spec->configured.tick_duration > 0;
}

// Those that have states: all, or the first.
static int pack_replicates(const Spec *spec, int form)
{
    return spec->replicates.count <= (form == 1 ? PACK_REPLICATES : PACK_LANES) ? spec->replicates.count : 1;
}

// All replicates together have at most as many instants as PACK_REPLICATES of them.
static int64_t pack_every(const Spec *spec, int form)
{
    const int replicates = pack_replicates(spec, form);
    const int64_t instants = replicates <= PACK_REPLICATES ? PACK_STATES : PACK_STATES * PACK_REPLICATES / replicates;
    return (spec->configured.ticks + instants - 1) / instants;
}

// The first bytes of the SHA-256 of values, with one NaN.
static void pack_hash(const double *values, int count, unsigned char *out, size_t size)
{
    Sha256 hash;
    sha256_start(&hash);
    for (int i = 0; i < count; i++) {
        const double value = values[i] == values[i] ? values[i] : (double)NAN;
        sha256_add(&hash, &value, sizeof value);
    }
    const Sha256Text text = sha256_finish(&hash);
    for (size_t i = 0; i < size; i++) {
        const char *digits = "0123456789abcdef", *hex = text.hex + 2 * i;
        out[i] = (unsigned char)((strchr(digits, hex[0]) - digits) << 4 | (strchr(digits, hex[1]) - digits));
    }
}

static void pack_hash_state(const PackStates *states, const double *row, unsigned char *hash, unsigned char *tag)
{
    pack_hash(row, states->n_columns, hash, PACK_HASH);
    for (int t = 0; t < states->n_tags; t++) {
        const int first = t * states->group, left = states->n_columns - first;
        pack_hash(row + first, left < states->group ? left : states->group, tag + (size_t)t * PACK_TAG, PACK_TAG);
    }
}

// The samples of a replay as states. group 0: the least with which all tags have room.
static void pack_take_states(const Replay *replay, int group, int64_t every, Arena *arena, PackStates *states)
{
    const Recording recording = recording_of(&replay->spec, RECORD_TRAJECTORIES);
    const Commit *again = &replay->again;
    int64_t *rows = ARENA_NEW(arena, int64_t, again->n_lanes + 1);
    const char **columns = ARENA_NEW(arena, const char *, recording.n_columns);
    *states = (PackStates){.every = every,
                           .replicates = (int)again->n_lanes,
                           .rows = rows,
                           .columns = columns,
                           .n_columns = recording.n_columns,
                           .group = group};
    for (int64_t i = 0; i < again->n_lanes; i++) states->count += rows[i] = again->lanes[i].length;
    for (int c = 0; c < recording.n_columns; c++) columns[c] = recording.columns[c].name;
    if (group == 0) states->group = (int)((states->count * recording.n_columns + PACK_TAGS - 1) / PACK_TAGS);
    if (states->group < 1) states->group = 1;
    states->n_tags = (states->n_columns + states->group - 1) / states->group;
    states->hash = ARENA_NEW(arena, unsigned char, states->count *PACK_HASH + 1);
    states->tag = ARENA_NEW(arena, unsigned char, states->count * states->n_tags * PACK_TAG + 1);
    for (int64_t i = 0; i < states->count; i++)
        pack_hash_state(states, again->samples + i * states->n_columns, states->hash + i * PACK_HASH,
                        states->tag + i * states->n_tags * PACK_TAG);
}

// Of failure and metrics: they say which of many replicates differs, also where their states are few.
static bool pack_has_outcomes(const Spec *spec)
{
    return spec->replicates.count > (pack_has_states(spec) ? PACK_REPLICATES : 1);
}

static void pack_take_outcomes(const Replay *replay, Arena *arena, PackStates *states)
{
    const TrialRows *rows = &replay->again.rows;
    const int count = replay->spec.replicates.count, metrics = replay->spec.configured.n_metrics;
    states->share = (count + PACK_OUTCOMES - 1) / PACK_OUTCOMES;
    states->outcomes = (count + states->share - 1) / states->share;
    states->outcome = ARENA_NEW(arena, unsigned char, states->outcomes *PACK_HASH);
    double *values = ARENA_NEW(arena, double, (int64_t)states->share *(metrics + 1));
    for (int i = 0, r = 0; i < states->outcomes; i++) {
        int n = 0;
        for (int k = 0; k < states->share && r < count; k++, r++) {
            values[n++] = (double)rows->replicate_failure[r];
            for (int m = 0; m < metrics; m++) values[n++] = rows->replicate_metric[m * rows->replicate_stride + r];
        }
        pack_hash(values, n, states->outcome + (size_t)i * PACK_HASH, PACK_HASH);
    }
}

static Sha256Text pack_digest_of(const Spec *spec, const TrialRows *row, const PackStates *states)
{
    Sha256 hash;
    sha256_start(&hash);
    rows_hash(spec, row, 0, &hash);
    for (int r = 0; r < states->replicates; r++) sha256_add(&hash, &states->rows[r], sizeof states->rows[r]);
    sha256_add(&hash, states->hash, (size_t)states->count * PACK_HASH);
    sha256_add(&hash, states->outcome, (size_t)states->outcomes * PACK_HASH);
    return sha256_finish(&hash);
}

// ---- making one -----------------------------------------------------------------------------------------------------

static Error pack_check_model_can(const StoredCampaign *campaign)
{
    const Model *model = campaign->spec.model;
    if (model->runs_program)
        return error_make(ERROR_USER,
                          "a trial of model %s can't be packed: its program would be needed elsewhere, and "
                          "what that reads; `export --crate` describes such a campaign",
                          model->name);
    if (model->by_hand)
        return error_make(ERROR_USER,
                          "a trial of model %s can't be packed: people ran it, and no program can repeat it",
                          model->name);
    return error_none();
}

static bool pack_has_file(const Pack *pack, const char *digest)
{
    for (int i = 0; i < pack->n_files; i++)
        if (strcmp(pack->files[i].digest.hex, digest) == 0) return true;
    return false;
}

static Error pack_add_file(const StoredCampaign *campaign, const SpecFile *file, Arena *arena, Pack *pack)
{
    const char *path = arena_format(arena, "%s/" CAMPAIGN_FILES "/%s", campaign->folder, file->digest.hex);
    PackFile *own = &pack->files[pack->n_files];
    int64_t size = 0;
    if (pack_has_file(pack, file->digest.hex)) return error_none();
    TRY(file_size(path, &size));
    if (size > (int64_t)PACK_BYTES_MAX * 32)
        return error_make(ERROR_USER,
                          "the pack would be too large: at most %s are allowed, and its file %.150s alone has %s; use "
                          "a smaller file, or `export --crate`, which has no limit",
                          text_bytes(PACK_BYTES_MAX).text, file->name, text_bytes((double)size).text);
    *own = (PackFile){.name = file->name, .digest = file->digest};
    TRY(file_read_stored(path, (size_t)size, arena, &own->bytes));
    pack->n_files++;
    return error_none();
}

static Error pack_add_files(const StoredCampaign *campaign, Arena *arena, Pack *pack)
{
    const Spec *own = &campaign->spec;
    int64_t most = 0;
    for (int k = 0; own != NULL; own = spec_with_files(&campaign->spec, ++k)) most += own->model->n_options;
    pack->files = ARENA_NEW(arena, PackFile, most);
    own = &campaign->spec;
    for (int k = 0; own != NULL; own = spec_with_files(&campaign->spec, ++k)) {
        for (int i = 0; i < own->model->n_options; i++)
            if (own->files[i].name != NULL) TRY(pack_add_file(campaign, &own->files[i], arena, pack));
    }
    return error_none();
}

Error pack_make(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena, Pack *pack)
{
    const Spec *spec = &campaign->spec;
    const bool states = pack_has_states(spec);
    const ReplayRequest request =
        pack_request(spec, trial, pack_replicates(spec, PACK_FORM), pack_every(spec, PACK_FORM));
    Replay replay = {.campaign = campaign, .each = pack_has_outcomes(spec)};
    ReplayResult result;
    TRY(pack_check_model_can(campaign));
    TRY(replay_all(&replay, trial, states ? &request : NULL, backend, arena, &result));
    if (!result.equal)
        return error_make(ERROR_MACHINE, "%.100s/%" PRId64 " differs from its stored row: %s; nothing is packed",
                          campaign->name, trial, result.difference);
    *pack = (Pack){.form = PACK_FORM,
                   .campaign = campaign->name,
                   .version = HOPSCOTCH_VERSION,
                   .commit = program_commit(),
                   .numerics_version = NUMERICS_VERSION,
                   .backend = replay.backend,
                   .processor = replay.processor,
                   .trial = trial,
                   .ordinal = replay.flight.trials.ordinal[0],
                   .spec = spec->text,
                   .spec_hash = spec->hash.hex,
                   .row = replay.computed ? replay.again.rows : replay.stored};
    if (states) pack_take_states(&replay, 0, pack_every(spec, PACK_FORM), arena, &pack->states);
    if (replay.each) pack_take_outcomes(&replay, arena, &pack->states);
    pack->digest = pack_digest_of(spec, &pack->row, &pack->states);
    return pack_add_files(campaign, arena, pack);
}

// ---- comparing ------------------------------------------------------------------------------------------------------

// The first state that differs, by time, then by replicate. row -1: none.
typedef struct PackPlace {
    int replicate;
    int64_t row;   // of the replicate
    int64_t index; // of all states of the pack
    int64_t again; // and of those of now
    bool lacks;    // one of both has fewer states
} PackPlace;

static PackPlace pack_first_difference(const PackStates *packed, const PackStates *now)
{
    PackPlace first = {.row = -1};
    int64_t at = 0, at_now = 0;
    for (int r = 0; r < packed->replicates && r < now->replicates; at += packed->rows[r], at_now += now->rows[r], r++) {
        const int64_t rows = packed->rows[r] < now->rows[r] ? packed->rows[r] : now->rows[r];
        int64_t j = 0;
        while (j < rows &&
               memcmp(packed->hash + (at + j) * PACK_HASH, now->hash + (at_now + j) * PACK_HASH, PACK_HASH) == 0)
            j++;
        if (j == rows && packed->rows[r] == now->rows[r]) continue;
        if (first.row < 0 || j < first.row)
            first = (PackPlace){.replicate = r, .row = j, .index = at + j, .again = at_now + j, .lacks = j == rows};
    }
    return first;
}

// -1: none
static int pack_first_outcome(const PackStates *packed, const PackStates *now)
{
    for (int i = 0; i < packed->outcomes; i++) {
        const size_t at = (size_t)i * PACK_HASH;
        if (memcmp(packed->outcome + at, now->outcome + at, PACK_HASH) != 0) return i;
    }
    return -1;
}

// A replay of the pack's trial, with its states.
typedef struct PackRun {
    Replay replay;
    ReplayResult result;
    PackStates states;
    PackPlace place;
    int outcome; // the first that differs; -1: none
    bool equal;
} PackRun;

static bool pack_same_form(const PackStates *packed, const PackStates *now)
{
    bool same = packed->replicates == now->replicates && packed->n_columns == now->n_columns &&
                packed->n_tags == now->n_tags && packed->outcomes == now->outcomes && packed->share == now->share;
    for (int c = 0; same && c < now->n_columns; c++) same = strcmp(packed->columns[c], now->columns[c]) == 0;
    return same;
}

static Error pack_run(const StoredCampaign *campaign, const BackendOptions *backend, Arena *arena, PackRun *run)
{
    const Pack *pack = campaign->pack;
    const PackStates *packed = &pack->states;
    const bool states = packed->replicates > 0;
    const Spec *spec = &campaign->spec;
    const ReplayRequest request = pack_request(spec, pack->trial, pack_replicates(spec, pack->form), packed->every);
    *run = (PackRun){
        .replay = {.campaign = campaign, .each = pack_has_outcomes(spec)}, .place = {.row = -1}, .outcome = -1};
    if (states != pack_has_states(spec) || (states && packed->every != pack_every(spec, pack->form)))
        return error_make(ERROR_USER, "the pack has not the states that its spec has: ask for it again");
    TRY(replay_all(&run->replay, pack->trial, states ? &request : NULL, backend, arena, &run->result));
    if (states) pack_take_states(&run->replay, packed->group, packed->every, arena, &run->states);
    if (run->replay.each) pack_take_outcomes(&run->replay, arena, &run->states);
    if (!pack_same_form(packed, &run->states))
        return error_make(ERROR_USER, "the pack has not the states that its spec has: ask for it again");
    if (states) run->place = pack_first_difference(packed, &run->states);
    run->outcome = pack_first_outcome(packed, &run->states);
    run->equal = run->result.equal && run->place.row < 0 && run->outcome < 0;
    return error_none();
}

// ---- explaining a difference ----------------------------------------------------------------------------------------

// Runs the trial with each instruction set that this program and processor have. *good: one that gives the pack's bits;
// NULL: none does.
static Error pack_try_isas(const StoredCampaign *campaign, const BackendOptions *backend, Arena *arena,
                           const char **good, const char **text)
{
    const char *same = "", *other = "";
    *good = NULL;
    const char *isa;
    for (int i = 0; (isa = cpu_isa_name(i)) != NULL; i++) {
        BackendOptions options = *backend;
        PackRun run;
        options.name = "cpu";
        options.devices = 0;
        options.isa = isa;
        TRY(pack_run(campaign, &options, arena, &run));
        const char **list = run.equal ? &same : &other;
        *list = arena_format(arena, "%s%s%s", *list, (*list)[0] != '\0' ? ", " : "", isa);
        if (run.equal && *good == NULL) *good = isa;
    }
    *text = arena_format(arena, "of this processor's instruction sets %s %s the bits of the file, %s not",
                         same[0] != '\0' ? same : "none", strchr(same, ',') != NULL ? "give" : "gives",
                         other[0] != '\0' ? other : "none");
    return error_none();
}

// The states of a replicate on two backends, at the ticks of a request.
typedef struct PackPair {
    const double *row[2];
    int64_t length[2];
} PackPair;

static Error pack_run_both(const StoredCampaign *campaign, int replicate, const ReplayRequest *request,
                           const BackendOptions options[2], Arena *arena, PackPair *pair)
{
    const int columns = campaign->pack->states.n_columns;
    for (int k = 0; k < 2; k++) {
        Replay replay = {.campaign = campaign};
        ReplayResult result;
        TRY(replay_all(&replay, request->trial, request, &options[k], arena, &result));
        pair->row[k] = replay.again.samples;
        for (int r = 0; r < replicate; r++) pair->row[k] += replay.again.lanes[r].length * columns;
        pair->length[k] = replay.again.lanes[replicate].length;
    }
    return error_none();
}

// Halves the ticks of a request, of which the last differs, until their states take little memory.
static Error pack_narrow(const StoredCampaign *campaign, int replicate, const BackendOptions options[2], Arena *arena,
                         ReplayRequest *request)
{
    const PackStates *packed = &campaign->pack->states;
    const int64_t tick = (int64_t)sizeof(double) * packed->replicates * packed->n_columns; // bytes
    while (request->ticks[1] - request->ticks[0] > 2 &&
           request->ticks[1] - request->ticks[0] > PACK_STEPS_BYTES / tick) {
        const size_t used = arena->used;
        const int64_t middle = request->ticks[0] + (request->ticks[1] - request->ticks[0]) / 2;
        ReplayRequest one = *request;
        PackPair pair;
        one.ticks[0] = middle;
        one.ticks[1] = middle + 1;
        TRY(pack_run_both(campaign, replicate, &one, options, arena, &pair));
        // The last state of a replicate is behind those of the window.
        const size_t bytes = pair.length[0] > 0 ? (size_t)packed->n_columns * sizeof(double) : 0;
        const bool same = pair.length[0] == pair.length[1] && memcmp(pair.row[0], pair.row[1], bytes) == 0;
        request->ticks[same ? 0 : 1] = middle + 1;
        arena_rewind(arena, used);
    }
    return error_none();
}

// Every tick after the last equal state, on both: *text <- the first that differs, with its columns and both values.
static Error pack_find_step(const StoredCampaign *campaign, const PackPlace *place, const BackendOptions *backend,
                            const char *good, Arena *arena, const char **text)
{
    const PackStates *packed = &campaign->pack->states;
    BackendOptions options[2] = {*backend, *backend};
    ReplayRequest request = pack_request(&campaign->spec, campaign->pack->trial, packed->replicates, 1);
    PackPair pair;
    request.ticks[0] = place->row > 0 ? (place->row - 1) * packed->every : 0;
    request.ticks[1] = place->row * packed->every + 1;
    options[1].name = "cpu";
    options[1].devices = 0;
    options[1].isa = good;
    TRY(pack_narrow(campaign, place->replicate, options, arena, &request));
    TRY(pack_run_both(campaign, place->replicate, &request, options, arena, &pair));
    const double **row = pair.row;
    for (int64_t j = 0; j < pair.length[0] && j < pair.length[1]; j++) {
        for (int c = 0; c < packed->n_columns; c++) {
            if (memcmp(&row[0][c], &row[1][c], sizeof row[0][c]) == 0) continue;
            *text = arena_format(arena, "step %" PRId64 " is the first that differs: %s is %s now and %s by %s",
                                 (int64_t)floor(row[1][0] / campaign->spec.configured.tick_duration + 0.5),
                                 text_visible(packed->columns[c], arena), text_number(row[0][c]).text,
                                 text_number(row[1][c]).text, good);
            return error_none();
        }
        row[0] += packed->n_columns;
        row[1] += packed->n_columns;
    }
    return error_none();
}

// "replicate 1, t = 0.05 s, step 500: z, dz"
static const char *pack_place_text(const StoredCampaign *campaign, const PackRun *run, Arena *arena)
{
    const PackStates *packed = &campaign->pack->states, *now = &run->states;
    const PackPlace *place = &run->place;
    const double tick = campaign->spec.configured.tick_duration;
    const int64_t last = place->row * packed->every, before = place->row > 0 ? last - packed->every : 0;
    const char *replicate = packed->replicates > 1 ? arena_format(arena, "replicate %d, ", place->replicate) : "";
    const char *steps = last - before > 1 ? arena_format(arena, "steps %" PRId64 " to %" PRId64, before + 1, last)
                                          : arena_format(arena, "step %" PRId64, last);
    bool *differ = ARENA_NEW(arena, bool, packed->n_tags);
    int count = 0;
    if (place->lacks)
        return arena_format(arena, "%sit ended after %" PRId64 " states, and after %" PRId64 " now", replicate,
                            packed->rows[place->replicate], now->rows[place->replicate]);
    for (int t = 0; t < packed->n_tags; t++) {
        differ[t] = memcmp(packed->tag + (place->index * packed->n_tags + t) * PACK_TAG,
                           now->tag + (place->again * packed->n_tags + t) * PACK_TAG, PACK_TAG) != 0;
        count += differ[t];
    }
    return arena_format(arena, "%sfirst the state at %s s (%s), in %s%s", replicate,
                        text_number((double)last * tick).text, steps,
                        count > 0 ? pack_columns(packed, differ, arena) : "columns that the file does not tell",
                        packed->group > 1 ? " or columns beside them" : "");
}

static const char *pack_row_text(const PackRun *run)
{
    return run->result.equal ? "and the trial's row is the same" : run->result.difference;
}

// "first the results of replicate 17, "
static const char *pack_outcome_text(const PackRun *run, Arena *arena)
{
    const int share = run->states.share, first = run->outcome * share, count = run->replay.spec.replicates.count;
    const int last = share < count - first ? first + share - 1 : count - 1;
    if (run->outcome < 0) return "";
    return last > first ? arena_format(arena, "first the results of one of replicates %d to %d, ", first, last)
                        : arena_format(arena, "first the results of replicate %d, ", first);
}

static Error pack_explain(const StoredCampaign *campaign, const BackendOptions *backend, const PackRun *run,
                          bool explain, Arena *arena, const char **text)
{
    const char *good = NULL, *isas = "", *step = "";
    *text = run->place.row >= 0 ? pack_place_text(campaign, run, arena)
                                : arena_format(arena, "%s%s", pack_outcome_text(run, arena), pack_row_text(run));
    if (!explain) return error_none();
    TRY(pack_try_isas(campaign, backend, arena, &good, &isas));
    if (good != NULL && run->place.row >= 0 && !run->place.lacks)
        TRY(pack_find_step(campaign, &run->place, backend, good, arena, &step));
    *text = arena_format(arena, "%s; %s%s%s", *text, step, step[0] != '\0' ? "; " : "", isas);
    return error_none();
}

Error pack_replay(const StoredCampaign *campaign, const BackendOptions *backend, bool explain, Arena *arena,
                  PackResult *result)
{
    PackRun run;
    TRY(pack_run(campaign, backend, arena, &run));
    const Sha256Text digest = pack_digest_of(&campaign->spec, &run.replay.stored, &run.states);
    *result = (PackResult){.equal = run.equal && strcmp(digest.hex, campaign->pack->digest.hex) == 0,
                           .fitness = run.result.fitness,
                           .failure = run.result.failure,
                           .backend = run.replay.backend,
                           .processor = run.replay.processor,
                           .digest = digest};
    if (result->equal) return error_none();
    if (run.equal) {
        result->difference = "the file's digest is not that of its row, states and outcomes: ask for it again";
        return error_none();
    }
    return pack_explain(campaign, backend, &run, explain, arena, &result->difference);
}
