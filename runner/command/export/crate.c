// A campaign as an RO-Crate: a folder with its spec, the files of the spec, trials and arrays, and in
// ro-crate-metadata.json what they are, which program made them of what, and when.
//
// Sources: RO-Crate 1.2 (w3id.org/ro/crate/1.2); Process Run Crate 0.5 (w3id.org/ro/wfrun/process/0.5). What the
// campaign does not know (its licence, its authors) is said by options, or left out.
#include "formats.h"

#include <inttypes.h>
#include <string.h>

static const Switch crate_rows[] = {
    {"crate", SWITCH_TEXT, "FOLDER", 0, 0,
     "a new folder to publish: spec, trials (CSV) and arrays (HDF5), described as an RO-Crate; needs --license"},
    {"license", SWITCH_TEXT, "LICENSE", 0, 0,
     "of the crate: an identifier of SPDX such as CC-BY-4.0, a URL, or words on what others may do with it"},
    {"author", SWITCH_TEXTS, "AUTHOR", 0, 0,
     "of the crate, who also ran the campaign: \"NAME\" or \"NAME <https://orcid.org/ID>\"; repeatable"},
    {"program-url", SWITCH_TEXT, "URL", 0, 0,
     "where others get the program that ran the campaign; RO-Crate 1.2 asks for it"},
};
const Switches switches_crate = {crate_rows, sizeof crate_rows / sizeof *crate_rows};

enum { CRATE_FILES_OWN = 4, CRATE_PIECE = 1 << 20, CRATE_COPY_MAX = 1 << 30 };

// A file of the crate.
typedef struct CrateFile {
    const char *id, *name, *description, *format;
    bool result; // of the run; else the run read it
    int64_t bytes;
    Sha256Text sha256;
} CrateFile;

typedef struct CratePerson {
    const char *id, *name;
} CratePerson;

typedef struct Crate {
    const CommandLine *line;
    const StoredCampaign *campaign;
    StatusReport status;
    StoredText text;
    Sha256Text digest;
    const char *folder; // where it is made
    CrateFile *files;   // [n_files] in the order of the graph
    int n_files;
    char **kept; // [n_kept] names of the files of the spec, their digests
    int n_kept;
    const char *license; // a URL, or words
    const char *program; // identifier of the program in the graph: its URL, or its name
    CratePerson *people; // [n_people]
    int n_people;
    Json json;
} Crate;

// ---- options --------------------------------------------------------------------------------------------------------

static bool crate_is_url(const char *text)
{
    const bool scheme = strncmp(text, "https://", 8) == 0 || strncmp(text, "http://", 7) == 0;
    return scheme && strpbrk(text, " <>\"{}|\\^`") == NULL;
}

static bool crate_is_spdx(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-+";
    return strspn(text, letters) == strlen(text) && strpbrk(text, "-.0123456789") != NULL;
}

static Error crate_read_license(Crate *crate)
{
    const char *given = switch_text(crate->line, "license", NULL);
    if (given == NULL || *given == '\0')
        return error_make(ERROR_USAGE,
                          "--crate needs --license, because an RO-Crate says what others may do with it: an "
                          "identifier such as CC-BY-4.0, a URL, or words");
    crate->license =
        crate_is_spdx(given) ? arena_format(crate->line->arena, "https://spdx.org/licenses/%s", given) : given;
    return error_none();
}

static Error crate_read_program(Crate *crate)
{
    const char *url = switch_text(crate->line, "program-url", NULL);
    crate->program = url != NULL ? url : "#hopscotch";
    if (url == NULL || crate_is_url(url)) return error_none();
    return error_make(ERROR_USAGE, "--program-url '%.100s' is no URL of http or https",
                      text_visible(url, crate->line->arena));
}

// "NAME <URL>" or "NAME".
static Error crate_read_person(Crate *crate, const char *given, int number)
{
    Arena *arena = crate->line->arena;
    char *name = arena_copy(arena, given), *open = strchr(name, '<');
    CratePerson *person = &crate->people[crate->n_people++];
    person->id = arena_format(arena, "#author_%d", number);
    if (open != NULL) {
        char *end = open + strlen(open) - 1;
        const bool closed = *end == '>';
        *open = *end = '\0';
        person->id = open + 1;
        if (!closed || !crate_is_url(person->id))
            return error_make(ERROR_USAGE, "--author '%.100s': write NAME, or NAME <URL> with the URL of an ORCID",
                              text_visible(given, arena));
    }
    for (size_t n = strlen(name); n > 0 && name[n - 1] == ' '; n--) name[n - 1] = '\0';
    person->name = name;
    if (*name == '\0') return error_make(ERROR_USAGE, "--author has no name");
    return error_none();
}

static Error crate_read_people(Crate *crate)
{
    int count;
    const char *const *given = switch_all(crate->line, "author", &count);
    crate->people = ARENA_NEW(crate->line->arena, CratePerson, count + 1);
    for (int i = 0; i < count; i++) TRY(crate_read_person(crate, given[i], i + 1));
    return error_none();
}

// ---- files ----------------------------------------------------------------------------------------------------------

static const char *crate_path(const Crate *crate, const char *id)
{
    return arena_format(crate->line->arena, "%s/%s", crate->folder, id);
}

// The size and the digest of a file as it lies on the disk.
static Error crate_add(Crate *crate, CrateFile file)
{
    const char *path = crate_path(crate, file.id);
    int descriptor;
    Sha256 hash;
    TRY(file_open_stored(path, &descriptor, &file.bytes));
    const size_t used = crate->line->arena->used;
    unsigned char *piece = ARENA_NEW(crate->line->arena, unsigned char, CRATE_PIECE);
    Error error = error_none();
    sha256_start(&hash);
    for (int64_t at = 0; at < file.bytes && error.kind == OK; at += CRATE_PIECE) {
        const size_t size = (size_t)(file.bytes - at < CRATE_PIECE ? file.bytes - at : CRATE_PIECE);
        error = file_read_at(descriptor, path, at, piece, size);
        if (error.kind == OK) sha256_add(&hash, piece, size);
    }
    file_close_stored(descriptor);
    arena_rewind(crate->line->arena, used);
    file.sha256 = sha256_finish(&hash);
    crate->files[crate->n_files++] = file;
    if (error.kind == OK && interrupt_requested() != 0) return error_make(ERROR_INTERRUPTED, "%s", interrupt_words());
    return error;
}

static Error crate_add_text(Crate *crate, const char *text, CrateFile file)
{
    bool standard;
    if (text == NULL) return error_none();
    TRY(output_write(crate_path(crate, file.id), text, strlen(text), crate->line->arena, &standard));
    return crate_add(crate, file);
}

// A file that an exporter writes.
static Error crate_add_export(Crate *crate, const ExportFormat *format, const Query *query, CrateFile file)
{
    Output output;
    Export export = {.campaign = crate->campaign, .query = query, .arena = crate->line->arena};
    TRY(output_open(crate_path(crate, file.id), crate->line->arena, &output));
    export.file = output.stream;
    export.path = output.temporary;
    TRY(output_close(&output, format->write(&export)));
    return crate_add(crate, file);
}

// The name that the spec gives a file with this digest; NULL: another one.
static const char *crate_name_of(const Spec *spec, const char *digest)
{
    for (int i = 0; i < spec->model->n_options; i++)
        if (spec->files[i].name != NULL && strcmp(spec->files[i].digest.hex, digest) == 0) return spec->files[i].name;
    return NULL;
}

static const char *crate_kept_folder(const Crate *crate)
{
    return arena_format(crate->line->arena, "%s/" CAMPAIGN_FILES, crate->campaign->folder);
}

static Error crate_find_kept(Crate *crate)
{
    const char *folder = crate_kept_folder(crate);
    if (!file_missing(folder)) TRY(folder_check_inside(folder));
    if (!file_missing(folder)) TRY(folder_list(folder, crate->line->arena, &crate->kept, &crate->n_kept));
    crate->files = ARENA_NEW(crate->line->arena, CrateFile, crate->n_kept + CRATE_FILES_OWN);
    return error_none();
}

// By the ending of its name.
static const char *crate_format_of(const char *name)
{
    static const char *const formats[][2] = {
        {".csv", "text/csv"}, {".xml", "application/xml"}, {".urdf", "application/xml"}, {".npz", "application/zip"}};
    const char *end = strrchr(name, '.');
    for (size_t k = 0; end != NULL && k < sizeof formats / sizeof *formats; k++)
        if (strcmp(end, formats[k][0]) == 0) return formats[k][1];
    return "application/octet-stream";
}

// The files that the spec names, as the campaign keeps them: spec.yaml in the crate can be run.
static Error crate_add_kept(Crate *crate)
{
    Arena *arena = crate->line->arena;
    if (crate->n_kept > 0) TRY(folder_add(crate_path(crate, CAMPAIGN_FILES)));
    for (int i = 0; i < crate->n_kept; i++) {
        const char *digest = crate->kept[i], *name = crate_name_of(&crate->campaign->spec, digest);
        const CrateFile file = {.id = arena_format(arena, CAMPAIGN_FILES "/%s", digest),
                                .name = name != NULL ? name : digest,
                                .description = "a file that the spec names, under its digest",
                                .format = crate_format_of(name != NULL ? name : "")};
        Bytes bytes;
        bool standard;
        TRY(file_read_stored(arena_format(arena, "%s/%s", crate_kept_folder(crate), digest), CRATE_COPY_MAX, arena,
                             &bytes));
        TRY(output_write(crate_path(crate, file.id), bytes.data, bytes.size, arena, &standard));
        TRY(crate_add(crate, file));
    }
    return error_none();
}

static Error crate_write_files(Crate *crate)
{
    Query trials;
    bool arrays;
    TRY(crate_find_kept(crate));
    TRY(crate_add_text(crate, crate->text.given,
                       (CrateFile){.id = "spec.yaml",
                                   .name = "spec",
                                   .description = "the experiment as it was asked for",
                                   .format = "application/yaml"}));
    TRY(crate_add_text(crate, crate->text.resolved,
                       (CrateFile){.id = "resolved.yaml",
                                   .name = "resolved spec",
                                   .description = "the spec with every default",
                                   .format = "application/yaml"}));
    TRY(crate_add_kept(crate));
    TRY(command_report_rows(crate->line, crate->campaign));
    TRY(command_select(crate->line, crate->campaign, 0, "all", &trials));
    TRY(crate_add_export(
        crate, &export_csv, &trials,
        (CrateFile){.id = "trials.csv",
                    .name = "trials",
                    .description = "a row for each stored trial: parameters, fitness, metrics, failure",
                    .format = "text/csv",
                    .result = true}));
    TRY(export_has_arrays(crate->campaign, crate->line->arena, &arrays));
    if (!arrays) return error_none();
    return crate_add_export(crate, &export_hdf5, NULL,
                            (CrateFile){.id = "arrays.h5",
                                        .name = "arrays",
                                        .description = "recorded trajectories and rows of the solver",
                                        .format = "application/x-hdf5",
                                        .result = true});
}

// ---- words on them --------------------------------------------------------------------------------------------------

#define CRATE_PROFILE "https://w3id.org/ro/wfrun/process/0.5"

static void crate_open(Crate *crate, const char *id, const char *type)
{
    json_object(&crate->json, NULL);
    json_text(&crate->json, "@id", id);
    json_text(&crate->json, "@type", type);
}

static void crate_refer(Crate *crate, const char *name, const char *id)
{
    json_object(&crate->json, name);
    json_text(&crate->json, "@id", id);
    json_close(&crate->json, '}');
}

// A list of one is written as its item.
static void crate_refer_all(Crate *crate, const char *name, const char *const *ids, int count)
{
    if (count == 1) crate_refer(crate, name, ids[0]);
    if (count < 2) return;
    json_array(&crate->json, name);
    for (int i = 0; i < count; i++) crate_refer(crate, NULL, ids[i]);
    json_close(&crate->json, ']');
}

static void crate_refer_people(Crate *crate, const char *name)
{
    const char **ids = ARENA_NEW(crate->line->arena, const char *, crate->n_people + 1);
    for (int i = 0; i < crate->n_people; i++) ids[i] = crate->people[i].id;
    crate_refer_all(crate, name, ids, crate->n_people);
}

static void crate_put_descriptor(Crate *crate)
{
    crate_open(crate, "ro-crate-metadata.json", "CreativeWork");
    crate_refer(crate, "conformsTo", "https://w3id.org/ro/crate/1.2");
    crate_refer(crate, "about", "./");
    json_close(&crate->json, '}');
}

static void crate_put_root(Crate *crate)
{
    const StatusReport *status = &crate->status;
    const char **ids = ARENA_NEW(crate->line->arena, const char *, crate->n_files + 1);
    Json *json = &crate->json;
    crate_open(crate, "./", "Dataset");
    json_text(json, "name", crate->campaign->name);
    json_text(json, "description",
              arena_format(crate->line->arena,
                           "Campaign %s of the experiment %s, by hopscotch: model %s, search %s, %" PRId64 " trials.",
                           crate->campaign->name, status->experiment, status->model, status->method, status->trials));
    json_text(json, "datePublished", clock_utc().text);
    if (crate_is_url(crate->license))
        crate_refer(crate, "license", crate->license);
    else
        json_text(json, "license", crate->license);
    crate_refer_people(crate, "author");
    crate_refer(crate, "conformsTo", CRATE_PROFILE);
    crate_refer(crate, "identifier", "#digest");
    crate_refer(crate, "mentions", "#run");
    for (int i = 0; i < crate->n_files; i++) ids[i] = crate->files[i].id;
    crate_refer_all(crate, "hasPart", ids, crate->n_files);
    json_close(json, '}');
}

static void crate_put_files(Crate *crate)
{
    for (int i = 0; i < crate->n_files; i++) {
        const CrateFile *file = &crate->files[i];
        crate_open(crate, file->id, "File");
        json_text(&crate->json, "name", file->name);
        json_text(&crate->json, "description", file->description);
        json_text(&crate->json, "encodingFormat", file->format);
        json_text(&crate->json, "contentSize", arena_format(crate->line->arena, "%" PRId64, file->bytes));
        json_text(&crate->json, "sha256", file->sha256.hex);
        json_close(&crate->json, '}');
    }
}

static void crate_put_value(Crate *crate, const char *id, const char *name, const char *description, const char *value)
{
    crate_open(crate, id, "PropertyValue");
    json_text(&crate->json, "name", name);
    json_text(&crate->json, "description", description);
    json_text(&crate->json, "value", value);
    json_close(&crate->json, '}');
}

static const char *crate_set_id(const Crate *crate, int i)
{
    return arena_format(crate->line->arena, "#set_%d", i + 1);
}

static void crate_put_values(Crate *crate)
{
    const StoredCampaign *campaign = crate->campaign;
    Arena *arena = crate->line->arena;
    crate_put_value(crate, "#seed", "seed", "all random numbers come from it",
                    arena_format(arena, "%" PRIu64, campaign->spec.seed));
    for (int i = 0; i < crate->text.set.count; i++)
        crate_put_value(crate, crate_set_id(crate, i), "set", "a change to the spec by --set",
                        crate->text.set.items[i]);
    crate_put_value(crate, "#digest", "digest",
                    "SHA-256 of trials, search states and arrays, as `hopscotch digest` prints it", crate->digest.hex);
    crate_put_value(crate, "#spec_hash", "spec_hash", "SHA-256 of the canonical spec", campaign->hash);
    crate_put_value(crate, "#numerics_version", "numerics_version",
                    "programs with the same version compute the same bits",
                    arena_format(arena, "%d", campaign->numerics_version));
}

static void crate_put_program(Crate *crate)
{
    crate_open(crate, crate->program, "SoftwareApplication");
    json_text(&crate->json, "name", "hopscotch");
    json_text(&crate->json, "version", crate->campaign->program_version);
    if (crate_is_url(crate->program)) json_text(&crate->json, "url", crate->program);
    crate_refer(crate, "additionalProperty", "#numerics_version");
    json_close(&crate->json, '}');
}

static void crate_refer_inputs(Crate *crate)
{
    const char **ids = ARENA_NEW(crate->line->arena, const char *, crate->n_files + crate->text.set.count + 2);
    int n = 0;
    for (int i = 0; i < crate->n_files; i++)
        if (!crate->files[i].result) ids[n++] = crate->files[i].id;
    ids[n++] = "#seed";
    ids[n++] = "#spec_hash";
    for (int i = 0; i < crate->text.set.count; i++) ids[n++] = crate_set_id(crate, i);
    crate_refer_all(crate, "object", ids, n);
}

static void crate_refer_results(Crate *crate)
{
    const char **ids = ARENA_NEW(crate->line->arena, const char *, crate->n_files + 1);
    int n = 0;
    for (int i = 0; i < crate->n_files; i++)
        if (crate->files[i].result) ids[n++] = crate->files[i].id;
    crate_refer_all(crate, "result", ids, n);
}

// "2026-01-31T12:00:00Z"; a database may hold anything.
static bool crate_is_time(const char *text)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    if (text == NULL || strlen(text) != sizeof form - 1) return false;
    for (size_t k = 0; k < sizeof form - 1; k++)
        if (form[k] == '0' ? text[k] < '0' || text[k] > '9' : text[k] != form[k]) return false;
    return true;
}

static void crate_put_time(Crate *crate, const char *name, const char *time)
{
    if (crate_is_time(time))
        json_text(&crate->json, name, arena_format(crate->line->arena, "%.19s+00:00", time)); // validators take no Z
}

static void crate_put_run(Crate *crate)
{
    const StatusReport *status = &crate->status;
    Json *json = &crate->json;
    crate_open(crate, "#run", "CreateAction");
    json_text(json, "name", arena_format(crate->line->arena, "hopscotch run of %s", status->experiment));
    json_text(json, "description",
              arena_format(crate->line->arena, "%" PRId64 " trials, of which %" PRId64 " failed%s%s", status->trials,
                           status->failures, status->objective[0] != '\0' ? "; objective: " : "", status->objective));
    crate_refer(crate, "instrument", crate->program);
    crate_refer_people(crate, "agent");
    crate_put_time(crate, "startTime", status->started);
    crate_put_time(crate, "endTime", status->finished);
    if (strcmp(status->state, "done") == 0) json_text(json, "actionStatus", "http://schema.org/CompletedActionStatus");
    crate_refer_inputs(crate);
    crate_refer_results(crate);
    json_close(json, '}');
}

static void crate_put_people(Crate *crate)
{
    for (int i = 0; i < crate->n_people; i++) {
        crate_open(crate, crate->people[i].id, "Person");
        json_text(&crate->json, "name", crate->people[i].name);
        json_close(&crate->json, '}');
    }
}

static void crate_put_works(Crate *crate)
{
    json_object(&crate->json, NULL);
    json_text(&crate->json, "@id", CRATE_PROFILE);
    json_array(&crate->json, "@type");
    json_text(&crate->json, NULL, "CreativeWork");
    json_text(&crate->json, NULL, "Profile");
    json_close(&crate->json, ']');
    json_text(&crate->json, "name", "Process Run Crate");
    json_text(&crate->json, "version", "0.5");
    json_close(&crate->json, '}');
    if (!crate_is_url(crate->license)) return;
    crate_open(crate, crate->license, "CreativeWork");
    json_text(&crate->json, "name", switch_text(crate->line, "license", ""));
    json_text(&crate->json, "description", "the licence of this crate");
    json_close(&crate->json, '}');
}

static Error crate_write_metadata(Crate *crate)
{
    Json *json = &crate->json;
    Output output;
    TRY(output_open(crate_path(crate, "ro-crate-metadata.json"), crate->line->arena, &output));
    json_start(json, output.stream, true);
    json_object(json, NULL);
    json_text(json, "@context", "https://w3id.org/ro/crate/1.2/context");
    json_array(json, "@graph");
    crate_put_descriptor(crate);
    crate_put_root(crate);
    crate_put_files(crate);
    crate_put_run(crate);
    crate_put_program(crate);
    crate_put_values(crate);
    crate_put_people(crate);
    crate_put_works(crate);
    json_close(json, ']');
    json_close(json, '}');
    return output_close(&output, error_none());
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static Error crate_read(Crate *crate)
{
    const CommandLine *line = crate->line;
    CampaignLocation location;
    TRY(crate_read_license(crate));
    TRY(crate_read_people(crate));
    TRY(crate_read_program(crate));
    TRY(campaign_find(line, line->arguments[0], &location));
    TRY(status_read(&location, line->arena, &crate->status));
    if (crate->status.holder[0] != '\0')
        return error_make(ERROR_USER, "%.100s is in use by %.160s: its files would not fit together; wait for its end",
                          crate->campaign->name, crate->status.holder);
    TRY(campaign_text(&location, line->arena, &crate->text));
    return campaign_digest(crate->campaign, &crate->digest);
}

Error export_crate(const CommandLine *line, const StoredCampaign *campaign)
{
    Crate *crate = ARENA_NEW(line->arena, Crate, 1);
    OutputFolder folder;
    *crate = (Crate){.line = line, .campaign = campaign};
    TRY(crate_read(crate));
    interrupt_install(); // an interrupted export leaves no incomplete folder
    TRY(output_folder_open(switch_text(line, "crate", ""), line->arena, &folder));
    crate->folder = folder.temporary;
    Error error = crate_write_files(crate);
    if (error.kind == OK) error = crate_write_metadata(crate);
    TRY(output_folder_close(&folder, error, line->arena));
    fprintf(line->messages, "%s: %s trials, %d files\n", text_visible(folder.path, line->arena),
            text_count(crate->status.trials).text, crate->n_files);
    return error_none();
}
