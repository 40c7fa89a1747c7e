// The report: a page of sections, each from what the campaign's database holds. The plots are those of `plot`; the
// motion is the best trial's, simulated again, which also proves that its number can be had again.
#include "report.h"

#include "iterations.h"
#include "tables.h"
#include "trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- colours --------------------------------------------------------------------------------------------------------

// The plots follow the page: light, or dark if the system or the reader wants it, and light on paper.
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

// ---- sections -------------------------------------------------------------------------------------------------------

typedef struct Report {
    const StoredCampaign *campaign;
    const PlotData *data;
    const BackendOptions *backend;
    int64_t batches;
    FILE *out;
    Arena *arena;
} Report;

typedef struct ReportSection {
    const char *id, *link, *title, *several; // several: its title for several objectives; NULL: the same
    Error (*write)(const Report *report, const struct ReportSection *section);
    bool (*has)(const Report *report);                             // NULL: every report has it
    const char *(*named)(const Report *report, const char **link); // another title and link; NULL: those above
} ReportSection;

static Error report_best(const Report *report, const ReportSection *section)
{
    (void)section;
    return report_best_table(report->campaign, report->data, report->out, report->arena);
}

static Error report_plot(const Report *report, const ReportSection *section)
{
    const PlotKind *kind = plot_kind_find(section->id);
    Plot plot = {.out = report->out, .page = true};
    fputs("<p class=\"caption\">", report->out);
    put_markup(report->out, kind->caption(report->data, report->arena));
    fputs("</p>\n<div class=\"panels\">\n", report->out);
    TRY(kind->draw(report->data, &plot, report->arena));
    fputs("</div>\n", report->out);
    return error_none();
}

#define REPORT_MOTION 12.0 // s that are simulated again

static double report_duration(const Report *report)
{
    const Configured *configured = &report->campaign->spec.configured;
    return configured->tick_duration * (double)configured->ticks;
}

static void report_put_motion_words(const Report *report, const ReplayResult *result, const ReplayTrace *trace)
{
    fprintf(report->out, "<p class=\"caption\">Trial %" PRId64 ", ", result->trial);
    if (report->campaign->spec.replicates.count > 1) fprintf(report->out, "replicate %d, ", trace->request.replicate);
    if (report->data->n_best == 0) fputs("which failed, ", report->out);
    if (report->data->n_best > 0 && spec_several(&report->campaign->spec)) {
        fputs("the best in <code>", report->out);
        put_markup(report->out, report->data->value_name);
        fputs("</code>, ", report->out);
    }
    fputs("simulated again by this program: ", report->out);
    if (result->equal) {
        fputs("every number is the stored one, to the bit.", report->out);
    } else {
        fputs("<strong>it differs from what is stored: ", report->out);
        put_markup(report->out, result->difference);
        fputs("</strong>.", report->out);
    }
    const char *shaded = trace_shaded(trace, report->arena);
    if (report_duration(report) > REPORT_MOTION)
        fprintf(report->out, " The first %.0f s of %s.", REPORT_MOTION, text_duration(report_duration(report)).text);
    if (shaded[0] != '\0') fprintf(report->out, " Shaded in the curves: %s.", shaded);
    fputs("</p>\n", report->out);
}

static Error report_draw_motion(const Report *report, const ReplayTrace *trace)
{
    Plot plot = {.out = report->out, .page = true};
    if (trace_drawing(trace) != NULL) TRY(trace_put_motions(&trace, 1, report->out));
    fputs("<div class=\"panels\">\n", report->out);
    trace_plot_phases(trace, &plot);
    trace_plot_series(trace, &plot, report->arena);
    fputs("</div>\n", report->out);
    trace_put_constants(trace, report->out, report->arena);
    return error_none();
}

// Of a model in time: the first seconds of the best trial, or of one that failed if all did.
static Error report_motion(const Report *report, const ReportSection *section)
{
    const double tick = report->campaign->spec.configured.tick_duration;
    ReplayRequest request = {
        .trial = plot_shown_trial(report->data), .window = {0, REPORT_MOTION}, .drawn = true, .coarser = true};
    ReplayResult result;
    ReplayTrace trace;
    (void)section;
    request.sample = tick * fmax(1, floor(fmax(0.005, report_duration(report) / 20000) / tick + 0.5));
    const Error error = campaign_trace(report->campaign, &request, report->backend, report->arena, &result, &trace);
    if (error.kind == ERROR_INTERRUPTED) return error;
    if (error.kind != OK) { // a report without a motion is a report
        fputs("<p class=\"none\">Not simulated again: ", report->out);
        put_markup(report->out, error.text);
        fputs(".</p>\n", report->out);
        return error_none();
    }
    report_put_motion_words(report, &result, &trace);
    return report_draw_motion(report, &trace);
}

static Error report_iterations(const Report *report, const ReportSection *section)
{
    (void)section;
    return iterations_write(report->campaign, report->data, report->backend, report->out, report->arena);
}

static Error report_spec(const Report *report, const ReportSection *section)
{
    (void)section;
    return report_spec_texts(report->campaign, report->out, report->arena);
}

static Error report_provenance(const Report *report, const ReportSection *section)
{
    (void)section;
    return report_provenance_tables(report->campaign, report->out, report->arena);
}

// ---- which sections a campaign has something for --------------------------------------------------------------------

static bool report_has_best(const Report *report) { return report->data->n_best > 0; }
static bool report_has_iterations(const Report *report)
{
    return iterations_are_shown(report->campaign) && plot_shown_trial(report->data) >= 0;
}
static bool report_has_motion(const Report *report)
{
    return !iterations_are_shown(report->campaign) && report->campaign->spec.configured.tick_duration > 0 &&
           plot_shown_trial(report->data) >= 0;
}
static bool report_has_several_trials(const Report *report)
{
    return report->data->n_best > 1 && report->data->n_varied > 0;
}
static bool report_has_several_parameters(const Report *report)
{
    return report->data->n_best > 1 && report->data->n_varied > 1;
}
// The order of trials says something of a search, and of points that are drawn; not of a grid or a list.
static bool report_has_convergence(const Report *report)
{
    const SearchMethod *method = report->campaign->spec.method;
    const bool drawn = method->wants_range && method->sensitivity == NULL;
    return (search_learns(method) || drawn) && report->data->n_best > 1;
}
// One parameter's correlation is seen where its fitness is drawn.
static bool report_has_importance(const Report *report)
{
    return report->data->n_fitted >= 3 && report->data->n_varied > 1;
}
static bool report_has_pareto(const Report *report)
{
    return report->data->n_best > 1 && plot_pareto.nothing(report->data, report->arena) == NULL;
}
static bool report_has_failures(const Report *report)
{
    return plot_failures.nothing(report->data, report->arena) == NULL;
}
static bool report_has_batches(const Report *report) { return report->batches > 1; }

static const char *report_name_best(const Report *report, const char **link)
{
    if (report->data->trials == 1) *link = "Trial";
    return report->data->trials == 1 ? "The trial" : NULL;
}
static const char *report_name_motion(const Report *report, const char **link)
{
    (void)link;
    return report->data->n_best == 0   ? "The motion of a trial that failed"
           : report->data->trials == 1 ? "The motion"
                                       : NULL;
}
static const char *report_name_iterations(const Report *report, const char **link)
{
    (void)link;
    return report->data->n_best == 0   ? "The iterations of a trial that failed"
           : report->data->trials == 1 ? "The iterations"
                                       : NULL;
}
// Of two parameters there is one map.
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
    {"best", "Best", "Best trials", "Trials of the front", report_best, report_has_best, report_name_best},
    {"motion", "Motion", "The best motion", "A motion of the front", report_motion, report_has_motion,
     report_name_motion},
    {"iterations", "Iterations", "The best trial's iterations", "Iterations of a trial of the front", report_iterations,
     report_has_iterations, report_name_iterations},
    {"convergence", "Convergence", "Convergence", NULL, report_plot, report_has_convergence, NULL},
    {"scatter", "Parameters", "Fitness against each parameter", NULL, report_plot, report_has_several_trials, NULL},
    {"importance", "Importance", "Importance", NULL, report_plot, report_has_importance, NULL},
    {"pairs", "Pairs", "Pairs of parameters", NULL, report_plot, report_has_several_parameters, report_name_pairs},
    {"parallel", "Parallel", "Parallel coordinates", NULL, report_plot, report_has_several_parameters, NULL},
    {"pareto", "Trade-offs", "Trade-offs", "The front", report_plot, report_has_pareto, NULL},
    {"failures", "Failures", "Failures", NULL, report_plot, report_has_failures, NULL},
    {"timings", "Batches", "Batches", NULL, report_plot, report_has_batches, NULL},
    {"spec", "Spec", "Spec", NULL, report_spec, NULL, NULL},
    {"provenance", "Origin", "Where it comes from", NULL, report_provenance, NULL, NULL},
};
enum { REPORT_SECTIONS = sizeof report_sections / sizeof *report_sections };

// ---- their order ----------------------------------------------------------------------------------------------------

static bool report_is_failed(const Report *report) { return report->data->n_best == 0; }
static bool report_is_several(const Report *report) { return spec_several(&report->campaign->spec); }
static bool report_is_sensitivity(const Report *report) { return report->campaign->spec.method->sensitivity != NULL; }
static bool report_is_centered(const Report *report) { return report->campaign->spec.method == &search_centered; }
static bool report_is_map(const Report *report)
{
    return report->campaign->spec.method == &search_grid && report->data->n_varied == 2;
}

// What such a campaign was run for stands before all else.
static const struct {
    bool (*is)(const Report *report);
    const char *id;
} report_leads[] = {{report_is_failed, "failures"},
                    {report_is_several, "pareto"},
                    {report_is_sensitivity, "importance"},
                    {report_is_centered, "scatter"},
                    {report_is_map, "pairs"}};

static bool report_has(const Report *report, const ReportSection *section)
{
    return section->has == NULL || section->has(report);
}

static int report_lead(const Report *report)
{
    for (size_t i = 0; i < sizeof report_leads / sizeof *report_leads; i++) {
        int s = 0;
        while (strcmp(report_sections[s].id, report_leads[i].id) != 0) s++;
        if (report_leads[i].is(report) && report_has(report, &report_sections[s])) return s;
    }
    return 0;
}

static const ReportSection *report_section(const Report *report, int place)
{
    const int first = report_lead(report);
    return &report_sections[place == 0 ? first : place <= first ? place - 1 : place];
}

static const char *report_title(const Report *report, const ReportSection *section, const char **link)
{
    *link = section->link;
    const char *named = section->named != NULL ? section->named(report, link) : NULL;
    return named != NULL                                           ? named
           : report_is_several(report) && section->several != NULL ? section->several
                                                                   : section->title;
}

// ---- the page -------------------------------------------------------------------------------------------------------

static void report_navigation(const Report *report)
{
    FILE *out = report->out;
    fputs("<nav aria-label=\"Sections\"><ul>", out);
    for (int s = 0; s < REPORT_SECTIONS; s++) {
        const ReportSection *section = report_section(report, s);
        const char *link;
        report_title(report, section, &link);
        if (report_has(report, section)) fprintf(out, "<li><a href=\"#%s\">%s</a></li>", section->id, link);
    }
    fputs("</ul></nav>\n", out);
}

static Error report_body(const Report *report)
{
    TRY(report_head(report->campaign, report->data, report->out, report->arena));
    report_navigation(report);
    fputs("<main>\n", report->out);
    for (int s = 0; s < REPORT_SECTIONS; s++) {
        const ReportSection *section = report_section(report, s);
        const char *link, *title = report_title(report, section, &link);
        if (!report_has(report, section)) continue;
        fprintf(report->out, "<section id=\"%s\">\n<h2>", section->id);
        put_markup(report->out, title);
        fputs("</h2>\n", report->out);
        TRY(section->write(report, section));
        fputs("</section>\n", report->out);
    }
    fputs("</main>\n", report->out);
    return error_none();
}

Error report_write(const StoredCampaign *campaign, const PlotData *data, const BackendOptions *backend, FILE *out,
                   Arena *arena)
{
    Report report = {.campaign = campaign, .data = data, .backend = backend, .out = out, .arena = arena};
    const char *style;
    TRY(batches_count(campaign->database, &report.batches));
    TRY(report_style(arena, &style));
    page_start(out, campaign->name, style);
    TRY(report_body(&report));
    page_finish(out);
    return error_none();
}
