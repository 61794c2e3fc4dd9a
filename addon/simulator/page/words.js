// What the page itself says, apart from the cards: those speak for the add-on.

const TEXTS = {
  en: {
    where: "Local demo · saved on this computer, nothing is sent to Google",
    language: "Language",
    offline: "The demo has stopped. Start it again; this page goes on by itself.",
    toolbar: "Sheet",
    sheets: "Sheets",
    grid: "Cells. Arrow keys move, Enter edits, F6 goes to the panel.",
    sortUp: "Sort by column {column}, A to Z",
    sortDown: "Sort by column {column}, Z to A",
    above: "Insert a row above row {row}",
    below: "Insert a row below row {row}",
    delete: "Delete row {row}",
    columnMenu: "Menu of column {column}",
    rowGone: "This row was changed or deleted by somebody else meanwhile. Look again, then repeat.",
    notSaved: "Not saved. {reason}",
    panel: "Add-on panel",
    open: "Open Sheet Summaries",
    close: "Close the panel",
    back: "Back",
    more: "More",
    reload: "Reload the add-on",
    working: "Working…",
    showMore: "Show more",
    showLess: "Show less",
    required: "Please fill this in.",
    badNumber: "Please enter a number.",
    badEmail: "Please enter an e-mail address.",
    filter: "Search",
    chosen: "{n} chosen",
    openLink: "Open the page",
    allowTitle: "Allow access to this file?",
    allowWhat: "Sheet Summaries wants to see and edit this one file:",
    allowNote:
      "In Google Sheets, Google asks you this. Here it is imitated, and the file is on your computer.",
    scopesTitle: "Allow Sheet Summaries to use these?",
    allow: "Allow",
    cancel: "Cancel",
    ignored: "The add-on returned something Google would ignore",
    answer: "The answer",
    no_service: "No add-on service is running with this page, so the panel stays empty.",
    no_answer: "The add-on's service does not answer. Is it running?",
    too_slow: "The add-on's service did not answer within 30 seconds. Google would have given up.",
    not_json: "The add-on's service answered with something that is not JSON.",
    status: "The add-on's service answered with HTTP status {status}.",
    again: "Try again",
    cannotDraw: "Google can show this widget, this local page cannot: {name}",
  },
  ja: {
    where: "ローカルデモ · このコンピューターに保存され、Google には何も送られません",
    language: "言語",
    offline: "デモが止まっています。もう一度起動すると、このページは自動で続きます。",
    toolbar: "シート",
    sheets: "シート一覧",
    grid: "セル。矢印キーで移動、Enter で編集、F6 でパネルへ移ります。",
    sortUp: "{column} 列で並べ替え（昇順）",
    sortDown: "{column} 列で並べ替え（降順）",
    above: "{row} 行目の上に行を挿入",
    below: "{row} 行目の下に行を挿入",
    delete: "{row} 行目を削除",
    columnMenu: "{column} 列のメニュー",
    rowGone: "この行は、その間に変更または削除されました。確かめてから、もう一度お試しください。",
    notSaved: "保存できませんでした。{reason}",
    panel: "アドオンのパネル",
    open: "Sheet Summaries を開く",
    close: "パネルを閉じる",
    back: "戻る",
    more: "その他",
    reload: "アドオンを読み込み直す",
    working: "処理しています…",
    showMore: "もっと見る",
    showLess: "閉じる",
    required: "入力してください。",
    badNumber: "数字を入力してください。",
    badEmail: "メールアドレスを入力してください。",
    filter: "検索",
    chosen: "{n} 件を選択",
    openLink: "ページを開く",
    allowTitle: "このファイルの利用を許可しますか？",
    allowWhat: "Sheet Summaries が、次のファイル 1 つの表示と編集を求めています：",
    allowNote:
      "Google スプレッドシートでは Google がこの確認をします。これはその再現で、ファイルはこのコンピューターにあります。",
    scopesTitle: "Sheet Summaries に次の利用を許可しますか？",
    allow: "許可",
    cancel: "キャンセル",
    ignored: "アドオンの応答は、Google なら無視するものです",
    answer: "応答の内容",
    no_service: "このページにはアドオンのサービスがつながっていないため、パネルは空です。",
    no_answer: "アドオンのサービスが応答しません。起動していますか？",
    too_slow: "アドオンのサービスが 30 秒以内に応答しませんでした。Google ならここであきらめます。",
    not_json: "アドオンのサービスの応答が JSON ではありません。",
    status: "アドオンのサービスが HTTP ステータス {status} を返しました。",
    again: "もう一度",
    cannotDraw: "Google では表示できますが、このページでは表示できない部品です：{name}",
  },
};

let language = "en";

export function setLanguage(chosen) {
  language = chosen in TEXTS ? chosen : "en";
  document.documentElement.lang = language;
}

export function languageNow() {
  return language;
}

/** The language tag events carry: the browser's own where it is of the chosen language. */
export function localeNow() {
  return navigator.languages.find((tag) => tag.split("-")[0] === language) ?? language;
}

export function say(key, values = {}) {
  return TEXTS[language][key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}
