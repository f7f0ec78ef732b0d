"""The words for times that are seen from today: "last week", gestern, la semana pasada, 上周.

Tables of patterns, parted by white space, a line a language: English, German, French, Spanish,
Italian, Portuguese, Russian, Chinese, Japanese, Korean, Thai. In a pattern ``-`` stands for white
space or hyphens, ``-?`` for these or nothing. Imported with :mod:`commonplace.text.dates` only.
"""

from __future__ import annotations

_LAST_G = "(?:letzte|vorige|vergangene)[nrms]?"
_THIS_G = "diese[nrms]?"
_NEXT_G = "(?:nächste|kommende)[nrms]?"

# Parts of a day, behind the day.
_PART_E = "(?:-(?:morning|afternoon|evening|night))?"
_PART_G = "(?:-?(?:früh|morgen|vormittag|mittag|nachmittag|abend|nacht))?"
_PART_F = "(?:-(?:matin|midi|soir|après-midi))?"
_PART_S = "(?:-(?:por|en|a)-la-(?:mañana|tarde|noche))?"
_PART_I = "(?:-(?:mattina|pomeriggio|sera|notte))?"
_PART_P = "(?:-(?:à|de|pela)-(?:manhã|tarde|noite))?"
_PART_R = "(?:-(?:утром|дн[её]м|вечером|ночью))?"
_PART_C = "(?:早上|上午|中午|下午|傍晚|晚上|夜里)?"
_PART_J = "(?:の?(?:朝|昼|午前|午後|夕方|夜中?|晩)(?![食会型休刊勤礼]))?"
_PART_K = "(?:-?(?:아침|오전|점심|오후|저녁|밤))?"

# By how many days, weeks, weekends, months, quarters or years ago; 0: this one.
DAYS_AGO = {
    0: f"""
today tonight this-(?:morning|afternoon|evening)
heute{_PART_G}
aujourd['’]hui ce-(?:matin|soir) cet-après-midi
hoy{_PART_S} esta-(?:mañana|tarde|noche)
oggi{_PART_I} stamattina stasera stanotte
hoje{_PART_P} esta-manhã
сегодня{_PART_R}
今天{_PART_C} 今日{_PART_J} 今早 今晚 本日 今朝 今夜 きょう けさ
오늘{_PART_K}
วันนี้
""",
    1: f"""
yesterday{_PART_E} last-night
gestern{_PART_G} letzte-nacht
hier{_PART_F} la-nuit-dernière
ayer{_PART_S} anoche
ieri(?!-l['’]altro){_PART_I}
ontem{_PART_P}
вчера{_PART_R}
昨天{_PART_C} 昨日{_PART_J} 昨晚 昨夜 昨晩 ゆうべ きのう
어제{_PART_K} 어젯밤 간밤
เมื่อวาน เมื่อวานนี้
""",
    2: f"""
(?:the-)?day-before-yesterday vorgestern{_PART_G} avant-?hier{_PART_F}
anteayer antier antes-de-ayer (?:l['’])?altro-ieri ieri-l['’]altro anteontem antes-de-ontem
позавчера{_PART_R} (?<!大)前天{_PART_C} 一昨日{_PART_J} おととい 그저께 그제 엊그제 เมื่อวานซืน
""",
    3: "大前天 一昨々日 그끄저께",
    -1: rf"""
tomorrow{_PART_E} demain{_PART_F} domani{_PART_I} amanhã{_PART_P} завтра{_PART_R}
(?<!guten[\s-])(?<!jeden[\s-])(?<!am[\s-])morgen{_PART_G}
(?<!\bla[\s-])mañana{_PART_S}
明天{_PART_C} 明日{_PART_J} あした 내일{_PART_K} พรุ่งนี้
""",
    -2: """
(?:the-)?day-after-tomorrow übermorgen après-demain pasado-mañana dopodomani послезавтра
depois-de-amanhã 后天 後天 明後日 あさって 모레 มะรืน(?:นี้)?
""",
}
WEEKS_AGO = {
    0: f"""
this-?week {_THIS_G}-woche cette-semaine [dn]?esta-semana questa-settimana на-этой-неделе
本[周週] [这這][周週] [这這][个個]?(?:星期|礼拜|禮拜) 今週 이번-?주 금주 สัปดาห์นี้
""",
    1: f"""
last-?week {_LAST_G}-woche (?:la-)?semaine-(?:dernière|passée)
(?:la-)?semana-pasada (?:la-)?pasada-semana (?:l?a-)?última-semana
(?:la-)?(?:settimana-scorsa|scorsa-settimana)
semana-passada (?:на-)?прошл(?:ой-неделе|ая-неделя|ую-неделю)
上[周週] 上[个個]?(?:星期|礼拜|禮拜) 先週 지난-?주 저번-?주 สัปดาห์(?:ที่แล้ว|ก่อน)
""",
    2: "(?:the-)?week-before-last vorletzte[rn]?-woche 上上[周週] 先々週 지지난-?주 "
    "semana-retrasada (?:на-)?позапрошлой-неделе",
    -1: f"""
next-week {_NEXT_G}-woche (?:la-)?semaine-prochaine (?:la-)?(?:próxima-semana|semana-que-viene)
(?:la-)?(?:settimana-prossima|prossima-settimana) semana-que-vem (?:на-)?следующей-неделе
下[周週] 下[个個]?(?:星期|礼拜|禮拜) 来週 다음-?주 สัปดาห์หน้า
""",
}
WEEKENDS_AGO = {
    0: f"this-weekend am-wochenende {_THIS_G}-wochenende ce-week-?end este-fin-de-semana "
    "este-finde questo-fine-settimana [这這本][个個]?周末 今週末 今週の週末 이번-?주말 "
    "(?:в-эти-выходные|на-этих-выходных)",
    1: f"last-weekend {_LAST_G}-wochenende (?:le-)?week-?end-(?:dernier|passé) "
    "(?:el-)?fin-de-semana-pasado (?:lo-)?scorso-fine-settimana (?:il-)?fine-settimana-scorso "
    "fim-de-semana-passado (?:el-)?finde-pasado 上[个個]?周末 先週末 先週の週末 지난-?주말 "
    "(?:в-прошлые-выходные|на-прошлых-выходных)",
    -1: f"next-weekend {_NEXT_G}-wochenende (?:le-)?week-?end-prochain 下[个個]?周末 来週末 "
    "来週の週末 (?:el-)?próximo-fin(?:de|-de-semana) 다음-?주말 "
    "(?:в-следующие-выходные|на-следующих-выходных)",
}
MONTHS_AGO = {
    0: f"this-?month {_THIS_G}-monats? ce-mois-?ci ce-mois este-mes questo-mese este-mês "
    "в-этом-месяце 本月 [这這][个個]?月 今月 이번-?달 이달 เดือนนี้",
    1: f"last-?month {_LAST_G}-monats? (?:le-)?mois-(?:dernier|passé) (?:el-)?mes-pasado "
    "(?:il-)?mese-scorso (?:lo-)?scorso-mese mês-passado (?:в-)?прошлом-месяце "
    "上[个個]?月 先月 지난-?달 저번-?달 เดือนที่แล้ว เดือนก่อน",
    2: "(?:the-)?month-before-last 上上[个個]?月 先々月",
    -1: f"next-month {_NEXT_G}-monat (?:le-)?mois-prochain (?:el-)?próximo-mes mes-que-viene "
    "(?:il-)?mese-prossimo próximo-mês mês-que-vem (?:в-)?следующем-месяце "
    "下[个個]?月 来月 다음-?달 내달 เดือนหน้า",
}
QUARTERS_AGO = {
    0: f"this-quarter {_THIS_G}-quartals? ce-trimestre este-trimestre questo-trimestre 本季度 "
    "[这這][个個]季度 今四半期 이번-?분기 в-этом-квартале",
    1: f"last-quarter {_LAST_G}-quartals? trimestre-(?:dernier|pasado|passado|scorso) "
    "scorso-trimestre 上[个個]?季度 前四半期 先四半期 지난-?분기 (?:в-)?прошлом-квартале",
    -1: f"next-quarter {_NEXT_G}-quartals? trimestre-prochain próximo-trimestre 下[个個]?季度 "
    "来四半期 다음-?분기 (?:в-)?следующем-квартале",
}
YEARS_AGO = {
    0: f"this-?year {_THIS_G}-jahr(?:es)? cette-année este-año quest['’]anno este-ano "
    "heu(?:er|rige[ns]-jahr(?:es)?) (?:в-этом-году|этого-года) 今年 올해 ปีนี้",
    1: f"last-?year {_LAST_G}-jahr(?:es)? (?:l['’])?année-dernière l['’]an-(?:dernier|passé) "
    "(?:el-)?año-pasado (?:(?:de|ne)?l?l['’])?anno-scorso ano-passado "
    "(?:(?:в-)?прошлом-году|прошлого-года) 去年 昨年 작년 지난-?해 ปีที่แล้ว ปีก่อน",
    2: "(?:the-)?year-before-last vorletztes-jahr 前年 一昨年 おととし 재작년",
    -1: f"next-year {_NEXT_G}-jahr (?:l['’])?année-prochaine (?:el-)?próximo-año "
    "(?:el-)?año-que-viene (?:l['’])?anno-prossimo próximo-ano (?:в-)?следующем-году "
    "明年 来年 내년 ปีหน้า",
}

# Names of days and numbers: of one word, the name itself is the key of what it means.
_WEEKDAYS = """
monday montag lundi lunes lunedì segunda понедельник понедельника
tuesday dienstag mardi martes martedì terça вторник вторника
wednesday mittwoch mercredi miércoles mercoledì quarta среду
thursday donnerstag jeudi jueves giovedì quinta четверг четверга
friday freitag vendredi viernes venerdì sexta пятницу пятницы
saturday samstag samedi sábado sabato субботу субботы
sunday sonntag dimanche domingo domenica воскресенье воскресенья
"""
WEEKDAYS = {
    name: day for day, line in enumerate(_WEEKDAYS.strip().split("\n")) for name in line.split()
} | {"sonnabend": 5}
_E_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_G_DAYS = "(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend"
_F_DAYS = "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
_S_DAYS = "lunes|martes|miércoles|jueves|viernes|sábado|domingo"
_I_DAYS = "lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica"
_P_DAYS = "segunda|terça|quarta|quinta|sexta|sábado|domingo"
_R_WEDNESDAY = "среду(?!-(?:разраб|выполн|исполн|тестир|обитан))"  # or an environment
_R_DAYS = f"понедельник|вторник|{_R_WEDNESDAY}|четверг|пятницу|субботу|воскресенье"
_R_OF_DAYS = "понедельника|вторника|четверга|пятницы|субботы|воскресенья"
_E, _G, _F = f"({_E_DAYS}){_PART_E}", f"({_G_DAYS}){_PART_G}", f"({_F_DAYS}){_PART_F}"
_S, _I, _R = f"({_S_DAYS}){_PART_S}", f"({_I_DAYS}){_PART_I}", f"({_R_DAYS}){_PART_R}"
_P = f"({_P_DAYS})(?:-feira)?{_PART_P}"
# "Na segunda reunião" is "in the second meeting".
_P_ALONE = (
    rf"(?:(terça|sábado|domingo)(?:-feira)?{_PART_P}|({_P_DAYS})(?:-feira{_PART_P}"
    r"|(?=-?(?:[?!.,;:]|\Z)|-(?:à|de-manhã|passada|da-semana|que|eu|nós|e-n[ao]|há)\b)))"
)

# The last day of that name that has come, today too; the one before today; the next one.
WEEKDAY_LAST = rf"""
(?:on|since|this|until|by|from|before|after|for)-{_E}
(?:am|seit|bis|vo[nmr]|nach|ab|für|{_THIS_G})-{_G}
(?:depuis|ce|du|jusqu['’]à)-{_F}
(?:de|el|este|desde-el|hasta-el)-{_S}
(?:questo|da)-{_I}
(?:n[ao]|nest[ae]|desde|desde-[ao]|para)-{_P_ALONE}
(?:в-эт(?:от|у|о)|во?|на)-{_R} (?:с|до)-({_R_OF_DAYS})
"""
# By itself a weekday is what others say "on" before, but not where it comes again and again.
WEEKDAY_ALONE = rf"""
(?<!every[\s-])(?<!black[\s-])(?<!good[\s-]){_E}(?=['’]s\b|[?!.]?\Z)
(?<!chaque[\s-])(?<!\bles[\s-])(?:le-)?{_F}(?!-(?:gras|saint|noir|de-(?:pâques|pentecôte))\b)
(?<!ogni[\s-])(?<!\bi[\s-])(?<!\bil[\s-])(?<!\bla[\s-])(?<!\bdi[\s-])(?<!\bal[\s-]){_I}
(?<!toda[\s-])(?<!cada[\s-])(?<!\b[aà][\s-])({_P_DAYS})-feira{_PART_P}
"""
WEEKDAY_BEFORE = f"""
(?:last|past)-{_E}
{_LAST_G}-{_G}
{_F}-(?:dernier|passé)
(?:el-)?{_S}-pasado (?:el-)?pasado-{_S}
{_I}-scors[oa] (?:lo-|la-)?scors[oa]-{_I}
(?:n[ao]-)?{_P}-passad[oa] (?:n?[ao]-)?últim[oa]-{_P}(?!-d[eo]-)
(?:в-)?(?:прошл(?:ый|ую|ое)|минувш(?:ий|ую|ее))-{_R}
"""
WEEKDAY_NEXT = f"""
next-{_E}
{_NEXT_G}-{_G}
{_F}-prochain
(?:el-)?próximo-{_S} (?:el-)?{_S}-que-viene
{_I}-prossim[oa] prossim[oa]-{_I}
próxim[oa]-{_P}
(?:в-)?следующ(?:ий|ую|ее)-{_R}
"""
# The day of a week: (which week, day). Where no week is named, the last one that has come.
ASIAN_WEEKDAYS = (
    {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
    | {day: at for at, day in enumerate("月火水木金土")}
    | {day: at for at, day in enumerate("월화수목금토일")}
)
ASIAN_WEEKDAY = rf"""
(上上|上|下|[这這本])?[个個]?(?<![每一二两兩三四五六七八九十0-9])(?:周|週|星期|礼拜|禮拜)([一二三四五六日天]){_PART_C}(?![次个個遍期])
(?<!毎週)(?<!毎週の)(先々週|先週|来週|今週)?の?(?:(?:この)?前の)?([月火水木金土日])曜日?{_PART_J}
(?<!매주)(?<!매주\s)(지지난-?주|지난-?주|저번-?주|이번-?주|다음-?주)?-?(?:지난-?)?([월화수목금토일])요일{_PART_K}
"""
BARE_WEEKDAY = rf"(?:周|週|星期|礼拜|禮拜).{_PART_C}|.曜日?{_PART_J}|.요일{_PART_K}"
ASIAN_WEEKS = {
    "上上": 2,
    "先々週": 2,
    "지지난주": 2,
    "上": 1,
    "先週": 1,
    "지난주": 1,
    "저번주": 1,
} | {"下": -1, "来週": -1, "다음주": -1}

_NUMBERS = """
one a an ein eine einem einer un une uno una um uma один одну 一 한
two couple zwei deux dos due dois duas два две 二 两 兩 두
three drei trois tres tre três три 三 세 석
four vier quatre cuatro quattro quatro четыре 四 네 넉
five fünf cinq cinco cinque пять 五
six sechs seis sei шесть 六
seven sieben sept siete sette sete семь 七
eight acht huit ocho otto oito восемь 八
nine neun neuf nueve nove девять 九
ten zehn dix diez dieci dez десять 十
"""
NUMBERS = {
    name: number
    for number, names in enumerate(_NUMBERS.strip().split("\n"), 1)
    for name in names.split()
}
_VAGUE = """
few several einigen mehreren paar quelques plusieurs unos unas varios varias vários algunos algunas
alguns algumas poucos poucas qualche alcuni alcune несколько 几 幾 数 數 몇
"""
VAGUE = frozenset(_VAGUE.split())
"""Words for some: about five, where all days since then are meant."""
NUMBERS |= dict.fromkeys(VAGUE, 5)
# Whether a word is a number is looked up afterwards: a pattern of all takes long to compile.
_N = r"([^\W_]{1,9})"
_C = r"(\d{1,3}|[一二两兩三四五六七八九十]{1,3}|[几幾数數]|[한두세네석넉몇]-?)"
PLURALS = (
    "days|weeks|months|tagen?|wochen|monaten?|jahren?|jours|semaines|mois|d[ií]as|semanas|meses"
    "|giorni|settimane|mesi|anni|años|anos"
)
"""Units that are some where they stand without a number: "in den nächsten Tagen"."""
_P_SOME = f"({PLURALS})(?!-(?:of|des|im|von|de|d['’]|del|di|do|da)\\b)"
# Of Russian they are listed: "неделю назад" is a week ago, whatever stands before it.
_RN = "(?:" + "|".join(name for name in NUMBERS if "а" <= name[0] <= "я") + r"|\d{1,3})"
_UNITS = {
    "d": "days? tag(?:en?)? jours? días? giorn[oi] dias? дн(?:я|ей) день",
    "w": "weeks? wochen? semaines? semanas? settiman[ae] недел[юиь]",
    "m": "months? monat(?:en?)? mois mes(?:es)? mes[ei] mês месяц(?:а|ев)?",
    "y": "years? jahr(?:en?)? ans? años? ann[oi] anos? год(?:а)? лет",
}
_WIDE_UNITS = {
    "d": "天 日 일",
    "w": "[个個]?(?:星期|礼拜|禮拜) [周週] 週間 주일? 주간",
    "m": "[个個]月 [かヶカ]月 개월 달",
    "y": "年 년",
}
UNITS = {unit: f"{_UNITS[unit]} {_WIDE_UNITS[unit]}".replace(" ", "|") for unit in _UNITS}
"""The names of a day, a week, a month and a year, where they are counted."""
_U = "(" + "|".join(_UNITS.values()).replace(" ", "|") + ")"
_W = "(" + "|".join(_WIDE_UNITS.values()).replace(" ", "|") + ")"

_KOREAN_DAYS = "하루:1 이틀:2 사흘:3 나흘:4 열흘:10 보름:15 일주일:7 며칠:몇"
KOREAN_DAYS = dict(days.split(":") for days in _KOREAN_DAYS.split())
"""Words for so many days."""
_K = f"({'|'.join(KOREAN_DAYS)})"

# So many days, weeks, months or years before today: (number, unit).
AGO = rf"""
{_N}-(?:of-)?{_U}-ago
vor-(?:ein-)?(?!(?:letzt|vorig|vergangen|dies)e[nrms]?-){_N}-{_U}
il-y-a-{_N}-{_U}
hace-{_N}-{_U}
{_N}-{_U}-fa
há-{_N}-{_U} {_N}-{_U}-atrás
(?:({_RN})-)?{_U}-(?:тому-)?назад
{_C}{_W}(?:前|以前|之前)(?![端台面])
{_C}-?{_W}-?전 {_K}-?전
"""
# A day of a month by its number alone: (number).
DAY_OF_MONTH = r"""
on-the-([1-9]|[12]\d|3[01])(?:st|nd|rd|th)(?=[?!.;]|,(?!-?\d)|\Z|[\s-]+(?:i|we|he|she|they|did|was|were)\b)
am-([1-9]|[12]\d|3[01])\.(?=[?!,;]|\Z)
"""
# All days from so many days, weeks, months or years ago to today: (number, unit), or (unit).
SINCE = rf"""
(?:in-)?(?:den-|die-)?(?:letzten|vergangenen)-{_P_SOME} (?:[cl]es-)?derni(?:er|ère)s-{_P_SOME}
(?:(?:en-)?l[oa]s-|n[oa]s-)?últim[oa]s-{_P_SOME} (?:negli-|nelle-)?ultim[ei]-{_P_SOME}
(?:(?:in|over|during|within)-)?(?:the-)?(?:last|past)-{_N}-(?:of-)?{_U}
(?:in-)?(?:den-|die-)?(?:letzten|vergangenen)-{_N}-{_U}
(?:l?es-)?{_N}-derni(?:er|ère)s-{_U}
(?:(?:en-)?l[oa]s-)?últim[oa]s-{_N}-{_U}
(?:negli-|nelle-)?ultim[ei]-{_N}-{_U}
последни[ех]-{_N}-{_U}
(?:最近|过去|過去|近|直近|ここ|この){_C}{_W}[间間]?
(?:최근|지난)-?{_C}-?{_W}-?(?:간|동안)? (?:최근|지난|요)-?{_K}-?(?:간|동안)?
"""
PAST = f"(?:the-)?past-{_U} за-последн(?:юю|ий)-{_U}"
# So many days, weeks, months or years from today: (number, unit).
AHEAD = rf"""
in-{_N}-{_U} {_N}-{_U}-from-now
dans-{_N}-{_U}
(?:en|dentro-de)-{_N}-{_U}
(?:fra|tra)-{_N}-{_U}
(?:em|daqui-a)-{_N}-{_U}
через-(?:({_RN})-)?{_U}
{_C}{_W}(?:后|後|以后|之后)(?![端台缀綴面续續])
{_C}-?{_W}-?(?:후|뒤)
"""
# All days from today to so many days, weeks, months or years ahead: (number, unit).
UNTIL_THEN = rf"""
(?:in-)?(?:den-|die-)?(?:nächsten|kommenden)-{_P_SOME} (?:in-)?the-(?:next|coming)-{_P_SOME}
(?:dans-)?les-prochaine?s-{_P_SOME} (?:(?:en-)?l[oa]s-|n[oa]s-)próxim[oa]s-{_P_SOME}
(?:nei-|nelle-)?prossim[ei]-{_P_SOME}
(?:(?:in|over|during|within)-)?(?:the-)?(?:next|coming)-{_N}-(?:of-)?{_U}
(?:in-)?(?:den-|die-)?(?:nächsten|kommenden)-{_N}-{_U}
(?:dans-)?(?:l?es-)?{_N}-prochain(?:e?s)-{_U}
(?:(?:en-)?l[oa]s-)?próxim[oa]s-{_N}-{_U}
(?:nei-|nelle-)?prossim[ei]-{_N}-{_U}
(?:接下来|接下來|未来|未來|今后|今後)の?{_C}{_W}[间間]?
(?:앞으로|다음)-?{_C}-?{_W}-?(?:간|동안)? 앞으로-?{_K}-?(?:간|동안)?
"""
_TODAY = "today heute aujourd'hui aujourd’hui hoy oggi hoje сегодня"
DAYS = WEEKDAYS.keys() | set(_TODAY.split())
"""Words for the days that weeks are counted from."""
# So many weeks before the last such day, or today: (day, number), or (number, day).
WEEKS_BEFORE = rf"""
(?:on-)?({_E_DAYS}|today)-{_N}-weeks?-ago {_N}-weeks?-ago-(?:on-)?({_E_DAYS}|today)
(?:am-)?({_G_DAYS}|heute)-vor-{_N}-wochen?
(?:le-)?({_F_DAYS}|aujourd['’]hui)-il-y-a-{_N}-semaines?
(?:el-)?({_S_DAYS}|hoy)-(?:de-)?hace-{_N}-semanas?
({_I_DAYS}|oggi)-(?:di-)?{_N}-settiman[ae]-fa
(?:n[ao]-)?({_P_DAYS}|hoje)(?:-feira)?-há-{_N}-semanas?
(?:во?-)?({_R_DAYS}|сегодня)-(?:({_RN})-)?недел[юиь]-(?:тому-)?назад
"""
WEEKS_AFTER = rf"""
(?:on-)?({_E_DAYS}|today)-in-{_N}-weeks? {_N}-weeks?-from-({_E_DAYS}|today)
(?:am-)?({_G_DAYS}|heute)-in-{_N}-wochen?
(?:le-)?({_F_DAYS}|aujourd['’]hui)-dans-{_N}-semaines?
(?:el-)?({_S_DAYS}|hoy)-(?:en|dentro-de)-{_N}-semanas?
"""
# The month that begins today.
UPCOMING = """
upcoming coming-up anstehende[nrms]? bevorstehende[nrms]?
à-venir (?:por-venir|próxim[oa]s) prossim[ei]
即将 今後の 다가오는
"""
# A week of the year by its number; in English such numbers count other weeks, too.
WEEK_NUMBER = (
    r"(?<!\d)(?<!\d\s)(?:kw|calendar-week|kalenderwoche)-?([0-5]?[0-9])(?!-?(?:v|h|w|p|a|motor)\b)"
)

_SEASONS = """
spring frühling frühjahr printemps primavera весной весны 春天 봄에
summer sommer été verano estate verão летом лета 夏天 여름에
autumn fall herbst automne otoño autunno outono осенью осени 秋天 가을에
winter hiver invierno inverno зимой зимы 冬天 겨울에
"""
SEASONS = {
    name: number
    for number, names in enumerate(_SEASONS.strip().split("\n"))
    for name in names.split()
}
"""0 for spring, from March on, to 3; north of the equator."""
_LATIN_SEASON = f"({'|'.join(name for name in SEASONS if name < 'а')})"
_IN = "(?:in|during|over|since|this|im|seit|diesen|au|en|cet|este|esta|nel|questa)"
_SPRING, _FALL = "spring", "fall"
_CLEAR_SEASON = _LATIN_SEASON.replace(f"{_SPRING}|", "").replace(f"{_FALL}|", "")
# The last one that has begun, or that of a year: (season), or (season, year). "In spring boot" is
# no time.
_OF_YEAR = r"-(?:of-|de-|del-)?((?:19|20)\d\d)"
SEASON = rf"""
{_IN}-(?:the-|la-|el-|l['’])?{_CLEAR_SEASON}(?:{_OF_YEAR})?
(?:in|this|during|over|since)-the-({_SPRING}|{_FALL})(?:{_OF_YEAR})?
(?:in|this|during|since)-({_SPRING}|{_FALL})(?:{_OF_YEAR}|(?!-[a-z]))
{_LATIN_SEASON}{_OF_YEAR}
(весной|летом|осенью|зимой) (春天|夏天|秋天|冬天|봄에|여름에|가을에|겨울에)
"""
# With a word that opens a span: the last one that has begun. In notes a coming one is meant, too.
AFTER_SEASON = rf"""
(?:after-the-|nach-dem-|après-l[ea]-|après-l['’]|dopo-l['’]|dopo-la-){_CLEAR_SEASON}(?:{_OF_YEAR})?
(?:después|depois)-(?:del|de-la|do|da)-{_CLEAR_SEASON}(?:{_OF_YEAR})?
after-the-({_SPRING}) после-(весны|лета|осени|зимы)
"""
# The last one that is over.
SEASON_BEFORE = rf"""
last-{_LATIN_SEASON} {_LAST_G}-{_LATIN_SEASON}
{_LATIN_SEASON}-(?:dernier|passé|pasad[oa]|scors[oa]|passad[oa])
去年(春天|夏天|秋天|冬天)
"""
