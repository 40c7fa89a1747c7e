// hopscotch replay: simulates a stored trial again, compares the results with the stored ones, and writes the motion as
// numbers, a picture or an animation.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- which trial ----------------------------------------------------------------------------------------------------

enum {
    REPLAY_TARGETS = 2,
    REPLAY_LONG = 100000000 // steps of a pack: with more, the user is warned
};

// CAMPAIGN/TRIAL or CAMPAIGN/TRIAL/REPLICATE; in results/gains/41 the campaign is a path.
typedef struct ReplayTarget {
    StoredCampaign campaign;
    int64_t trial;
    int replicate;
    bool named;       // the user named the replicate
    const char *file; // as the user wrote it
} ReplayTarget;

static bool replay_ends_in(const char *path, const char *end)
{
    const size_t length = strlen(path), size = strlen(end);
    return length >= size && strcmp(path + length - size, end) == 0;
}

// A file that `pack` wrote: what ends so, or any other file.
static bool replay_is_pack(const char *text)
{
    int64_t bytes;
    return replay_ends_in(text, ".hop") || file_size(text, &bytes).kind == OK;
}

static Error replay_open(const CommandLine *line, const char *text, ReplayTarget *target)
{
    if (!replay_is_pack(text))
        return campaign_open_replicate(line, text, &target->campaign, &target->trial, &target->replicate,
                                       &target->named);
    interrupt_install(); // its private folder goes, too
    TRY(pack_open(text, line->arena, &target->campaign));
    target->trial = target->campaign.pack->trial;
    return error_none();
}

// ---- what the user asked --------------------------------------------------------------------------------------------

static const char *const replay_outputs[] = {"output", "mcap", "svg", "html", "terminal", "frames"};

static bool replay_is_watched(const CommandLine *line)
{
    for (size_t i = 0; i < sizeof replay_outputs / sizeof *replay_outputs; i++) {
        if (switch_given(line, replay_outputs[i])) return true;
    }
    return false;
}

// Reads a number that is at least `least`, and nothing after it.
static bool replay_seconds(const char *text, double least, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value) && *value >= least;
}

static Error replay_read_window(const char *text, Arena *arena, double *window)
{
    char *first = arena_copy(arena, text), *comma = strchr(first, ',');
    if (comma != NULL) *comma = '\0';
    if (comma == NULL || !replay_seconds(first, 0, &window[0]) || !replay_seconds(comma + 1, 0, &window[1]) ||
        window[0] >= window[1])
        return error_make(ERROR_USAGE,
                          "--window takes START,END in seconds, START before END, e.g. 0.55,0.6, not '%.60s'", text);
    return error_none();
}

// NAME,NAME,...
static void replay_read_bodies(const char *text, Arena *arena, ReplayRequest *request)
{
    const char **bodies = ARENA_NEW(arena, const char *, strlen(text) + 1);
    for (char *rest = arena_copy(arena, text), *comma; rest != NULL; rest = comma) {
        comma = strchr(rest, ',');
        if (comma != NULL) *comma++ = '\0';
        bodies[request->n_bodies++] = text_stripped(rest);
    }
    request->bodies = bodies;
}

Error replay_read_times(const CommandLine *line, ReplayRequest *request)
{
    const char *sample = switch_text(line, "sample", NULL), *window = switch_text(line, "window", NULL);
    request->coarser = sample == NULL;
    if (sample != NULL && (!replay_seconds(sample, 0, &request->sample) || !(request->sample > 0)))
        return error_make(ERROR_USAGE, "--sample takes seconds, e.g. 0.001, not '%.60s'", sample);
    return window != NULL ? replay_read_window(window, line->arena, request->window) : error_none();
}

static Error replay_read_request(const CommandLine *line, ReplayRequest *request)
{
    const char *bodies = switch_text(line, "bodies", NULL);
    const bool sampled = switch_given(line, "sample"), windowed = switch_given(line, "window");
    request->debug = switch_given(line, "debug");
    request->rows = switch_text(line, "debug", NULL);
    request->drawn =
        !request->debug && (switch_given(line, "mcap") || switch_given(line, "svg") || switch_given(line, "html") ||
                            switch_given(line, "terminal") || switch_given(line, "frames"));
    if (bodies != NULL) replay_read_bodies(bodies, line->arena, request);
    TRY(replay_read_times(line, request));
    if ((sampled || windowed || bodies != NULL || request->debug) && !replay_is_watched(line))
        return error_make(ERROR_USAGE,
                          "--sample, --window, --bodies and --debug need an output: add -o FILE.h5, -o FILE.csv, "
                          "--svg FILE or --html FILE");
    if (request->debug && sampled)
        return error_make(ERROR_USAGE, "--debug %s has all rows, and no samples: leave out --sample", request->rows);
    if ((switch_given(line, "fps") || switch_given(line, "image")) && !switch_given(line, "frames"))
        return error_make(ERROR_USAGE, "--fps and --image are of frames: add --frames FOLDER");
    if (request->debug &&
        (switch_given(line, "html") || switch_given(line, "terminal") || switch_given(line, "frames")))
        return error_make(ERROR_USAGE, "--debug %s has no animation: use -o FILE.h5, -o FILE.csv or --svg FILE",
                          request->rows);
    return error_none();
}

// ---- output ---------------------------------------------------------------------------------------------------------

static void replay_print_json(const ReplayResult *result, const char *name, FILE *out)
{
    Json json;
    json_start(&json, out, true);
    json_object(&json, NULL);
    json_text(&json, "campaign", name);
    json_integer(&json, "trial", result->trial);
    if (result->computed) json_boolean(&json, "computed", true);
    if (!result->computed) json_boolean(&json, "equal", result->equal);
    json_number(&json, "fitness", result->fitness);
    json_number(&json, "stored_fitness", result->stored_fitness);
    json_text(&json, "difference", result->equal ? NULL : result->difference);
    json_close(&json, '}');
}

// What was compared: "fitness 0.42, failure", or "failure fell" of a trial that has no fitness.
static void replay_print_outcome(const StoredCampaign *campaign, double fitness, const char *failure, FILE *out)
{
    if (spec_several(&campaign->spec))
        fputs("every objective, failure", out);
    else if (isnan(fitness))
        fprintf(out, "failure %s", failure);
    else
        fprintf(out, "fitness %s, failure", text_number(fitness).text);
}

static void replay_print_equal(const ReplayResult *result, const StoredCampaign *campaign, FILE *out)
{
    fprintf(out, "%s/%" PRId64 ": ", campaign->name, result->trial);
    if (result->computed) {
        fprintf(out, "fitness %s; the trial has no stored row (record.rows) to compare with\n",
                isnan(result->fitness) ? "none" : text_number(result->fitness).text);
        return;
    }
    fputs("the same to the bit: ", out);
    replay_print_outcome(campaign, result->fitness, result->failure, out);
    fputs(" and every metric\n", out);
}

// The trajectory goes to standard output; then messages go to standard error.
static bool replay_takes_output(const CommandLine *line)
{
    bool taken = false;
    for (size_t i = 0; i < sizeof replay_outputs / sizeof *replay_outputs; i++)
        taken = taken || strcmp(switch_text(line, replay_outputs[i], ""), "-") == 0;
    return taken;
}

static void replay_print(const CommandLine *line, const ReplayTarget *target, const ReplayResult *result)
{
    if (switch_given(line, "json"))
        replay_print_json(result, target->campaign.name, line->out);
    else if (result->equal)
        replay_print_equal(result, &target->campaign, replay_takes_output(line) ? line->messages : line->out);
}

// A program is the user's: other numbers may be meant.
static Error replay_program_differs(const StoredCampaign *campaign, const ReplayResult *result, Arena *arena)
{
    ProgramNoted noted = {NULL, NULL};
    TRY(program_noted(campaign->database, arena, &noted));
    const bool other = noted.version != NULL && strcmp(noted.version, result->version) != 0;
    return error_make(ERROR_MACHINE, "%.60s/%" PRId64 ": the program%s gives other numbers now: %s", campaign->name,
                      result->trial, other ? " says another version, and" : "", result->difference);
}

Error replay_differs(const StoredCampaign *campaign, const ReplayResult *result, Arena *arena)
{
    if (campaign->spec.model->runs_program) return replay_program_differs(campaign, result, arena);
    return error_make(ERROR_MACHINE,
                      "%.100s/%" PRId64
                      " differs from the stored trial: %s (stored by hopscotch %.20s, numerics version %d; "
                      "this is %s, %d)",
                      campaign->name, result->trial, result->difference, campaign->program_version,
                      campaign->numerics_version, HOPSCOTCH_VERSION, NUMERICS_VERSION);
}

static Error replay_write_trace(const CommandLine *line, const ReplayTrace *trace, const char *path)
{
    CommandOutput output;
    const bool hdf5 = replay_ends_in(path, ".h5"), csv = replay_ends_in(path, ".csv") || strcmp(path, "-") == 0;
    if (!hdf5 && !csv)
        return error_make(ERROR_USAGE, "-o: '%.200s' must end in .h5 or .csv, or be - for CSV to standard output",
                          path);
    TRY(command_output_start(path, &output));
    return command_output_finish(line, &output,
                                 hdf5 ? trace_write_hdf5(trace, output.stream.out, line->arena)
                                      : trace_write_csv(trace, output.stream.out, line->arena));
}

// Not collected in memory: it can be larger.
static Error replay_write_mcap(const CommandLine *line, const ReplayTrace *trace, const char *path)
{
    Output output;
    interrupt_install(); // an interrupted command leaves no incomplete file
    TRY(output_open(path, line->arena, &output));
    const bool standard = output.path == NULL;
    TRY(output_close(&output, trace_write_mcap(trace, output.stream, line->arena)));
    FILE *words = standard || switch_given(line, "json") ? line->messages : line->out;
    fprintf(words, "%s: %s %s\n", text_visible(path, line->arena), text_count(trace->count).text,
            trace->request.debug ? model_debug_are(trace->campaign->spec.model) : "samples");
    return error_none();
}

static Error replay_write_svg(const CommandLine *line, const ReplayTrace *trace, const char *path)
{
    CommandOutput output;
    if (trace->count == 0)
        return error_make(ERROR_USER, "there is nothing to draw: trial %" PRId64 ", replicate %d had no %s",
                          trace->request.trial, trace->request.replicate, model_debug_are(trace->campaign->spec.model));
    TRY(command_output_start(path, &output));
    return command_output_finish(line, &output, trace_write_svg(trace, output.stream.out, line->arena));
}

// The model has no motion, but its iterations can be drawn from above.
static bool replay_iterates(const StoredCampaign *campaign)
{
    return iterations_are_shown(campaign) && campaign->spec.model->iterations->above != NULL;
}

// The page of such a model shows the rows of its solver, so the trial is simulated again with them.
static Error replay_write_alignments(const CommandLine *line, const ReplayTrace *const *traces, int count,
                                     const char *path)
{
    const BackendOptions backend = command_backend(line, "cpu");
    ReplayTrace rows[REPLAY_TARGETS];
    const ReplayTrace *all[REPLAY_TARGETS];
    CommandOutput output;
    for (int i = 0; i < count; i++) {
        const StoredCampaign *campaign = traces[i]->campaign;
        const ReplayRequest request = {.trial = traces[i]->request.trial,
                                       .replicate = traces[i]->request.replicate,
                                       .debug = true,
                                       .rows = model_debug_name(campaign->spec.model)};
        ReplayResult result;
        TRY(campaign_trace(campaign, &request, &backend, line->arena, &result, &rows[i]));
        all[i] = &rows[i];
    }
    TRY(command_output_start(path, &output));
    return command_output_finish(line, &output, iterations_write_page(all, count, output.stream.out, line->arena));
}

static Error replay_write_page(const CommandLine *line, const ReplayTrace *const *traces, int count, const char *path)
{
    CommandOutput output;
    bool iterates = true;
    for (int i = 0; i < count; i++) iterates &= replay_iterates(traces[i]->campaign);
    if (iterates) return replay_write_alignments(line, traces, count, path);
    for (int i = 0; i < count; i++) {
        if (trace_drawing(traces[i]) == NULL)
            return error_make(ERROR_USER, "model %s has no drawing: --svg draws its columns, -o FILE.csv writes them",
                              traces[i]->campaign->spec.model->name);
    }
    TRY(command_output_start(path, &output));
    return command_output_finish(line, &output, trace_write_page(traces, count, output.stream.out, line->arena));
}

static Error replay_write(const CommandLine *line, const ReplayTrace *const *traces, int count)
{
    const char *output = switch_text(line, "output", NULL), *svg = switch_text(line, "svg", NULL);
    const char *html = switch_text(line, "html", NULL), *mcap = switch_text(line, "mcap", NULL);
    if (output != NULL) TRY(replay_write_trace(line, traces[0], output));
    if (mcap != NULL) TRY(replay_write_mcap(line, traces[0], mcap));
    if (svg != NULL) TRY(replay_write_svg(line, traces[0], svg));
    if (html != NULL) TRY(replay_write_page(line, traces, count, html));
    if (switch_given(line, "frames")) TRY(frames_write(line, traces[0]));
    return switch_given(line, "terminal") ? trace_play(traces[0], line->out, line->arena) : error_none();
}

// ---- the command ----------------------------------------------------------------------------------------------------

static void replay_warn_dropped(const CommandLine *line, const ReplayTrace *trace)
{
    fprintf(line->messages,
            "warning: the first %s %s are left out, because at most %s are kept: name a shorter --window START,END\n",
            text_count(trace->dropped).text, model_debug_are(trace->campaign->spec.model),
            text_count(trace->count).text);
}

// What is written is of one replicate, the first of a trial.
static void replay_note_replicate(const CommandLine *line, const ReplayTarget *target)
{
    int count = 0;
    if (target->campaign.pack != NULL) return;
    if (target->named || trial_replicates(&target->campaign, target->trial, &count).kind != OK || count < 2) return;
    fprintf(line->messages, "what is written is of replicate 0 of %d; for another replay %s/%" PRId64 "/1\n", count,
            target->campaign.name, target->trial);
}

static void replay_print_pack(const CommandLine *line, const ReplayTarget *target, const PackResult *result)
{
    const Pack *pack = target->campaign.pack;
    const char *file = text_visible(target->file, line->arena);
    if (switch_given(line, "json")) {
        Json json;
        json_start(&json, line->out, true);
        json_object(&json, NULL);
        json_text(&json, "file", target->file);
        json_text(&json, "campaign", target->campaign.name);
        json_integer(&json, "trial", target->trial);
        json_boolean(&json, "equal", result->equal);
        json_number(&json, "fitness", result->fitness);
        json_integer(&json, "states", pack->states.count);
        json_text(&json, "digest", pack->digest.hex);
        json_text(&json, "backend", result->backend);
        json_text(&json, "processor", result->processor);
        json_text(&json, "packed_on", pack->processor);
        json_text(&json, "difference", result->difference);
        json_close(&json, '}');
    } else if (result->equal) {
        FILE *out = replay_takes_output(line) ? line->messages : line->out;
        fprintf(out, "%s: trial %" PRId64 " of %s: the same to the bit: ", file, target->trial, target->campaign.name);
        replay_print_outcome(&target->campaign, result->fitness, result->failure, out);
        fprintf(out, ", every metric and %s state%s; computed by %s (%s), the file by %s (%s); digest %s\n",
                text_count(pack->states.count).text, pack->states.count == 1 ? "" : "s", result->backend,
                result->processor, text_visible(pack->backend, line->arena), text_visible(pack->processor, line->arena),
                pack->digest.hex);
    }
}

// Whoever wrote the file chose how long it takes.
static void replay_warn_long(const CommandLine *line, const ReplayTarget *target)
{
    const Spec *spec = &target->campaign.spec;
    const double steps = (double)spec->configured.ticks * spec->replicates.count;
    if (steps < REPLAY_LONG) return;
    const Text32 all = steps < 1e18 ? text_count((int64_t)steps) : text_number(steps);
    fprintf(line->messages,
            "warning: %s asks for %s steps of simulation (%s for each of %s replicate%s), which may take long: Ctrl+C "
            "stops it\n",
            text_visible(target->file, line->arena), all.text, text_count(spec->configured.ticks).text,
            text_count(spec->replicates.count).text, spec->replicates.count == 1 ? "" : "s");
}

// Compares all that the file has, before anything of it is shown.
static Error replay_check_pack(const CommandLine *line, const ReplayTarget *target, const BackendOptions *backend)
{
    const Pack *pack = target->campaign.pack;
    PackResult result;
    if (pack == NULL) return error_none();
    replay_warn_long(line, target);
    TRY(pack_replay(&target->campaign, backend, true, line->arena, &result));
    replay_print_pack(line, target, &result);
    if (result.equal) return error_none();
    return error_make(ERROR_MACHINE, "%.80s differs: %.330s (now %s, %.30s; the file %.20s, %.30s)", target->file,
                      result.difference, result.backend, result.processor, pack->backend, pack->processor);
}

// Replays every target. If all have their stored results, writes the output that was asked for.
static Error replay_targets(const CommandLine *line, const ReplayTarget *target, int count)
{
    const BackendOptions backend = command_backend(line, "auto");
    const bool watched = replay_is_watched(line);
    ReplayTrace trace[REPLAY_TARGETS];
    const ReplayTrace *traces[REPLAY_TARGETS] = {&trace[0], &trace[1]};
    ReplayRequest request = {.trial = 0};
    TRY(replay_read_request(line, &request));
    for (int i = 0; i < count; i++) {
        ReplayResult result;
        TRY(replay_check_pack(line, &target[i], &backend));
        if (target[i].campaign.pack != NULL && !watched) continue;
        if (target[i].campaign.pack == NULL) TRY(command_program_remark(line, &target[i].campaign));
        request.trial = target[i].trial;
        request.replicate = target[i].replicate;
        if (watched || target[i].replicate > 0)
            TRY(campaign_trace(&target[i].campaign, &request, &backend, line->arena, &result, &trace[i]));
        else
            TRY(campaign_replay(&target[i].campaign, target[i].trial, &backend, line->arena, &result));
        if (target[i].campaign.pack == NULL) replay_print(line, &target[i], &result);
        if (watched) replay_note_replicate(line, &target[i]);
        if (watched && trace[i].dropped > 0) replay_warn_dropped(line, &trace[i]);
        if (!result.equal) return replay_differs(&target[i].campaign, &result, line->arena);
        if (strcmp(result.failure, NON_FINITE) == 0 && target[i].campaign.pack == NULL && !switch_given(line, "json"))
            TRY(replay_print_cause(line, &target[i].campaign, &request, &backend,
                                   replay_takes_output(line) ? line->messages : line->out));
    }
    return watched ? replay_write(line, traces, count) : error_none();
}

static Error replay_run(const CommandLine *line)
{
    ReplayTarget target[REPLAY_TARGETS] = {{.trial = 0}};
    int opened = 0;
    if (line->n_arguments > 1 && (!switch_given(line, "html") || switch_given(line, "json")))
        return error_make(ERROR_USAGE, "two trials need --html FILE, which shows them side by side");
    Error error = error_none();
    for (; opened < line->n_arguments && error.kind == OK; opened++)
        error = replay_open(line, target[opened].file = line->arguments[opened], &target[opened]);
    if (error.kind == OK) error = replay_targets(line, target, opened);
    for (int i = 0; i < opened; i++) campaign_close(&target[i].campaign);
    return error;
}

static const Switch replay_switch_rows[] = {
    {"output", SWITCH_FILE, "FILE.h5|csv", 0, 0,
     "write the trajectory to FILE.h5 or FILE.csv, also as -o (-: CSV to standard output)"},
    {"mcap", SWITCH_FILE, "FILE.mcap", 0, 0,
     "write poses of bodies, states of joints and all columns for Foxglove, Rerun, PlotJuggler (-: standard output)"},
    {"svg", SWITCH_FILE, "FILE.svg", 0, 0,
     "write a picture: poses of one cycle or of the whole motion, and columns against time"},
    {"html", SWITCH_FILE, "FILE.html|htm", 0, 0,
     "write an animation for a browser, of a robot in space; two trials are shown side by side"},
    {"frames", SWITCH_FILE, "FOLDER", 0, 0, "write the motion as numbered pictures, and print how ffmpeg joins them"},
    {"fps", SWITCH_INTEGER, "N", 1, 1000, "frames per second of the motion (default 30)"},
    {"image", SWITCH_CHOICE, "png|svg", 0, 0, "what the frames are (default png, which needs rsvg-convert)"},
    {"terminal", SWITCH_FLAG, NULL, 0, 0, "show an animation in this terminal; a few poses if the output is a file"},
    {"sample", SWITCH_TEXT, "SECONDS", 0, 0,
     "time between two samples, a multiple of the time step (default: the spec's)"},
    {"window", SWITCH_TEXT, "START,END", 0, 0, "only this interval of the motion, in seconds"},
    {"bodies", SWITCH_TEXT, "NAMES", 0, 0,
     "bodies of a world to write, e.g. link1,link300 or link# or all (default: the spec's record.bodies); "
     "pictures show all bodies"},
    {"debug", SWITCH_CHOICE, "newton|ndt|kkt|solve|events", 0, 0,
     "write a row per iteration of the solver, per body of a robot and step, or per event of a system, instead of the "
     "trajectory"},
};
static const Switches replay_switches = {replay_switch_rows,
                                         (int)(sizeof replay_switch_rows / sizeof *replay_switch_rows)};

const Command command_replay = {
    .name = "replay",
    .arguments = "CAMPAIGN/TRIAL[/REPLICATE] | FILE",
    .doc = "simulate a stored trial, or that of a file of `pack`, again, compare every number, and show the motion",
    .examples = "  hopscotch replay raibert_gains/41\n"
                "  hopscotch replay raibert_gains/41 --backend cpu --isa scalar\n"
                "  hopscotch replay result.hop\n"
                "  hopscotch replay raibert_gains/41 --sample 0.001 -o trace.h5\n"
                "  hopscotch replay robot_gait/best --mcap gait.mcap\n"
                "  hopscotch replay raibert_gains/41 --debug newton --window 0.55,0.6 -o newton.csv\n"
                "  hopscotch replay compass_gait/2 --debug events -o events.csv\n"
                "  hopscotch replay raibert_gains/best raibert_gains/worst --html both.html\n"
                "  hopscotch replay raibert_gains/best --frames hop --fps 60\n"
                "  hopscotch replay raibert_gains/41/3 --terminal\n",
    .least = 1,
    .most = REPLAY_TARGETS,
    .switches = {&replay_switches, &switches_backend, &switches_json},
    .run = replay_run,
};
