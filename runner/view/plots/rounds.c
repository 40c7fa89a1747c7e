// Numbers of the rounds of a search that learns: a line per search, the best search in front.
#include "plot.h"

#include <math.h>

enum { ROUNDS_DRAWN = 8000 };

Error plot_rounds_begin(const PlotData *data, bool several, Arena *arena, PlotRounds *rounds)
{
    RoundsKept kept;
    TRY(rounds_kept(data->campaign->database, several, data->maximize, &kept));
    const int64_t searches = kept.searches < PLOT_SEARCHES ? kept.searches : PLOT_SEARCHES;
    const int64_t all = kept.searches > 0 ? kept.rounds / kept.searches * searches : 0;
    *rounds = (PlotRounds){.round = ARENA_NEW(arena, PlotRound, 2 * ROUNDS_DRAWN),
                           .best_search = kept.best,
                           .every = 1 + all / ROUNDS_DRAWN,
                           .searches = searches,
                           .most = 2 * ROUNDS_DRAWN};
    return error_none();
}

PlotRound *plot_rounds_add(PlotRounds *rounds, int64_t search, int64_t number, double x)
{
    PlotRound *round = &rounds->round[rounds->count++];
    *round = (PlotRound){.search = search, .number = number, .x = x};
    for (int k = 0; k < PLOT_ROUND_VALUES; k++) round->value[k] = (double)NAN;
    rounds->last = fmax(rounds->last, x);
    return round;
}

PlotRange plot_rounds_range(const PlotRounds *rounds, int which)
{
    PlotRange range = plot_range();
    for (int64_t i = 0; i < rounds->count; i++) plot_widen(&range, rounds->round[i].value[which]);
    return range;
}

static void rounds_lines(const PlotRounds *rounds, int which, bool best, PlotPanel *panel)
{
    SvgPath path = {0};
    bool open = false;
    for (int64_t i = 0; i < rounds->count; i++) {
        const PlotRound *round = &rounds->round[i];
        const bool first = i == 0 || round[-1].search != round->search;
        if ((round->search == rounds->best_search) != best) continue;
        if (first && open) svg_path_end(&path);
        if (first) path = svg_path(panel->plot->out, best ? "bl" : "li");
        open = true;
        const double value = round->value[which];
        svg_path_to(&path, plot_at(&panel->x, round->x), isfinite(value) ? plot_at(&panel->y, value) : (double)NAN);
    }
    if (open) svg_path_end(&path);
}

void plot_rounds(const PlotRounds *rounds, int which, PlotPanel *panel)
{
    rounds_lines(rounds, which, false, panel);
    rounds_lines(rounds, which, true, panel);
}
