// What a campaign recommends after a noisy search (view/analysis/recommend.c), for people and for programs.
#include "command.h"

#include <inttypes.h>
#include <math.h>

static void recommended_print_value(const Recommended *candidate, FILE *out)
{
    const Interval *interval = &candidate->interval;
    if (isnan(candidate->fresh))
        fputs("no fitness", out);
    else
        fprintf(out, "%.6g", candidate->fresh);
    if (!isnan(candidate->fresh) && !isnan(interval->low))
        fprintf(out, " (95 %%: %.6g to %.6g)", interval->low, interval->high);
    fprintf(out, " under %s fresh seed%s", text_count(candidate->seeds).text, candidate->seeds == 1 ? "" : "s");
    if (candidate->failed > 0) fprintf(out, ", of which %s failed", text_count(candidate->failed).text);
    if (candidate->violation > 0.0) fprintf(out, ", violation %.4g", candidate->violation);
    if (!isnan(candidate->fitness)) fprintf(out, "; %.6g in the search", candidate->fitness);
}

// "about 0.93": it is an estimate, from draws.
static Text32 recommended_probability(const Recommendation *recommendation)
{
    const double p = recommendation->probability;
    Text32 text;
    if (p > 0.995 || p < 0.005)
        snprintf(text.text, sizeof text.text, p > 0.995 ? "more than 0.99" : "less than 0.01");
    else
        snprintf(text.text, sizeof text.text, "about %.2f", p);
    return text;
}

// Which candidates the probability is among.
static const char *recommended_compared(const Recommendation *recommendation)
{
    if (recommendation->failing > 0 && recommendation->violating > 0)
        return " that violate no constraint and fail no more often,";
    if (recommendation->failing > 0) return " that fail no more often,";
    if (recommendation->violating > 0) return " that violate no constraint,";
    return recommendation->compared < recommendation->count ? " that have a fitness," : "";
}

// How sure the choice is, and what it took.
static void recommended_print_race(const Recommendation *recommendation, FILE *out)
{
    const int64_t equal = recommendation->count * recommendation->seeds;
    if (!isnan(recommendation->probability))
        fprintf(out, "\n          the best of the %d candidates%s with a probability of %s", recommendation->compared,
                recommended_compared(recommendation), recommended_probability(recommendation).text);
    else
        fprintf(out, "\n          of %d candidate%s; no probability, because %s", recommendation->count,
                recommendation->count == 1 ? "" : "s", recommendation->unknown);
    fprintf(out, "; %s simulations", text_count(recommendation->simulations).text);
    if (recommendation->simulations < equal) fprintf(out, " instead of %s in equal shares", text_count(equal).text);
}

void recommended_print(const Recommendation *recommendation, FILE *out)
{
    if (recommendation->best < 0) return;
    const Recommended *best = &recommendation->candidates[recommendation->best];
    fputs("\nfresh     ", out);
    if (best->trial >= 0)
        fprintf(out, "trial %" PRId64 " is recommended: ", best->trial);
    else
        fputs("the mean of the search is recommended: ", out);
    recommended_print_value(best, out);
    if (recommendation->best > 0) {
        fprintf(out, "\n          the best of the search, trial %" PRId64 ": ", recommendation->candidates[0].trial);
        recommended_print_value(&recommendation->candidates[0], out);
    }
    recommended_print_race(recommendation, out);
    fprintf(out, "\n          the recommended one is %s/%" PRId64 "\n", recommendation->run, best->there);
}

void recommended_print_left(const StoredCampaign *campaign, FILE *out, Arena *arena)
{
    bool left = false;
    const Error error = recommendation_left(campaign, arena, &left); // `resume` would say it
    if (error.kind == OK && left)
        fprintf(out, "\nfresh     the best trials have not all run under fresh seeds: `%s` does that\n",
                command_again(folder_of(campaign->folder, arena), "resume %.128s%s", campaign->name,
                              command_allow(campaign->spec.model))
                    .text);
}

void recommended_print_trial(const Recommendation *recommendation, int64_t trial, FILE *out)
{
    const Recommended *candidate = recommendation_of(recommendation, trial);
    if (candidate == NULL) return;
    fputs("fresh seeds: ", out);
    recommended_print_value(candidate, out);
    fprintf(out, " (%s/%" PRId64 ")\n", recommendation->run, candidate->there);
}

static void recommended_members(const Recommendation *recommendation, const Recommended *candidate, Json *json)
{
    if (candidate->trial >= 0) json_integer(json, "trial", candidate->trial);
    json_text(json, "what", candidate->trial >= 0 ? "trial" : "mean");
    json_number(json, "fitness", candidate->fitness);
    json_number(json, "fresh", candidate->fresh);
    json_number(json, "low", candidate->interval.low);
    json_number(json, "high", candidate->interval.high);
    json_integer(json, "seeds", candidate->seeds);
    json_integer(json, "failed", candidate->failed);
    json_text(json, "campaign", recommendation->run);
    json_integer(json, "trial_there", candidate->there);
}

void recommended_json(const Recommendation *recommendation, Json *json)
{
    if (recommendation->best < 0) return;
    json_object(json, "recommended");
    recommended_members(recommendation, &recommendation->candidates[recommendation->best], json);
    json_number(json, "probability", recommendation->probability);
    json_integer(json, "compared", recommendation->compared);
    json_integer(json, "simulations", recommendation->simulations);
    json_array(json, "candidates");
    for (int i = 0; i < recommendation->count; i++) {
        json_object(json, NULL);
        recommended_members(recommendation, &recommendation->candidates[i], json);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

void recommended_trial_json(const Recommendation *recommendation, int64_t trial, Json *json)
{
    const Recommended *candidate = recommendation_of(recommendation, trial);
    if (candidate == NULL) return;
    json_object(json, "fresh_seeds");
    recommended_members(recommendation, candidate, json);
    json_close(json, '}');
}
