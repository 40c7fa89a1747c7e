// io: everything outside the process, and no physics. Files and locks, SHA-256, SQLite, HDF5 shards, YAML trees with
// places, diagnostics, JSON, tables, progress.
#ifndef HOPSCOTCH_IO_H
#define HOPSCOTCH_IO_H

#include "../sim/sim.h"

#include <stdio.h>

typedef struct Bytes {
    unsigned char *data;
    size_t size;
} Bytes;

// ---- files (io/file.c, on the system calls of io/system.h) ----------------------------------------------------------
// In a build with -DHOPSCOTCH_FAULTS, tests make any operation fail by the environment variable HOPSCOTCH_FAULT
// ("write:3:ENOSPC": the third write fails with ENOSPC, "write:3:SHORT" writes half, "write:3:KILL" kills the process
// there). All errors are ERROR_MACHINE; they name the path, the operation and the system's message.

// Writes folder/name. After a crash or a power cut the file is complete or absent: it is written as folder/name.tmp
// (short writes and EINTR handled), synced, closed with a check, renamed, and the folder is synced.
Error file_write(const char *folder, const char *name, const void *data, size_t size);
// The same from parts that lie in different places.
typedef struct FilePart {
    const void *data;
    size_t size;
} FilePart;
Error file_write_parts(const char *folder, const char *name, const FilePart *parts, int64_t n_parts);
// Appends one line (a newline is added) with a single write; not synced.
Error file_append_line(const char *path, const char *line);
// A log of the last lines of something that may write without end, in two files: `path`, and `path`.1 with the lines
// before (io/bounded_log.c).
typedef struct BoundedLog {
    char path[1024];
    int64_t most, bytes; // of a file
    int descriptor;
} BoundedLog;
Error bounded_log_open(const char *path, int64_t most, BoundedLog *log);
// A TextSink, which never fails. text: lines, each ended by a newline; unsafe characters are shown by their codes.
void bounded_log_write(void *log, const char *text, size_t length);
void bounded_log_close(BoundedLog *log);
// Reads the whole file and adds a NUL, which `size` does not count. Error (user) if it is larger than `limit`.
Error file_read(const char *path, size_t limit, Arena *arena, Bytes *out);
// As file_read, for a file in a campaign's folder, which may come from another person. Error also if it is not a
// regular file: a link is not followed, and a pipe is not waited for.
Error file_read_stored(const char *path, size_t limit, Arena *arena, Bytes *out);
// Opens such a file, to read parts of it. Another process may make it shorter at any time: reading behind its end is an
// error, where access to a mapping would kill the process (SIGBUS).
Error file_open_stored(const char *path, int *descriptor, int64_t *bytes);
Error file_read_at(int descriptor, const char *path, int64_t offset, void *data, size_t size);
void file_close_stored(int descriptor);
// Error if the path exists and is not a regular file (a link or a folder is not one).
Error file_check_regular(const char *path);
bool file_is_link(const char *path);
Error folder_check_inside(const char *path);
Error file_rename(const char *from, const char *to); // syncs both folders
Error file_remove(const char *path);
bool file_exists(const char *path);
bool file_missing(const char *path); // certainly absent; false if a disk error or permissions hide it
Error file_size(const char *path, int64_t *bytes);
// Makes the folder and its parents, and syncs the parent.
Error folder_make(const char *path);
Error folder_add(const char *path); // its parent must exist
// Names in the folder, sorted by bytes, without "." and "..".
Error folder_list(const char *path, Arena *arena, char ***names, int *count);
// "<what> could not be written: <the words of errno>; <what to do>"
Error file_unwritten(const char *what);
// Size on the disk of a folder with its contents; removal of both. Links are not followed (io/folder.c).
Error folder_bytes(const char *path, int64_t *bytes);
void folder_remove_empty(const char *path); // does nothing if it is not empty
Error folder_remove(const char *path, Arena *arena);
Error disk_free(const char *path, int64_t *bytes);
// The file system's name if SQLite's locks or fsync can't be trusted on it (nfs, cifs, 9p, ...), else "".
const char *network_file_system(const char *path);

// ---- results roots (io/nofollow.c) ----------------------------------------------------------------------------------

// From now on no thread follows a link below this folder, neither in a path nor at its end. The path of the folder
// itself may hold links, and so may the path of a file that the user names to be read (file_read). Paths must begin
// with `folder` as it is given here. The folder need not exist yet.
Error nofollow_add_root(const char *folder);

// ---- processors (io/processors.c) -----------------------------------------------------------------------------------

// Number of threads worth starting: limited by the affinity mask and by the quota of the control groups.
int processors_allowed(void);
// CPU seconds per second that the control groups in the file `groups` (/proc/self/cgroup) may use, according to the
// folders under `root` (/sys/fs/cgroup). Infinite: no limit.
double processors_quota_under(const char *groups, const char *root);

// ---- files that a text names (io/file_within.c) ---------------------------------------------------------------------

// Opens the regular file `name`, given relative to `folder`, for reading. Error (user): it is not a regular file, or it
// lies outside of `folder`, by its name or through a link. The file is checked after it was opened, so that a later
// replacement is never read. file_read_within or file_close_within closes it.
typedef struct FileWithin {
    const char *path;
    int descriptor;
    int64_t bytes; // its size
} FileWithin;
Error file_open_within(const char *folder, const char *name, Arena *arena, FileWithin *file);
Error file_read_within(FileWithin *file, size_t limit, Arena *arena, Bytes *out); // as file_read
void file_close_within(FileWithin *file);
const char *folder_of(const char *path, Arena *arena);       // "." if the path has no folder
const char *folder_absolute(const char *path, Arena *arena); // without links; itself if it does not exist

// ---- lock (io/lock.c) -----------------------------------------------------------------------------------------------
// An open-file-description lock (fcntl F_OFD_SETLK, O_CLOEXEC): one writer per campaign. The lock ends with its
// process, so a killed run leaves nothing to clean up. Only its text stays in the file, and is reported to the next
// holder.
typedef struct FolderPin FolderPin; // io/nofollow.c
typedef struct Lock {
    int descriptor;    // -1: not held
    FolderPin *folder; // the folder of the lock; paths below it lead there while the lock is held; may be NULL
    char holder[160];  // this process, as written in the file: "pid 4711 on kant since 2026-01-31T12:00:00Z"
    char stale[160];   // the previous holder if it ended without releasing the lock, else ""
} Lock;

// Error (machine) if another process holds it. The message names that process: pid, host and start time, from the file.
Error lock_take(const char *path, Lock *lock);
void lock_release(Lock *lock);
// Renames the folder of the lock while the lock is held. If another folder has taken its name, nothing is renamed and
// an error is returned.
Error lock_rename(const Lock *lock, const char *from, const char *to);
// The holder, without taking the lock: "pid 4711 on kant since 2026-01-31T12:00:00Z"; "" if it is free.
Error lock_holder(const char *path, char *text, size_t size);
bool lock_is_named(const Lock *lock, const char *path); // the path still names the locked file

// ---- SHA-256 (io/sha256.c; FIPS 180-4) ------------------------------------------------------------------------------
typedef struct Sha256 {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[64];
    bool instructions; // the processor's SHA instructions are used; the digest is the same
} Sha256;

typedef struct Sha256Text {
    char hex[65];
} Sha256Text;

void sha256_start(Sha256 *hash);
void sha256_add(Sha256 *hash, const void *data, size_t size);
Sha256Text sha256_finish(Sha256 *hash);
Sha256Text sha256_of(const void *data, size_t size);

// ---- files that can be made again (io/cache.c) ----------------------------------------------------------------------
// $XDG_CACHE_HOME/hopscotch/<cache>/<key>, else under ~/.cache: private to the user, at most 256 entries and 512 MiB of
// those used last, safe with several processes. key: hexadecimal digits.

// False: there is none, or it is damaged, or the folder is not this user's alone.
bool cache_read(const char *cache, const char *key, Arena *arena, Bytes *out);
void cache_remove(const char *cache, const char *key, Arena *arena);
// What can't be written is left out.
void cache_write(const char *cache, const char *key, const void *data, size_t size, Arena *arena);

// ---- digests of rows (io/row_digest.c) ------------------------------------------------------------------------------
// The digest of a row starts as 0 and takes the values in the order of the columns. Two rows that differ in exactly one
// value always have different digests.
uint64_t row_digest_null(uint64_t digest);
uint64_t row_digest_integer(uint64_t digest, int64_t value);
uint64_t row_digest_real(uint64_t digest, double value); // NaN counts as NULL, -0 as 0, as SQLite returns them
uint64_t row_digest_text(uint64_t digest, const char *text, size_t length);
uint64_t row_digest_blob(uint64_t digest, const void *data, size_t size);
// Adds a column to the digests of `count` rows.
void row_digest_integers(uint64_t *digests, const int64_t *values, int64_t count);
void row_digest_reals(uint64_t *digests, const double *values, int64_t count);

// ---- SQLite (io/database.c): every SQL statement goes through here --------------------------------------------------
// A statement's text consists of literals of this program and of identifiers quoted by sql_identifier; values are
// always bound. One thread at a time uses a connection and its statements.

typedef struct Database Database;
typedef struct Statement Statement;
typedef enum DatabaseMode {
    DATABASE_WRITE, // creates it if needed; WAL, synchronous FULL, foreign keys; the only connection that checkpoints
    DATABASE_READ,  // SQLITE_OPEN_READONLY, never blocks the writer, never checkpoints
    DATABASE_WRITE_SHARED // on a network file system: rollback journal, synchronous EXTRA, excludes readers
} DatabaseMode;

// Errors: ERROR_MACHINE with the path and SQLite's message, or if the database, or a file that SQLite would use beside
// it, is a link, a pipe, a device, or a journal of another program. ERROR_USER if it is not a database.
Error database_open(const char *path, DatabaseMode mode, Database **out);
// Opens, to read, a database that no process writes to according to its stamp (below). It takes no lock, and neither
// looks at nor makes files beside it. If the stamp has changed afterwards, the rows that were read, and errors too, are
// invalid.
Error database_open_still(const char *path, Arena *arena, Database **out);
const char *database_path(const Database *database);     // as it was opened
Error database_close(Database *database);                // for a writer: also checkpoints (TRUNCATE)
Error database_check_place(const Database *database);    // error: its path names another file now, or none
Error database_run(Database *database, const char *sql); // one or more statements without values
// Outside of a transaction: statements of a writer may read the database at `path` as the schema `other`, until
// database_detach. No process may write to it meanwhile.
Error database_attach(Database *database, const char *path);
Error database_detach(Database *database);
Error database_make_index(Database *database, const char *sql); // one CREATE INDEX, with settings that make it faster
Error database_prepare(Database *database, const char *sql, Statement **out);
bool database_has(const Database *database, const char *table, const char *column); // NULL: only the table
// SQL has the function row_digest(d, v1, ...): the digest d after adding the values. Triggers use it.
void bind_null(Statement *statement, int index); // index from 1; the next step returns an error of binding
void bind_integer(Statement *statement, int index, int64_t value);
void bind_real(Statement *statement, int index, double value);      // NaN is stored as NULL
void bind_text(Statement *statement, int index, const char *value); // NULL is stored as NULL
void bind_word(Statement *statement, int index, const char *value); // not copied: must outlive the statement
void bind_blob(Statement *statement, int index, const void *data, size_t size);
// The digest of the values bound since the last step, if they were bound in order.
uint64_t bound_digest(const Statement *statement);
// *row: a row can be read. After the last row, or if there are no rows, the statement is reset and can be bound again.
Error statement_step(Statement *statement, bool *row);
void statement_close(Statement *statement);
int column_count(Statement *statement);
const char *column_name(Statement *statement, int index); // index from 0, here and below
bool column_is_null(Statement *statement, int index);
int64_t column_integer(Statement *statement, int index);
double column_real(Statement *statement, int index);      // NaN if NULL
const char *column_text(Statement *statement, int index); // "" if NULL; valid until the next step
Bytes column_blob(Statement *statement, int index);
uint64_t column_digest(Statement *statement, int first); // of the current row's values, from column `first` on
// A SELECT that a user wrote, on a connection that is used for nothing else. It may read this database and compute,
// until the deadline. Errors are the user's, with a caret where SQLite gives a place.
typedef struct DatabaseGuard {
    double deadline;          // by clock_seconds()
    int (*interrupted)(void); // returns nonzero if the user pressed Ctrl-C; may be NULL
} DatabaseGuard;
Error database_prepare_guarded(Database *database, const char *sql, DatabaseGuard *guard, Statement **out);
Error statement_step_guarded(Statement *statement, bool *row);
typedef enum ColumnKind { COLUMN_NULL, COLUMN_INTEGER, COLUMN_REAL, COLUMN_TEXT, COLUMN_BLOB } ColumnKind;
ColumnKind column_kind(Statement *statement, int index); // of the current row's value
// "name" with quotes doubled, in the arena, for the text of a statement.
const char *sql_identifier(Arena *arena, const char *name);

// ---- tables of SQL over arrays (io/database_table.c) ----------------------------------------------------------------
// Statements of one connection read columns in memory as a table of its schema `temp`, without a copy. The table is
// read from front to back and can't be changed by SQL.

typedef enum MemoryKind { MEMORY_INTEGER, MEMORY_REAL, MEMORY_WORD } MemoryKind;

typedef struct MemoryColumn {
    const char *name;
    MemoryKind kind;
    const int64_t *integers;  // MEMORY_INTEGER, and MEMORY_WORD: places in `words`
    const double *reals;      // MEMORY_REAL: NaN is NULL, -0 is 0
    const char *const *words; // [n_words] of MEMORY_WORD; any other place means the last one
    int n_words;
} MemoryColumn;

// The rows are those of the arrays from `first` to before `end`.
typedef struct MemoryTable {
    MemoryColumn *columns; // [n_columns]
    int n_columns;
    int64_t first, end;
} MemoryTable;

// Adds the table; it must outlive the connection. Between statements its arrays and rows may be others.
// name: at most 32 bytes
Error database_add_table(Database *database, const char *name, MemoryTable *table);
// The digests of `count` rows from the arrays' row `first` on, as bound_digest and column_digest give them: column by
// column, in half of the time.
void memory_table_digests(const MemoryTable *table, int64_t first, int64_t count, uint64_t *digests);

// From the next statement until it is closed, a database is read in one state. In a transaction: in that of the
// transaction.
Error database_hold(Database *database);
bool database_is_held(const Database *database);
// Whether no other connection reads an older state than this one. Writes the write-ahead log back.
bool database_is_unobserved(Database *database);

// ---- a table over blocks of columns (io/database_blocks.c) ----------------------------------------------------------

typedef enum NumberType { NUMBER_REAL, NUMBER_INTEGER } NumberType; // double, int64_t: 8 bytes each

// A column of a table. In HDF5 a dataset, in SQL a column of the type REAL, INTEGER or TEXT.
typedef struct NumberColumn {
    Field field; // name, unit, doc
    NumberType type;
    const char *const *words; // [n_words] texts that 0, 1, ... stand for, any other number for the last; NULL: numbers
    int n_words;
} NumberColumn;

static inline const char *number_word(const NumberColumn *column, int64_t number)
{
    return column->words[number >= 0 && number < column->n_words ? number : column->n_words - 1];
}

// Rows with ids from `first` to `last`, with gaps if there are fewer rows than ids.
typedef struct BlockSpan {
    int64_t first, last, rows;
} BlockSpan;

// Column 0 is the integer `id`, which ascends within a block. Ids of a block are greater than those of blocks before
// it. NaN is NULL, and -0 is 0, as in a row.
typedef struct BlockTable {
    const NumberColumn *columns; // [n_columns]
    int n_columns;
    const BlockSpan *blocks; // [n_blocks]
    int64_t n_blocks;
    // values[rows] <- rows [first, first + rows) of a column of a block
    Error (*read)(void *source, int64_t block, int column, int64_t first, int64_t rows, void *values);
    void *source;
    // When the connection needs the table no longer, and after an error of database_add_blocks. NULL: nothing is done.
    void (*done)(void *source);
    // For tests; 0: the usual ones. Rows that are read at a time; that are looked for first in an order; that take as
    // long to read one after the other as one row alone.
    int64_t piece, found, sparse;
} BlockTable;
// From now on `name` means this table to statements of the connection; it hides a table of the file. Call it before
// database_prepare_guarded. What the table points to must outlive the connection. Conditions on columns, and the order
// by columns, are computed column by column, and only columns that a query needs are read. A guarded statement is
// interrupted there too.
Error database_add_blocks(Database *database, const char *name, const BlockTable *table);
Error database_remove_blocks(Database *database, const char *name); // if there is one

// ---- whether a database was changed (io/database_stamp.c) -----------------------------------------------------------

enum { DATABASE_STAMP_WORDS = 5 };
typedef struct DatabaseStamp {
    int64_t word[DATABASE_STAMP_WORDS];
} DatabaseStamp;
// Takes the stamp of a database file. True: as long as the stamp stays the same, what is read from now on stays valid.
// False: the stamp can't be trusted (the file was changed just now, has a journal or a WAL that is not empty, is not a
// regular file, or can't be read).
bool database_stamp(const char *path, DatabaseStamp *stamp);
// Waits until a recent change no longer makes database_stamp return false, if that takes only milliseconds.
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

// Arrays of one kind, such as trajectories: lanes of different lengths, one after the other, in an HDF5 group.
// `columns[0]` is time. Columns that share a `group` stand in one dataset <group of the shard>/<group> of shape
// [samples, columns of the group] (a group of one column: [samples]). Beside them the table `lanes` is a compound
// {trial, replicate, offset, length}. Every dataset has the attributes long_name, units and column_names, and `time`
// attached as its dimension scale.
#define SHARD_TRAJECTORIES "trajectories"
#define SHARD_DEBUG "debug/newton" // or debug/ and the model's name for its debug rows

typedef struct Shard {
    const char *group;                // its HDF5 group: SHARD_TRAJECTORIES, SHARD_DEBUG or the model's
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

// Builds the bytes of the file in memory (HDF5's core driver). Equal contents give equal bytes. The caller frees the
// image.
Error shard_build(const Shard *shard, Bytes *image);

// The arrays that a reader expects in a shard. They come from the spec, not from the file.
typedef struct ShardLayout {
    const char *group;
    const Field *columns;
    int n_columns; // 0: only the table of lanes is read
} ShardLayout;

// Reads a shard. The file's SHA-256 is compared with `sha256` before HDF5 sees the file (NULL: not compared). The
// layout's columns must outlive the reader. Error: ERROR_MACHINE "missing", "damaged" with the path.
typedef struct ShardReader ShardReader;
Error shard_open(const char *path, const ShardLayout *layout, const char *sha256, ShardReader **out);
int64_t shard_lane_count(const ShardReader *reader);
ShardLane shard_lane(const ShardReader *reader, int64_t index);
bool shard_is_float64(const ShardReader *reader);
// samples[length][n_columns] in column order, widened to double
Error shard_samples(ShardReader *reader, int64_t index, double *samples);
void shard_close(ShardReader *reader);

// ---- HDF5 shards of columns (io/shard_columns.c); called from one thread at a time ----------------------------------
// An HDF5 group of one dataset per column: one-dimensional, contiguous, without filters. The first column (the trials'
// id) is the dimension scale of all others. Every dataset has the attributes long_name, units, column_names, and
// `words` if its column has any; the group has `columns`, the names in their order.

typedef struct ShardTable {
    const char *group;
    const ShardAttribute *attributes; // of the file
    int n_attributes;
    const NumberColumn *columns;
    int n_columns;
} ShardTable;

// Writes shards of one table. HDF5 makes the bytes around the columns once for each number of rows; the columns are
// written from where they lie. The file is the one that HDF5 would write itself, byte for byte.
typedef struct ShardTableWriter ShardTableWriter;
Error shard_table_open(const ShardTable *table, ShardTableWriter **out); // the table must outlive the writer
// Writes folder/name as file_write does. values[n_columns]: each an array of `rows` > 0 numbers of the column's type.
// offsets[n_columns]: where the columns begin in the file.
typedef struct ShardTableFile {
    int64_t bytes;     // its size
    Sha256Text around; // SHA-256 of the bytes around the columns; digests of rows cover the columns
} ShardTableFile;
Error shard_table_write(ShardTableWriter *writer, const char *folder, const char *name, int64_t rows,
                        const void *const *values, int64_t *offsets, ShardTableFile *written);
// The same of a file that is there. Error (machine): it can't be read, or the columns do not lie in it one after the
// other.
Error shard_table_look(const char *path, int64_t rows, const int64_t *offsets, int n_columns, Arena *arena,
                       ShardTableFile *found);
void shard_table_close(ShardTableWriter *writer);

// ---- the first rows in an order (io/columns.c) ----------------------------------------------------------------------

// A cell of a column of numbers: the 8 bytes of a double or of an int64_t.
typedef union Cell {
    double real; // NaN: NULL
    int64_t integer;
} Cell;

enum { ORDER_TERMS_MAX = 3 };

// A row among those found: the keys of the terms, then its number, which decides between equal keys.
typedef struct FoundRow {
    uint64_t key[ORDER_TERMS_MAX];
    int64_t row;
} FoundRow;

// A key that is smaller if the cell comes first. NULL is the smallest value, as SQLite has it.
uint64_t order_key(bool real, bool descending, Cell cell);
bool order_before(const FoundRow *a, const FoundRow *b, int n_terms);

// The first `most` rows behind `last` of those that are added.
typedef struct FirstRows {
    FoundRow *rows; // [most + spare]
    int64_t count, most, spare;
    int n_terms;
    FoundRow last, bound; // a row that does not come before `bound` is not among them
    bool has_last, has_bound;
} FirstRows;

bool first_rows_wants(const FirstRows *first, const FoundRow *row);
// Adds one that it wants. With most + spare rows, the first `most` stay, and count is `most`; the others lie behind
// them. A small spare keeps `bound` close to the row number `most`, so that fewer rows are wanted in all.
void first_rows_add(FirstRows *first, const FoundRow *row);
void first_rows_select(FirstRows *first); // the same with fewer rows: at most `most` stay
void first_rows_sort(FirstRows *first);   // the end: rows[count] in their order, count <= most

// ---- YAML (io/yaml.c) on libyaml's events ---------------------------------------------------------------------------

typedef enum NodeKind { NODE_SCALAR, NODE_SEQUENCE, NODE_MAPPING } NodeKind;

typedef struct Source {
    const char *file; // as the user named it, or "--set key.path=value"
    const char *text; // whole, NUL-terminated
    const char *name; // of a file that a spec names, relative to that spec's folder; else NULL
    size_t most;      // limit of yaml_parse, bytes; 0: YAML_BYTES_MAX
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

// Limits: 1 MiB, depth 32, 100,000 nodes with aliases expanded. Refused, by name and place: duplicate keys, tabs in
// indentation, bad UTF-8, NUL, several documents, tags, merge keys, and aliases to an open anchor. The tree is in the
// arena (at most 32 MiB). All errors that can be found go to `diagnostics`; see diagnostics_errors(). NULL if they
// leave no tree. After a duplicate key, a merge key, a tag or a second document, the tree without it is returned, so
// that the caller can find its own errors in the same pass.
const Node *yaml_parse(const Source *source, Arena *arena, Diagnostics *diagnostics);
// False, with a diagnostic at its place, if the `size` bytes read into source->text hold a NUL. Call it for texts from
// files before yaml_parse, which stops at a NUL.
bool source_check(const Source *source, size_t size, Diagnostics *diagnostics);
const Node *node_find(const Node *mapping, const char *key); // NULL if absent or not a mapping

// ---- XML (io/xml.c) on libexpat -------------------------------------------------------------------------------------

typedef struct XmlAttribute {
    const char *name, *value;
    int line, column, width; // of name="value", from 1; in characters
} XmlAttribute;

typedef struct XmlNode {
    const Source *source;
    const char *name;
    int line, column, width;        // of <name
    const XmlAttribute *attributes; // [n_attributes], in their order
    int n_attributes;
    struct XmlNode *parent, *first, *last, *next; // first and last: of its children
    int text_line, text_column;                   // of the first text right in it that is not blank; 0: there is none
    size_t begin, end;                            // bytes of the element in source->text
    size_t inner, inner_end;                      // bytes between its tags
} XmlNode;

enum { XML_BYTES_MAX = 8 << 20, XML_DEPTH_MAX = 256, XML_NODES_MAX = 1000000, XML_ATTRIBUTES_MAX = 256 };

// Limits: 8 MiB, depth 256, 1,000,000 elements and attributes, 256 attributes of an element. Refused, by name and
// place: what is not well formed, bad UTF-8, a <!DOCTYPE ...>, and so all entities but XML's own. The tree is in the
// arena: up to 192 bytes per element or attribute, and once the text. NULL after an error, which went to
// `diagnostics`. A NUL ends the text; see source_check.
XmlNode *xml_parse(const Source *source, Arena *arena, Diagnostics *diagnostics);
const XmlAttribute *xml_attribute(const XmlNode *node, const char *name); // NULL: not given

// ---- evenly spaced numbers (io/decimal.c) ---------------------------------------------------------------------------

// Numbers as people mean them. 0.1 as a double is 0.1000000000000000055..., so 3 steps of it in binary
// arithmetic are 0.30000000000000004. Here a double stands for the shortest decimal that reads back as it, which is
// what somebody wrote; points are computed from these decimals, and each is rounded once: it is the double nearest to
// the exact value. So 0.3 is 0.3 in all forms, nothing is snapped to a value that was not meant, and equal points of
// different forms are equal doubles.
__extension__ typedef __int128 DecimalWide;

// digits 10^exponent
typedef struct Decimal {
    int64_t digits;
    int exponent;
} Decimal;

Decimal decimal_of(double value); // finite; the shortest that reads back
// The double nearest to value times / over, times and over > 0.
double decimal_scaled(Decimal value, int64_t times, int64_t over);

// Point i is (first + i step) / divisor 10^exponent. If that takes more than 36 digits (such a point is no short
// decimal), divisor is 0, and points are from + i span / parts in binary.
typedef struct DecimalLine {
    DecimalWide first, step, divisor;
    int exponent;
    double from, span, parts;
} DecimalLine;

DecimalLine decimal_line(double start, double step, int64_t points);         // start + i step
DecimalLine decimal_line_between(double first, double last, int64_t points); // points >= 2
double decimal_line_at(const DecimalLine *line, int64_t i);                  // 0 <= i < points
// How many steps lead from start to at most `greatest`. A billionth of a step more is rounding: three steps of
// 0.33333333333333334 lead to 1.
double decimal_steps(double start, double greatest, double step); // < 0: start is above

// Evenly spaced in the logarithm: point i is first (last/first)^(i/(points - 1)). In pairs of doubles (hi + lo), which
// have an error below 2^-90, so a point is the nearest double unless it lies that close to the middle of two.
typedef struct DecimalCurve {
    double log_first[2], log_step[2];
} DecimalCurve;

DecimalCurve decimal_curve_between(double first, double last, int64_t points); // first, last > 0; points >= 2
double decimal_curve_at(const DecimalCurve *curve, int64_t i);

// ---- diagnostics (io/diagnostics.c) ---------------------------------------------------------------------------------
// file:line:col: error: …, the source line, a caret. All errors of a spec are collected and printed at once, sorted by
// place. At most 100 are kept; the rest is counted.

Diagnostics *diagnostics_new(Arena *arena);
void diagnose(Diagnostics *diagnostics, const Node *at, const char *format, ...) PRINTF_LIKE(3, 4);
void diagnose_at(Diagnostics *diagnostics, const Source *source, int line, int column, int width, const char *format,
                 ...) PRINTF_LIKE(6, 7);
void diagnose_warning(Diagnostics *diagnostics, const Node *at, const char *format, ...) PRINTF_LIKE(3, 4);
int diagnostics_errors(const Diagnostics *diagnostics);
// Not enough memory to read a text: an error without a place.
void diagnose_no_memory(Diagnostics *diagnostics);
bool diagnostics_no_memory(const Diagnostics *diagnostics);
void diagnostics_print(const Diagnostics *diagnostics, FILE *out, bool colour);
// Fixes the source's place in the order of printing: the order of first calls. yaml_parse calls it.
int diagnostics_source(Diagnostics *diagnostics, const Source *source);
// The line of `text` around the caret, cut to `columns` <= 120 terminal columns, with control characters escaped; and
// the line to print under it: spaces, a caret, and tildes up to `width` characters.
typedef struct Excerpt {
    char line[768], caret[160];
} Excerpt;
Excerpt source_excerpt(const char *text, int line, int column, int width, int columns);
// The name nearest to `text` by edit distance (Damerau-Levenshtein), or NULL if none is near enough to be a typing
// error.
const char *nearest_name(const char *text, const char *const *names, int count);

// ---- characters (io/characters.c) -----------------------------------------------------------------------------------

// Reads the character at `text` (UTF-8, ended by a NUL): returns its length, 1 to 4 bytes, and its code point. 0 at the
// end of the text and for bytes that are not UTF-8 (overlong, surrogate, cut off).
int utf8_read(const char *text, uint32_t *character);
bool utf8_begins(char byte); // a character: it is not a continuation byte
// The column, from 1, of the first separator of numbers that is of another kind (comma, semicolon, blanks) than the one
// before: "1,5;2,3". A comma or semicolon may have blanks around it. 0: there is none.
int text_mixed_separators(const char *line, size_t length);
int utf8_count(const char *text, size_t length); // characters in these bytes
// How to show the character at `text`, which is not at its end: as it is, or as its code if it is unsafe
// (io/characters.c).
typedef struct Glyph {
    int bytes;   // that it takes in the text, at least 1
    int columns; // that it takes on the terminal
    char text[12];
} Glyph;
Glyph glyph_read(const char *text);
// Prints a text that may come from outside, with unsafe characters as codes, in one line.
void put_visible(FILE *out, const char *text);
const char *text_visible(const char *text, Arena *arena);

// ---- terminal, texts, tables, JSON (io/terminal.c, io/text.c, io/table.c, io/json.c) --------------------------------

bool terminal_colour(FILE *out); // a terminal, TERM not dumb, NO_COLOR unset or empty
bool terminal_interactive(FILE *out);
int terminal_columns(FILE *out); // width in characters: the terminal's, else COLUMNS, else 80
int terminal_rows(FILE *out);    // height in characters: the terminal's, else 24
bool terminal_utf8(void);        // the environment's locale uses UTF-8
// Switches to the alternate screen and hides the cursor; and back. Ctrl-Z is ignored in between.
void terminal_enter(FILE *out);
void terminal_leave(FILE *out);
// One character per number, higher for greater numbers; " " for a missing one (io/sparkline.c).
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

// Formats of tables: name, word of --format. table.c has a case for each.
#define TABLE_FORMATS(X) X(TEXT, "table") X(CSV, "csv") X(JSON, "json") X(JSON_LINES, "jsonl")
#define TABLE_FORMAT(name, word) TABLE_##name,
typedef enum TableFormat { TABLE_FORMATS(TABLE_FORMAT) } TableFormat;
#undef TABLE_FORMAT
// A table is given cell by cell. TABLE_TEXT aligns (numbers right, 6 significant digits) and escapes control
// characters. CSV is RFC 4180 (but lines end in \n). JSON is an array of objects, one per line; JSON lines are the
// objects without the array. CSV and JSON print numbers that read back exactly. NaN and NULL are empty in CSV and null
// in JSON; infinity is inf in CSV and null in JSON. Memory does not grow with the rows, because column widths come from
// the first ones. `names` must live as long as the table.
typedef struct Table Table;
Table *table_start(FILE *out, TableFormat format, int columns, const char *const *names);
void table_number(Table *table, double value); // NaN: empty
void table_exact(Table *table, double value);  // the same; also TABLE_TEXT prints a number that reads back exactly
void table_integer(Table *table, int64_t value);
void table_text(Table *table, const char *value); // NULL: empty
Error table_finish(Table *table);

// ---- streams into memory (io/text_stream.c) -------------------------------------------------------------------------

typedef struct TextStream {
    FILE *out;             // write here
    char *text;            // the text after closing, NUL-terminated; the caller frees it, also after an error
    size_t size, capacity; // bytes
    const char *purpose;   // for messages: "not enough memory for ..."
} TextStream;
Error text_stream_open(const char *purpose, TextStream *stream); // must not be moved until it is closed
Error text_stream_close(TextStream *stream);                     // Error: memory ran out, now or earlier

// ---- files for others (io/output.c, io/npz.c, io/array_file.c) ------------------------------------------------------

// A file written piece by piece. A regular file is written as PATH.RANDOM.tmp and renamed when it is complete. For a
// link, the file that it leads to is replaced. A device or a pipe is written directly. "-", and any path of the file
// that standard output is, mean standard output.
typedef struct Output {
    FILE *stream;
    const char *path, *temporary; // path NULL: standard output; temporary NULL: not a regular file
} Output;
Error output_open(const char *path, Arena *arena, Output *output);
bool output_takes_any_order(const char *path);   // it is, or will be, a regular file
Error output_close(Output *output, Error error); // after an error the file is removed, and that error is returned
// Writes all bytes at once. *standard: they went to standard output.
Error output_write(const char *path, const void *data, size_t size, Arena *arena, bool *standard);

// NumPy's .npz for numpy.load: one array per column. A column holds `rows` doubles, integers or texts of at most
// `width` characters, which are put in order.
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

// An HDF5 file with copies of recorded arrays: per group one dataset for each group of columns, as in a shard, with the
// lanes one after the other, the table `lanes`, and the datasets `trial` and `replicate` of every sample. It takes the
// memory of the table, of a chunk (1 MiB) per dataset, and of the lane that is copied.
typedef struct ArrayGroup {
    const char *group; // as a shard's
    const Field *columns;
    int n_columns;
    bool float64, gzip;
    const ShardLane *lanes; // [n_lanes], in the order of the samples
    int64_t n_lanes;
    // Reads the samples of lanes[index], [length][n_columns]; they are used until the next call.
    Error (*read)(void *of, int64_t index, const double **samples);
    void *of;
} ArrayGroup;
typedef struct ArrayFile ArrayFile;
// descriptor: a new file that can be read and written; path: its name for messages. Both stay the caller's.
Error array_file_open(int descriptor, const char *path, const ShardAttribute *attributes, int n_attributes,
                      ArrayFile **out);
Error array_file_put(ArrayFile *file, const ArrayGroup *group);
Error array_file_close(ArrayFile *file, Error error); // also after an error, which it returns

// A small JSON writer: it adds commas and escapes. name is NULL inside an array.
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

// Prints a text for an element or a quoted attribute of HTML or SVG: markup is escaped, and unsafe characters are shown
// by their code.
void put_markup(FILE *out, const char *text);
// Prints a coordinate to a tenth of a pixel. 0 if it is not finite.
void svg_number(FILE *out, double value);
void svg_line(FILE *out, const char *class_name, double x1, double y1, double x2, double y2);
void svg_rectangle(FILE *out, const char *class_name, double x, double y, double width, double height);
// anchor: "start", "middle" or "end"
void svg_text(FILE *out, const char *class_name, double x, double y, const char *anchor, const char *text);
// A path grows point by point. While the pen is up, the next point begins a new line.
typedef struct SvgPath {
    FILE *out;
    bool down;
} SvgPath;
SvgPath svg_path(FILE *out, const char *class_name);
void svg_path_to(SvgPath *path, double x, double y); // not finite: lifts the pen
void svg_path_end(const SvgPath *path);

// Draws with characters (io/canvas.c): a raster of dots, two by four per character, from the top left corner.
typedef struct Canvas {
    int columns, rows;   // characters
    unsigned char *dots; // [rows][columns], bits in the order of Unicode's Braille patterns
} Canvas;
Canvas canvas_take(int columns, int rows, Arena *arena);
void canvas_clear(Canvas *canvas);
void canvas_dot(Canvas *canvas, double x, double y); // outside of the canvas: nothing
void canvas_line(Canvas *canvas, double x1, double y1, double x2, double y2);
void canvas_disc(Canvas *canvas, double x, double y, double radius);
// Prints the rows, each with a newline. utf8: Braille patterns; else ASCII characters by the number of dots.
void canvas_put(const Canvas *canvas, bool utf8, FILE *out);

// Base64 (RFC 4648) of bytes, with its end: text[BASE64_SIZE(size)].
#define BASE64_SIZE(size) (((size) + 2) / 3 * 4 + 1)
void base64_put(const unsigned char *bytes, size_t size, char *text);

// An HTML page in one file, which needs no network. Its style and scripts are files of io/page/.
typedef enum PageFile { PAGE_STYLE, PAGE_SCRIPT, PAGE_SCENE, PAGE_ANIMATION, PAGE_ALIGNMENT, PAGE_FILES } PageFile;
Bytes page_file(PageFile file); // read-only
// The page up to <body>, and from </body> on. The page's security policy lets only its own scripts run. `style`: more
// rules, or NULL.
void page_start(FILE *out, const char *title, const char *style);
void page_finish(FILE *out);
// JSON for the scripts, in an element with this id; the text cannot end the element.
void page_put_json(FILE *out, const char *id, const char *json);

// ---- point clouds (io/cloud.c) --------------------------------------------------------------------------------------

// Reads PCD (ascii, binary, binary_compressed), PLY (ascii, binary of either byte order) and CSV of x, y, z (m); the
// first bytes tell which. Points with a coordinate that is not finite are left out and counted.
typedef struct CloudFile {
    Cloud cloud;
    int64_t dropped;
    Arena arena; // holds the points; cloud_close() frees it
} CloudFile;

enum { CLOUD_FIELDS_MAX = 64, CLOUD_POINTS_MAX = 1 << 26 };
#define CLOUD_BYTES_MAX ((size_t)4 << 30) // of a file

// Memory is bounded by the size of the file, not by its header. Errors (user) name the file and the line or the byte;
// after an error there is nothing to close.
Error cloud_read(const char *path, CloudFile *out);
// As cloud_read, from bytes in memory, followed by a NUL that `size` does not count. name: for messages.
Error cloud_parse(const char *name, Bytes data, CloudFile *out);
void cloud_close(CloudFile *file);

// ---- robots (io/robot/) ---------------------------------------------------------------------------------------------

typedef enum RobotBase {
    ROBOT_BASE_FILE,     // as the file has it; the root of URDF floats, unless its link is called world
    ROBOT_BASE_FLOATING, // roots without a joint float
    ROBOT_BASE_FIXED     // floating roots are fixed to the world
} RobotBase;

typedef struct RobotOptions {
    const char *folder;        // of the file, for <include>; NULL: nothing can be included
    const char *const *ignore; // [n_ignore] words of ROBOT_IGNORE_WORDS: what may be left out
    int n_ignore;
    RobotBase base;
} RobotOptions;

// Reads MJCF (<mujoco>) or URDF (<robot>); the root element tells which. Whatever changes the motion and is not
// understood is an error that names it, unless `ignore` does. Bodies that can't move against their parent become part
// of it. In `arena` are the robot and included texts (at most 32 MiB together). NULL after errors, which went to
// `diagnostics`; source->text must outlive them.
const Robot *robot_read(const Source *source, const RobotOptions *options, Arena *arena, Diagnostics *diagnostics);
// The text of an MJCF file with those that it includes put in their places: the robot of it is the same. *text is the
// source's text if it includes none. False: errors went to `diagnostics`.
bool robot_text(const Source *source, const char *folder, Arena *arena, Diagnostics *diagnostics, const char **text);

// ---- progress (io/progress.c) ---------------------------------------------------------------------------------------

typedef enum ProgressStyle { PROGRESS_AUTO, PROGRESS_BAR, PROGRESS_PLAIN, PROGRESS_JSON, PROGRESS_NONE } ProgressStyle;

typedef struct ProgressNumbers {
    int64_t trials_done, trials_total; // committed; 0 total: unknown
    int64_t trials_most;               // an upper bound where the total is unknown; 0: no bound is known
    int64_t trials_before;             // done before this run (resume): not counted in the rate
    double ticks_done, ticks_total;    // includes the batches in flight, so that the bar moves between commits
    double simulated_seconds;          // summed over the lanes of this run; 0 if the model has no time
    int64_t failures;
    double best; // NaN: none yet
    int64_t best_trial;
    const char *doing;              // "running", "writing", "recording", "stopping"
    double phase_done, phase_total; // of work other than trials: 3 of 25 recorded; 0 total: none
    const char *phase_unit;         // "trajectories"
    double writing_seconds;         // estimated time to write what is computed and not committed
} ProgressNumbers;

typedef struct Progress Progress;
Progress *progress_start(FILE *out, ProgressStyle style, const char *campaign);
// Cheap. Prints at most ten times per second on a terminal, every 5 s elsewhere, every second as JSON.
void progress_show(Progress *progress, const ProgressNumbers *numbers);
// Prints a line of its own, above the bar.
void progress_note(Progress *progress, const char *format, ...) PRINTF_LIKE(2, 3);
// Prints the current state as one line on `out`, in any style: the answer to SIGUSR1.
void progress_answer(Progress *progress, const ProgressNumbers *numbers, FILE *out);
void progress_finish(Progress *progress, const ProgressNumbers *numbers);

// ---- clocks (io/clock.c) --------------------------------------------------------------------------------------------

double clock_seconds(void); // monotonic
Text32 clock_utc(void);     // "2026-01-31T12:00:00Z"

#endif
