CREATE TABLE numbers (number INTEGER CHECK (number = rowid));
INSERT INTO numbers SELECT CAST(readfile('given/a') AS TEXT);
INSERT INTO numbers SELECT CAST(readfile('given/b') AS TEXT);
INSERT INTO numbers SELECT CAST(readfile('given/c') AS TEXT);
INSERT INTO numbers SELECT CAST(readfile('given/d') AS TEXT);
SELECT number FROM numbers WHERE number IS NOT NULL;
