"""Scripts without spaces: where pairs stand, what each weighs, what a line states, other letters.

In most texts there is nothing to normalise: in Chinese, Japanese and Korean each letter is a unit,
and in Thai what belongs to a letter is known by its neighbours. Other words are cut into units, see
:mod:`commonplace.text.tokens`, which is ten times the work.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import product
from typing import TYPE_CHECKING
from unicodedata import is_normalized

from commonplace.text.languages import LETTERS, plain_text
from commonplace.text.tokens import has_unspaced, in_ascii

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from commonplace.text.tokens import Match


_THAI = "[\u0e01-\u0e2f\u0e40-\u0e44\u0e46][\u0e01-\u0e3a\u0e40-\u0e4e]*"
"""Letters with their signs."""


def places_in_plain(text: str, wanted: frozenset[str]) -> tuple[list[Match], str]:
    """Where ``wanted`` stand in the plain words of ``text``: (start, end, which one); and the rest.

    Spaces part words. In the rest spaces replace all letters that are plain: Thai, and ``LETTERS``,
    each of which is a unit.
    """
    if plain_text(LETTERS).fullmatch(text):
        return list(_letters_and_pairs(text, wanted)), in_ascii(text)
    if _is_plain(text, plain_text(_THAI)):
        return list(_units_and_pairs(f"{text} ", wanted)), in_ascii(text)
    plain, rest = [], []
    pattern = plain_text(f"{_THAI}|{LETTERS}")
    for word in text.split(" "):
        is_plain = word.isascii() or _is_plain(word, pattern)
        plain.append(word if is_plain else " " * len(word))
        rest.append(in_ascii(word) if is_plain and not word.isascii() else word)
    return list(_units_and_pairs(" ".join([*plain, ""]), wanted)), " ".join(rest)


def _is_plain(text: str, pattern: re.Pattern[str]) -> bool:
    # Sara am is normalised here, where it was typed as one sign.
    whole = pattern.fullmatch(text) is not None and "\u0e4d" not in text
    return whole and is_normalized("NFC", text)


_PAIR = 2


def _letters_and_pairs(text: str, wanted: frozenset[str]) -> Iterator[Match]:
    """Where ``wanted`` stand in ``text``, in which each letter is a unit."""
    for term, terms in _as_typed(wanted):
        at = text.find(term) if len(term) <= _PAIR else -1  # others have accents
        while at >= 0:
            yield at, at + len(term), terms
            at = text.find(term, at + 1)


_BEFORE = frozenset("\u0e40\u0e41\u0e42\u0e43\u0e44")
"""Vowels that are written before their consonant."""

_CONSONANTS = frozenset(map(chr, range(0x0E01, 0x0E2F)))
_BEHIND = frozenset(map(chr, (*range(0x0E30, 0x0E3B), 0x0E45, *range(0x0E47, 0x0E4F))))
"""Vowels and signs that belong to the letter before them."""

_AM, _AM_NORMALISED = "\u0e33", "\u0e4d\u0e32"
"""Sara am, and what it is in a token: NFKC makes two signs of it, and of nothing else in Thai."""


def _units_and_pairs(text: str, wanted: frozenset[str]) -> Iterator[Match]:
    """Where ``wanted`` stand in ``text``, which must not end with a letter."""
    for typed, terms in _as_typed(wanted):
        at = text.find(typed)
        while at >= 0:
            end = at + len(typed)
            if _begins_unit(text, at) and _begins_unit(text, end):
                yield at, end, terms
            at = text.find(typed, at + 1)


@lru_cache(maxsize=64)  # each hit of a search asks
def _as_typed(wanted: frozenset[str]) -> list[tuple[str, frozenset[str]]]:
    """``wanted`` as it stands in a text, a unit before the pairs that begin with it."""
    ordered = sorted(wanted, key=len)
    return [(term.replace(_AM_NORMALISED, _AM), frozenset((term,))) for term in ordered]


def _begins_unit(text: str, at: int) -> bool:
    """Whether a unit of Thai begins at ``at``, or what is no Thai."""
    after = text[at]
    if after in _BEHIND:
        return False
    return not (at and text[at - 1] in _BEFORE and after in _CONSONANTS)


_LEAST_SELECTIVE = 3


def selective_terms(terms: Sequence[str], beside: Collection[str]) -> list[str]:
    """Those of ``terms`` that tell most, for a query in a script without spaces; none if too few.

    Single letters stand in most of the chunks, and find little that pairs do not. (Without pairs of
    hiragana, which are grammar, nDCG@10 of Japanese documentation fell from .793 to .785.)
    """
    found = [term for term in terms if not (term in beside and has_unspaced(term))]
    return found if _LEAST_SELECTIVE <= len(found) < len(terms) else []


_FUNCTION_CHARACTERS = frozenset(
    "的了是吗呢吧啊呀嘛我你他她它们这那就也都很还么什怎哪谁在和与及或把被让给对从到为以之其而且但因所如若则等个些会能可要没不有想说去来着过得地"
    "嗎們這還麼誰與讓給對從為則個會沒說來著過"
    "은는이가을를의에로와과도만서께"
)
_LIGHT = 0.7


def script_weights(tokens: Sequence[str]) -> dict[str, float]:
    """What the script of each token makes it weigh, 0..1; all 1 where no token would weigh more.

    Words need no list of stop words where the script shows what is grammar: Japanese writes it in
    hiragana, Chinese has some eighty characters for it, and Korean particles fifteen syllables.
    """
    kana = any("\u3041" <= letter <= "\u30ff" for token in tokens for letter in token)
    weights = {token: _script_weight(token, kana=kana) for token in tokens}
    if any(weight > _LIGHT or token.isascii() for token, weight in weights.items()):
        return weights
    return dict.fromkeys(tokens, 1.0)


@lru_cache(maxsize=4096)
def _script_weight(token: str, *, kana: bool) -> float:
    if token.isascii():
        return 1.0
    hiragana = sum("\u3041" <= letter <= "\u309f" for letter in token)
    if hiragana:
        return 0.2 if hiragana == len(token) else 0.6
    hangul = "\uac00" <= token[0] <= "\ud7a3"
    if not hangul and (kana or not "\u3400" <= token[0] <= "\u9fff"):
        return 1.0
    light = sum(letter in _FUNCTION_CHARACTERS for letter in token)
    if light == len(token):
        return 0.3
    return 0.7 if light else 1.0


# In Chinese, Japanese and Korean there are no words to count: a subject needs three letters, as
# 负责人 has, or two before the colon of a list's item (值班：张三); a value is short, and what
# reads like a sentence or a state is none.
_SHORTEST_SUBJECT, _SHORTEST_OF_ITEM = 3, 2
_SUBJECT = r"(?P<subject>[^\s，,。；;、？?！!：:=]{3,20}?)"
_SPACED_SUBJECT = r"(?P<subject>[^，,。；;、？?！!：:=]{3,20}?)"
_ONE = r"(?P<value>[\w.@/+-]{1,12})"
_END = r"[。.!！]?\s*\Z"


@cache
def _unspaced_statements() -> tuple[re.Pattern[str], ...]:
    """How a line states a name; compiled where one is compared."""
    # 不是, 但是 and the like say something else than "is"; so do 因为 and 认为.
    chinese = re.compile(
        rf"{_SUBJECT}(?:现在|現在|目前|已经|已經|已)?"
        r"(?:(?:改|换|換|设|設|定)(?:为|為|成)了?|(?<![不但还還只就都也于於可总總要算若正便老或])是|"
        r"(?<![认認因作成以称稱分行])[为為])"
        rf"\s*{_ONE}{_END}"
    )
    japanese = re.compile(rf"{_SUBJECT}は(?:今|現在)?\s*{_ONE}(?:です|だ|である){_END}")
    korean = re.compile(
        rf"{_SPACED_SUBJECT}[은는]\s+(?:이제\s+|지금\s+)?"
        rf"(?P<value>[\w.@/+-]{{2,12}}?)(?:이다|입니다|이에요|예요){_END}"
    )
    colon = re.compile(rf"(?P<subject>[^，,。；;、？?！!：:=]{{2,20}}?)\s*[：:=]\s*{_ONE}{_END}")
    return colon, chinese, japanese, korean


@cache
def _unspaced_exceptions() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """What is no specific subject, and what is no name: states, and parts of sentences."""
    # Chinese particles, adverbs and auxiliaries, and the kana that end Japanese verbs and
    # adjectives; no name has them but by chance, apart from の and san, kun and chan.
    sentence = re.compile(
        "[的了着过過吗嗎呢吧很太不没沒在被把要会會能应應该該谁誰]|什么|什麼|哪|怎|多少|几|幾|"
        "(?!の|さん|くん|ちゃん|(?<=さ)ん|(?<=く)ん|(?<=ち)ゃん|(?<=ちゃ)ん)[\u3041-\u3096]"
    )
    states = re.compile(
        r"(?:完了|失敗|成功|不在|必要|不要|便利|不便|重要|順調|可能|不可|大丈夫|元気|有効|無効|正常|異常|停止|"
        r"未定|中止|延期|同意|反对|反對|反対|赞成|賛成|最高|最悪|無理|簡単|複雑|安全|危険|綺麗|面倒|大変|残念|問題|..+[中済的前後]|"
        r"何|誰|どこ|いつ|"
        r"정상|비정상|실패|성공|완료|필요|불필요|가능|불가능|중단|예정|최고|최악|문제|필수|아직|누구|무엇|어디|언제|"
        r"그대로|마찬가지|다행|움직|..+[중적것])\Z"
    )
    # What is another thing each time: today, this, I, the problem, the reason.
    of_the_time = re.compile(
        r"\A(?:今天|明天|昨天|今日|明日|昨日|这|這|那|我|你|他|她|它|今週|来週|今回|これ|それ|あれ|私|僕|"
        r"오늘|내일|어제|이것|그것|저것|우리|저희|저는|나는|"
        r"购买|買い?う?|待办|待辦|完成|早餐|午餐|晚餐|朝食|昼食|夕食|天气|天氣|天気|心情|[周週].|星期|[月火水木金土日]曜|"
        r"할 ?일|구매|아침|점심|저녁|날씨)|"
        r"(?:问题|問題|原因|结果|結果|目的|意思|情况|情況|想法|建议|建議|重点|重點|理由|感想|문제|원인|이유|결과|목적)\Z"
    )
    return of_the_time, states, sentence


def statement_of_unspaced(text: str, *, listed: bool) -> tuple[tuple[str, str], str] | None:
    """The fact that a line with letters of scripts without spaces states, and the name in it.

    ``listed`` says that the line is an item of a list.
    """
    shortest = _SHORTEST_OF_ITEM if listed else _SHORTEST_SUBJECT
    for pattern in _unspaced_statements():
        if found := pattern.match(text):
            subject, value = found["subject"].strip(), found["value"].rstrip(".")
            of_the_time, states, sentence = _unspaced_exceptions()
            letters = sum(map(len, re.findall(r"\w+", subject)))
            if (
                letters < shortest
                or of_the_time.search(subject)
                or states.match(value)
                or sentence.search(value)
            ):
                return None
            return ("name", subject.casefold()), value
    return None


def other_letters(token: str) -> list[str]:
    """``token`` as the other script of Chinese writes it, or with another form of a Japanese name.

    A simplified letter may stand for several traditional ones, so there may be many; ``[]``: all
    write it like that.
    """
    ways = [_ways_to_write(letter) for letter in token]
    return [one for letters in product(*ways) if (one := "".join(letters)) != token]


def is_of_one_script(token: str) -> bool:
    """Whether ``token`` has a letter of simplified or of traditional Chinese alone."""
    return any(letter not in _ways_to_write(letter) for letter in token)


_MOST_TELLING = 4


def telling_letters(tokens: Iterable[str]) -> str:
    """A few letters that only the other script of Chinese has, for letters of ``tokens``.

    None of what is in kana, too: that is Japanese.
    """
    letters, telling = "".join(tokens), ""
    if re.search("[\u3041-\u30ff]", letters):
        return ""
    for letter in letters:
        if (other := _in_other_script(letter)) and other not in telling:
            telling += other
            if len(telling) >= _MOST_TELLING:
                break
    return telling


@lru_cache(maxsize=4096)
def _in_other_script(letter: str) -> str:
    """What the other script alone has for ``letter``; ``""``: both have it, or it is grammar."""
    if letter in _FUNCTION_CHARACTERS or not is_of_one_script(letter):
        return ""
    return "".join(filter(is_of_one_script, _ways_to_write(letter)))


_LAST = 48
"""So many letters of a text in Chinese have some of one script alone."""


def ends_in_script_of(letter: str, text: str) -> bool:
    """Whether ``text`` ends in the script of Chinese that alone has ``letter``."""
    return not _letters_with(_OTHER_SCRIPT.find(letter) % 2).isdisjoint(text[-_LAST:])


@cache
def _letters_with(side: int) -> frozenset[str]:
    """The letters that only traditional Chinese (0) or only simplified Chinese (1) has."""
    own, others = (frozenset(_OTHER_SCRIPT[one::2]) for one in (side, 1 - side))
    return own - others - frozenset(_IN_BOTH)


@lru_cache(maxsize=4096)
def _ways_to_write(letter: str) -> str:
    """The letters that may stand for ``letter``; itself only where the other script has it, too."""
    others = [letter] if letter in _IN_BOTH else []
    at = _OTHER_SCRIPT.find(letter)  # quicker than to make a dictionary for the few of a query
    while at >= 0:
        others.append(_OTHER_SCRIPT[at ^ 1])
        at = _OTHER_SCRIPT.find(letter, at + 1)
    others += next((group for group in _FORMS_IN_NAMES if letter in group), "")
    return "".join(dict.fromkeys(others)) or letter


_FORMS_IN_NAMES = (
    *("邊邉辺", "齋齊斎斉", "澤沢", "髙高", "﨑嵜崎", "嶋嶌島", "廣広", "濱浜", "櫻桜", "龍竜"),
    *("國国", "眞真", "惠恵", "壽寿", "藏蔵", "榮栄", "德徳", "瀨瀬", "曾曽", "冨富"),
)
LETTERS_OF_NAMES = frozenset("".join(_FORMS_IN_NAMES))
"""Those of Japanese names that have several forms."""

# Written by docs/generate/chinese_letters.py from the transform Traditional-Simplified of CLDR:
# Copyright 1991-2022 Unicode, Inc., Unicode License V3 (https://www.unicode.org/license.txt).
_IN_BOTH = (
    "丑丰么了于云交仆仿伙余佛佣借儿克具冬准几凶出划刮制剩升卜占卷只台吁吃吊后向听周咸咽哄唇喂"
    "噪回困坏堤夸奸姐姜娘家尸局岩峰布帘席干并幸床弦彩征御志念恤愈愿戚戮才扎扑托扣折挂挽捆捻搜"
    "斗昆晒朴杆杠杯杰松板栗梁榨欲殷污沈沾泄泛注浚涌游炮焊焰狸球琅症痴磷秘筑系群胡致舍范荐薯藤"
    "虫虱表谷辟郁酸采里雇霉面"
)
"""Simplified letters that traditional Chinese has, too: 台, 面."""

_OTHER_SCRIPT = (
    "內内勻匀弔吊戶户冊册氾泛丟丢兇凶汙污汎泛佔占佈布兌兑別别刪删吳吴呂吕吶呐囪囱壯壮夾夹妝妆"
    "決决沖冲沒没災灾禿秃見见貝贝車车並并亞亚來来併并侖仑兒儿兩两協协卹恤姊姐屆届岡冈彿佛拋抛"
    "於于昇升東东況况爭争狀状糾纠臥卧軋轧長长門门俠侠侶侣係系侷局剎刹剋克則则勁劲卻却姪侄姦奸"
    "屍尸帥帅彥彦後后恆恒柵栅洶汹洩泄為为盃杯紅红紀纪紉纫約约計计訂订訃讣貞贞負负軍军軌轨韋韦"
    "頁页風风飛飞倣仿倖幸倆俩們们俱具個个倫伦倉仓凍冻剛刚剝剥員员娛娱孫孙宮宫峽峡島岛師师庫库"
    "徑径恥耻悅悦挾挟時时晉晋書书氣气烏乌狹狭狽狈畝亩砲炮祕秘紡纺紗纱紋纹純纯紐纽級级納纳紙纸"
    "紛纷脅胁脈脉荊荆茲兹記记討讨訊讯託托訓训訖讫豈岂財财貢贡軒轩迴回釘钉針针閃闪陣阵陝陕陞升"
    "隻只飢饥馬马鬥斗乾干偽伪偉伟偵侦側侧務务動动區区參参啞哑問问唸念國国堅坚執执夠够婁娄婦妇"
    "專专將将屜屉崑昆崙仑崗岗帶带帳帐張张強强從从悽凄捲卷掃扫掛挂掄抡掙挣採采捨舍敗败啟启敘叙"
    "斬斩晝昼桿杆棄弃條条殺杀毬球氫氢涼凉淺浅淵渊淒凄淚泪淪沦淨净牽牵猙狰現现產产畢毕異异眾众"
    "絆绊絃弦統统紮扎紹绍細细紳绅組组終终缽钵習习脣唇脫脱莢荚莖茎莊庄處处術术覓觅規规訪访訝讶"
    "訣诀許许設设訟讼訛讹販贩責责貫贯貨货貪贪貧贫軟软這这連连釦扣釣钓釩钒閉闭陳陈陸陆陰阴頂顶"
    "頃顷魚鱼鳥鸟鹵卤麥麦傢家備备傑杰傘伞凱凯創创勞劳勝胜勛勋喪丧單单喲哟喚唤喬乔喫吃圍围堯尧"
    "場场報报壺壶尋寻幀帧幾几廁厕廂厢廄厩復复惡恶悶闷惱恼揀拣揮挥換换揚扬棗枣棟栋棧栈棲栖欽钦"
    "殘残殼壳湧涌湊凑減减渦涡湯汤測测渾浑渙涣無无猶犹琺珐畫画痙痉痠酸發发盜盗睏困硯砚稈秆稅税"
    "筆笔筍笋絞绞結结絨绒絕绝絲丝絡络給给絢绚肅肃腎肾脹胀菸烟華华著着萊莱虛虚視视註注詠咏評评"
    "詞词証证詛诅詐诈訴诉診诊貯贮貼贴貳贰費费賀贺貴贵買买貶贬貿贸貸贷軸轴週周進进郵邮鄉乡鈔钞"
    "鈕钮鈣钙鈉钠鈞钧鈍钝閏闰開开閑闲間间閒闲隊队階阶陽阳隄堤雲云韌韧項项順顺須须飯饭飲饮馮冯"
    "馭驭黃黄亂乱傭佣債债傳传僅仅傾倾傷伤僇戮剷铲勢势匯汇嗎吗嗚呜嗆呛園园圓圆塗涂塊块塢坞奧奥"
    "媽妈幹干廈厦彙汇愛爱慄栗搾榨損损搶抢搖摇搗捣搆构暈晕會会業业極极楊杨楓枫歲岁毀毁溝沟滅灭"
    "溼湿溫温準准滄沧煙烟煩烦煉炼煥焕爺爷獅狮瑯琅當当盞盏睜睁祿禄萬万稜棱節节粵粤經经絹绢綑捆"
    "綁绑綏绥絛绦義义羨羡聖圣腸肠腳脚腫肿腦脑葷荤葦苇葉叶虜虏號号蛻蜕補补裝装裡里詫诧該该詳详"
    "試试詩诗誇夸詣诣誠诚話话誅诛詭诡詢询賊贼資资賈贾賄贿賃赁賂赂跡迹跤交較较載载農农運运遊游"
    "達达違违過过鄒邹鉗钳鉀钾鈾铀鉛铅鉤钩鉑铂鈴铃鉚铆閘闸隕陨電电預预頑顽頓顿頒颁頌颂飼饲飽饱"
    "飾饰馳驰馱驮馴驯僥侥僕仆僑侨僱雇劃划厭厌嘗尝嘔呕嘆叹團团圖图塵尘墊垫塹堑壽寿夥伙夢梦奪夺"
    "寧宁實实寢寝對对屢屡嶄崭幣币彆别徹彻慇殷態态慣惯慚惭慘惨摟搂摺折摻掺暢畅榮荣槓杠構构槍枪"
    "滾滚漬渍漢汉滿满滯滞漸渐漲涨漣涟滬沪漁渔滲渗滌涤滷卤熒荧爾尔獄狱瑤瑶瑣琐瑪玛瘧疟瘍疡瘋疯"
    "瘓痪盡尽監监碩硕禍祸種种稱称窪洼窩窝箋笺箝钳箇个綻绽綜综綽绰綠绿緊紧綴缀網网綱纲綢绸綿绵"
    "綵彩綸纶維维緒绪罰罚聞闻臺台與与蓆席蓋盖蒐搜蒼苍蝕蚀製制誦诵誌志語语誣诬認认誡诫誤误說说"
    "誨诲誘诱貍狸賓宾賒赊趙赵趕赶跼局輔辅輕轻輓挽遠远遜逊遙遥遞递鉸铰銀银銅铜銘铭鉻铬銜衔銑铣"
    "閡阂閨闺閩闽閣阁閥阀際际頗颇領领颱台餃饺餅饼餌饵駁驳骯肮鳴鸣鳳凤麼么齊齐億亿儀仪價价儈侩"
    "儉俭凜凛劇剧劉刘劍剑劊刽厲厉嘩哗噓嘘噴喷嘯啸墳坟墜坠墮堕嬌娇寬宽審审寫写層层幟帜廢废廚厨"
    "廟庙廣广廠厂彈弹徵征慶庆慮虑憂忧慼戚慫怂慾欲憐怜憫悯憚惮憤愤摯挚撲扑撈捞撐撑撥拨撓挠撫抚"
    "撚捻撢掸敵敌數数暫暂樣样樁桩樞枢標标樓楼槳桨樂乐樑梁歐欧歎叹毆殴漿浆潑泼潔洁澆浇潛潜潰溃"
    "潤润澗涧熱热獎奖瑩莹瘡疮皚皑皺皱盤盘瞇眯確确碼码穀谷窯窑窮穷範范締缔練练緯纬緻致緘缄緬缅"
    "緝缉編编緣缘線线緞缎緩缓罵骂罷罢膠胶膚肤蓮莲蔭荫蔣蒋蔔卜蔥葱蝦虾蝸蜗蝨虱衛卫衝冲複复誼谊"
    "諒谅談谈諄谆誕诞請请諸诸課课調调誰谁論论誹诽豎竖豬猪賠赔賞赏賦赋賤贱賬账賭赌賢贤賣卖賜赐"
    "質质踐践輝辉輛辆輩辈輪轮輥辊適适遷迁鄰邻鄭郑鄧邓鋅锌銻锑銷销鋪铺鋤锄鋁铝銳锐鋒锋鋇钡銲焊"
    "閱阅鞏巩颳刮養养餓饿餒馁餘余駝驼駐驻駛驶駕驾駒驹髮发鬧闹魯鲁鴉鸦齒齿儘尽冪幂劑剂勳勋噹当"
    "噸吨墾垦壇坛奮奋學学導导憲宪憑凭憊惫憶忆戰战擁拥擋挡撻挞據据擄掳擇择撿捡擔担撾挝曆历曉晓"
    "樸朴橫横樹树橢椭橋桥機机歷历澱淀濃浓澤泽濁浊熾炽燐磷燒烧燈灯燙烫燄焰獨独盧卢瞞瞒磚砖禦御"
    "積积穎颖窺窥築筑篩筛縛缚縣县膩腻興兴艙舱蕩荡蕭萧蕪芜螞蚂螢萤褲裤親亲諺谚諱讳謀谋諜谍諧谐"
    "諾诺謂谓諷讽貓猫賴赖踴踊輻辐輯辑輸输辦办選选遲迟遼辽遺遗錠锭錶表鋸锯錳锰錯错錢钱鋼钢錫锡"
    "錄录錐锥錦锦閻阎隨随險险霑沾靜静頰颊頸颈頻频頭头頹颓頤颐館馆餞饯餡馅駭骇駱骆鬨哄鮑鲍鴕鸵"
    "鴦鸯鴨鸭鴛鸳龍龙龜龟優优償偿儲储勵励嚐尝嚇吓壓压嬰婴嶼屿嶺岭幫帮彌弥應应懇恳戲戏擊击擠挤"
    "擰拧擬拟擱搁斂敛斃毙檔档檢检氈毡濘泞濱滨濟济濤涛濫滥澀涩濬浚濕湿濰潍營营燦灿燭烛燬毁燴烩"
    "牆墙獰狞獲获環环療疗盪荡瞭了矯矫簍篓糞粪縮缩績绩縷缕繃绷縫缝總总縱纵縴纤聲声聰聪聯联聳耸"
    "膿脓膽胆臉脸臨临舉举艱艰薑姜薔蔷薊蓟虧亏謎谜謗谤謙谦講讲謊谎謠谣謝谢謄誊賺赚賽赛購购賸剩"
    "趨趋轄辖輾辗轅辕輿舆還还邁迈醞酝醜丑鍍镀鎂镁錨锚鍵键鍊炼鍋锅錘锤鍾钟鍬锹鍛锻闊阔闌阑闆板"
    "隱隐隸隶雖虽韓韩顆颗餵喂騁骋駿骏鮮鲜鴻鸿鴿鸽點点齋斋叢丛嚮向壘垒嬸婶擴扩擲掷擾扰攆撵擺摆"
    "擻擞斷断櫃柜檻槛檸柠檯台歸归瀉泻瀋沈濾滤濺溅燻熏燼烬獵猎甕瓮癒愈礎础禮礼穢秽竄窜竅窍簡简"
    "糧粮織织繕缮繞绕繡绣罈坛翹翘職职聶聂臍脐舊旧薩萨藍蓝藉借薦荐蟬蝉蟲虫謹谨謬谬豐丰贅赘蹤踪"
    "蹟迹軀躯轉转轍辙醫医醬酱釐厘鎊镑鎖锁鎢钨鎳镍鎮镇鎬镐鎚锤鎗枪闖闯離离雜杂雙双雛雏雞鸡額额"
    "顏颜題题餾馏餽馈騎骑鬆松鯉鲤鵑鹃鵝鹅鼕冬嚥咽壞坏壟垄寵宠龐庞廬庐懲惩懷怀懶懒攏拢曠旷櫥橱"
    "瀝沥瀕濒爍烁犢犊獸兽獺獭瓊琼疇畴癟瘪癡痴礙碍禱祷穫获穩稳簾帘簽签繫系繭茧繹绎繩绳繪绘羅罗"
    "繳缴臘腊藝艺藥药藷薯蟻蚁蠅蝇蠍蝎襖袄譁哗譜谱識识證证譚谭譏讥贈赠贊赞轎轿辭辞邊边鏡镜鏟铲"
    "鏈链關关隴陇難难霧雾韻韵類类願愿顛颠饅馒騙骗鬍胡鯨鲸鵲鹊鵬鹏麗丽勸劝嚨咙嚴严孃娘寶宝懸悬"
    "攔拦攙搀瀾澜瀰弥爐炉獻献癢痒癥症礦矿礬矾礫砾競竞籌筹籃篮糰团辮辫繼继艦舰藹蔼蘆芦蘋苹蘇苏"
    "蘊蕴覺觉觸触議议譯译譟噪贏赢贍赡釋释鐘钟鏽锈闡阐飄飘饒饶饑饥騰腾騷骚鰓鳃鹹咸麵面黨党齣出"
    "齡龄囂嚣屬属懼惧懾慑攝摄攜携櫻樱欄栏殲歼爛烂犧牺籐藤纏缠續续蘭兰蠟蜡襪袜覽览譴谴護护譽誉"
    "贓赃躊踌躍跃轟轰辯辩鐮镰鐳镭鐵铁闢辟響响顧顾驅驱騾骡鶴鹤齧啮孿孪巒峦彎弯攤摊權权歡欢灑洒"
    "灘滩疊叠癬癣籠笼聾聋聽听臟脏襲袭襯衬讀读贖赎鑄铸鑑鉴鑒鉴顫颤驕骄髒脏鬚须鱉鳖鷗鸥龔龚巖岩"
    "戀恋攣挛攪搅曬晒竊窃籤签纓缨纖纤纔才蘿萝蠱蛊變变邏逻顯显驚惊驗验體体鱗鳞黴霉囑嘱壩坝攬揽"
    "癱瘫蠶蚕讓让讒谗艷艳贛赣釀酿靈灵驟骤鷹鹰鹼碱鹽盐齲龋廳厅灣湾籬篱籮箩蠻蛮觀观釁衅鑲镶鑰钥"
    "顱颅饞馋灤滦矚瞩讚赞鑷镊驢驴纜缆鑽钻鑼锣豔艳鑿凿鬱郁籲吁裏里爲为衆众啓启羣群峯峰綫线麪面"
    "牀床"
)
"""Frequent letters of traditional Chinese, each before its simplified one."""
