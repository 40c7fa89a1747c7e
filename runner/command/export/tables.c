// Trials as CSV and as JSON lines.
#include "formats.h"

static Error export_write_csv(const Export *export)
{
    return query_print(export->query, TABLE_CSV, export->file, export->arena);
}

static Error export_write_jsonl(const Export *export)
{
    return query_print(export->query, TABLE_JSON_LINES, export->file, export->arena);
}

const ExportFormat export_csv = {.write = export_write_csv};
const ExportFormat export_jsonl = {.write = export_write_jsonl};
