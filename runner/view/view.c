// What the results mean: the unit of this floor. view.h has its contracts.
//
// The host computes with one lane on every processor (sim/real.h).
#ifndef HOPSCOTCH_SCALAR
#define HOPSCOTCH_SCALAR
#endif

// statistics and queries
#include "analysis/statistics.c"
#include "analysis/verify.c"
#include "analysis/verify_run.c"
#include "analysis/query.c"

// pictures of a campaign
#include "plots/data.c"
#include "plots/panel.c"
#include "plots/convergence.c"
#include "plots/scatter.c"
#include "plots/pairs.c"
#include "plots/parallel.c"
#include "plots/importance.c"
#include "plots/failures.c"
#include "plots/pareto.c"
#include "plots/timings.c"
#include "plots/plot.c"

// the page of a campaign; the motion of a trial
#include "report/trace_constant.c"
#include "report/trace_plot.c"
#include "report/trace_write.c"
#include "report/trace_page.c"
#include "report/trace_terminal.c"
#include "report/report.c"
#include "report/iterations.c"
#include "report/tables.c"
