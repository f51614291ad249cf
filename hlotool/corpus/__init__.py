"""Work on corpora: a task on every file of folders, archives and object stores, results as Parquet, an index to ask.

`corpus_run.py` lists the inputs (`corpus_inputs.py`), plans parts (`result_folder.py`) and gives them to an engine
(`engines.py`), which does each part (`part_work.py`) input by input in child processes (`one_input.py`). Tasks are
declared in `corpus_tasks.py`, tables in `result_tables.py`. An index is asked by queries: `query_parts.py` reads them,
`query_sql.py` writes SQL, `index_search.py` asks DuckDB. The libraries of the extra `corpus` are imported when they are
needed.
"""

from typing import TYPE_CHECKING

from hlotool.ir import lazily

if TYPE_CHECKING:
    from hlotool.corpus.corpus_run import CorpusReport, RunReport, run_corpus
    from hlotool.corpus.corpus_tasks import TASKS, Task
    from hlotool.corpus.engines import ENGINES, default_processes
    from hlotool.corpus.index_search import Answer, FindReport, FoundInstruction, IndexSql, ask, merged, statements
    from hlotool.corpus.query_parts import NUMBER_FIELDS, QUERY, TEXT_FIELDS, Query, parse_query, unknown_opcode
    from hlotool.corpus.query_sql import Statement
    from hlotool.corpus.result_folder import holds_results
    from hlotool.corpus.result_tables import (
        CAMPAIGNS,
        COSTS,
        INPUTS,
        JOURNEYS,
        SIGHTINGS,
        STATUSES,
        VERDICTS,
        Column,
        Table,
        bounded,
        plain,
    )

__all__ = [
    "CAMPAIGNS", "COSTS", "ENGINES", "INPUTS", "JOURNEYS", "NUMBER_FIELDS", "QUERY", "SIGHTINGS", "STATUSES", "TASKS",
    "TEXT_FIELDS", "VERDICTS", "Answer", "Column", "CorpusReport", "FindReport", "FoundInstruction", "IndexSql",
    "Query", "RunReport", "Statement", "Table", "Task", "ask", "bounded", "default_processes", "holds_results",
    "merged", "parse_query", "plain", "run_corpus", "statements", "unknown_opcode",
]

__getattr__ = lazily(__name__, {
    "corpus_run": ("CorpusReport", "RunReport", "run_corpus"),
    "corpus_tasks": ("TASKS", "Task"),
    "engines": ("ENGINES", "default_processes"),
    "index_search": ("Answer", "FindReport", "FoundInstruction", "IndexSql", "ask", "merged", "statements"),
    "query_parts": ("NUMBER_FIELDS", "QUERY", "TEXT_FIELDS", "Query", "parse_query", "unknown_opcode"),
    "query_sql": ("Statement",),
    "result_folder": ("holds_results",),
    "result_tables": ("CAMPAIGNS", "COSTS", "INPUTS", "JOURNEYS", "SIGHTINGS", "STATUSES", "VERDICTS", "Column",
                      "Table", "bounded", "plain"),
})
