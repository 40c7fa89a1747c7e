// `plot --columns` and `plot --phase`: a figure of the motions of trials. They are simulated again, to the same bits.
#include "command.h"

#include <string.h>

static const char *const motions_options[] = {"columns", "phase", "sample", "window"};

bool plot_is_of_motions(const CommandLine *line)
{
    return switch_given(line, "columns") || switch_given(line, "phase");
}

// *names <- those of the list "a, b". An empty name is an error.
static Error motions_split(const char *option, const char *text, Arena *arena, const char **names, int most, int *count)
{
    for (char *rest = arena_copy(arena, text), *comma; rest != NULL; rest = comma) {
        comma = strchr(rest, ',');
        if (comma != NULL) *comma++ = '\0';
        rest = text_stripped(rest);
        if (*rest == '\0')
            return error_make(ERROR_USAGE, "--%s takes names of columns with commas between them, not '%.60s'", option,
                              text_visible(text, arena));
        if (*count == most)
            return error_make(ERROR_USAGE, "--%s: a figure has at most %d panels", option, TRACE_PANELS);
        names[(*count)++] = rest;
    }
    return error_none();
}

static Error motions_read_columns(const CommandLine *line, TraceColumns *out)
{
    int given;
    const char **names = ARENA_NEW(line->arena, const char *, 2 * TRACE_PANELS);
    *out = (TraceColumns){.names = names, .pairs = switch_given(line, "phase")};
    if (out->pairs && switch_given(line, "columns"))
        return error_make(ERROR_USAGE, "--columns and --phase are two figures: draw one after the other");
    const char *option = out->pairs ? "phase" : "columns";
    const char *const *texts = switch_all(line, option, &given);
    for (int i = 0; i < given; i++) {
        const int before = out->count;
        TRY(motions_split(option, texts[i], line->arena, names, out->pairs ? 2 * TRACE_PANELS : TRACE_PANELS,
                          &out->count));
        if (out->pairs && out->count != before + 2)
            return error_make(ERROR_USAGE,
                              "--phase takes two columns, X,Y, e.g. position,velocity, not '%.60s'; another panel is "
                              "another --phase X,Y",
                              text_visible(texts[i], line->arena));
    }
    return error_none();
}

static Error motions_check_options(const CommandLine *line)
{
    static const char *const of_trials[] = {"kind", "objective", "x", "y", "colour", "log", "where"};
    for (size_t i = 0; i < sizeof of_trials / sizeof *of_trials; i++) {
        if (switch_given(line, of_trials[i]))
            return error_make(ERROR_USAGE,
                              "--%s is of a plot of a campaign, and --%s of motions: leave out one of them",
                              of_trials[i], switch_given(line, "phase") ? "phase" : "columns");
    }
    return error_none();
}

typedef struct Motions {
    StoredCampaign campaign[TRACE_MOTIONS];
    ReplayTrace trace[TRACE_MOTIONS];
    const ReplayTrace *traces[TRACE_MOTIONS];
    int opened;
} Motions;

static Error motions_simulate(const CommandLine *line, const char *text, Motions *motions)
{
    const BackendOptions backend = command_backend(line, "auto");
    ReplayRequest request = {.drawn = true};
    ReplayResult result;
    bool named;
    const int i = motions->opened;
    StoredCampaign *campaign = &motions->campaign[i];
    TRY(replay_read_times(line, &request));
    TRY(campaign_open_replicate(line, text, campaign, &request.trial, &request.replicate, &named));
    motions->opened++;
    TRY(command_program_remark(line, campaign));
    TRY(campaign_trace(campaign, &request, &backend, line->arena, &result, &motions->trace[i]));
    motions->traces[i] = &motions->trace[i];
    return result.equal ? error_none() : replay_differs(campaign, &result, line->arena);
}

static Error motions_draw(const CommandLine *line, const TraceColumns *columns, Motions *motions)
{
    Figure room;
    const Figure *figure;
    CommandOutput output;
    for (int i = 0; i < line->n_arguments; i++) TRY(motions_simulate(line, line->arguments[i], motions));
    const char *path =
        switch_text(line, "output",
                    arena_format(line->arena, "%s-%lld-%s.svg", motions->campaign[0].name,
                                 (long long)motions->trace[0].request.trial, columns->pairs ? "phase" : "columns"));
    TRY(command_figure(line, path, &room, &figure));
    TRY(command_output_start(path, &output));
    return command_picture_finish(
        line, &output, (int)switch_integer(line, "dpi", PICTURE_DPI),
        trace_write_columns(motions->traces, motions->opened, columns, figure, output.stream.out, line->arena));
}

Error plot_motions(const CommandLine *line)
{
    TraceColumns columns;
    Motions *motions = ARENA_NEW(line->arena, Motions, 1);
    TRY(motions_check_options(line));
    TRY(motions_read_columns(line, &columns));
    const Error error = motions_draw(line, &columns, motions);
    for (int i = 0; i < motions->opened; i++) campaign_close(&motions->campaign[i]);
    return error;
}

Error plot_without_motions(const CommandLine *line)
{
    for (size_t i = 0; i < sizeof motions_options / sizeof *motions_options; i++) {
        if (switch_given(line, motions_options[i]))
            return error_make(ERROR_USAGE, "--%s is of the motion of trials: add --columns NAMES or --phase X,Y",
                              motions_options[i]);
    }
    const char *slash = strrchr(line->arguments[0], '/');
    CampaignLocation location;
    const bool trial =
        slash != NULL && trial_is_named(slash + 1) && campaign_find(line, line->arguments[0], &location).kind != OK;
    if (!trial && line->n_arguments == 1) return error_none();
    return error_make(ERROR_USAGE,
                      trial ? "%.100s is a trial: add --columns NAMES or --phase X,Y, which draw its motion"
                            : "%.100s: a plot of all trials is of one campaign",
                      text_visible(line->arguments[trial ? 0 : 1], line->arena));
}

static const Switch motions_switch_rows[] = {
    {"columns", SWITCH_TEXT, "NAMES", 0, 0,
     "instead, of at most 6 trials: columns of their trajectories against time, e.g. x,v: a panel each"},
    {"phase", SWITCH_TEXTS, "X,Y", 0, 0, "instead, of trials: column Y against column X; again for one more panel"},
    {"window", SWITCH_TEXT, "START,END", 0, 0, "of these only this interval of the motion, in seconds"},
    {"sample", SWITCH_TEXT, "SECONDS", 0, 0, "and the time between two samples (default: the spec's)"},
};
const Switches switches_motions = {motions_switch_rows, 4};
