"""The first stage: turn source files into actions, the edits and completion calls that type completable tokens."""

from ci_eval.core.actions.files import Source, declarations, source_files
from ci_eval.core.actions.generate import Generated, SourceTree, generate, make
from ci_eval.core.actions.records import RecordFile, Records, generate_records, read_records
from ci_eval.core.actions.sample import SampleGoal
from ci_eval.core.actions.strategy import spell_task, spelled_files, spelled_filters, spelled_queries, stream_actions
