"""What the offline summariser knows about English and Japanese letters: word lists and set phrases."""

import re


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _set(
    """
    a about above after again all also always am an and any are as ask at back be because been before being
    below between both but by can cannot could day days did do does doing done down each either else even
    every few for from further get gets getting give given go goes going got had has have having he her here
    him his how however i if in into is it its just know last let like made make many may me might mine more
    most much must my need needs next no nor not now of off on once one only or other our out over own per
    perhaps please quite rather re really same she should since so some still such take than that the their
    them then there these they thing things this those though through thus time to today together too
    tomorrow under until up upon us use using very want wants was way we well were what when where whether
    which while who whom whose why will with within without would yes yesterday yet you your yours
    advise appreciate assist assistance attached dear everyone ext fw fwd good greetings guys hello help hi
    hey importance information kind kindly look looking morning note pm regards sent sincerely sorry team
    thank thanks welcome
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december
    件 下記 以下 上記 場合 今回 現在 本日 昨日 今日 明日 先日 先程 当方 弊社 弊店 御社 貴社 貴店 私 私共 何
    事 時 等 中 方 為 者 上 下 前 後 内 外 間 様 際 旨 程 他 点 分 的 所 通 連絡 確認 対応 願 致 申 頂 存 思
    出来 御座 世話 失礼 宜 何卒 以上 恐縮 恐 入 手数 忙 大変 誠 非常 感謝 返信 返事 検討 教示 幸 了承 承知 急
    本当 一応 可能 必要 状況 問題
    """
)
"""Words that say little about what a row is about. The Japanese ones are pieces that `terms` makes."""

_EN_GREETING = r"(?:hi|hello|hey|dear|greetings|good\s+(?:morning|afternoon|evening|day))"
_EN_ALL = r"(?:there|all|team|everyone|everybody|guys|folks|sir|madam|colleagues|support|and|or|again|both)"

GREETING = re.compile(
    rf"\s*(?i:{_EN_GREETING})\b"
    rf"(?:(?:\s+(?:(?i:{_EN_ALL})\b|[A-Z][\w'’.-]+|\w+(?=\s*,))){{0,4}}\s*[,!:.–—-]+"
    rf"|(?:\s+(?i:{_EN_ALL})\b)*)\s*"
)
"""A salutation at the start of a sentence, up to what the person wants to say."""

OPENER_JA = re.compile(
    r"(?:大変|誠に|度々|いつも)*(?:お手数(?:を|で)?(?:おかけ|お掛け)?(?:いた|致)?(?:し|です)?(?:ます|て恐縮です)?が"
    r"|お忙しい(?:ところ|中)[^、。]{0,14}が|恐れ入りますが|恐縮ですが|申し訳(?:ございません|ありません|ない)(?:の?です)?が"
    r"|突然(?:の|で)[^、。]{0,16}が)、?\s*"
)
"""A polite opening clause, dropped so that the sentence starts with its matter."""

FORMULA_EN = re.compile(
    r"""(?ix)
    \b(?:i\s+)?(?:trust|hope)\s+(?:this|you|your|all)\b[^.!?]{0,80}\b(?:well|day|week|weekend|finds\s+you)\b
    | \b(?:many\s+)?thank(?:s|\s+you)\b(?:\s+(?:very|so|again|much|a\s+lot|in\s+advance
        |(?:and\s+)?(?:kind|best)\s+regards
        |for\s+(?:your|the|any)\s+(?:\w+\s+){0,2}
         (?:help|time|support|patience|understanding|assistance|attention|reply|response|cooperation)))*
    | \blook(?:ing)?\s+forward\s+to\b[^.!?]{0,120}
    | \b(?:let\s+(?:me|us)\s+know|feel\s+free|hesitate)\b
      [^.!?]{0,60}\b(?:if|questions?|contact|need|anything)\b[^.!?]{0,120}
    | \bany\s+(?:help|advice|assistance|update)\s+(?:is|would\s+be|will\s+be)\b[^.!?]{0,20}appreciated
    | \b(?:with\s+)?(?:kind|best|warm|kindest|warmest)\s+(?:regards|wishes)\b
    | \b(?:regards|sincerely|yours\s+(?:truly|faithfully|sincerely)|cheers|respectfully)\b
    | \bto\s+whom\s+it\s+may\s+concern\b
    | \bsent\s+from\s+my\s+\w+
    | \bhave\s+a\s+(?:nice|good|great|lovely)\s+(?:day|week|weekend|evening|one)\b
    """
)
FORMULA_JA = re.compile(
    r"""(?x)
    (?:いつも|平素(?:より|は)?|日頃(?:より|は)?)?(?:大変|格別の)?[^、。]{0,8}
      お世話に(?:なって(?:おり|い)ます|なります|なりました)
    | (?:いつも|平素(?:より|は)?|日頃(?:より|は)?)[^。]{0,30}(?:ありがとうございます|御礼申し上げます)
    | (?:どうも|誠に|大変)?(?:ありがとう|有難う|有り難う)(?:ございま(?:す|した))?
    | (?:お疲れ(?:様|さま)|ご苦労(?:様|さま))(?:です|でした|でございます)
    | (?:初め|はじめ)まして | こんにちは | こんばんは | おはようございます
    | 突然(?:の|で)[^。]{0,20}(?:失礼|申し訳)[^。]{0,12}
    | [^、。]{1,30}と申します
    | (?:何卒|どうぞ|以上|今後とも|引き続き|それでは|では)?、?
      (?:ご[^、。]{1,8}(?:のほど|の程|を|賜りますよう))?、?(?:何卒|どうぞ)?、?
      (?:よろしく|宜しく)\s*(?:お願い|御願い)?(?:いた|致|申し上げ)?し?(?:ます|申し上げます)?
    | (?:ご(?:返信|返答|連絡|回答|返事)|お返事)を?(?:心より)?お待ち(?:して(?:おり|い)|申し上げ)ます
    | 以上です | 以上、 | 敬具 | 拝啓 | 草々 | 前略 | 取り急ぎ[^。]{0,16}まで
    | (?:お手数|ご面倒|ご迷惑)を?(?:おかけ|お掛け)(?:いた|致)?し(?:ます|ました|ております)
    | お忙しいところ[^、。]{0,14}(?:すみません|恐縮です|申し訳(?:ありません|ございません))
    """
)
"""Courtesy, whatever the matter is. A sentence with hardly anything besides is left out."""

NOTICE = re.compile(
    r"(?i)\b(?:prohibited|unlawful|unsubscribe|confidential(?:ity)?|intended\s+recipients?|consider.{0,20}printing)\b"
    r"|自動送信|機密情報|誤って受信"
)
"""The legal or automatic text under a mail."""

NOISE_LINE = re.compile(
    r"""(?ix)
    (?:from|to|cc|bcc|sent|date|subject|reply-to|importance|差出人|宛先|件名|送信日時|送信元|日時|tel|fax|mobile
      |phone|e-?mail|url|web|〒|電話|携帯|住所)\s*[:：.].* | 〒.*
    | >.*
    | on\b.{0,200}\bwrote:
    | [\W_]*(?:original\s+message|forwarded\s+message|元のメッセージ|転送)[\W_]*.*
    | [^、。]{1,25}(?:様|御中|各位|殿)[、,]?
    | (?:株式会社|有限会社|合同会社)[^、。]{1,20}の[^、。]{1,12}です。?
    | [^、。]{1,20}(?:株式会社|有限会社|合同会社|部|課|店|社)の[^、。]{1,12}です。?
    | https?://\S+ | \S+@\S+\.\S+
    """
)
"""A whole line that belongs to the envelope of a letter, not to its matter."""

RULE_LINE = re.compile(r"[-=_*~─━―–—～＝＊☆★・…\s]{3,}")
"""A line drawn with characters; at the end of a letter it opens the signature."""

CLOSING_LINE = re.compile(
    r"(?ix) (?:(?:many\s+)?thanks?(?:\s+you)?(?:\s+(?:in\s+advance|so\s+much|a\s+lot|and\s+regards))?"
    r"| (?:with\s+)?(?:(?:kind|best|warm)\s+)?(?:regards|wishes) | cheers | best | sincerely(?:\s+yours)?"
    r"| yours\s+(?:truly|faithfully|sincerely) | 敬具 | 草々 | 以上 ) [\s,.!、。]*"
)
"""A line that ends a letter; what follows it in short lines is the signature."""

CUE = re.compile(
    r"(?i)\?|？|\b(?:errors?|fail\w*|cannot|can['’]?t|unable|not|n['’]t|broken|refund\w*|cancel\w*|requests?"
    r"|need\w*|want|wants|would\s+like|how|why|urgent\w*|issues?|problems?|missing|wrong|please|replace\w*|access"
    r"|damaged|lost|late|never|install|charged)\b"
    r"|ません|できない|出来ない|ない状態|エラー|不具合|故障|不良|届か|破損|返金|返品|交換|解約|キャンセル|希望|ご教示|教えて"
    r"|ください|下さい|いただけ|頂け|お願い|したい|たいです|でしょうか|ですか|至急|困って|見積"
)
"""Signs of a fault, a question or a wish: what most rows of letters are about."""

GREETING_WORDS = _set("hi hello hey dear greetings")
CLOSING_WORDS = _set("thank thanks regards cheers sincerely")
HEADER_WORDS = _set("am fw fwd importance pm re")
DATE_WORDS = _set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august "
    "september october november december"
)
ADDRESSEE_WORDS = _set("all everybody everyone folks guys colleagues team there sir madam")
SIGNATURE_WORDS = _set(
    "you much very lot advance again head officer engineer developer manager administrator architect analyst "
    "consultant technician director accountant lead leader senior junior technical specialist coordinator "
    "assistant associate support programme program project portfolio ext phone telephone mobile address "
    "floor android java software en st rd blvd hub emergency shared holiday planned upcoming best kind many"
)
REQUEST_WORDS = _set("please kindly")
CONNECTORS = _set(
    "and but because when which who if while since after before although though however so then therefore "
    "please can could would should we they he she it there also"
)
LOOSE_START = _set("and or but by with for of to at in on the a an also then so you as that has")
LOOSE_END = LOOSE_START | _set(
    "please we they he she it i if when which who because while is are be your our their my its this these "
    "can could from any some best kind many"
)
