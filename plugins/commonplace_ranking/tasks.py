"""Whether a query asks for something to be done or for advice, rather than what is or was so.

Rules for seven languages, and a few words of Italian and Portuguese. What no rule knows is no task:
an instruction that is offered where nothing is to be done disturbs more than one that is missed,
which is a hit like others then. ``tests/plugins/ranking/data/standing.json`` measures them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from commonplace_ranking.patterns import pattern

if TYPE_CHECKING:
    from typing import Literal

_REQUEST = r"""(?ix)
    ^\W*(?: (?:can|could|would|will)\ you | please | help\ (?:me|us) | let['’]?s | remind\ me
        | how\ (?:should|do)\ (?:i|we)
        | (?:i|we)(?:\ need|\ want|\ have|\ must|\ should|\ would\ like|['’]d\ like)
          \ (?:to|you|a|an|some) | (?:soll(?:te|ten|en)?|darf|dürfen)\ (?:ich|wir)
        | (?:kannst|könntest|würdest)\ du | könn(?:t|ten)\ (?:ihr|sie) | bitte | hilf
        | wie\ soll(?:en|te)? | lass(?:t|en)?\ uns
        | (?:ich|wir)\ (?:brauchen?|möchten?|wollen|will|müssen|muss|sollten?)
        | peux-tu | pourrais-tu | (?:pouvez|pourriez)-vous | s['’]il\ (?:te|vous)\ plaît | aide
        | (?:je|j['’]|nous)\ ?(?:veux|voudrais|dois|devons|voulons|ai\ besoin|avons\ besoin)
        | il\ (?:faut|faudrait) | tu\ peux | vous\ pouvez
        | ¿?\ ?(?:puedes?|podrías?|podemos) | por\ favor | ay[uú]da(?:me|nos)
        | necesit(?:o|amos) | quiero | queremos | quisiera | hay\ que | ten(?:go|emos)\ que
        | puoi | potresti | per\ favore | devo | dobbiamo | (?:você\ )?pode(?:ria)? | preciso )\b
    | \b(?: please | bitte | s['’]il\ (?:te|vous)\ plaît | por\ favor )\W*$
    | ^\W*(?:[今明后後]天|再|然后|现在|先)?\W*
        (?: 请(?!假|客|问) | 麻烦你? | 帮(?!助|了|派) | [給给替]我 )
    | 一下吧?[。！]?$
    | [てで](?:おいて)?(?:ください|下さい|ほしい|欲しい|くれ(?!た|て|る)|もらえ|いただけ)
    | て(?:おいて)?くれる[？?] | お願い(?!した|され) | (?:を|の件)頼む | なさい[。！]?$
    | 해\ ?(?:주세요|주십시오|줘요?|줄래요?|라|둬) | [가-힣]\ (?:주세요|주십시오|줘요?|줄래요?)
    | 부탁\ ?(?:해|드|합) | (?:하|으)(?:세요|십시오|자)[.!]?$
    """
_QUESTION = r"""(?ix)
    ^\W*(?: what | when | where | who | whose | whom | which | why | how | is | are | was | were
        | did | does | do | has | have | had
        | wer | was | wann | wo | wohin | warum | wieso | welche[rsmn]? | wie | ist | sind | hat
        | habe | qui | que | quoi | quand | où | pourquoi | quel(?:le)?s? | combien | comment
        | est-ce | qué | quién | cuándo | cuál | cuáles | dónde | cuánto\w* | cómo | por\ qué
        | chi | cosa | dove | perché | quale | quem | onde | qual )\b
    | 什么 | 什麼 | 哪 | 谁 | 誰 | 几[个位点次天张] | 多少 | 吗 | 有没有 | 何時 | 何[人個枚]
    | どこ | いつ | なぜ | どの | の?か[。？?]?$
    | 언제 | 어디 | 누구 | 무엇 | 뭐 | 왜 | 까[?？]?$ | [?？]\s*$
    """
# Questions whose answer is a number to be worked out, in some unit: no preference but that applies.
_AMOUNT = r"""(?ix)
    ^\W*(?: how\ (?:far|long|high|tall|deep|big|heavy|fast|hot|warm|cold|much|many)\b.*?
            \b(?:is|are|does|do|would|will|can|should)
        | (?:what|which)(?:['’]s|\ is|\ are)?\ (?:the\ )?(?:distance|temperature|weather|price|time)
        | what\ (?:does|do|would|will)\b.*?\b(?:cost|weigh|measure) | was\ (?:kostet|kosten|wiegt)
        | cuál\ es\ la\ (?:distancia|altura|temperatura)
        | quelle\ est\ la\ (?:distance|hauteur|température)
        | wie\ (?:weit|lange?|hoch|groß|tief|schwer|schnell|warm|heiß|kalt|teuer|viel)\b.*?
            \b(?:ist|sind|wird|wiegt|wiegen|kostet|kosten|dauert|fährt|braucht|wäre|soll)
        | um\ wie\ viel\ uhr
        | (?:a\ )?(?:qué\ (?:distancia|hora|altura|temperatura)|cuánt[oa]s?)\b.*?
            \b(?:es|está|hay|hace|hará|pesan?|cuestan?|miden?|dura|tarda|sale|son|sería|costaría)
        | (?:à\ )?quelle?\ (?:distance|heure|hauteur|température|météo)\b.*?
            \b(?:est|sont|part|arrive|fait|fera)
        | combien\b.*?\b(?:coûte(?:nt|rait)?|pèse|mesure|faut-il|fait|dure) )\b
    | 多(?:远|高|重(?!要)|长|热|冷|少[钱度]) | 几[度点]
    | ど[のれ]くらい | 何(?:キロ|度|時に|時間) | いくら
    | 얼마나 | 얼마[야예인일면]? | 몇\ ?(?:도|킬로|시에|시간)
    """
# Questions of what to do.
_ADVICE = r"""(?ix)
    ^\W*(?: how\ (?:do|can|could|would)\ (?:i|we|you) | how\ to | how\ about
        | (?:what|where|which|who|when|how)\b.*?\b(?:should|could|can|would|may)\ (?:i|we|you)
            (?!\ find)
        | (?:what|which)(?:['’]s|\ is|\ are|\ would\ be)?\ (?:a|the)
            \ (?:good|nice|best|fastest|cheapest|quickest|easiest|healthy)
        | any\ (?:ideas?|tips?|suggestions?) | (?:ideas?|tips|suggestions)\ for
        | (?:was|wo|wohin|wen|wann|womit|welche[rsmn]?|wie)\b.*?
            \b(?:soll(?:en|ten?)?|kann|können|könnten?|darf|würdest)
        | (?:hast\ du|gibt\ es)\ .*(?:idee|tipp|vorschl)\w*
        | (?:qué|dónde|cuál|cómo|cuándo|a\ quién)\b.*?\b(?:puedo|podemos|podría|debo|debería
            |deberíamos|hago|hacemos|me\ pongo|recomiendas|se\ hace|convien\w+)
        | alguna\ (?:idea|sugerencia)
        | (?:que|où|comment|quand|qui|quel(?:le)?s?|qu['’]est-ce\ que)\b.*?
            \b(?:je\ (?:peux|pourrais|dois|devrais)|(?:puis|pourrais|dois|devrais)-je|peut-on
            |pourrait-on|faire|manger|dîner)
        | (?:une\ idée|des\ idées) )\b
    | 怎么(?:去|走|做|办|写|用|弄) | ^\W*(?:我们?|该)*如何 | (?<!主要)[做吃买穿选玩看喝]什么
    | 什么好 | 哪[家个里些].{0,6}(?:好|比较) | 该(?:怎|去|用|选|买|吃)
    | 何を.{0,10}(?:べき|ば|たら|よう) | おすすめ | お勧め | べき(?:です)?か | たらいい | ばいい
    | どうやって | 어떻게 | [뭐뭘무어디]\S*.{0,10}[까지][?？]?$ | [을할갈]까 | 추천
    """
# What is over is a fact, and notes may hold it.
_OVER = r"""(?ix)
    \b(?: (?!^)was | were | did | had | went | came | took | have | has | got | \w{3,}ed
        | war | waren | hatten? | wurden? | haben | habe | hat | kam\w* | ging\w*
        | ge\w{3,}(?:t|en)\W*$
        | fue | fueron | era | hab[íi]a\w* | ha | han | hemos | \w{2,}(?:amos|aron|ieron|imos|ó)
        | était | étaient | avons | avez | ont | a\ (?:été|coûté|fait|dit|eu) | a-t-\w+ | as-tu )\b
    | [了过過] | 上次 | 昨[天日] | 去年 | [いきしちにみりえけせてねべれまっ]た(?:の|か|$|ん)
    | でした | ました | だった | [았었였했갔왔됐샀났렸졌썼겼쳤켰봤줬랐꿨탔뒀]
    """
# Beginnings that no verb is, so that "yesterday the ..." is not taken for "squash the ...".
_NO_VERB = r"""(?ix)
    ^\W*(?: the | an? | this | that | these | those | my | our | your | his | her | its | their
        | i | we | you | he | she | it | they | there | here | in | on | at | of | for | from | to
        | with | by | as | and | or | but | if | when | while | since | after | before | during
        | because | both | all | some | no | not | last | next | today | tonight | yesterday
        | tomorrow | can | could | should | would | will | must | may
        | now | then | once | only | even | \w+(?:day|ed|ly|ing)
        | in | im | an | am | auf | aus | bei | beim | für | mit | nach | ohne | seit | über | um
        | von | vom | vor | zu | zum | zur | als | wenn | dass | ob | weil | und | oder | aber
        | auch | da | dann | dort | hier | gestern | heute | morgen | jetzt | nur | noch | so
        | ich | du | er | sie | es | wir | ihr | man | der | die | das | den | dem | des | eine?\w?
        | mein\w* | dein\w* | sein\w* | unser\w* | kein\w* | alle[rsnm]? | \w+(?:te|ten|t|ung)
        | kam\w* | ging\w* | gab\w* | lag\w* | stand\w* | nahm\w* | rief\w* | war\w* | wurden?
        | hier | avant | après | avec | sans | dans | sur | sous | pour | par | chez | depuis
        | pendant | comme | et | ou | mais | si | tous | toutes | voici | voilà | selon | entre
        )\b
    """
_ENGLISH = (
    "add adjust analy[sz]e announce answer apply arrange archive ask assemble back bake bill book"
    " brainstorm bring build buy calculate call cancel change check choose clean clear clone close"
    " collect combine commit compare compile complete compose configure confirm connect contact"
    " containeri[sz]e convert cook copy correct create cut debug delete deliver deploy describe"
    " design develop disable discuss do download draft draw edit email enable estimate evaluate"
    " explain export extend extract file fill find finish fix follow format forward gather generate"
    " get give go greet group hire implement import improve include inform insert install invite"
    " investigate join keep label launch list log look make measure merge message migrate move"
    " name note notify open optimi[sz]e order organi[sz]e pack paint pay pick plan plot polish post"
    " prepare print proofread propose publish pull push put read rebase recommend record redesign"
    " refactor register release remind remove rename renew repair replace reply report request"
    " research reserve reset resolve respond restart restore return review revise rewrite run save"
    " scan schedule search sell send set setup share ship show sign simplify sort split squash"
    " start stop store submit suggest summari[sz]e switch sync tag take tell test tidy track train"
    " transcribe transfer translate try turn update upgrade upload use validate verify wash write"
)
# The verbs that are nouns, too: "list of flights" is nothing to be done.
_NOUNS = (
    "answer|back|bill|book|build|call|change|check|clone|commit|copy|cut|deploy|design|draft"
    "|email|estimate|export|file|fix|format|group|import|label|launch|list|log|look|measure|merge"
    "|message|move|name|note|order|pack|paint|plan|plot|post|print|record|release|repair|reply"
    "|report|request|research|return|review|run|scan|schedule|search|setup|share|ship|sign|sort"
    "|split|start|stop|store|switch|tag|test|track|train|transfer|try|turn|update|upgrade|upload|use"
)
# Two words, the first of which is a verb as well: names of things.
_COMPOUNDS = (
    "open (?:questions?|issues?|points?|tickets?|tasks?|items?|bugs?|prs?|source|pull|positions?)"
    "|pay ?(?:slips?|day|checks?|roll|grade|rise)|clean (?:code|room|build)|complete list"
    "|read (?:replicas?|access|timeout)|write (?:access|ahead|timeout)|close (?:friends?|calls?)"
    "|draw (?:calls?|date)|download (?:links?|folder|page)|install (?:guide|script)"
    "|delete (?:button|requests?)|reset (?:button|link)|debug (?:logs?|mode|build)"
)
# What one asks leave to do; "can I use ..." asks what there is.
_MAY = (
    "(?:deploy|merge|push|release|ship|send|delete|remove|drop|restart|reboot|upgrade|publish|rename"
    "|revert|rebase|commit|cancel|book|order|buy|invite|email|call|reply|schedule|close|rotate)"
)
_LEAVE = rf"""(?ix)
    ^\W*(?: (?:should|can|could|may|must)\ (?:i|we)\ (?:\w+ly\ |now\ |just\ )?{_MAY}\b
        | is\ it\ (?:ok|okay|fine|safe|allowed|all\ ?right)\ (?:to|if\ (?:i|we))\ {_MAY}\b )
    """
_OF_IT = r"^\W*\w+ [\w-]+ (?:of|about)\b"
_BROKE = r"\b(?:fail|broke|crash|error|succeed|conflict|timed?.?out)"
_DETERMINED = r"(?:the|an?|my|our|your|this|these|those|all|every|each|me|us|him|them|it|new|\d+)"
_FINITE = r"(?:is|are|was|were|has|had|did|does|will|would|got|went|came|looks?|seems?|takes?|took)"
_FIRST = "then|now|also|just|and|ok|dann|jetzt|puis|ensuite|luego|y"
_PREPOSITION = "(?:of|for|from|in|on|about|with|at|to|by)"
_GERMAN = (
    "änder antwort arbeit beantwort bau berechn bereit bestell bezahl bring buch druck entwerf"
    " entwirf erinner erklär erledig erstell fass fertig finde find formulier frag füg geh gib"
    " hol install kauf kläre konfigurier kontrollier kopier korrigier lade lad leg lies list lösch"
    " mach mail meld miet nenn nimm notier öffn organisier pack plan prüf putz räum reparier"
    " reservier ruf sammel schau schick schließ schreib send setz sichere sortier speicher starte"
    " stell storniere such teil teste trag übersetz überprüf überweis vereinbar vergleich verschick"
    " verschieb versend verwend vorbereit wähl wasch zahl zeichne zeig"
)
_GERMAN_OBJECT = (
    r"(?:mir|uns|ihm|ihnen|den|die|das|dem|ein(?:e[nmr]?)?|meine?n?|unsere?n?|alle|diese[nms]?)"
)
_AFTER_A_NOUN = "(?:ist|war|waren|sind|hat|von|vom|für|der|des|of|for|in)"
_NO_INFINITIVE = r"""(?ix)
    ^\W*(?: ich | wir | sie | er | es | ihr | man | der | die | das )\b
    | \b(?: haben? | hatten? | werden? | wurden? | wird | will | woll\w+ | k[oö]nn\w+ | m[uü]ss\w*
        | soll\w* | darf | d[uü]rf\w* | zu )\b
    """
_FRENCH_ENDING = r"(?:e[rsz]?|s|ons|ir|re|te[rz]?|se[rz]|ve[rz]|vs)?(?:-\w+)?"
_FRENCH_NOUNS = "liste|note|commande|compare|annule|teste|copie|cherche|achète|appelle"
_FRENCH = (
    "achet achèt ajout annul appel appell apprend arrang calcul cherch commande compar configur"
    " confirm convert copi corrig crée cré déplac déploy déploi dessin donn écri écriv efface"
    " envoi envoy expliqu export fai fais fait génèr imprim indiqu install invit lanc li list"
    " met mett modifi montr nettoi nettoy note organis ouvr pay planifi prépar prévi prévien propos"
    " publi rang rapell rappell rédig remplac renomm répar répond réserv résum sauvegard supprim"
    " télécharg termin test tradui trouv vend vérifi format fusionn implément"
    " recommand refactoris suggèr"
)
_FRENCH_OBJECT = (
    r"(?:les?|la|l['’]|une?|des|du|mes|mon|ma|nos|notre|vos|ces?|cette|cet|tous|toutes"
    r"|moi|nous|tout|au|aux|à|deux|trois|\d+)"
)
_SPANISH = (
    "actualiza a[ñn]ade agenda agrega apunta arregla ayuda bloquea borra busca calcula cambia"
    " cancela compara comprueba configura confirma contesta convierte copia corrige crea dame"
    " descarga despliega dibuja dile elige elimina encuentra env[ií]a escribe explica exporta fija"
    " genera guarda haz imprime instala invita lee limpia llama lava manda mejora mide mueve"
    " muestra muéstrame ordena organiza paga pide pinta planea planifica pon prepara programa"
    " prueba publica redacta reemplaza reinicia renombra repara reserva responde resume revisa"
    " separa sube traduce termina trae vende verifica fusiona implementa propón recomienda sugiere"
    " refactoriza"
)
_SPANISH_NOUNS = r"(?:reserva|copia|prueba|agenda|ayuda|programa|busca|planea|llama)"
_SPANISH_OBJECT = (
    r"(?:el|la|los|las|un[ao]?s?|mis?|tus?|nuestr[ao]s?|est[aeo]s?|todos|todas|dos|\d+)"
)
_CHINESE_FIRST = "[今明后後]天|再|然后|现在|先"
_CHINESE = (
    "写(?!字|法|作|得|的)|发(?!布会|票|现|生|展|烧|的)|订(?!单|的|阅)|买(?!家|卖|的)|做(?!法|的|得)|画(?!面|的)"
    "|预订|预约|部署|发布(?!会)|整理|准备|安排|更新(?!日志)|删除|清理|翻译|总结|创建|生成|修复|修改|添加|检查"
    "|下载(?!文件夹里的)|上传|提交|打印|联系(?!人|方式)|通知(?!书)|回复|起草|编写|列出|计算(?!机)|比较|测试|配置|安装|重构"
    "|设计(?!师)|制作|查找|搜索|提醒|改写|优化|格式化|推荐|规划|换算|导出|导入|合并|取消|购买|给[^了]{1,8}[写发打做]|把"
)
_CHINESE_STATEMENT = r"了(?!解)|已经|正在|失败|成功|很|都|没有|不[在是会]|过[。！]?$|在.{1,8}举行"
_JAPANESE_NOUNS = (
    "作成|送信|予約|準備|整理|更新|削除|翻訳|要約|修正|追加|確認|購入|設定|デプロイ|手配|印刷|報告|注文|連絡|計算"
    "|比較|検索|提案|説明|計画|実装|整形|変換|マージ|リリース|変更|登録|保存|公開|テスト|インストール|バックアップ|キャンセル"
)
_JAPANESE = (
    "書く|書いて|送る|送って|作る|作って|直す|直して|消す|消して|調べる|調べて|探す|探して|まとめる|まとめて|買う|買って"
    "|考える|考えて|片付ける|片付けて|取る|取って|教えて|知らせる|知らせて|出す|出して|訳す|訳して|選ぶ|選んで|描く|描いて|並べる|並べて"
)
_KOREAN = (
    "예약|정리|작성|준비|배포|삭제|번역|요약|수정|추가|확인|구매|설정|보고|주문|연락|계산|비교|검색|추천|계획|예매|릴리스|병합|설명|구현|변환|변경|등록|저장|전송"
    "|설치|생성|복사|취소|인쇄|발송|공유"
)


def is_task(query: str) -> bool:
    """Whether ``query`` asks for something to be done, so that an instruction may apply to it.

    It does with words such as "please", 请 or してください; or else if it is no question, and its
    verb is an imperative, or an infinitive or a verbal noun that stands for one. Its first 300
    characters are read.
    """
    query = query[:READ]
    if pattern(_REQUEST).search(query) or pattern(_LEAVE).search(query):
        return True
    if pattern(_QUESTION).search(query):
        return False
    return any(
        pattern(asks).search(query) and not pattern(unless).search(query)
        for asks, unless in _rules()
    )


def kind_of(query: str) -> Literal["task", "advice", "amount", ""]:
    """What ``query`` asks for, if an instruction may apply to it.

    A ``task`` is something to be done. "What should I cook" asks for ``advice``, "how far is it to
    Munich" for an ``amount``, which is in some unit. "How far did we get" asks for what was so, and
    statements for nothing: ``""``.
    """
    if is_task(query):
        return "task"
    query = query[:READ]
    if pattern(_OVER).search(query):
        return ""
    if pattern(_ADVICE).search(query):
        return "advice"
    return "amount" if pattern(_AMOUNT).search(query) else ""


READ = 300
"""Characters of a query that are read."""
_NEVER = r"(?!)"


@cache
def _rules() -> tuple[tuple[str, str], ...]:
    """Patterns of what asks for something, each with what says that it does not after all."""
    english, german, french = _any_of(_ENGLISH), _any_of(_GERMAN), _any_of(_FRENCH)
    begins = rf"(?i)^\W*(?:(?:{_FIRST}) )?"
    return (
        # English: a verb; one that is a noun too, with what follows it; any word before "the".
        (
            rf"{begins}(?!(?:{_NOUNS})\b){english}\b",
            rf"(?i)^\W*\w+ {_FINITE}\b|^\W*(?:{_COMPOUNDS})\b",
        ),
        (rf"{begins}(?:{_NOUNS}) {_DETERMINED}\b", _NEVER),
        (
            rf"{begins}(?:{_NOUNS}) \w+(?: \S+){{2}}",
            rf"(?i)^\W*\w+ {_PREPOSITION}\b|{_OF_IT}|^\W*(?:\w+\W+){{1,3}}{_FINITE}\b|{_BROKE}",
        ),
        # Few words: a verb before a name, an order of food, a letter to a person.
        (
            rf"{begins}(?:deploy|merge|ship|upload|restart) (?:pr|mr|\w+[-_./#]\w+|\W?\d+)",
            rf"{_BROKE}|\b{_FINITE}\b",
        ),
        (rf"{begins}order (?:pizza|food|lunch|dinner|sushi|coffee|flowers|groceries)\b", _BROKE),
        (
            rf"{begins}book (?:flights?|hotels?|trains?|tickets?|rooms?|taxi) (?:to|for|in)\b",
            _BROKE,
        ),
        (rf"{begins}(?:reply|respond|write|talk) to \S", _NEVER),
        (rf"{begins}(?:call|email|ping|phone|text) (?-i:[A-Z])\w+\W*$", _NEVER),
        (rf"{begins}(?:deploy|merge|move|push|release|ship|upload) (?:to|into|version) ", _NEVER),
        (rf"{begins}[a-z]+ {_DETERMINED} \w+", rf"{_NO_VERB}|\b{_FINITE}\b|\.$"),
        # German: an imperative, any word before "mir" or "die", an infinitive at the end.
        (rf"{begins}{german}e? \S", rf"(?i)^\W*\w+ {_AFTER_A_NOUN}\b"),
        (rf"{begins}[a-zäöü]+ {_GERMAN_OBJECT} \w+", rf"{_NO_VERB}|\.$"),
        (rf"(?i) \w*{german}e?n[.!]?$", _NO_INFINITIVE),
        # French and Spanish: imperatives and infinitives; before an article where they are nouns.
        (
            rf"{begins}(?!(?:{_FRENCH_NOUNS})\b){french}{_FRENCH_ENDING} {_FRENCH_OBJECT}",
            _NEVER,
        ),
        (rf"{begins}(?:{_FRENCH_NOUNS})(?:-moi|-nous)? (?:les?|la|l['’]|une?|mes|nos)\b", _NEVER),
        (rf"{begins}(?!{_SPANISH_NOUNS}\b){_any_of(_SPANISH)}(?:me|nos|les?|l[ao]s?)? \S", _NEVER),
        (rf"{begins}(?:{_SPANISH_NOUNS}|\w{{3,}}[aei]r) {_SPANISH_OBJECT}\b", _NEVER),
        (rf"{begins}busca \w+ (?:en|para|por|cerca|con)\b", _NEVER),
        # Chinese begins with its verb, Japanese and Korean end with it.
        (rf"^\W*(?:{_CHINESE_FIRST})?\W*(?:{_CHINESE})", _CHINESE_STATEMENT),
        (
            rf"を[^はが]*?(?:(?:{_JAPANESE_NOUNS})(?:する|して|せよ)?|{_JAPANESE})(?:おいて)?[。！]?$",
            "[はが].*を",
        ),
        (rf"(?:{_KOREAN})(?:해|해라|하기|할 것)[.!]?$|\S+[을를] \S*(?:{_KOREAN})[.!]?$", _NEVER),
    )


def _any_of(words: str) -> str:
    return f"(?:{'|'.join(sorted(words.split(), key=len, reverse=True))})"
