// io: everything that touches the world outside the process, and no physics. Files and locks, SHA-256, SQLite, HDF5
// shards, YAML trees with places, diagnostics, JSON, tables, progress.
#ifndef HOPSCOTCH_IO_H
#define HOPSCOTCH_IO_H

#include "../sim/sim.h"

#include <stdio.h>

typedef struct Bytes {
    unsigned char *data;
    size_t size;
} Bytes;

// ---- files (io/file.c): the one seam through which every file operation goes ----------------------------------------
// In a build with -DHOPSCOTCH_FAULTS the environment variable HOPSCOTCH_FAULT ("write:3:ENOSPC": the third write fails
// with ENOSPC, "write:3:SHORT" writes half, "write:3:KILL" kills the process there) makes any of them fail.
// All errors are ERROR_MACHINE, name the path and the operation, and carry the system's words.

// Writes folder/name so that after a crash or a power cut it is whole or absent: as folder/name.tmp first,
// short writes and EINTR handled, fsync, checked close, rename, fsync of the folder.
Error file_write(const char *folder, const char *name, const void *data, size_t size);
// Appends one line (a newline is added) with a single write; not synced.
Error file_append_line(const char *path, const char *line);
// The whole file, with a NUL after the end that `size` does not count. Error (user) if it is larger than `limit`.
Error file_read(const char *path, size_t limit, Arena *arena, Bytes *out);
// The same of a file in a campaign's folder, which may come from somebody else. Error also if it is no regular file: a
// link is not followed, a pipe is not waited for.
Error file_read_stored(const char *path, size_t limit, Arena *arena, Bytes *out);
// Error if something of that name is there and is no regular file (a link is none); no folder.
Error file_check_regular(const char *path);
bool file_is_link(const char *path);
Error folder_check_inside(const char *path);
Error file_rename(const char *from, const char *to); // and fsync of both folders
Error file_remove(const char *path);
bool file_exists(const char *path);
bool file_missing(const char *path); // known not to be there: a disk that fails, or a closed folder, leaves that open
Error file_size(const char *path, int64_t *bytes);
// Makes the folder and its parents, and syncs the parent.
Error folder_make(const char *path);
Error folder_add(const char *path); // in one that is there
// Names in the folder, sorted by bytes, without "." and "..".
Error folder_list(const char *path, Arena *arena, char ***names, int *count);
// "<what> could not be written: <the words of errno>; <what to do>"
Error file_unwritten(const char *what);
// What a folder and all in it take on the disk; its removal with all that it holds. Links are not followed
// (io/folder.c).
Error folder_bytes(const char *path, int64_t *bytes);
void folder_remove_empty(const char *path); // unless something lies in it
Error folder_remove(const char *path, Arena *arena);
Error disk_free(const char *path, int64_t *bytes);
// The file system's name if it is one on which SQLite's locks or fsync can't be trusted (nfs, cifs, 9p, ...), else "".
const char *network_file_system(const char *path);

// ---- results roots (io/inside.c) ------------------------------------------------------------------------------------

// From now on, whatever is done to a file below the folder, in any thread, reaches it through no link: neither in its
// path, behind the folder's, nor at its end. Files that the user names to be read (file_read) are not concerned.
// `folder`: as the paths of those files begin; it need not be there yet.
Error inside_add_root(const char *folder);

// ---- processors (io/processors.c) -----------------------------------------------------------------------------------

// Threads that are worth starting: those of the affinity mask, and of the quota of the control groups.
int processors_allowed(void);
// Seconds of processors a second that the control groups in the file `groups` (/proc/self/cgroup) may use, as the
// folders under `root` (/sys/fs/cgroup) say; infinite: as many as there are.
double processors_quota_under(const char *groups, const char *root);

// ---- files that a text names (io/beneath.c) -------------------------------------------------------------------------

// The path of the plain file `name`, given relative to `folder`. Error (user): it is none, or lies, by its name or by a
// link, anywhere but in that folder and below. It is open to read, so that what is checked is what is read, whatever is
// put in its place: file_read_beneath or file_close_beneath closes it.
typedef struct FileBeneath {
    const char *path;
    int descriptor;
    int64_t bytes; // that it has
} FileBeneath;
Error file_open_beneath(const char *folder, const char *name, Arena *arena, FileBeneath *file);
Error file_read_beneath(FileBeneath *file, size_t limit, Arena *arena, Bytes *out); // as file_read
void file_close_beneath(FileBeneath *file);
const char *folder_of(const char *path, Arena *arena); // "." if the path is a name alone

// ---- lock (io/lock.c) -----------------------------------------------------------------------------------------------
// An open-file-description lock (fcntl F_OFD_SETLK, O_CLOEXEC): one writer a campaign. It dies with its process, so a
// stale one needs no clean-up; only the text of a holder that was killed is still there, and is told to the next.
typedef struct InsidePin InsidePin; // io/inside.c
typedef struct Lock {
    int descriptor;    // -1: not held
    InsidePin *folder; // that it lies in: what is done below that while it is held is done there; may be NULL
    char holder[160];  // "pid 4711 on kant since 2026-01-31T12:00:00Z": this process, as written in the file
    char stale[160];   // the same of a holder that ended without releasing it; "" if it did
} Lock;

// Error (machine) if another process holds it, naming that process: pid, host and start time, as written in the file.
Error lock_take(const char *path, Lock *lock);
void lock_release(Lock *lock);
// Renames the folder that the lock lies in, while it is held. An error, after which nothing is renamed, also if another
// folder has got the name.
Error lock_rename(const Lock *lock, const char *from, const char *to);
// Who holds it, without taking it: "pid 4711 on kant since 2026-01-31T12:00:00Z", or "" if nobody does.
Error lock_holder(const char *path, char *text, size_t size);
bool lock_is_named(const Lock *lock, const char *path); // the file that is locked has that name still

// ---- SHA-256 (io/sha256.c; FIPS 180-4) ------------------------------------------------------------------------------
typedef struct Sha256 {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[64];
    bool instructions; // the processor's own are used; the same digest
} Sha256;

typedef struct Sha256Text {
    char hex[65];
} Sha256Text;

void sha256_start(Sha256 *hash);
void sha256_add(Sha256 *hash, const void *data, size_t size);
Sha256Text sha256_finish(Sha256 *hash);
Sha256Text sha256_of(const void *data, size_t size);

// ---- digests of rows (io/row_digest.c) ------------------------------------------------------------------------------
// The digest of a row starts as 0 and takes its values in the order of the columns. Two rows that differ in one value
// never have the same.
uint64_t row_digest_null(uint64_t digest);
uint64_t row_digest_integer(uint64_t digest, int64_t value);
uint64_t row_digest_real(uint64_t digest, double value); // NaN as NULL, -0 as 0: as SQLite gives them back
uint64_t row_digest_text(uint64_t digest, const char *text, size_t length);
uint64_t row_digest_blob(uint64_t digest, const void *data, size_t size);

// ---- SQLite (io/database.c): the one seam through which every SQL statement goes ------------------------------------
// A statement's text is made of our own words and of identifiers quoted by sql_identifier; values are always bound.
// A connection and its statements are used by one thread at a time.

typedef struct Database Database;
typedef struct Statement Statement;
typedef enum DatabaseMode {
    DATABASE_WRITE, // creates it if need be; WAL, synchronous FULL, foreign keys; the only connection that checkpoints
    DATABASE_READ,  // SQLITE_OPEN_READONLY, never blocks the writer, never checkpoints
    DATABASE_WRITE_SHARED // on a network file system: rollback journal, synchronous EXTRA, readers wait for its end
} DatabaseMode;

// Errors: ERROR_MACHINE with the path and SQLite's words, or if it, or a file that SQLite would use beside it, is a
// link, a pipe, a device, or a journal that is not ours; ERROR_USER if it is no database.
Error database_open(const char *path, DatabaseMode mode, Database **out);
// To read one that its stamp (below) says nothing is written to: no lock is taken, no file beside it is looked at or
// made. What is read holds if its stamp is still the same afterwards; else it may be anything, and so may an error.
Error database_open_still(const char *path, Arena *arena, Database **out);
const char *database_path(const Database *database);     // as it was opened
Error database_close(Database *database);                // for a writer: also checkpoints (TRUNCATE)
Error database_check_place(const Database *database);    // error: its path names another file, or none, by now
Error database_run(Database *database, const char *sql); // one or more statements without values
// The same of a CREATE INDEX, faster. Error if `interrupted` (NULL: never) gives other than 0 meanwhile.
Error database_make_index(Database *database, const char *sql, int (*interrupted)(void));
// Whether a query that took so long (s) is worth an index.
bool database_was_slow(double seconds);
Error database_prepare(Database *database, const char *sql, Statement **out);
bool database_has(const Database *database, const char *table, const char *column); // NULL: the table; of the schema
// In SQL there is row_digest(d, v1, ...): the digest d after the values, for triggers.
void bind_null(Statement *statement, int index); // index from 1; an error is kept and given by the next step
void bind_integer(Statement *statement, int index, int64_t value);
void bind_real(Statement *statement, int index, double value);      // NaN is stored as NULL
void bind_text(Statement *statement, int index, const char *value); // NULL is stored as NULL
void bind_word(Statement *statement, int index, const char *value); // likewise, and it outlives the statement
void bind_blob(Statement *statement, int index, const void *data, size_t size);
// The digest of the values that were bound since the last step, if they were bound in order.
uint64_t bound_digest(const Statement *statement);
// *row: there is a row to read. After the last row, or after a statement without rows, it is reset and can be bound
// anew.
Error statement_step(Statement *statement, bool *row);
void statement_close(Statement *statement);
int column_count(Statement *statement);
const char *column_name(Statement *statement, int index); // index from 0, also below
bool column_is_null(Statement *statement, int index);
int64_t column_integer(Statement *statement, int index);
double column_real(Statement *statement, int index);      // NaN if NULL
const char *column_text(Statement *statement, int index); // "" if NULL; valid until the next step
Bytes column_blob(Statement *statement, int index);
uint64_t column_digest(Statement *statement, int first); // of the current row's values from column `first` on
// A user's own SELECT, on a connection that is only for it: it reads this database and computes, and nothing else; for
// so long. Errors are the user's, with a caret where SQLite says where.
typedef struct DatabaseGuard {
    double deadline;          // by clock_seconds()
    int (*interrupted)(void); // nonzero: the user wants to leave; may be NULL
} DatabaseGuard;
Error database_prepare_guarded(Database *database, const char *sql, DatabaseGuard *guard, Statement **out);
Error statement_step_guarded(Statement *statement, bool *row);
typedef enum ColumnKind { COLUMN_NULL, COLUMN_INTEGER, COLUMN_REAL, COLUMN_TEXT, COLUMN_BLOB } ColumnKind;
ColumnKind column_kind(Statement *statement, int index); // of the current row's value
// "name" with quotes doubled, for a statement's text, in the arena.
const char *sql_identifier(Arena *arena, const char *name);

// ---- whether a database was changed (io/database_stamp.c) -----------------------------------------------------------

enum { DATABASE_STAMP_WORDS = 5 };
typedef struct DatabaseStamp {
    int64_t word[DATABASE_STAMP_WORDS];
} DatabaseStamp;
// What the file of the database says now. True: what is read from it after this call is what it holds whenever its
// stamp is the same again. False: it must be read (it was changed just now, has a journal or a WAL that is not empty,
// is no regular file, or can't be read).
bool database_stamp(const char *path, DatabaseStamp *stamp);
// Waits until a change of just now is no reason for it to say false, if that takes milliseconds.
void database_stamp_wait(const char *path);

// ---- HDF5 shards (io/shard.c); called from one thread at a time -----------------------------------------------------

typedef struct ShardLane {
    int64_t trial;
    int32_t replicate;
    int64_t length; // samples
} ShardLane;

typedef struct ShardAttribute {
    const char *name, *text;
} ShardAttribute;

// Arrays of one kind, trajectories say, flat and ragged, in an HDF5 group. `columns[0]` is time. Columns that share a
// `group` stand in one dataset <group of the shard>/<group> of shape [samples, columns of the group] (a group of one
// column: [samples]); the lane table `lanes` beside them is a compound {trial, replicate, offset, length}. Every
// dataset has long_name, units and column_names attributes and `time` attached as its dimension scale.
#define SHARD_TRAJECTORIES "trajectories"
#define SHARD_DEBUG "debug/newton" // or debug/ and the name that the model has for its debug rows

typedef struct Shard {
    const char *group;                // SHARD_TRAJECTORIES, SHARD_DEBUG or the model's: where it stands in the file
    const ShardAttribute *attributes; // of the file: campaign, spec hash, versions, model, seed
    int n_attributes;
    const Field *columns;
    int n_columns;
    const ShardLane *lanes;
    int64_t n_lanes;
    const double *samples; // [sum of lengths][n_columns], lane after lane
    bool float64;          // else float32
    bool gzip;             // shuffle + deflate
} Shard;

// The file as it will lie on disk, built in memory (core driver), equal bytes for equal contents; free() it.
Error shard_build(const Shard *shard, Bytes *image);

// The arrays that a reader expects in a shard: it asks the spec and not the file.
typedef struct ShardLayout {
    const char *group;
    const Field *columns;
    int n_columns; // 0: only the table of lanes is read
} ShardLayout;

// Reads a shard back. `sha256` is checked against the file before HDF5 sees it (NULL: not checked). The layout's
// columns must outlive the reader. Error: ERROR_MACHINE "missing", "damaged" with the path.
typedef struct ShardReader ShardReader;
Error shard_open(const char *path, const ShardLayout *layout, const char *sha256, ShardReader **out);
int64_t shard_lane_count(const ShardReader *reader);
ShardLane shard_lane(const ShardReader *reader, int64_t index);
bool shard_is_float64(const ShardReader *reader);
// samples[length][n_columns] in column order, widened to double
Error shard_samples(ShardReader *reader, int64_t index, double *samples);
void shard_close(ShardReader *reader);

// ---- YAML (io/yaml.c) on libyaml's events ---------------------------------------------------------------------------

typedef enum NodeKind { NODE_SCALAR, NODE_SEQUENCE, NODE_MAPPING } NodeKind;

typedef struct Source {
    const char *file; // as the user named it, or "--set key.path=value"
    const char *text; // whole, NUL-terminated
    const char *name; // of a file that a text names: below that text's folder; NULL: it is none
    size_t most;      // bytes that yaml_parse takes; 0: YAML_BYTES_MAX
} Source;

typedef struct Node Node;
struct Node {
    NodeKind kind;
    const Source *source;
    int line, column;   // from 1; column counts characters
    int width;          // characters to underline, at least 1
    const char *text;   // scalar
    bool quoted;        // scalar was in quotes: a text even if it looks like a number
    int count;          // items of a sequence, pairs of a mapping
    const Node **keys;  // mapping: scalar keys
    const Node **items; // sequence items, mapping values
};

typedef struct Diagnostics Diagnostics;

enum { YAML_BYTES_MAX = 1 << 20, YAML_DEPTH_MAX = 32, YAML_NODES_MAX = 100000, YAML_ANCHORS_MAX = 256 };

// At most 1 MiB, depth 32, 100,000 nodes with aliases expanded; duplicate keys, tabs in indentation, bad UTF-8, NUL,
// several documents, tags, merge keys and aliases to an open anchor are refused by name and place. The tree is the
// arena's (at most 32 MiB of it). All errors that can be found are in `diagnostics`; ask diagnostics_errors(). NULL if
// they leave no tree; after a duplicate key, a merge key, a tag or a second document the tree without it is returned,
// so that what reads the tree can add its own errors in the same pass.
const Node *yaml_parse(const Source *source, Arena *arena, Diagnostics *diagnostics);
// False, with a diagnostic at its place, if the `size` bytes that were read into source->text hold a NUL. For texts
// from files, before yaml_parse, which can't see behind one.
bool source_check(const Source *source, size_t size, Diagnostics *diagnostics);
const Node *node_find(const Node *mapping, const char *key); // NULL if absent or not a mapping

// ---- diagnostics (io/diagnostics.c) ---------------------------------------------------------------------------------
// file:line:col: error: …, the source line, a caret. All of a spec's errors are gathered and printed in one pass,
// sorted by place; at most 100 are kept and the rest counted.

Diagnostics *diagnostics_new(Arena *arena);
void diagnose(Diagnostics *diagnostics, const Node *at, const char *format, ...) PRINTF_LIKE(3, 4);
void diagnose_at(Diagnostics *diagnostics, const Source *source, int line, int column, int width, const char *format,
                 ...) PRINTF_LIKE(6, 7);
void diagnose_warning(Diagnostics *diagnostics, const Node *at, const char *format, ...) PRINTF_LIKE(3, 4);
int diagnostics_errors(const Diagnostics *diagnostics);
// There was not enough memory to read a text: an error that is not the text's, and has no place in it.
void diagnose_no_memory(Diagnostics *diagnostics);
bool diagnostics_no_memory(const Diagnostics *diagnostics);
void diagnostics_print(const Diagnostics *diagnostics, FILE *out, bool colour);
// Gives the source its place in the order of printing (that of first calls; yaml_parse makes one).
int diagnostics_source(Diagnostics *diagnostics, const Source *source);
// A line of `text` cut round the caret to `columns` <= 120 terminal columns, with control characters escaped, and the
// line that goes under it: spaces, a caret, and tildes over the rest of `width` characters.
typedef struct Excerpt {
    char line[768], caret[160];
} Excerpt;
Excerpt source_excerpt(const char *text, int line, int column, int width, int columns);
// The name nearest to `text` by edit distance (Damerau-Levenshtein), if near enough to be meant; else NULL.
const char *nearest_name(const char *text, const char *const *names, int count);

// ---- characters (io/characters.c) -----------------------------------------------------------------------------------

// The character at `text` (UTF-8, ended by a NUL): its length, 1 to 4 bytes, and its code point. 0 if there is none:
// the end, or what is no UTF-8 (overlong, surrogate, cut off).
int utf8_read(const char *text, uint32_t *character);
// How the character at `text`, which is not at its end, is shown: itself, or by its code if it could turn the terminal
// or the reader's eye.
typedef struct Glyph {
    int bytes;   // that it takes in the text, at least 1
    int columns; // that it takes on the terminal
    char text[12];
} Glyph;
Glyph glyph_read(const char *text);
// A text that may come from outside, so shown, in one line.
void put_visible(FILE *out, const char *text);
const char *text_visible(const char *text, Arena *arena);

// ---- terminal, texts, tables, JSON (io/terminal.c, io/text.c, io/table.c, io/json.c) --------------------------------

bool terminal_colour(FILE *out); // a terminal, TERM not dumb, NO_COLOR unset or empty
bool terminal_interactive(FILE *out);
int terminal_columns(FILE *out); // width in characters: the terminal's, else COLUMNS, else 80
int terminal_rows(FILE *out);    // height in characters: the terminal's, else 24
bool terminal_utf8(void);        // what the environment says of characters
// A screen of its own without a cursor, and back to what was there; Ctrl-Z waits meanwhile.
void terminal_enter(FILE *out);
void terminal_leave(FILE *out);
// One character a number, higher where it is greater; " " for what is missing (io/sparkline.c).
void put_sparkline(FILE *out, const double *value, int count);
// Numbers for people: "1,234,567", "1.2 s", "3 min 20 s", "64.0 MiB"; into a buffer that is returned.
typedef struct Text32 {
    char text[32];
} Text32;
Text32 text_count(int64_t value);
Text32 text_duration(double seconds);
Text32 text_bytes(double bytes);
Text32 text_short(double value); // "950", "12.3k", "1.20M"
// The shortest decimal that reads back to the same double.
Text32 text_number(double value);

typedef enum TableFormat { TABLE_TEXT, TABLE_CSV, TABLE_JSON, TABLE_JSON_LINES } TableFormat;
// Rows are given cell by cell. TABLE_TEXT aligns (numbers right, 6 significant digits) and escapes control characters;
// CSV is RFC 4180 (but lines end in \n) and JSON an array of objects, one a line; both with numbers that read back
// exactly, NaN and NULL as empty/null. JSON lines are the objects without the array, a line each. JSON has no infinity:
// null there, inf in CSV. Memory does not grow with the rows: column widths come from the first ones. `names` must live
// as long as the table.
typedef struct Table Table;
Table *table_start(FILE *out, TableFormat format, int columns, const char *const *names);
void table_number(Table *table, double value); // NaN: none
void table_integer(Table *table, int64_t value);
void table_text(Table *table, const char *value); // NULL: none
Error table_finish(Table *table);

// ---- streams into memory (io/text_stream.c) -------------------------------------------------------------------------

typedef struct TextStream {
    FILE *out;             // what is written here
    char *text;            // stands here once it is closed, NUL-terminated; the caller frees it, also after an error
    size_t size, capacity; // bytes
    const char *purpose;   // for messages: "not enough memory for ..."
} TextStream;
Error text_stream_open(const char *purpose, TextStream *stream); // it must not be moved until it is closed
Error text_stream_close(TextStream *stream);                     // Error: memory ran out, now or on the way

// ---- files for others (io/output.c, io/npz.c, io/shard_master.c) ----------------------------------------------------

// A file that is written piece by piece. A regular file, or a new one, is written as PATH.RANDOM.tmp and gets its name
// when it is whole; of a link, the file that it leads to is replaced. A device or a pipe is written into. "-", and any
// path of the file that standard output is: standard output.
typedef struct Output {
    FILE *stream;
    const char *path, *temporary; // path NULL: standard output; temporary NULL: no regular file
} Output;
Error output_open(const char *path, Arena *arena, Output *output);
bool output_takes_any_order(const char *path);   // it is, or will be, a regular file
Error output_close(Output *output, Error error); // after an error nothing is left, and that error is given
// All of it at once. *standard: it went to standard output.
Error output_write(const char *path, const void *data, size_t size, Arena *arena, bool *standard);

// NumPy's .npz: an array a column, for numpy.load. Columns are of doubles, integers or texts of at most `width`
// characters, and have `rows` values each, which are put in order.
typedef enum NpzType { NPZ_REAL, NPZ_INTEGER, NPZ_TEXT } NpzType;
typedef struct NpzColumn {
    const char *name;
    NpzType type;
    int width; // of a text
} NpzColumn;
typedef struct Npz Npz;
Error npz_open(FILE *out, const NpzColumn *columns, int n_columns, int64_t rows, Arena *arena, Npz **npz);
Error npz_real(Npz *npz, int column, double value);
Error npz_integer(Npz *npz, int column, int64_t value);
Error npz_text(Npz *npz, int column, const char *value);
Error npz_finish(Npz *npz); // writes the directory; the stream stays open

// One file whose datasets are those of many shards, one after the other: HDF5's virtual datasets.
typedef struct MasterPart {
    const char *file;     // path of the shard, from the master's folder or absolute
    int64_t first, count; // samples of the shard's datasets
} MasterPart;
typedef struct Master {
    const char *group; // as a shard's
    const Field *columns;
    int n_columns;
    bool float64;
    const MasterPart *parts; // [n_parts]
    int64_t n_parts;
    const ShardLane *lanes; // [n_lanes], in the order of the samples
    int64_t n_lanes;
} Master;
// The file's bytes; free() them.
Error master_build(const ShardAttribute *attributes, int n_attributes, const Master *groups, int n_groups,
                   Bytes *image);

// A small JSON writer; commas and escapes are its business. name is NULL inside an array.
typedef struct Json {
    FILE *out;
    int depth;
    bool pretty;
    bool first[64];
} Json;
void json_start(Json *json, FILE *out, bool pretty);
void json_object(Json *json, const char *name);                  // opens {
void json_array(Json *json, const char *name);                   // opens [
void json_close(Json *json, char bracket);                       // '}' or ']'
void json_text(Json *json, const char *name, const char *value); // NULL: null
void json_number(Json *json, const char *name, double value);    // NaN, infinities: null
void json_integer(Json *json, const char *name, int64_t value);
void json_boolean(Json *json, const char *name, bool value);

// ---- pictures and pages (io/svg.c, io/canvas.c, io/page.c) ----------------------------------------------------------

// Text in an element or in a quoted attribute, of HTML or SVG: nothing in it is markup, and what is no character, or
// could turn the reader's eye, is shown by its code.
void put_markup(FILE *out, const char *text);
// A coordinate: a tenth of a pixel is enough. What is not finite is 0.
void svg_number(FILE *out, double value);
void svg_line(FILE *out, const char *class_name, double x1, double y1, double x2, double y2);
void svg_rectangle(FILE *out, const char *class_name, double x, double y, double width, double height);
// anchor: "start", "middle" or "end"
void svg_text(FILE *out, const char *class_name, double x, double y, const char *anchor, const char *text);
// A path grows point by point; where the pen is up, a new line begins.
typedef struct SvgPath {
    FILE *out;
    bool down;
} SvgPath;
SvgPath svg_path(FILE *out, const char *class_name);
void svg_path_to(SvgPath *path, double x, double y); // not finite: the pen goes up
void svg_path_end(const SvgPath *path);

// Drawing with characters (io/canvas.c): a raster of dots, two by four a character, from the top left corner.
typedef struct Canvas {
    int columns, rows;   // characters
    unsigned char *dots; // [rows][columns], as bits in the order of Unicode's Braille patterns
} Canvas;
Canvas canvas_take(int columns, int rows, Arena *arena);
void canvas_clear(Canvas *canvas);
void canvas_dot(Canvas *canvas, double x, double y); // beyond the edge: nothing
void canvas_line(Canvas *canvas, double x1, double y1, double x2, double y2);
void canvas_disc(Canvas *canvas, double x, double y, double radius);
// Row by row, each with a newline. utf8: Braille patterns; else plain characters by how many dots they stand for.
void canvas_put(const Canvas *canvas, bool utf8, FILE *out);

// A page of our own: one file that asks nothing of a network. Its style and scripts are files of this repository.
typedef enum PageFile { PAGE_STYLE, PAGE_SCRIPT, PAGE_ANIMATION, PAGE_ALIGNMENT, PAGE_FILES } PageFile;
Bytes page_file(PageFile file); // never written to
// Up to <body> and behind it. Only the page's own scripts run, whatever else would find its way into it. `style`: more
// rules, or NULL.
void page_start(FILE *out, const char *title, const char *style);
void page_finish(FILE *out);
// JSON for the scripts, in an element of this id; nothing in it can end the element.
void page_put_json(FILE *out, const char *id, const char *json);

// ---- point clouds (io/cloud.c) --------------------------------------------------------------------------------------

// PCD (ascii, binary, binary_compressed), PLY (ascii, binary of either byte order) and CSV of x, y, z (m); which it is
// shows in the first bytes. Points that have a coordinate that is not finite are left out and counted.
typedef struct CloudFile {
    Cloud cloud;
    int64_t dropped;
    Arena arena; // holds the points: cloud_close() gives it back
} CloudFile;

enum { CLOUD_FIELDS_MAX = 64, CLOUD_POINTS_MAX = 1 << 26 };
#define CLOUD_BYTES_MAX ((size_t)4 << 30) // of a file

// Memory is bounded by the size of the file, whatever its header announces. Errors (user) name the file and the line
// or the byte; after one there is nothing to close.
Error cloud_read(const char *path, CloudFile *out);
// The same of bytes that are there, with a NUL behind them that `size` does not count. name: for messages.
Error cloud_parse(const char *name, Bytes data, CloudFile *out);
void cloud_close(CloudFile *file);

// ---- progress (io/progress.c) ---------------------------------------------------------------------------------------

typedef enum ProgressStyle { PROGRESS_AUTO, PROGRESS_BAR, PROGRESS_PLAIN, PROGRESS_JSON, PROGRESS_NONE } ProgressStyle;

typedef struct ProgressNumbers {
    int64_t trials_done, trials_total; // committed; 0 total: unknown
    int64_t trials_most;               // where the total is unknown: at most so many; 0: that is unknown too
    int64_t trials_before;             // done before this run (resume): not counted in the rate
    double ticks_done, ticks_total;    // fraction of the batches in flight too, so that the bar never stands still
    double simulated_seconds;          // lane-seconds of this run; 0 if the model has no time
    int64_t failures;
    double best; // NaN: none yet
    int64_t best_trial;
    const char *doing;              // "running", "writing", "recording", "stopping"
    double phase_done, phase_total; // of what it does besides its trials, as it says: 3 of 25 recorded; 0 total: none
    const char *phase_unit;         // "trajectories"
    double writing_seconds;         // that it takes to write what was computed and is not committed
} ProgressNumbers;

typedef struct Progress Progress;
Progress *progress_start(FILE *out, ProgressStyle style, const char *campaign);
// Cheap; prints at most ten times a second on a terminal, every 5 s elsewhere, every second as JSON.
void progress_show(Progress *progress, const ProgressNumbers *numbers);
// A line of its own, without tearing the bar.
void progress_note(Progress *progress, const char *format, ...) PRINTF_LIKE(2, 3);
// How it is now, as a line on `out` whatever the style: an answer to SIGUSR1.
void progress_answer(Progress *progress, const ProgressNumbers *numbers, FILE *out);
void progress_finish(Progress *progress, const ProgressNumbers *numbers);

// ---- clocks (io/clock.c) --------------------------------------------------------------------------------------------

double clock_seconds(void); // monotonic
Text32 clock_utc(void);     // "2026-01-31T12:00:00Z"

#endif
