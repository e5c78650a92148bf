CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, v TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000)
  INSERT INTO t SELECT i, (i * 7919) % 10007, printf('%0*d', i % 90 + 1, i) FROM n;
CREATE INDEX tk ON t(k);
SELECT count(*), sum(length(v)), max(v) FROM t;
SELECT k, count(*) c, group_concat(substr(v, -2)) FROM t GROUP BY k ORDER BY c DESC, k LIMIT 5;
UPDATE t SET v = v || v WHERE k % 3 = 0;
DELETE FROM t WHERE k % 5 = 0;
SELECT count(*), sum(length(v)) FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.k = a.k + 1);
