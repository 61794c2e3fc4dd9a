"""サイドバーのすべての文（日本語）。Keys and placeholders are the same in `text_en`."""

TEXTS: dict[str, str] = {
    "product": "シート要約",
    # quantities
    "row.one": "{n} 行",
    "row.many": "{n} 行",
    "failed_row.one": "失敗した {n} 行",
    "failed_row.many": "失敗した {n} 行",
    "call.one": "{n} 回",
    "call.many": "{n} 回",
    "job.one": "{n} 件",
    "job.many": "{n} 件",
    "column.one": "{n} 列",
    "column.many": "{n} 列",
    "tab.one": "{n} 枚",
    "tab.many": "{n} 枚",
    "list.comma": "、",
    "list.sentences": "{first}{second}",
    "list.quote": "「{title}」",
    "duration.soon": "1 分未満",
    "duration.minutes": "約 {minutes} 分",
    "duration.hours": "約 {hours} 時間 {minutes} 分",
    "rate.slow": "毎分 1 行未満",
    "rate.rows": "毎分 {rows}",
    "time.today": "{hour}:{minute}",
    "time.day": "{month}{day}日 {hour}:{minute}",
    "time.months": "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
    "time.utc": "{time}（UTC）",
    # connect card
    "connect.title": "このスプレッドシートの利用を許可してください",
    "connect.why": "シート要約は、このスプレッドシートの各行を読み、その行に要約を書き込みます。そのため、"
    "このファイル 1 つについて、Google が最初に許可をおたずねします。",
    "connect.scope": "ほかのファイルには触れません。許可は Google アカウントの設定でいつでも取り消せます。",
    "connect.button": "このファイルを許可する",
    "connect.no_answer": "Google の確認画面が出ないときは、このパネルを閉じて開き直してください。",
    # run card
    "run.title": "行を要約する",
    "run.spreadsheet": "スプレッドシート",
    "run.tab": "シート（タブ）",
    "run.sources": "読み取る列",
    "run.output": "要約を書き込む列",
    "run.output_new": "新しい列",
    "run.output_title": "新しい列の見出し",
    "run.output_hint": "「新しい列」を選んだときだけ使います。",
    "run.output_default": "要約",
    "run.instructions": "書いてほしい内容",
    "run.instructions_default": "この行の内容を 1～2 文で要約してください。名前、数字、"
    "日付は残してください。元の文章と同じ言語で書いてください。",
    "run.mode": "対象の行",
    "mode.new_or_changed": "新しい行と、内容が変わった行",
    "mode.empty_only": "要約の欄が空の行だけ",
    "mode.all": "すべての行を書き直す",
    "run.button": "要約を実行",
    "run.close": "このパネルを閉じても、処理は続きます。",
    "run.help": "使い方",
    "run.reload": "列を読み直す",
    "run.more_tabs": "ほかの {tabs} のシートはここに表示されていません。"
    "使いたいシートを左のほうへ移動してください。",
    "run.more_columns": "ほかの {columns} はここに表示されていません。"
    "使いたい列を左のほうへ移動してください。",
    "run.long_titles": "見出しが {limit} 文字を超える {columns} は表示していません。"
    "1 行目に短い見出しを入れてください。",
    "run.no_columns": "このシートの 1 行目に見出しがありません。各列の上に見出しを書いてから、"
    "列を読み直してください。",
    "run.no_tabs": "このスプレッドシートには、行のあるシートがありません。シートを追加してから、"
    "読み直してください。",
    "run.tab_changed": "選んだシートの列を表示しました。確認してから「要約を実行」を押してください。",
    # status card
    "status.queued": "開始待ち",
    "status.running": "処理中",
    "status.paused": "一時停止中",
    "status.done": "完了",
    "status.cancelled": "中止",
    "status.model": "モデル：{model}",
    "status.progress": "{bar} {percent}%",
    "status.counts": "{rows}のうち {done} 行が完了",
    "status.left": "残り時間：{time}",
    "status.rate": "速さ：{rate}",
    "status.updated": "最後に進んだ時刻 {time}",
    "status.checked": "{time} 現在の表示です。「更新」を押すと最新になります。",
    "status.failed": "要約できなかった行：{rows}",
    "status.blank": "空のため飛ばした行：{rows}",
    "status.reused": "モデルを使わずに済んだ行（すでにあったもの）：{rows}",
    "status.remaining": "手をつけていない行：{rows}",
    "status.called": "モデルの使用：{calls}",
    "status.tokens": "トークン：読み取り {input}、書き出し {output}",
    "status.expected": "費用の見込み：約 {cost}",
    "status.cost": "ここまでの費用：約 {cost}",
    "status.repeated": "処理が途中で切れたため、最大 {calls}の使用が二重に請求された可能性があります。",
    "status.started": "開始 {time}",
    "status.finished": "終了 {time}",
    "status.safe": "これまでの要約は保存されています。",
    "status.queued_note": "まもなく始まります。2 分たっても進まないときは、自動でやり直します。",
    "status.cancelled_note": "これ以上は要約しません。これまでの要約は残っています。",
    "status.results": "結果ファイルを開く",
    "status.menu": "状況",
    "status.refresh": "更新",
    "status.pause": "一時停止",
    "status.resume": "再開",
    "status.cancel": "中止",
    "status.new": "新しく実行",
    "status.failures": "要約できなかった行",
    "status.group_rows": "{count}（行番号 {numbers}）",
    "status.group_more": "{count}（行番号 {numbers} ほか）",
    "status.retry_all": "{rows}をやり直す",
    "status.retry_group": "やり直す",
    "status.not_yours": "ほかの人が始めた処理です。一時停止、再開、中止ができるのは、その人と管理者です。",
    # administrators' card
    "admin.title": "すべての処理",
    "admin.show": "すべての処理",
    "admin.waiting": "人の操作を待っている処理：{jobs}",
    "admin.started": "開始 {time}、{rows}",
    "admin.open": "スプレッドシートを開く",
    "admin.test": "モデルを試す",
    "trial.text": "モデルは {seconds} 秒で答えました。",
    "trial.cost": "同じような 1,000 行で約 {cost} です。",
    "trial.transient": "今回はモデルから使える答えが返りませんでした。"
    "1 分ほどしてから、もう一度お試しください。",
    "trial.other": "モデルは答えましたが、要約ではありませんでした。"
    "アドオンの管理者に設定を確かめてもらってください。",
    # short messages after a click
    "said.started": "開始しました。このパネルを閉じても、処理は続きます。",
    "said.already": "このスプレッドシートでは、すでに処理が進んでいます。その状況を表示します。",
    "said.paused": "一時停止しました。何も失われていません。",
    "said.resumed": "再開しました。",
    "said.cancelled": "中止しました。これまでの要約は残っています。",
    "said.retrying": "失敗した行をやり直しています。",
    # notes of a job
    "note.results_lost": "結果ファイルが移動、削除、または変更されていたため、その分の要約を作り直しました。",
    "note.not_displayed": "できあがった要約の一部が、まだシートに書き込まれていません。保存してあり、"
    "次の実行のときに書き込みます。",
    "note.other": "この処理の間に、いつもと違うことが起きました。アドオンの管理者が調べられます。",
    # why a job is paused: who must do what
    "reason.by_person": "利用者が一時停止しました。続けるには「再開」を押してください。",
    "reason.key_rejected": "モデルの提供元がアクセスキーを受け付けませんでした。"
    "アドオンの管理者にキーの交換を頼み、そのあと「再開」を押してください。",
    "reason.model_unknown": "設定されたアドレスに、指定されたモデルがありません。"
    "アドオンの管理者にモデルとアドレスの確認を頼み、そのあと「再開」を押してください。",
    "reason.quota_exhausted": "モデルの利用枠を使い切りました。明日「再開」を押すか、"
    "アドオンの管理者に利用枠の引き上げを頼んでください。",
    "reason.insufficient_quota": "モデル提供元のアカウントの残高がありません。"
    "アドオンの管理者に補充を頼み、そのあと「再開」を押してください。",
    "reason.google_silent": "Googleが長いあいだ正しく応答していません。終わった分は残っています。"
    "しばらくしてから「再開」を押してください。",
    "reason.model_silent": "モデルが長いあいだ応答していません。しばらくしてから「再開」を押してください。"
    "また同じことが起きたら、アドオンの管理者に知らせてください。",
    "reason.access_removed": "アドオンがこのスプレッドシートか結果ファイルを開けなくなりました。"
    "スプレッドシートで「再開」を押すと、もう一度共有されます。やめるときは「中止」を押してください。",
    "reason.sheet_gone": "対象のシートが削除されました。元に戻して「再開」を押すか、"
    "「中止」を押して別のシートでやり直してください。",
    "reason.column_gone": "使っている列の名前が変わったか、列が削除されました。"
    "元の見出しに戻して「再開」を押すか、「中止」を押してやり直してください。",
    "reason.protected": "要約を書き込む列が保護されています。スプレッドシートの所有者に編集の許可を頼み、"
    "そのあと「再開」を押してください。",
    "reason.storage_full": "Google ドライブの容量がいっぱいです。空きを作ってから「再開」を押してください。",
    "reason.workbook_full": "スプレッドシートが Google のセル数の上限に達しました。不要な行、列、"
    "シートを削除してから「再開」を押してください。",
    "reason.sharing_refused": "組織の設定により、アドオンにこのスプレッドシートへのアクセスを渡せません。"
    "Google Workspace の管理者に許可を頼み、そのあと「再開」を押してください。",
    "reason.resharing_refused": "このスプレッドシートは編集できますが、共有はできません。"
    "編集者による共有を許可するよう所有者に頼み、そのあと「再開」を押してください。",
    "reason.read_only": "このスプレッドシートは見られますが、編集はできません。"
    "所有者に編集の許可を頼み、そのあと「再開」を押してください。",
    "reason.delegation_refused": "アドオンが利用者に代わって作業することが、まだ許可されていません。"
    "Google Workspace の管理者に許可を頼み、そのあと「再開」を押してください。",
    "reason.shared_drive_refused": "結果を保存する共有ドライブが使えません。"
    "アドオンの管理者に共有ドライブの設定を頼み、そのあと「再開」を押してください。",
    "reason.spreadsheet_trashed": "このスプレッドシートはゴミ箱にあります。"
    "Google ドライブで元に戻してから「再開」を押してください。",
    "reason.results_trashed": "結果ファイルが Google ドライブのゴミ箱にあります。"
    "元に戻してから「再開」を押してください。",
    "reason.api_refused": "Google がアドオンの要求を受け付けませんでした。一度「再開」を押してください。"
    "また同じことが起きたら、アドオンの管理者に知らせてください。",
    "reason.run_file_gone": "この実行の指示を書いたファイルが、ドライブから削除されました。"
    "ゴミ箱から戻して「再開」を押すか、「中止」を押してやり直してください。",
    "reason.results_file_gone": "結果ファイルが、ドライブから削除されました。"
    "ゴミ箱から戻して「再開」を押すか、「中止」を押してやり直してください。",
    "reason.stuck": "同じところで何度も失敗しました。一度「再開」を押してください。また同じことが起きたら、"
    "アドオンの管理者に知らせてください。",
    "reason.other": "処理が止まり、人の手が必要です。一度「再開」を押してください。また同じことが起きたら、"
    "アドオンの管理者に知らせてください。",
    # why a row has no summary
    "failure.blocked": "モデルがこの文章を断りました。文章を変えるか、要約をご自分で書いてください。",
    "failure.truncated": "要約が長くなりすぎました。短くするよう指示するか、文章を短くしてください。",
    "failure.empty": "モデルの答えが空でした。やり直すとうまくいくことがあります。",
    "failure.rejected": "モデルがこの文章を受け取れませんでした。文章を短くするか、変えてください。",
    "failure.model_error": "この行でモデルの失敗が続きました。あとでやり直してください。",
    "failure.source_error": "セルに #REF! などのエラーが出ています。セルを直してから、やり直してください。",
    "failure.source_too_long": "文章が 50,000 文字を超えています。短くしてから、やり直してください。",
    "failure.cell_refused": "Google が要約の書き込みを受け付けませんでした。セルが編集でき、"
    "文字を入力できることを確かめてから、やり直してください。",
    "failure.other": "ほかの理由で要約がありません。やり直してください。また同じことが起きたら、"
    "アドオンの管理者に知らせてください。",
    # why a run was not started
    "start.no_such_sheet": "このシートは削除されました。別のシートを選んでください。",
    "start.no_source_column": "読み取る列を 1 つ以上選んでください。",
    "start.no_such_column": "1 行目に見つからない列があります：{names}。選び直してください。",
    "start.duplicate_column": "同じ見出しの列が複数あります：{names}。見出しをそれぞれ別のものにしてから、"
    "列を読み直してください。",
    "start.output_is_source": "要約を書き込む列が、読み取る列と同じです。別の列を選んでください。",
    "start.output_blank": "新しい列の見出しを書いてください。",
    "start.no_header": "このシートの 1 行目に見出しがありません。各列の上に見出しを書いてください。",
    "start.no_rows": "このシートには、見出しの下に行がありません。",
    "start.all_blank": "選んだ列は、どの行も空です。文章の入った列を選んでください。",
    "start.no_instructions": "要約に書いてほしい内容を入力してください。",
    "start.too_large": "一度に処理するには多すぎます。シートを小さく分けてください。",
    "start.other": "この選び方では開始できませんでした。確認して、もう一度「要約を実行」を押してください。",
    # why a command was refused
    "command.no_such_job": "その処理はもうありません。最新の状況を表示します。",
    "command.already_over": "その処理はすでに終わっていたため、何も変わっていません。",
    "command.not_paused": "一時停止中ではないため、処理はそのまま続いています。",
    "command.nothing_failed": "やり直す行は残っていません。",
    "command.another_job_active": "このスプレッドシートでは別の処理が進んでいます。終わるまで待つか、"
    "それを中止してから、もう一度お試しください。",
    "command.still_running": "まだ処理中です。終わってから、失敗した行をやり直してください。",
    "command.not_yours": "ほかの人が始めた処理のため、何も変えていません。その人か管理者に頼んでください。",
    "command.other": "今はその操作ができないため、何も変わっていません。「更新」を押してください。",
    # why Google stopped a click: who must do what
    "blocked.access_removed": "アドオンがこのスプレッドシートを開けませんでした。これまでの要約は無事です。"
    "スプレッドシートを編集できることを確かめてから、もう一度お試しください。",
    "blocked.sheet_gone": "シートがその間に削除されました。何も変わっていません。"
    "「今の状況を見る」を押して、別のシートを選んでください。",
    "blocked.protected": "セルが保護されています。何も変わっていません。"
    "スプレッドシートの所有者に編集の許可を頼んでから、もう一度お試しください。",
    "blocked.storage_full": "Google ドライブの容量がいっぱいです。シートとこれまでの要約は無事です。"
    "空きを作ってから、もう一度お試しください。",
    "blocked.workbook_full": "スプレッドシートが Google のセル数の上限に達しました。"
    "シートとこれまでの要約は無事です。不要な行、列、シートを削除してから、もう一度お試しください。",
    "blocked.sharing_refused": "このスプレッドシートをアドオンと共有できませんでした。"
    "シートとこれまでの要約は無事です。ご自分で共有できることを確かめ、"
    "できるときは Google Workspace の管理者に許可を頼んでください。そのあと、もう一度お試しください。",
    "blocked.resharing_refused": "このスプレッドシートは編集できますが、共有はできません。"
    "アドオンにはアクセスが必要です。シートとこれまでの要約は無事です。"
    "編集者による共有を許可するよう所有者に頼んでから、もう一度お試しください。",
    "blocked.read_only": "このスプレッドシートは見られますが、編集はできないため、何も変えていません。"
    "所有者に編集の許可を頼んでから、もう一度お試しください。",
    "blocked.delegation_refused": "アドオンが利用者に代わって作業することが、まだ許可されていません。"
    "シートとこれまでの要約は無事です。"
    "Google Workspace の管理者に許可を頼んでから、もう一度お試しください。",
    "blocked.shared_drive_refused": "結果を保存する共有ドライブが使えません。"
    "シートとこれまでの要約は無事です。"
    "アドオンの管理者に共有ドライブの設定を頼んでから、もう一度お試しください。",
    "blocked.spreadsheet_trashed": "このスプレッドシートはゴミ箱にあります。"
    "シートとこれまでの要約は無事です。Google ドライブで元に戻してから、もう一度お試しください。",
    "blocked.results_trashed": "結果ファイルが Google ドライブのゴミ箱にあります。"
    "シートとこれまでの要約は無事です。元に戻してから、もう一度お試しください。",
    "blocked.api_refused": "Google がアドオンの要求を受け付けませんでした。"
    "シートとこれまでの要約は無事です。一度やり直し、また同じことが起きたら、"
    "アドオンの管理者に知らせてください。",
    "blocked.other": "Google が要求を受け付けませんでした。シートとこれまでの要約は無事です。"
    "このスプレッドシートを編集できることを確かめてから、もう一度お試しください。",
    # error card
    "error.title": "うまくいきませんでした",
    "error.again": "もう一度",
    "error.show": "今の状況を見る",
    "error.google_busy": "Google から時間内に応答がありませんでした。シートとこれまでの要約は無事です。"
    "1 分ほどしてから、もう一度お試しください。",
    "error.store_busy": "アドオンがたいへん混み合っています。シートとこれまでの要約は無事です。"
    "1 分ほどしてから、もう一度お試しください。",
    "error.file_gone": "スプレッドシートか、そのファイルが見つかりませんでした。これまでの要約は無事です。"
    "削除されていないこと、ご自分で開けることを確かめてから、もう一度お試しください。",
    "error.admins_only": "これを見られるのは、アドオンの管理者だけです。",
    "error.unexpected": "アドオンの中で問題が起きました。シートとこれまでの要約は無事です。"
    "もう一度お試しください。また同じことが起きたら、アドオンの管理者に番号 {reference} を伝えてください。",
    # help card
    "help.menu": "ヘルプ",
    "help.title": "使い方",
    "help.what": "シート要約は、シートの各行を言語モデルで要約し、その行に書き込みます。",
    "help.close": "始めたあとは自動で進みます。パネルやブラウザーを閉じても、"
    "シートを並べ替えたり編集したりしてもかまいません。",
    "help.twice": "文章と指示が同じ行は、もう一度要約しません。次の実行では、"
    "新しい行と変わった行だけを処理します。",
    "help.results": "すべての要約は、ご自分の Google ドライブの結果ファイルにも残ります。",
    "help.stop": "「一時停止」は手元の行が終わると止まり、「再開」で続きます。「中止」は処理を終わらせ、"
    "できた分を残します。",
    "help.failed": "要約できなかった行は、理由とともに表示します。そこに書かれたことを直してから、"
    "やり直してください。",
}
