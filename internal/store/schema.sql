-- The derived database of one data set. Nobody changes it, a database of another
-- set is a new file, so the schema has no migrations: raise schemaVersion in
-- build.go when this file changes and the next open builds it anew.

CREATE TABLE dataset (
  one     INTEGER PRIMARY KEY CHECK (one = 1),
  version TEXT    NOT NULL
) STRICT;

-- One row a record: the columns that lists filter, sort and group by, and what
-- a row of a list shows as JSON.
CREATE TABLE record (
  num        INTEGER PRIMARY KEY, -- says nothing of the order
  id         TEXT    NOT NULL UNIQUE,
  repo       TEXT    NOT NULL,
  slug       TEXT    NOT NULL,
  class      TEXT,
  code       TEXT,
  background TEXT,
  severity   TEXT    NOT NULL,
  status     TEXT    NOT NULL,
  rank       INTEGER NOT NULL, -- of the severity, worst first
  title      TEXT    NOT NULL, -- as sorted: folded, without leading marks
  newest     INTEGER NOT NULL, -- time of the change, negative so that the newest is least
  item       TEXT    NOT NULL CHECK (json_valid(item)),
  sum        BLOB    NOT NULL, -- SHA-256 of the canonical record
  UNIQUE (repo, slug)
) STRICT;

CREATE INDEX record_title      ON record (title, id);
CREATE INDEX record_newest     ON record (newest, title, id);
CREATE INDEX record_rank       ON record (rank, title, id);
CREATE INDEX record_class      ON record (class) WHERE class IS NOT NULL;
CREATE INDEX record_code       ON record (code) WHERE code IS NOT NULL;
CREATE INDEX record_background ON record (background) WHERE background IS NOT NULL;

-- The whole record in canonical form. Apart, so that lists read small rows.
CREATE TABLE document (
  num  INTEGER PRIMARY KEY REFERENCES record (num),
  json TEXT    NOT NULL CHECK (json_valid(json))
) STRICT;

CREATE TABLE tag (
  tag TEXT    NOT NULL,
  num INTEGER NOT NULL REFERENCES record (num),
  PRIMARY KEY (tag, num)
) STRICT, WITHOUT ROWID;

-- Every name that leads to a record, folded to lower case.
CREATE TABLE name (
  folded TEXT    NOT NULL,
  kind   INTEGER NOT NULL, -- nameID … nameCode in lookup.go, strongest first
  num    INTEGER NOT NULL REFERENCES record (num),
  name   TEXT    NOT NULL,
  PRIMARY KEY (folded, kind, num, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE related (
  num      INTEGER NOT NULL REFERENCES record (num),
  position INTEGER NOT NULL,
  other    INTEGER NOT NULL REFERENCES record (num),
  why      TEXT    NOT NULL,
  PRIMARY KEY (num, position)
) STRICT, WITHOUT ROWID;
