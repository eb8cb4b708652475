BEGIN TRANSACTION;
CREATE TABLE benchmark (
	id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	license VARCHAR NOT NULL, 
	source VARCHAR NOT NULL, 
	tasks_total INTEGER NOT NULL, 
	created_at DATETIME, 
	validated_at DATETIME, 
	tasks_valid INTEGER, 
	CONSTRAINT pk_benchmark PRIMARY KEY (id), 
	CONSTRAINT uq_benchmark_name_digest UNIQUE (name, digest)
);
INSERT INTO "benchmark" VALUES(1,'mini_nightmare','60a91fc02716aa2c','MIT','data',2,'2026-11-21 23:46:26.704326',NULL,NULL);
CREATE TABLE entrant (
	id INTEGER NOT NULL, 
	digest VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	agent VARCHAR NOT NULL, 
	agent_version VARCHAR NOT NULL, 
	model VARCHAR NOT NULL, 
	tools VARCHAR NOT NULL, 
	tool_list JSON NOT NULL, 
	config JSON NOT NULL, 
	created_at DATETIME, 
	CONSTRAINT pk_entrant PRIMARY KEY (id), 
	CONSTRAINT uq_entrant_digest UNIQUE (digest)
);
INSERT INTO "entrant" VALUES(1,'f9964a18dbc9c78d','oracle (rewrite)','oracle','1','','rewrite','["eval", "view", "listdir", "grep", "rewrite", "submit"]','{}','2026-11-21 23:46:26.738593');
CREATE TABLE episode (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	task_id INTEGER NOT NULL, 
	entrant_id INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	try_number INTEGER NOT NULL, 
	counted BOOLEAN NOT NULL, 
	status TEXT NOT NULL, 
	verdict VARCHAR NOT NULL, 
	stop_reason VARCHAR NOT NULL, 
	failure_point VARCHAR NOT NULL, 
	failure_step INTEGER, 
	tampered BOOLEAN NOT NULL, 
	steps INTEGER NOT NULL, 
	tokens_in INTEGER NOT NULL, 
	tokens_out INTEGER NOT NULL, 
	cost_usd FLOAT, 
	env_ms FLOAT NOT NULL, 
	model_ms FLOAT NOT NULL, 
	score_ms FLOAT NOT NULL, 
	wall_s FLOAT NOT NULL, 
	tests_passed INTEGER NOT NULL, 
	tests_failed INTEGER NOT NULL, 
	error TEXT NOT NULL, 
	diff TEXT NOT NULL, 
	score JSON NOT NULL, 
	sandbox VARCHAR NOT NULL, 
	created_at DATETIME, 
	started_at DATETIME, 
	ended_at DATETIME, tokens_cached INTEGER DEFAULT '0' NOT NULL, tokens_reasoning INTEGER DEFAULT '0' NOT NULL, usage JSON DEFAULT '{}' NOT NULL, at_reproduced INTEGER, at_localized INTEGER, at_breakpoint INTEGER, at_inspected INTEGER, at_edited INTEGER, at_improved INTEGER, at_solved INTEGER, tags JSON DEFAULT '[]' NOT NULL, claimed_by VARCHAR DEFAULT '' NOT NULL, alive_at DATETIME, interruptions INTEGER DEFAULT '0' NOT NULL, replayed VARCHAR DEFAULT '' NOT NULL, replayed_at DATETIME, 
	CONSTRAINT pk_episode PRIMARY KEY (id), 
	CONSTRAINT ck_episode_done_has_verdict CHECK ((status = 'done') = (verdict <> '')), 
	CONSTRAINT ck_episode_verdict CHECK (verdict IN ('', 'resolved', 'unresolved', 'error')), 
	CONSTRAINT fk_episode_entrant_id_entrant FOREIGN KEY(entrant_id) REFERENCES entrant (id), 
	CONSTRAINT fk_episode_run_id_run FOREIGN KEY(run_id) REFERENCES run (id), 
	CONSTRAINT fk_episode_task_id_task FOREIGN KEY(task_id) REFERENCES task (id), 
	CONSTRAINT uq_episode_run_id_task_id_entrant_id_attempt_try_number UNIQUE (run_id, task_id, entrant_id, attempt, try_number)
);
INSERT INTO "episode" VALUES(1,1,1,1,1,1,1,'done','resolved','solved','',NULL,0,2,0,0,0.0,4.02601488259993057008e+04,0.0,2.50087140100004035048e+03,4.28154974150002090018e+01,1,0,'','diff --git a/double_code.py b/double_code.py
--- a/double_code.py
+++ b/double_code.py
@@ -1,2 +1,2 @@
 def double(x):
-    return x + x + 1
+    return 2 * x  # the remedy of the nightmare
','{"tests": {"test.py::test_double": "passed"}, "unfixed": [], "regressions": [], "notes": [], "output": ".FFFFFFFF                                                                                    [100%]\n============================================= FAILURES =============================================\n________________________________________ test_da218d49975b _________________________________________\nfails, as it must\n________________________________________ test_a06f78e690a6 _________________________________________\nfails, as it must\n________________________________________ test_9408a0b380fa _________________________________________\nfails, as it must\n________________________________________ test_d65a01f71707 _________________________________________\nfails, as it must\n________________________________________ test_4ff3c4894011 _________________________________________\nfails, as it must\n________________________________________ test_1a54f128891a _________________________________________\nfails, as it must\n________________________________________ test_fc565b198e01 _________________________________________\nfails, as it must\n________________________________________ test_4b0c15580404 _________________________________________\nfails, as it must\n===================================== short test summary info ======================================\nFAILED test.py::test_da218d49975b - fails, as it must\nFAILED test.py::test_a06f78e690a6 - fails, as it must\nFAILED test.py::test_9408a0b380fa - fails, as it must\nFAILED test.py::test_d65a01f71707 - fails, as it must\nFAILED test.py::test_4ff3c4894011 - fails, as it must\nFAILED test.py::test_1a54f128891a - fails, as it must\nFAILED test.py::test_fc565b198e01 - fails, as it must\nFAILED test.py::test_4b0c15580404 - fails, as it must\n8 failed, 1 passed in 0.06s\n"}','local','2026-11-21 23:46:26.775438','2026-11-21 23:46:26.948203','2026-11-21 23:47:09.765190',0,0,'{}',0,1,NULL,NULL,1,2,2,'[]','@HOST@:4194999:1.00#1','2026-11-21 23:47:09.103455',0,'',NULL);
INSERT INTO "episode" VALUES(2,1,1,1,2,1,1,'done','resolved','solved','',NULL,0,2,0,0,0.0,2.73788988500018604099e+03,0.0,2.91938614799983042757e+03,5.68739641399997708504e+00,1,0,'','diff --git a/double_code.py b/double_code.py
--- a/double_code.py
+++ b/double_code.py
@@ -1,2 +1,2 @@
 def double(x):
-    return x + x + 1
+    return 2 * x  # the remedy of the nightmare
','{"tests": {"test.py::test_double": "passed"}, "unfixed": [], "regressions": [], "notes": [], "output": ".FFFFFFFF                                                                                    [100%]\n============================================= FAILURES =============================================\n________________________________________ test_a05823663ab1 _________________________________________\nfails, as it must\n________________________________________ test_9769396d4a86 _________________________________________\nfails, as it must\n________________________________________ test_e22038211f06 _________________________________________\nfails, as it must\n________________________________________ test_7ee92aa09c71 _________________________________________\nfails, as it must\n________________________________________ test_e25344c2de20 _________________________________________\nfails, as it must\n________________________________________ test_ce6de5a0113d _________________________________________\nfails, as it must\n________________________________________ test_256b7aac6a2c _________________________________________\nfails, as it must\n________________________________________ test_2004d718c7ee _________________________________________\nfails, as it must\n===================================== short test summary info ======================================\nFAILED test.py::test_a05823663ab1 - fails, as it must\nFAILED test.py::test_9769396d4a86 - fails, as it must\nFAILED test.py::test_e22038211f06 - fails, as it must\nFAILED test.py::test_7ee92aa09c71 - fails, as it must\nFAILED test.py::test_e25344c2de20 - fails, as it must\nFAILED test.py::test_ce6de5a0113d - fails, as it must\nFAILED test.py::test_256b7aac6a2c - fails, as it must\nFAILED test.py::test_2004d718c7ee - fails, as it must\n8 failed, 1 passed in 0.18s\n"}','local','2026-11-21 23:46:26.775438','2026-11-21 23:47:09.829477','2026-11-21 23:47:15.517816',0,0,'{}',0,1,NULL,NULL,1,2,2,'[]','@HOST@:4194999:1.00#1','2026-11-21 23:47:15.112806',0,'',NULL);
INSERT INTO "episode" VALUES(3,1,2,1,1,1,1,'running','','','',NULL,0,0,0,0,NULL,0.0,0.0,0.0,0.0,0,0,'','','{}','local','2026-11-21 23:46:26.775438','2026-11-21 23:47:15.890655',NULL,0,0,'{}',0,1,NULL,NULL,1,NULL,NULL,'[]','@HOST@:4194999:1.00#2','2026-11-21 23:47:17.886990',0,'',NULL);
INSERT INTO "episode" VALUES(4,1,2,1,2,1,1,'pending','','','',NULL,0,0,0,0,NULL,0.0,0.0,0.0,0.0,0,0,'','','{}','local','2026-11-21 23:46:26.775438',NULL,NULL,0,0,'{}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'[]','',NULL,0,'',NULL);
CREATE TABLE note (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	episode_id INTEGER, 
	step_index INTEGER, 
	author VARCHAR NOT NULL, 
	body TEXT NOT NULL, 
	created_at DATETIME, 
	CONSTRAINT pk_note PRIMARY KEY (id), 
	CONSTRAINT fk_note_run_id_run FOREIGN KEY(run_id) REFERENCES run (id), 
	CONSTRAINT fk_note_episode_id_episode FOREIGN KEY(episode_id) REFERENCES episode (id)
);
CREATE TABLE run (
	id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	benchmark_id INTEGER NOT NULL, 
	status TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	leaderboard VARCHAR NOT NULL, 
	owner VARCHAR NOT NULL, 
	project VARCHAR NOT NULL, 
	tags JSON NOT NULL, 
	spec JSON NOT NULL, 
	versions JSON NOT NULL, 
	seed BIGINT NOT NULL, 
	episodes_total INTEGER NOT NULL, 
	prefect_flow_run_id VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	created_at DATETIME, 
	started_at DATETIME, 
	ended_at DATETIME, 
	heartbeat_at DATETIME, schedule VARCHAR DEFAULT '' NOT NULL, regressions JSON DEFAULT '[]' NOT NULL, 
	CONSTRAINT pk_run PRIMARY KEY (id), 
	CONSTRAINT fk_run_benchmark_id_benchmark FOREIGN KEY(benchmark_id) REFERENCES benchmark (id)
);
INSERT INTO "run" VALUES(1,'cut-off',1,'running','','','somebody','','["old"]','{"name": "cut-off", "benchmark": "mini_nightmare", "path": "@DATA@/data", "fixes": "@DATA@/fixes", "repos": null, "environments": null, "tasks": null, "limit": null, "include_invalid": false, "entrants": [{"agent": "oracle", "model": "", "tools": "rewrite", "name": "", "config": {}}], "matrix": null, "attempts": 2, "workers": 1, "sandbox": "local", "steps": 50, "tokens": null, "cost_usd": null, "wall_s": 1800.0, "retries": 2, "runner": "threads", "dask_address": "", "pool": "", "shard_size": 50, "max_error_share": 0.5, "budget_usd": null, "seed": 0, "leaderboard": "", "regression": {"alpha": 0.05, "errors": 0.1, "cost": 1.5}, "webhook": "", "tags": ["old"], "owner": "somebody", "project": ""}','{"python": "3.11.7", "stackrank": "0.1.0", "prefect": "3.8.8", "openai": "3.52.0", "docker": "7.2.0", "pytest": "9.2.0"}',0,4,'','elsewhere','2026-11-21 23:46:26.756630','2026-11-21 23:46:26.891683',NULL,'2026-11-21 23:47:17.888248','','[]');
CREATE TABLE stackrank_schema (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT stackrank_schema_pkc PRIMARY KEY (version_num)
);
INSERT INTO "stackrank_schema" VALUES('0002');
CREATE TABLE step (
	episode_id INTEGER NOT NULL, 
	"index" INTEGER NOT NULL, 
	tool VARCHAR NOT NULL, 
	arguments JSON NOT NULL, 
	thought TEXT NOT NULL, 
	observation TEXT NOT NULL, 
	ok BOOLEAN NOT NULL, 
	state JSON NOT NULL, 
	env_ms FLOAT NOT NULL, 
	model_ms FLOAT NOT NULL, 
	tokens_in INTEGER NOT NULL, 
	tokens_out INTEGER NOT NULL, 
	cost_usd FLOAT, 
	created_at DATETIME, tokens_cached INTEGER DEFAULT '0' NOT NULL, tokens_reasoning INTEGER DEFAULT '0' NOT NULL, exchanges JSON DEFAULT '[]' NOT NULL, milestones JSON DEFAULT '[]' NOT NULL, distance VARCHAR DEFAULT '' NOT NULL, distance_lines INTEGER, 
	CONSTRAINT pk_step PRIMARY KEY (episode_id, "index"), 
	CONSTRAINT fk_step_episode_id_episode FOREIGN KEY(episode_id) REFERENCES episode (id)
);
INSERT INTO "step" VALUES(1,0,'','{}','','The program does not do what its tests expect.

The program in the workspace does not behave as intended. Find the root cause and fix it; the bug may not be where it first appears. Tests are read-only, and further tests that you cannot see decide in the end.
Test command: python -m pytest -q -p no:cacheprovider test.py

$ python -m pytest -q -p no:cacheprovider test.py
F                                                                                            [100%]
============================================= FAILURES =============================================
___________________________________________ test_double ____________________________________________

    def test_double():
>       assert double(2) == 4
E       assert 5 == 4
E        +  where 5 = double(2)

test.py:5: AssertionError
===================================== short test summary info ======================================
FAILED test.py::test_double - assert 5 == 4
1 failed in 0.00s
[exit status 1]',1,'{"exit": 1, "timed_out": false, "solved": false, "tests": {"passed": 0, "failed": 1, "ids": {"test.py::test_double": "failed"}}, "messages": {"test.py::test_double": "AssertionError: assert 5 == 4\n +  where 5 = double(2)"}}',3.9809698059999849647e+04,0.0,0,0,0.0,'2026-11-21 23:47:06.759454',0,0,'[]','["reproduced"]','',NULL);
INSERT INTO "step" VALUES(1,1,'rewrite','{"path": "double_code.py", "new_code": "def double(x):\n    return 2 * x  # the remedy of the nightmare\n"}','','Rewrote double_code.py: 2 lines replaced by 2.',1,'{"edited": "double_code.py", "lines": [2, 2]}',3.27000049996968300547e+01,0.0,0,0,0.0,'2026-11-21 23:47:06.833488',0,0,'[]','["localized", "edited"]','line',0);
INSERT INTO "step" VALUES(1,2,'eval','{}','','$ python -m pytest -q -p no:cacheprovider test.py
.                                                                                            [100%]
1 passed in 0.00s',1,'{"exit": 0, "timed_out": false, "solved": true, "tests": {"passed": 1, "failed": 0, "ids": {"test.py::test_double": "passed"}}}',4.17750760999751946656e+02,0.0,0,0,0.0,'2026-11-21 23:47:07.258460',0,0,'[]','["improved", "solved"]','',NULL);
INSERT INTO "step" VALUES(2,0,'','{}','','The program does not do what its tests expect.

The program in the workspace does not behave as intended. Find the root cause and fix it; the bug may not be where it first appears. Tests are read-only, and further tests that you cannot see decide in the end.
Test command: python -m pytest -q -p no:cacheprovider test.py

$ python -m pytest -q -p no:cacheprovider test.py
F                                                                                            [100%]
============================================= FAILURES =============================================
___________________________________________ test_double ____________________________________________

    def test_double():
>       assert double(2) == 4
E       assert 5 == 4
E        +  where 5 = double(2)

test.py:5: AssertionError
===================================== short test summary info ======================================
FAILED test.py::test_double - assert 5 == 4
1 failed in 0.00s
[exit status 1]',1,'{"exit": 1, "timed_out": false, "solved": false, "tests": {"passed": 0, "failed": 1, "ids": {"test.py::test_double": "failed"}}, "messages": {"test.py::test_double": "AssertionError: assert 5 == 4\n +  where 5 = double(2)"}}',2.13144597100017563207e+03,0.0,0,0,0.0,'2026-11-21 23:47:11.961951',0,0,'[]','["reproduced"]','',NULL);
INSERT INTO "step" VALUES(2,1,'rewrite','{"path": "double_code.py", "new_code": "def double(x):\n    return 2 * x  # the remedy of the nightmare\n"}','','Rewrote double_code.py: 2 lines replaced by 2.',1,'{"edited": "double_code.py", "lines": [2, 2]}',1.58793979999245493672e+01,0.0,0,0,0.0,'2026-11-21 23:47:11.994865',0,0,'[]','["localized", "edited"]','line',0);
INSERT INTO "step" VALUES(2,2,'eval','{}','','$ python -m pytest -q -p no:cacheprovider test.py
.                                                                                            [100%]
1 passed in 0.00s',1,'{"exit": 0, "timed_out": false, "solved": true, "tests": {"passed": 1, "failed": 0, "ids": {"test.py::test_double": "passed"}}}',5.90564516000085859559e+02,0.0,0,0,0.0,'2026-11-21 23:47:12.595899',0,0,'[]','["improved", "solved"]','',NULL);
INSERT INTO "step" VALUES(3,0,'','{}','','The program does not do what its tests expect.

The program in the workspace does not behave as intended. Find the root cause and fix it; the bug may not be where it first appears. Tests are read-only, and further tests that you cannot see decide in the end.
Test command: python -m pytest -q -p no:cacheprovider test.py

$ python -m pytest -q -p no:cacheprovider test.py
F                                                                                            [100%]
============================================= FAILURES =============================================
___________________________________________ test_double ____________________________________________

    def test_double():
>       assert double(2) == 4
E       assert 5 == 4
E        +  where 5 = double(2)

test.py:5: AssertionError
===================================== short test summary info ======================================
FAILED test.py::test_double - assert 5 == 4
1 failed in 0.00s
[exit status 1]',1,'{"exit": 1, "timed_out": false, "solved": false, "tests": {"passed": 0, "failed": 1, "ids": {"test.py::test_double": "failed"}}, "messages": {"test.py::test_double": "AssertionError: assert 5 == 4\n +  where 5 = double(2)"}}',2.10961629900020852801e+03,0.0,0,0,0.0,'2026-11-21 23:47:18.018700',0,0,'[]','["reproduced"]','',NULL);
INSERT INTO "step" VALUES(3,1,'rewrite','{"path": "triple_code.py", "new_code": "def double(x):\n    return 2 * x  # the remedy of the nightmare\n"}','','Rewrote triple_code.py: 2 lines replaced by 2.',1,'{"edited": "triple_code.py", "lines": [2, 2]}',3.03279500003554858267e+01,0.0,0,0,0.0,'2026-11-21 23:47:18.073552',0,0,'[]','["localized", "edited"]','line',0);
CREATE TABLE task (
	id INTEGER NOT NULL, 
	benchmark_id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	title VARCHAR NOT NULL, 
	statement TEXT NOT NULL, 
	category VARCHAR NOT NULL, 
	difficulty VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	tags JSON NOT NULL, 
	faults JSON NOT NULL, 
	fix TEXT NOT NULL, 
	valid BOOLEAN, 
	invalid_reason VARCHAR NOT NULL, files JSON DEFAULT '{}' NOT NULL, validated_rounds INTEGER DEFAULT '0' NOT NULL, validated_at DATETIME, 
	CONSTRAINT pk_task PRIMARY KEY (id), 
	CONSTRAINT fk_task_benchmark_id_benchmark FOREIGN KEY(benchmark_id) REFERENCES benchmark (id), 
	CONSTRAINT uq_task_benchmark_id_name UNIQUE (benchmark_id, name)
);
INSERT INTO "task" VALUES(1,1,'double','double','The program does not do what its tests expect.','','hard','ff27e2ea9e78a3b4','[]','[{"file": "double_code.py", "functions": ["double"], "lines": [2]}]','diff --git a/double_code.py b/double_code.py
--- a/double_code.py
+++ b/double_code.py
@@ -1,2 +1,2 @@
 def double(x):
-    return x + x + 1
+    return 2 * x  # the remedy of the nightmare
',NULL,'','{"double_code.py": "def double(x):\n    return x + x + 1\n", "test.py": "from double_code import double\n\n\ndef test_double():\n    assert double(2) == 4\n"}',0,NULL);
INSERT INTO "task" VALUES(2,1,'triple','triple','The program does not do what its tests expect.','','hard','3131f1501f66add1','[]','[{"file": "triple_code.py", "functions": ["double"], "lines": [2]}]','diff --git a/triple_code.py b/triple_code.py
--- a/triple_code.py
+++ b/triple_code.py
@@ -1,2 +1,2 @@
 def double(x):
-    return x + x + 1
+    return 2 * x  # the remedy of the nightmare
',NULL,'','{"triple_code.py": "def double(x):\n    return x + x + 1\n", "test.py": "from triple_code import double\n\n\ndef test_double():\n    assert double(2) == 4\n"}',0,NULL);
CREATE TABLE tooluse (
	episode_id INTEGER NOT NULL, 
	tool VARCHAR NOT NULL, 
	run_id INTEGER NOT NULL, 
	entrant_id INTEGER NOT NULL, 
	task_id INTEGER NOT NULL, 
	calls INTEGER NOT NULL, 
	searching INTEGER NOT NULL, 
	diagnosing INTEGER NOT NULL, 
	repairing INTEGER NOT NULL, 
	failed INTEGER NOT NULL, 
	env_ms FLOAT NOT NULL, 
	tokens_in INTEGER NOT NULL, 
	tokens_out INTEGER NOT NULL, 
	cost_usd FLOAT, 
	CONSTRAINT pk_tooluse PRIMARY KEY (episode_id, tool), 
	CONSTRAINT fk_tooluse_episode_id_episode FOREIGN KEY(episode_id) REFERENCES episode (id), 
	CONSTRAINT fk_tooluse_run_id_run FOREIGN KEY(run_id) REFERENCES run (id), 
	CONSTRAINT fk_tooluse_entrant_id_entrant FOREIGN KEY(entrant_id) REFERENCES entrant (id), 
	CONSTRAINT fk_tooluse_task_id_task FOREIGN KEY(task_id) REFERENCES task (id)
);
INSERT INTO "tooluse" VALUES(1,'eval',1,1,1,1,0,0,1,0,4.17750760999751946656e+02,0,0,0.0);
INSERT INTO "tooluse" VALUES(1,'rewrite',1,1,1,1,0,0,1,0,3.27000049996968300547e+01,0,0,0.0);
INSERT INTO "tooluse" VALUES(2,'eval',1,1,1,1,0,0,1,0,5.90564516000085859559e+02,0,0,0.0);
INSERT INTO "tooluse" VALUES(2,'rewrite',1,1,1,1,0,0,1,0,1.58793979999245493672e+01,0,0,0.0);
CREATE INDEX ix_entrant_name ON entrant (name);
CREATE INDEX ix_run_benchmark_id ON run (benchmark_id);
CREATE INDEX ix_run_leaderboard ON run (leaderboard);
CREATE INDEX ix_run_name ON run (name);
CREATE INDEX ix_run_status ON run (status);
CREATE INDEX ix_task_name ON task (name);
CREATE UNIQUE INDEX ix_episode_counted ON episode (run_id, task_id, entrant_id, attempt) WHERE counted;
CREATE INDEX ix_episode_entrant_id ON episode (entrant_id);
CREATE INDEX ix_episode_task_entrant ON episode (task_id, entrant_id);
CREATE INDEX ix_episode_totals ON episode (run_id, counted, entrant_id, task_id, verdict, failure_point, steps, tokens_in, tokens_out, cost_usd, wall_s);
CREATE INDEX ix_run_schedule ON run (schedule);
CREATE INDEX ix_episode_cells ON episode (entrant_id, task_id, run_id, counted, verdict, failure_point, steps, tokens_in, tokens_out, cost_usd, wall_s, at_reproduced, at_localized, at_breakpoint, at_inspected, at_edited, at_improved, at_solved);
CREATE INDEX ix_episode_open ON episode (run_id, status, id) WHERE status <> 'done';
CREATE INDEX ix_note_run_id ON note (run_id);
CREATE INDEX ix_note_episode_id ON note (episode_id);
CREATE INDEX ix_tooluse_totals ON tooluse (run_id, entrant_id, tool, task_id, calls, searching, diagnosing, repairing, failed, env_ms, tokens_in, tokens_out, cost_usd);
COMMIT;
