"""Every sentence of the sidebar in English. Keys and placeholders are the same in `text_ja`."""

TEXTS: dict[str, str] = {
    "product": "Sheet Summaries",
    # quantities
    "row.one": "{n} row",
    "row.many": "{n} rows",
    "failed_row.one": "{n} failed row",
    "failed_row.many": "{n} failed rows",
    "call.one": "{n} call",
    "call.many": "{n} calls",
    "job.one": "{n} run",
    "job.many": "{n} runs",
    "column.one": "{n} column",
    "column.many": "{n} columns",
    "tab.one": "{n} tab",
    "tab.many": "{n} tabs",
    "list.comma": ", ",
    "list.sentences": "{first} {second}",
    "list.quote": "“{title}”",
    "duration.soon": "less than a minute",
    "duration.minutes": "about {minutes} min",
    "duration.hours": "about {hours} h {minutes} min",
    "rate.slow": "less than 1 row per minute",
    "rate.rows": "{rows} per minute",
    "time.today": "{hour}:{minute}",
    "time.day": "{day} {month} {hour}:{minute}",
    "time.months": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    "time.utc": "{time} UTC",
    # connect card
    "connect.title": "Open this spreadsheet to Sheet Summaries",
    "connect.why": "Sheet Summaries reads the rows of this spreadsheet and writes a summary into each row. "
    "Google asks you first, for this one file.",
    "connect.scope": "Your other files stay closed to it. You can take the permission back in your Google "
    "account at any time.",
    "connect.button": "Allow this spreadsheet",
    "connect.no_answer": "If no question from Google appears, close this panel and open it again.",
    # run card
    "run.title": "Summarise the rows",
    "run.spreadsheet": "Spreadsheet",
    "run.tab": "Tab",
    "run.sources": "Columns to read",
    "run.output": "Column for the summaries",
    "run.output_new": "A new column",
    "run.output_title": "Title of the new column",
    "run.output_hint": "Used only when “A new column” is chosen.",
    "run.output_default": "Summary",
    "run.instructions": "What to write",
    "run.instructions_default": "Summarise this row in one or two sentences. Keep names, numbers and "
    "dates. Write in the language of the text.",
    "run.mode": "Which rows",
    "mode.new_or_changed": "Rows that are new or have changed",
    "mode.empty_only": "Only rows whose summary cell is empty",
    "mode.all": "All rows, written afresh",
    "run.button": "Run summaries",
    "run.close": "You can close this panel; it goes on.",
    "run.help": "How it works",
    "run.reload": "Read the columns again",
    "run.more_tabs": "{tabs} more are not listed here. Move the tab you need further to the left.",
    "run.more_columns": "{columns} more are not listed here. Move the columns you need further to the left.",
    "run.long_titles": "{columns} with a title of more than {limit} characters left out. Put short titles "
    "in the first row.",
    "run.no_columns": "This tab has no titles in its first row. Write a title above each column, then read "
    "the columns again.",
    "run.no_tabs": "This spreadsheet has no tab with rows. Add one, then read it again.",
    "run.tab_changed": "These are the columns of the tab you chose. Check them, then press Run summaries.",
    # status card
    "status.queued": "Waiting to start",
    "status.running": "Working",
    "status.paused": "Paused",
    "status.done": "Finished",
    "status.cancelled": "Cancelled",
    "status.model": "Model: {model}",
    "status.progress": "{bar} {percent}%",
    "status.counts": "{done} of {rows} done",
    "status.left": "Time left: {time}",
    "status.rate": "Speed: {rate}",
    "status.updated": "Last progress {time}",
    "status.checked": "Shown as of {time}. Press Refresh for the latest.",
    "status.failed": "Without a summary: {rows}",
    "status.blank": "Skipped, nothing to read: {rows}",
    "status.reused": "Already there, without using the model: {rows}",
    "status.remaining": "Not worked on: {rows}",
    "status.called": "Model used: {calls}",
    "status.tokens": "Tokens: {input} read, {output} written",
    "status.expected": "Expected cost: about {cost}",
    "status.cost": "Cost so far: about {cost}",
    "status.repeated": "Up to {calls} may have been billed twice, because work was interrupted.",
    "status.started": "Started {time}",
    "status.finished": "Ended {time}",
    "status.safe": "Summaries made so far are safe.",
    "status.queued_note": "It starts within moments. If it does not move within two minutes, it is started "
    "again by itself.",
    "status.cancelled_note": "No further rows are summarised. Summaries made so far are kept.",
    "status.results": "Open the results",
    "status.menu": "Status",
    "status.refresh": "Refresh",
    "status.pause": "Pause",
    "status.resume": "Resume",
    "status.cancel": "Cancel",
    "status.new": "New run",
    "status.failures": "Rows without a summary",
    "status.group_rows": "{count}: row {numbers}",
    "status.group_more": "{count}: row {numbers} …",
    "status.retry_all": "Retry {rows}",
    "status.retry_group": "Retry",
    "status.not_yours": "Somebody else started this run. They, or an administrator, can pause, resume or "
    "cancel it.",
    # administrators' card
    "admin.title": "All runs",
    "admin.show": "All runs",
    "admin.waiting": "Waiting for a person: {jobs}",
    "admin.started": "Started {time}, {rows}",
    "admin.open": "Open the spreadsheet",
    "admin.test": "Test the model",
    "trial.text": "The model answered in {seconds} s.",
    "trial.cost": "1,000 such rows cost about {cost}.",
    "trial.transient": "The model gave no usable answer this time. Try again in a minute.",
    "trial.other": "The model answered, but with no summary. Ask the person who runs this add-on to check "
    "the model settings.",
    # short messages after a click
    "said.started": "Started. You can close this panel; it goes on.",
    "said.already": "A run is already going on in this spreadsheet. Here it is.",
    "said.paused": "Paused. Nothing is lost.",
    "said.resumed": "It goes on.",
    "said.cancelled": "Cancelled. Summaries made so far are kept.",
    "said.retrying": "The failed rows are being tried again.",
    # notes of a job
    "note.results_lost": "A results file was moved, deleted or changed, so its summaries were made again.",
    "note.not_displayed": "Some finished summaries are not in the sheet yet. They are kept, and written "
    "with the next run.",
    "note.other": "Something unusual happened during this run. The person who runs this add-on can look it "
    "up.",
    # why a job is paused: who must do what
    "reason.by_person": "Somebody paused it. Press Resume to go on.",
    "reason.key_rejected": "The model provider rejected the access key. Ask the person who runs this "
    "add-on to replace the key, then press Resume.",
    "reason.model_unknown": "There is no such model at the address that is set. Ask the person who runs "
    "this add-on to check model and address, then press Resume.",
    "reason.quota_exhausted": "The model's allowance for now is used up. Press Resume tomorrow, or ask the "
    "person who runs this add-on to raise it.",
    "reason.insufficient_quota": "The account at the model provider has no credit left. Ask the person who "
    "runs this add-on to top it up, then press Resume.",
    "reason.google_silent": "Google has not answered properly for a long time. Nothing finished is lost. "
    "Press Resume later.",
    "reason.model_silent": "The model has not answered for a long time. Press Resume later; if it happens "
    "again, tell the person who runs this add-on.",
    "reason.access_removed": "The add-on can no longer open this spreadsheet or its results. Press Resume in "
    "the spreadsheet to give it access again; or press Cancel.",
    "reason.sheet_gone": "The tab was deleted. Undo that, then press Resume; or press Cancel and start "
    "again on another tab.",
    "reason.column_gone": "A column of this run was renamed or deleted. Give it its old title back, then "
    "press Resume; or press Cancel and start again.",
    "reason.protected": "The column for the summaries is protected. Ask the owner of the spreadsheet to "
    "let you edit it, then press Resume.",
    "reason.storage_full": "Your Google Drive is full. Free some space, then press Resume.",
    "reason.workbook_full": "The spreadsheet has reached Google's limit of cells. Delete rows, columns or "
    "tabs you do not need, then press Resume.",
    "reason.sharing_refused": "Your organisation does not let the add-on be given access to this "
    "spreadsheet. Ask your Google Workspace administrator to allow it, then press Resume.",
    "reason.resharing_refused": "You may edit this spreadsheet, but not share it. Ask its owner to let "
    "editors share it, then press Resume.",
    "reason.read_only": "You may read this spreadsheet, but not edit it. Ask its owner to let you edit it, "
    "then press Resume.",
    "reason.delegation_refused": "The add-on may not work in your name yet. Ask your Google Workspace "
    "administrator to authorise it, then press Resume.",
    "reason.shared_drive_refused": "Results cannot be kept in the shared drive that is set for them. Ask the "
    "person who runs this add-on to give it access to the drive, then press Resume.",
    "reason.spreadsheet_trashed": "This spreadsheet is in the bin. Restore it in Google Drive, then press "
    "Resume.",
    "reason.results_trashed": "The results are in the bin of Google Drive. Restore them, then press Resume.",
    "reason.api_refused": "Google refused a request of the add-on. Press Resume once; if it happens again, "
    "tell the person who runs this add-on.",
    "reason.run_file_gone": "The file with the instructions of this run was deleted from your Drive. Put "
    "it back from the bin and press Resume; or press Cancel and start again.",
    "reason.results_file_gone": "The results file was deleted from your Drive. Put it back from the bin "
    "and press Resume; or press Cancel and start again.",
    "reason.stuck": "The same step failed several times. Press Resume once; if it happens again, tell the "
    "person who runs this add-on.",
    "reason.other": "The run stopped and needs a person. Press Resume once; if it happens again, tell the "
    "person who runs this add-on.",
    # why a row has no summary
    "failure.blocked": "The model refused the text. Change the text, or write this summary yourself.",
    "failure.truncated": "The summary became too long. Ask for a shorter one, or shorten the text.",
    "failure.empty": "The model answered with nothing. Retrying often helps.",
    "failure.rejected": "The model could not take the text as it is. Shorten or change the text.",
    "failure.model_error": "The model kept failing on this row. Retry later.",
    "failure.source_error": "A cell shows an error such as #REF!. Repair the cell, then retry.",
    "failure.source_too_long": "The text is longer than 50,000 characters. Shorten it, then retry.",
    "failure.cell_refused": "Google did not accept the summary in the cell. Check that the cell may be "
    "edited and takes text, then retry.",
    "failure.other": "There is no summary for another reason. Retry; if it happens again, tell the person "
    "who runs this add-on.",
    # why a run was not started
    "start.no_such_sheet": "This tab was deleted. Choose another one.",
    "start.no_source_column": "Choose at least one column to read.",
    "start.no_such_column": "These columns are no longer in the first row: {names}. Choose again.",
    "start.duplicate_column": "More than one column is called {names}. Give each its own title, then read "
    "the columns again.",
    "start.output_is_source": "The column for the summaries is also a column to read. Choose another one.",
    "start.output_blank": "Write a title for the new column.",
    "start.no_header": "This tab has no titles in its first row. Write a title above each column.",
    "start.no_rows": "This tab has no rows below its titles.",
    "start.all_blank": "The chosen columns are empty in every row. Choose columns with text.",
    "start.no_instructions": "Write what each summary should contain.",
    "start.too_large": "This is too much for one run. Split the tab into smaller ones.",
    "start.other": "The run could not be started with these choices. Check them and press Run summaries "
    "again.",
    # why a command was refused
    "command.no_such_job": "That run is no longer there. This is the latest.",
    "command.already_over": "That run had already ended, so nothing was changed.",
    "command.not_paused": "The run is not paused, so it goes on as it was.",
    "command.nothing_failed": "No failed rows are left to retry.",
    "command.another_job_active": "Another run is going on in this spreadsheet. Wait until it ends, or "
    "cancel it, then try again.",
    "command.still_running": "The run is still going on. Retry the rows that failed when it has ended.",
    "command.not_yours": "Somebody else started this run, so nothing was changed. Ask them or an "
    "administrator.",
    "command.other": "That is not possible at the moment, so nothing was changed. Press Refresh.",
    # why Google stopped a click: who must do what
    "blocked.access_removed": "The add-on may not open this spreadsheet. Finished summaries are safe. "
    "Check that you may edit the spreadsheet, then try again.",
    "blocked.sheet_gone": "The tab was deleted meanwhile. Nothing was changed. Press Show the current "
    "state and choose another tab.",
    "blocked.protected": "The cells are protected. Nothing was changed. Ask the owner of the spreadsheet "
    "to let you edit them, then try again.",
    "blocked.storage_full": "Your Google Drive is full. Your sheet and finished summaries are safe. Free "
    "some space, then try again.",
    "blocked.workbook_full": "The spreadsheet has reached Google's limit of cells. Your sheet and finished "
    "summaries are safe. Delete rows, columns or tabs you do not need, then try again.",
    "blocked.sharing_refused": "This spreadsheet could not be shared with the add-on. Your sheet and "
    "finished summaries are safe. Check that you may share it; if you may, ask your Google Workspace "
    "administrator to allow it. Then try again.",
    "blocked.resharing_refused": "You may edit this spreadsheet, but not share it, and the add-on needs "
    "access to it. Your sheet and finished summaries are safe. Ask its owner to let editors share it, then "
    "try again.",
    "blocked.read_only": "You may read this spreadsheet, but not edit it, so nothing was changed. Ask its "
    "owner to let you edit it, then try again.",
    "blocked.delegation_refused": "The add-on may not work in your name yet. Your sheet and finished "
    "summaries are safe. Ask your Google Workspace administrator to authorise it, then try again.",
    "blocked.shared_drive_refused": "Results cannot be kept in the shared drive that is set for them. Your "
    "sheet and finished summaries are safe. Ask the person who runs this add-on to give it access to the "
    "drive, then try again.",
    "blocked.spreadsheet_trashed": "This spreadsheet is in the bin. Your sheet and finished summaries are "
    "safe. Restore it in Google Drive, then try again.",
    "blocked.results_trashed": "The results are in the bin of Google Drive. Your sheet and finished "
    "summaries are safe. Restore them, then try again.",
    "blocked.api_refused": "Google refused a request of the add-on. Your sheet and finished summaries are "
    "safe. Try again once; if it happens again, tell the person who runs this add-on.",
    "blocked.other": "Google refused the request. Your sheet and finished summaries are safe. Check that "
    "you may edit this spreadsheet, then try again.",
    # error card
    "error.title": "That did not work",
    "error.again": "Try again",
    "error.show": "Show the current state",
    "error.google_busy": "Google did not answer in time. Your sheet and finished summaries are safe. Try "
    "again in a minute.",
    "error.store_busy": "The add-on is very busy. Your sheet and finished summaries are safe. Try again in "
    "a minute.",
    "error.file_gone": "The spreadsheet or one of its files was not found. Finished summaries are safe. "
    "Check that it was not deleted and that you can open it, then try again.",
    "error.admins_only": "Only administrators of this add-on may see that.",
    "error.unexpected": "Something went wrong in the add-on. Your sheet and finished summaries are safe. "
    "Try again; if it happens again, give the person who runs this add-on the number {reference}.",
    # help card
    "help.menu": "Help",
    "help.title": "How it works",
    "help.what": "Sheet Summaries has a language model summarise every row of a tab and writes each "
    "summary into its row.",
    "help.close": "Once started it goes on by itself: close the panel or the browser, sort or edit the "
    "sheet.",
    "help.twice": "A row with the same text and instructions is not summarised again, so a new run only "
    "works on what is new or has changed.",
    "help.results": "All summaries are also kept in a results file in your own Google Drive.",
    "help.stop": "Pause stops after the rows in hand; Resume goes on. Cancel ends the run and keeps what "
    "is done.",
    "help.failed": "Rows that got no summary are listed with the reason. Repair what is said there, then "
    "retry.",
}
