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
    FILE *out;
    Arena *arena;
} Report;

typedef struct ReportSection {
    const char *id, *link, *title, *several; // several: its title for several objectives; NULL: the same
    Error (*write)(const Report *report, const struct ReportSection *section);
    bool (*has)(const Report *report); // NULL: every report has it
} ReportSection;

static Error report_best(const Report *report, const ReportSection *section)
{
    (void)section;
    return report_best_table(report->campaign, report->out, report->arena);
}

static Error report_plot(const Report *report, const ReportSection *section)
{
    const PlotKind *kind = plot_kind_find(section->id);
    const char *nothing = kind->nothing(report->data, report->arena);
    Plot plot = {.out = report->out, .page = true};
    if (nothing != NULL) {
        fputs("<p class=\"none\">Nothing to show: ", report->out);
        put_markup(report->out, nothing);
        fputs(".</p>\n", report->out);
        return error_none();
    }
    fputs("<p class=\"caption\">", report->out);
    put_markup(report->out, kind->caption);
    fputs("</p>\n<div class=\"panels\">\n", report->out);
    TRY(kind->draw(report->data, &plot, report->arena));
    fputs("</div>\n", report->out);
    return error_none();
}

static void report_put_motion_words(const Report *report, const ReplayResult *result, const ReplayTrace *trace)
{
    fprintf(report->out, "<p class=\"caption\">Trial %" PRId64 ", replicate %d, ", result->trial,
            trace->request.replicate);
    if (spec_several(&report->campaign->spec)) {
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
    fputs(" Shaded in the curves: on the ground.</p>\n", report->out);
}

static Error report_draw_motion(const Report *report, const ReplayTrace *trace)
{
    Plot plot = {.out = report->out, .page = true};
    if (trace_drawing(trace) != NULL) TRY(trace_put_motions(&trace, 1, report->out));
    fputs("<div class=\"panels\">\n", report->out);
    trace_plot_phases(trace, &plot);
    trace_plot_series(trace, &plot);
    fputs("</div>\n", report->out);
    return error_none();
}

// Of a model in time: the first seconds of the best trial.
static Error report_motion(const Report *report, const ReportSection *section)
{
    const Configured *configured = &report->campaign->spec.configured;
    const double tick = configured->tick_duration, duration = tick * (double)configured->ticks;
    ReplayRequest request = {.window = {0, 12}, .drawn = true, .coarser = true};
    ReplayResult result;
    ReplayTrace trace;
    (void)section;
    if (!(tick > 0) || report->data->n_best == 0) {
        fprintf(report->out, "<p class=\"none\">Nothing to show: %s.</p>\n",
                tick > 0 ? "no trial has a fitness" : "the model has no time");
        return error_none();
    }
    request.trial = report->data->best_id[0];
    request.sample = tick * fmax(1, floor(fmax(0.005, duration / 20000) / tick + 0.5));
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

static bool report_has_iterations(const Report *report) { return iterations_are_shown(report->campaign); }
static bool report_has_motion(const Report *report) { return !iterations_are_shown(report->campaign); }

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

static const ReportSection report_sections[] = {
    {"best", "Best", "Best trials", "Trials of the front", report_best, NULL},
    {"motion", "Motion", "The best motion", "A motion of the front", report_motion, report_has_motion},
    {"iterations", "Iterations", "The best trial's iterations", "Iterations of a trial of the front", report_iterations,
     report_has_iterations},
    {"convergence", "Convergence", "Convergence", NULL, report_plot, NULL},
    {"scatter", "Gains", "Fitness against each gain", NULL, report_plot, NULL},
    {"importance", "Importance", "Importance", NULL, report_plot, NULL},
    {"pairs", "Pairs", "Pairs of gains", NULL, report_plot, NULL},
    {"parallel", "Parallel", "Parallel coordinates", NULL, report_plot, NULL},
    {"pareto", "Trade-offs", "Trade-offs", "The front", report_plot, NULL},
    {"failures", "Failures", "Failures", NULL, report_plot, NULL},
    {"timings", "Batches", "Batches", NULL, report_plot, NULL},
    {"spec", "Spec", "Spec", NULL, report_spec, NULL},
    {"provenance", "Origin", "Where it comes from", NULL, report_provenance, NULL},
};
enum { REPORT_SECTIONS = sizeof report_sections / sizeof *report_sections };

// Of several objectives the front is drawn before all else.
static const ReportSection *report_section(const Spec *spec, int place)
{
    int first = 0;
    while (spec_several(spec) && strcmp(report_sections[first].id, "pareto") != 0) first++;
    return &report_sections[place == 0 ? first : place <= first ? place - 1 : place];
}

// ---- the page -------------------------------------------------------------------------------------------------------

static bool report_has(const Report *report, const ReportSection *section)
{
    return section->has == NULL || section->has(report);
}

static void report_navigation(const Report *report)
{
    FILE *out = report->out;
    fputs("<nav aria-label=\"Sections\"><ul>", out);
    for (int s = 0; s < REPORT_SECTIONS; s++) {
        const ReportSection *section = report_section(&report->campaign->spec, s);
        if (report_has(report, section)) fprintf(out, "<li><a href=\"#%s\">%s</a></li>", section->id, section->link);
    }
    fputs("</ul></nav>\n", out);
}

static Error report_body(const Report *report)
{
    TRY(report_head(report->campaign, report->data, report->out, report->arena));
    const Spec *spec = &report->campaign->spec;
    report_navigation(report);
    fputs("<main>\n", report->out);
    for (int s = 0; s < REPORT_SECTIONS; s++) {
        const ReportSection *section = report_section(spec, s);
        const char *title = spec_several(spec) && section->several != NULL ? section->several : section->title;
        if (!report_has(report, section)) continue;
        fprintf(report->out, "<section id=\"%s\">\n<h2>%s</h2>\n", section->id, title);
        TRY(section->write(report, section));
        fputs("</section>\n", report->out);
    }
    fputs("</main>\n", report->out);
    return error_none();
}

Error report_write(const StoredCampaign *campaign, const PlotData *data, const BackendOptions *backend, FILE *out,
                   Arena *arena)
{
    const Report report = {.campaign = campaign, .data = data, .backend = backend, .out = out, .arena = arena};
    const char *style;
    TRY(report_style(arena, &style));
    page_start(out, campaign->name, style);
    TRY(report_body(&report));
    page_finish(out);
    return error_none();
}
