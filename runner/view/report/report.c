// The report: a page of sections, each from the campaign's database. The plots are those of `plot`. The motion is the
// best trial's, simulated again, which also checks that the stored numbers can be computed again.
#include "report.h"

#include "trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- colours --------------------------------------------------------------------------------------------------------

// Plots have the colours of the page: light, dark if the system or the reader asks for it, and light on paper.
Error report_style(Arena *arena, const char **style)
{
    TextStream rules;
    TRY(text_stream_open("the colours of a page", &rules));
    plot_style(rules.out, "", false);
    fputs("@media screen{\n", rules.out);
    plot_style(rules.out, ":root[data-theme=dark]", true);
    fputs("}\n@media screen and (prefers-color-scheme:dark){\n", rules.out);
    plot_style(rules.out, ":root:not([data-theme=light])", true);
    fputs("}\n", rules.out);
    const Error error = text_stream_close(&rules);
    *style = error.kind == OK ? arena_copy(arena, rules.text) : "";
    free(rules.text);
    return error;
}

// ---- trials that are simulated again --------------------------------------------------------------------------------

void report_put_replayed(const Report *report, const ReplayResult *result, const ReplayTrace *trace)
{
    FILE *out = report->out;
    const Spec *spec = &report->campaign->spec;
    fprintf(out, "<p class=\"caption\">Trial %" PRId64 ", ", result->trial);
    if (spec->replicates.count > 1) fprintf(out, "replicate %d, ", trace->request.replicate);
    if (report->data->n_best == 0) fputs("which failed, ", out);
    if (report->data->n_best > 0 && spec_several(spec)) {
        fputs("the best in <code>", out);
        put_markup(out, report->data->value_name);
        fputs("</code>, ", out);
    }
    fputs("simulated again by this program: ", out);
    if (result->equal) {
        fputs("every number is the stored one, to the bit.", out);
        return;
    }
    fputs("<strong>it differs from what is stored: ", out);
    put_markup(out, result->difference);
    fputs("</strong>.", out);
}

Error report_put_not_replayed(const Report *report, const Error *error)
{
    if (error->kind == ERROR_INTERRUPTED) return *error;
    fputs("<p class=\"none\">Not simulated again: ", report->out);
    put_markup(report->out, error->text);
    fputs(".</p>\n", report->out);
    return error_none();
}

#define REPORT_MOTION 12.0 // s that are simulated again

// ---- motions of more trials -----------------------------------------------------------------------------------------

enum {
    REPORT_FAILED = 2,              // motions of each kind of failure
    REPORT_REPLICATES = 7,          // more replicates of the shown trial
    REPORT_MOTIONS_BYTES = 1300000, // of all motions but the first
};
#define REPORT_FRAME 0.04 // s between two frames, at most

Error report_closer(const Report *report, int64_t **trials, int *count)
{
    const PlotData *data = report->data;
    const Spec *spec = &report->campaign->spec;
    TrialColumns all;
    const int most = report->options->motions + REPORT_FAILED * spec->configured.n_failures;
    *trials = ARENA_NEW(report->arena, int64_t, most + 1);
    for (int b = 1; b < data->n_best && b < report->options->motions; b++) (*trials)[(*count)++] = data->best_id[b];
    if (report->options->motions == 0) return error_none();
    TRY(trial_columns(report->campaign->database, spec, report->arena, &all));
    for (int f = 1; f < spec->configured.n_failures; f++) {
        Condition failed;
        int64_t *ids, found = 0;
        const TrialOrder by = {"id", false};
        if (data->failures[f] == 0) continue;
        TRY(condition_read(&all, arena_format(report->arena, "failure = '%s'", spec->configured.failures[f]),
                           report->arena, &failed));
        TRY(trials_ordered(report->campaign->database, &all, &failed, &by, 1, REPORT_FAILED, NULL, report->arena, &ids,
                           &found));
        for (int64_t i = 0; i < found && i < REPORT_FAILED; i++) (*trials)[(*count)++] = ids[i];
    }
    return error_none();
}

// Puts one more motion into the page. A trial that can't be simulated again, or differs from what is stored, is left
// out.
static Error report_another_motion(const Report *report, const ReplayRequest *request)
{
    const size_t used = report->arena->used;
    ReplayResult result;
    ReplayTrace trace;
    const Error error =
        campaign_trace(report->campaign, request, &report->options->backend, report->arena, &result, &trace);
    if (error.kind == ERROR_INTERRUPTED) return error;
    if (error.kind == OK && result.equal) TRY(trace_put_another(&trace, report->out, report->arena));
    arena_rewind(report->arena, used);
    return error_none();
}

// Puts the motions of other replicates of the shown trial, and of more trials, into the page, each with so few frames
// that all fit.
static Error report_more_motions(const Report *report, const ReplayTrace *shown)
{
    int64_t *trials;
    int count = 0;
    const Drawing *drawing = trace_drawing(shown);
    const int replicates = report->campaign->spec.replicates.count - 1,
              others = replicates < REPORT_REPLICATES ? replicates : REPORT_REPLICATES;
    TRY(report_closer(report, &trials, &count));
    if (count + others == 0 || drawing == NULL) return error_none();
    const double frames = (double)(REPORT_MOTIONS_BYTES / (count + others) / trace_frame_bytes(drawing));
    ReplayRequest request = shown->request;
    const Configured *configured = &report->campaign->spec.configured;
    const double tick = configured->tick_duration, duration = fmin(REPORT_MOTION, tick * (double)configured->ticks);
    request.window[1] = fmin(duration, frames * REPORT_FRAME);
    const double each = request.window[1] / frames;
    request.sample = fmax(request.sample, tick * ceil(each / tick));
    for (int r = 1; r <= others && report->options->motions > 0; r++) {
        request.replicate = r;
        TRY(report_another_motion(report, &request));
    }
    request.replicate = shown->request.replicate;
    for (int i = 0; i < count; i++) {
        request.trial = trials[i];
        if (request.trial != shown->request.trial) TRY(report_another_motion(report, &request));
    }
    return error_none();
}

static Error report_draw_motion(const Report *report, const ReplayTrace *trace)
{
    Plot plot = {.out = report->out, .page = true};
    if (trace_drawing(trace) != NULL) TRY(trace_put_motions(&trace, 1, report->out, report->arena));
    fputs("<div class=\"panels\">\n", report->out);
    trace_plot_phases(trace, &plot, report->arena);
    trace_plot_series(trace, &plot, report->arena);
    fputs("</div>\n", report->out);
    trace_put_constants(trace, report->out, report->arena);
    return report_more_motions(report, trace);
}

// The first seconds of the best trial, or of a failed one if all failed.
static Error report_motion(const Report *report)
{
    const Configured *configured = &report->campaign->spec.configured;
    const double tick = configured->tick_duration, duration = tick * (double)configured->ticks;
    ReplayRequest request = {
        .trial = plot_shown_trial(report->data), .window = {0, REPORT_MOTION}, .drawn = true, .coarser = true};
    ReplayResult result;
    ReplayTrace trace;
    request.sample = tick * fmax(1, floor(fmax(0.005, duration / 20000) / tick + 0.5));
    const Error error =
        campaign_trace(report->campaign, &request, &report->options->backend, report->arena, &result, &trace);
    if (error.kind != OK) return report_put_not_replayed(report, &error);
    report_put_replayed(report, &result, &trace);
    if (duration > REPORT_MOTION && configured_iterates(configured))
        fprintf(report->out, " The first %.0f of %s iterations.", REPORT_MOTION, text_number(duration).text);
    else if (duration > REPORT_MOTION)
        fprintf(report->out, " The first %.0f s of %s.", REPORT_MOTION, text_duration(duration).text);
    const char *shaded = trace_shaded(&trace, report->arena);
    if (shaded[0] != '\0') fprintf(report->out, " Shaded in the curves: %s.", shaded);
    if (trace_has_recorded(&trace)) fputs(" Dots in the curves: the recorded motion.", report->out);
    fputs("</p>\n", report->out);
    return report_draw_motion(report, &trace);
}

// ---- sections -------------------------------------------------------------------------------------------------------

typedef struct ReportSection {
    const char *id, *link;                // of the page's element; in the navigation
    const char *title;                    // NULL: the plot's
    const char *several, *only, *failed;  // titles for several objectives, one trial, no fitness; NULL: `title`
    Error (*write)(const Report *report); // NULL: the section is the plot of the name `id`
    bool (*has)(const Report *report);    // NULL: always; a plot must also have something to draw
    const char *(*named)(const Report *report, const char **link); // another title and link; NULL: those above
} ReportSection;

static bool report_has_trial(const Report *report) { return plot_shown_trial(report->data) >= 0; }
static bool report_has_best(const Report *report) { return report->data->n_best > 0; }
static bool report_has_several_best(const Report *report) { return report->data->n_best > 1; }
static bool report_predicts(const Report *report) { return search_predicts(report->data->campaign->spec.method); }

static bool report_has_several_gains(const Report *report)
{
    return report_has_several_best(report) && report->data->n_varied > 1;
}
static bool report_has_iterations(const Report *report)
{
    return iterations_are_shown(report->campaign) && report_has_trial(report);
}
static bool report_has_motion(const Report *report)
{
    return !iterations_are_shown(report->campaign) && report->campaign->spec.configured.tick_duration > 0 &&
           report_has_trial(report);
}
// The order of trials means something in a search and among random points, but not in a grid or a list.
static bool report_has_convergence(const Report *report)
{
    const SearchMethod *method = report->campaign->spec.method;
    const bool drawn = method->wants_range && method->sensitivity == NULL;
    return (search_learns(method) || drawn) && report_has_several_best(report);
}
static bool report_has_batches(const Report *report) { return report->batches > 1; }

// Two parameters have one map.
static const char *report_name_pairs(const Report *report, const char **link)
{
    const PlotData *data = report->data;
    if (data->n_varied != 2) return NULL;
    const int x = data->order[0] < data->order[1] ? data->order[0] : data->order[1];
    *link = "Map";
    return arena_format(report->arena, "%s over %s and %s",
                        spec_several(&report->campaign->spec) ? data->value_name : "Fitness", data->gain[x].name,
                        data->gain[data->order[0] + data->order[1] - x].name);
}

static const ReportSection report_sections[] = {
    {.id = "best",
     .link = "Best",
     .title = "Best trials",
     .several = "Trials of the front",
     .only = "The trial",
     .write = report_best,
     .has = report_has_best},
    {.id = "explore", .link = "Explore", .title = "Explore", .write = report_explore, .has = report_has_explore},
    {.id = "sums", .link = "All trials", .title = "All trials", .write = report_sums, .has = report_has_sums},
    {.id = "motion",
     .link = "Motion",
     .title = "The best motion",
     .several = "A motion of the front",
     .only = "The motion",
     .failed = "The motion of a trial that failed",
     .write = report_motion,
     .has = report_has_motion},
    {.id = "iterations",
     .link = "Iterations",
     .title = "The best trial's iterations",
     .several = "Iterations of a trial of the front",
     .only = "The iterations",
     .failed = "The iterations of a trial that failed",
     .write = report_iterations,
     .has = report_has_iterations},
    {.id = "fit", .link = "Fit", .title = "What was fitted", .write = report_fit, .has = report_has_fit},
    {.id = "gradient",
     .link = "Gradient",
     .title = "What moves the objective",
     .write = report_slopes,
     .has = report_has_slopes},
    {.id = "convergence", .link = "Convergence", .has = report_has_convergence},
    {.id = "predictions", .link = "Predictions", .has = report_predicts},
    {.id = "outer", .link = "Outer points"},
    {.id = "scatter", .link = "Parameters", .has = report_has_several_best},
    {.id = "importance", .link = "Importance", .has = report_has_several_gains},
    {.id = "pairs", .link = "Pairs", .has = report_has_several_gains, .named = report_name_pairs},
    {.id = "pareto", .link = "Trade-offs", .several = "The front", .has = report_has_several_best},
    {.id = "failures", .link = "Failures"},
    {.id = "timings", .link = "Batches", .has = report_has_batches},
    {.id = "spec", .link = "Spec", .title = "Spec", .write = report_spec},
    {.id = "provenance", .link = "Origin", .title = "Where it comes from", .write = report_provenance},
};
enum { REPORT_SECTIONS = sizeof report_sections / sizeof *report_sections };

static bool report_has(const Report *report, const ReportSection *section)
{
    const PlotKind *kind = section->write == NULL ? plot_kind_find(section->id) : NULL;
    if (kind != NULL && kind->nothing(report->data, report->arena) != NULL) return false;
    return section->has == NULL || section->has(report);
}

// ---- order and titles of sections -----------------------------------------------------------------------------------

static bool report_is_failed(const Report *report) { return report->data->n_best == 0; }
static bool report_is_several(const Report *report) { return spec_several(&report->campaign->spec); }
static bool report_is_sensitivity(const Report *report) { return report->campaign->spec.method->sensitivity != NULL; }
static bool report_is_centered(const Report *report) { return report->campaign->spec.method == &search_centered; }
static bool report_is_map(const Report *report)
{
    return report->campaign->spec.method == &search_grid && report->data->n_varied == 2;
}

// The section that such a campaign was run for stands first.
static const struct {
    bool (*is)(const Report *report);
    const char *id;
} report_leads[] = {{report_is_failed, "failures"},
                    {report_is_several, "pareto"},
                    {report_is_sensitivity, "importance"},
                    {report_is_centered, "scatter"},
                    {report_is_map, "pairs"}};

static int report_lead(const Report *report)
{
    for (size_t i = 0; i < sizeof report_leads / sizeof *report_leads; i++) {
        int s = 0;
        while (strcmp(report_sections[s].id, report_leads[i].id) != 0) s++;
        if (report_leads[i].is(report) && report_has(report, &report_sections[s])) return s;
    }
    return 0;
}

// order[REPORT_SECTIONS]: the sections that have something to show. Returns their number.
static int report_order(const Report *report, const ReportSection **order)
{
    int count = 0;
    const int first = report_lead(report);
    for (int position = 0; position < REPORT_SECTIONS; position++) {
        const int s = position == 0 ? first : position <= first ? position - 1 : position;
        if (report_has(report, &report_sections[s])) order[count++] = &report_sections[s];
    }
    return count;
}

static const char *report_title(const Report *report, const ReportSection *section, const char **link)
{
    *link = section->link;
    const char *named = section->named != NULL ? section->named(report, link) : NULL;
    if (named != NULL) return named;
    if (section->failed != NULL && report_is_failed(report)) return section->failed;
    if (section->only != NULL && report->data->trials == 1) return section->only;
    if (section->several != NULL && report_is_several(report)) return section->several;
    return section->title != NULL ? section->title : plot_kind_find(section->id)->title;
}

// ---- the page -------------------------------------------------------------------------------------------------------

static Error report_write_plot(const Report *report, const PlotKind *kind)
{
    Plot plot = {.out = report->out, .page = true, .name = kind->title};
    fputs("<p class=\"caption\">", report->out);
    put_markup(report->out, kind->text != NULL ? kind->text : kind->caption(report->data, report->arena));
    fputs("</p>\n<div class=\"panels\">\n", report->out);
    TRY(kind->draw(report->data, &plot, report->arena));
    fputs("</div>\n", report->out);
    return error_none();
}

static void report_navigation(const Report *report, const ReportSection *const *order, int count)
{
    const char *link;
    fputs("<nav aria-label=\"Sections\"><ul>", report->out);
    for (int s = 0; s < count; s++) {
        report_title(report, order[s], &link);
        fprintf(report->out, "<li><a href=\"#%s\">%s</a></li>", order[s]->id, link);
    }
    fputs("</ul></nav>\n", report->out);
}

static Error report_body(const Report *report)
{
    const ReportSection *order[REPORT_SECTIONS];
    const int count = report_order(report, order);
    const char *link;
    FILE *out = report->out;
    TRY(report_head(report));
    report_navigation(report, order, count);
    fputs("<main>\n", out);
    for (int s = 0; s < count; s++) {
        const ReportSection *section = order[s];
        fprintf(out, "<section id=\"%s\">\n<h2>", section->id);
        put_markup(out, report_title(report, section, &link));
        fputs("</h2>\n", out);
        TRY(section->write != NULL ? section->write(report) : report_write_plot(report, plot_kind_find(section->id)));
        fputs("</section>\n", out);
    }
    fputs("</main>\n", out);
    return error_none();
}

Error report_write(const StoredCampaign *campaign, const PlotData *data, const ReportOptions *options, FILE *out,
                   Arena *arena)
{
    Report report = {.campaign = campaign, .data = data, .options = options, .out = out, .arena = arena};
    const char *style;
    TRY(batches_count(campaign->database, &report.batches));
    TRY(report_style(arena, &style));
    page_start(out, campaign->name, style);
    TRY(report_body(&report));
    page_finish(out);
    return error_none();
}
