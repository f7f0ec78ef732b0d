"""What instructions and tasks are about: a table of topics, each with its words in seven languages.

A rule for meals and a task that asks for a restaurant share no word, and the topic ``food``. Of
each topic ``both`` are words of either, ``rule`` of instructions and ``task`` of tasks alone: who
asks how far it is names no units, and who rules on units no distances. The topic ``-`` is none:
longer words that hold a shorter one by chance.

A word stands for itself, one with a star for all that begins with it, and ``_`` joins two that
stand side by side. Words of Chinese, Japanese and Korean count anywhere, the longest first.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

TABLE = """
units
rule metric imperial unit units celsius fahrenheit kelvin si inches feet ounces gallons pounds
rule metrisch* einheit* angloamerikanisch* métrico* unidad* imperial* métrique* unité* impérial*
rule 公制 英制 米制 单位 單位 度量 メートル法 ヤード 単位 미터법 야드 단위
both kilomet* kilómet* kilomèt* meile* milla* mile miles mille kilogra* kilo kilos liter litre*
both litro* gallon* galon* galón* pfund grad grados degrés degrees celsius fahrenheit zoll pulgada*
both 公里 千米 英里 公斤 千克 英尺 摄氏 華氏 华氏 キロ マイル 摂氏 ポンド 킬로 마일 섭씨 화씨 파운드
task distance distances height weigh weighs weight tall heavy temperature* weather forecast convert
task conversion recip* cake bake baking measurements dimensions altitude entfern* distanz höhe wiegt
task gewicht temperatur* wetter* umrechn* rechne_um rezept* geschwindigkeit* maße abmessung* backen
task umfang distancia* lejos altura pesa peso mide temperatura* tiempo_hace clima pronóstico receta*
task velocidad bizcocho medidas loin hauteur pèse poids mesure température* météo vitesse recette*
task gâteau 多远 距离 多高 多重 重量 体重 身高 高度 温度 气温 天气 换算 食谱 菜谱 速度 尺寸 多热
task 多冷 几度 多少度 距離 高さ 重さ 身長 気温 天気 換算 レシピ 寸法 遠い 何度 거리 멀어 멀리 멀까
task 높이 무게 몸무게 온도 기온 날씨 환산 레시피 속도 치수 몇_도 how_far far_is far_away speed_of
task how_fast conviert* convertir convertis* wie_weit weit_ist wie_hoch wie_schwer wie_warm wie_heiß
task wie_kalt wie_groß how_big how_deep how_warm how_hot how_cold

food
rule vegetarian* vegan vegans pescatarian* meat pork beef dairy lactose gluten nuts peanut*
rule shellfish spicy alcohol halal kosher organic allergic allerg* intoleran* fleisch* nüsse nuss*
rule erdnuss* laktose* schweinefleisch alkohol* tee bio scharf vegetarisch* fisch vegano* vegana*
rule carne cerdo lactosa frutos_secos cacahuete* picante alérgic* intolerante* marisco* végétarien*
rule végan* végétalien* viande porc noix arachide* allergique* épicé* alcool thé fruits_de 吃素 素食
rule 过敏 花生 海鲜 辣 猪肉 牛肉 乳糖 麸质 酒 不吃 纯素 忌口 ベジタリアン ヴィーガン 菜食 アレルギー
rule 肉 魚介 えび 卵 乳製品 辛い 食べない 食べられない 채식 비건 알레르기 땅콩 고기 해산물 우유 매운
rule 안_먹 못_먹 견과류
both eat eating eats food foods meal meals dish dishes cooking cuisine restaurant* dessert* snack*
both breakfast lunch dinner supper brunch pizza wine cheese essen esse isst iss mahlzeit* gericht
both gerichte küche_ist nachtisch* frühstück* mittagessen abendessen kochen koche kuchen wein käse
both comida* comer como_carne comen plato* restaurante* postre* desayun* almuerz* almorzar cena
both cenar cenas merienda* queso vino manger mange mangeons repas plat plats déjeuner* dîner*
both petit_déjeuner cuisin* fromage vin goûter 吃 餐厅 餐馆 饭店 菜 早饭 早餐 午饭 午餐 晚饭 晚餐
both 零食 甜点 做饭 美食 食物 饮食 便当 食べ 食事 料理 レストラン 朝食 朝ご飯 昼食 昼ご飯 お昼 夕食
both 夕飯 晩ご飯 献立 弁当 おやつ デザート ランチ ディナー 먹 음식 식사 식당 요리 아침밥 점심 저녁
both 간식 디저트 도시락 메뉴 맛집 반찬 coffee tea kaffee café 咖啡 コーヒー 커피 お酒 술 drink
both drinks drinking beverage* bier beer trinken getränk* beber bebida* cerveza boire boisson* bière
both 喝 饮料 飲み 飲む 飲ま 飲み会 宴会 聚餐 회식 마시 마신 음료 맥주
task menu menus cook recip* cater* ingredients table_for takeaway groceries barbecue bistro
task speiseplan menü rezept* zutaten tisch_für grillen lebensmittel backen gästeessen bestell_pizza
task menú menús receta* cocin* ingredientes mesa_para bocadillo* recette* ingrédients table_pour
task traiteur* pique_nique apéritif 食谱 菜谱 菜单 外卖 订餐 请客 レシピ メニュー 出前 레시피 식단
task 배달

travel
rule window_seat aisle window_seats seats seat rail drive driving bike taxi taxis airbnb
rule fensterplatz gang sitzplatz bahn flugzeug* fahrrad mietwagen ventanilla pasillo avión bicicleta
rule avion vélo hublot couloir siège 靠窗 过道 打车 窓側 通路側 창가 통로 plane train
both travel* trip trips flight flights fly flying planes trains hotel hotels hostel* accommodation*
both airport* airline* luggage journey* itinerar* vacation* reise* verreis* flug flüge flieg* zug
both züge hotel* unterk* übernacht* flughafen urlaub* zugfahrt* reisen dienstreise* koffer viaj*
both vuelo vuelos volar tren trenes alojamiento* hostal* aeropuerto* vacaciones maleta* voyag* vol
both vols hôtel* héberg* aéroport* vacances séjour* trajet* valise* 旅行 旅游 旅程 出差 航班 机票
both 酒店 宾馆 旅馆 住宿 民宿 车票 行李 机场 出張 旅館 宿 ホテル 切符 航空券 フライト 電車 列車 空港
both 観光 宿泊 여행 출장 항공 호텔 숙소 숙박 기차표 열차 공항 관광 항공권 비행 飞机 飛行機 비행기
both 高铁 火车 新幹線 기차
task directions get_to nights weekend_in excursion fahrkarte* fahrschein* verbindung* anreise
task ausflug* nächte städtetrip billete* boleto* escapada excursión noches billet* itinéraire*
task week_end escapade nuits 行程 的票 路线 怎么去 怎么走 订票 几晚 景点 チケット 行き方 日帰り 泊
task 旅程 예매 가는_길 경로 코스 가는_표 by_plane by_train a_train the_train train_to train_from
task le_train un_train ein_zug ticket_to tickets_to ticket_for best_route route_to route_nach ruta_a
task flugticket* bahnticket*

releases
both commit* push pushes pushing merge* branch branches rebas* release* deploy* rollout git github
both hotfix* changelog pull_request force_push squash revert* cherry production prod branch* zweig*
both einchecken ausliefer* ausroll* veröffentlich* freigab* produktion_nehm rama ramas fusion*
both desplieg* despleg* despliegue* publica_la lanzamiento* subir_cambios sube_los fusionn* branche*
both déplo* mise_en livr* publie* commits 提交代码 提交 推送 分支 合并 部署 发布 上线 发版 主干 回滚
both コミット プッシュ マージ ブランチ リリース デプロイ 本番 プルリク 커밋 푸시 병합 머지 브랜치
both 릴리스 릴리즈 배포 출시 롤백
task version ship versión 版本 バージョン 버전 tag_it tag_the git_tag new_version

code
rule tabs spaces quotes semicolons camelcase snake_case type_hints naming docstring* comments
rule tabulator* leerzeichen einrückung* anführungszeichen tabulador* comillas espacios_en
rule tabulation* guillemets espaces 缩进 空格 注释 变量名 命名 引号 驼峰 タブ スペース 引用符
rule コメント 변수명 탭 들여쓰기 주석 따옴표
both code codes coding python typescript javascript java rust golang kotlin css html sql function
both functions indent* lint* refactor* variable variables class_names module modules script scripts
both quellcode funktion* variable* modul skript* código* función funciones sangr* módulo* fonction
both fonctions indentation* module* 代码 函数 变量 脚本 模块 重构 编程 コード 関数 変数 スクリプト
both モジュール インデント リファクタ 코드 함수 변수 스크립트 모듈 리팩터
task format* implement* parser bug bugs crash* debug* class method endpoint api feature exception
task programmier* implementier* formatier* refaktor* fehler_im fehler_in absturz klasse methode
task implementa* formatea* refactoriza* depura* arregla_el error_en clase método implément* formate*
task refactorise* débogue* plantage bogue* classe méthode 格式化 实现 修复 调试 接口 整形 実装 バグ
task デバッグ 포맷 구현 버그 디버그

testing
both test tests testing pytest unittest coverage regression mock mocks testen teste getestet
both testfall* testabdeckung prueba pruebas unitari* cobertura tester testé couverture 测试 单元测试
both 覆盖率 テスト 単体テスト カバレッジ 테스트 단위_테스트 커버리지
task bug bugs crash* fix_the implement* refactor* function functions feature logic fehlerbehebung
task absturz implementier* behebe behebung funktion arregla_el implementa* función corrige_el
task error_en corrige implément* fonction module 缺陷 实现 修复 函数 功能 代码 バグ 実装 関数 不具合
task 버그 구현 함수

meetings
rule mornings afternoons before_ten before_nine weekends
both meeting* appointment* calendar* schedule scheduling reschedul* standup* interview* workshop*
both termin termine terminen treffen besprechung* kalender* sitzung* verabred* vorstellungsgespräch*
both reunión reuniones cita citas calendario* videollamada* entrevista* réunion* rendez_vous rdv
both calendrier* entretien* visio* agenda 会议 開会 开会 会面 面谈 面试 日程 日历 预约 周会 例会
both 约见 约 会議 打ち合わせ 打合せ ミーティング 面談 面接 カレンダー アポ 定例 회의 미팅 약속 면담
both 면접 캘린더 일정 모임
task a_call call_with slot a_slot meet with_the_team invite invitation* get_together review_with
task vereinbar* einlad* gesprächstermin telefonat quedar_con hueco convoca* créneau* un_point
task point_avec convoque* convie conviez convier 邀请 碰头 予定を 招待 잡아 초대

times
rule date dates time_zone timezone utc iso hour_clock clock 24_hour hour_format year_month datum
rule datumsangaben datumsformat uhrzeit* zeitzone* fecha fechas zona_horaria horas format_24 fuseau*
rule heures heure 日期 时区 24小时 小时制 年月日 日付 時刻 時差 タイムゾーン 24時間 날짜 시간대
rule 24시간 시각
task timeline timetable* schedule deadline* calendar* what_time milestones dates date zeitplan*
task fahrplan* kalender* terminplan* frist fristen meilenstein* wie_spät wann_fährt cronograma*
task calendario* horario* plazo* qué_hora fecha fechas calendrier* horaire* emploi_du échéanc*
task quelle_heure planning délai* 时间表 日程 几点 期限 截止 日历 日期 时间线 スケジュール 何時
task 締め切り 予定表 時刻表 일정 시간표 몇_시 기한 마감 달력 날짜

money
rule euro euros dollar dollars sterling yen yuan currency currencies cheapest währung* moneda*
rule divisa* monnaie devise* 人民币 欧元 美元 货币 日元 円で ユーロ ドル 通貨 円 원화 유로 달러
rule 통화로 화폐
both price prices priced budget* cost costs expense* invoice* spend spending salary tax taxes fees
both preis preise preisen kosten rechnung rechnungen ausgaben gehalt steuer steuern gebühr* precio*
both presupuest* coste costes factura* gasto gastos impuesto* sueldo* prix coût coûts factur*
both dépens* impôt* salaire* tarif* devis 价格 预算 费用 报价 开支 花费 发票 报销 工资 成本 价钱
both 値段 価格 予算 費用 見積 請求書 料金 経費 税金 가격 예산 비용 견적 청구서 요금 경비 세금 금액
task how_much afford pay price_of quote_for cheap kostet kosten_für was_kostet teuer bezahl*
task überweis* kostenvoranschlag* cuánto_cuesta cuesta cuestan cuánto_vale cuánto_sale pagar paga
task combien_coûte coûte coûtent combien_ça payer paie chiffrer chiffre 多少钱 付款 算一下 要花
task いくら 支払 精算 얼마 지불 결제 정산

mail
rule salutation* greeting* subject_line anrede* grußformel betreff* signatur* saludo* asunto formule
rule signature* objet 称呼 落款 主题行 件名 署名 宛名 제목 서명 인사말
both email* mail mails letter letters correspondence briefe emails e_mail correo correos carta
both cartas courriel* lettre lettres mél 邮件 电邮 写信 回信 信件 メール 手紙 이메일 메일 편지
both brief_an einen_brief den_brief 一封信 写封信 的信
task message messages reply replies respond write_to answer_to inbox newsletter antworte nachricht*
task schreib_dem schreib_der schreib_an schreib_herrn schreib_frau schreibe_an schreib_meinem
task rundschreiben mensaje* escribe_a escribe_al escríbele contesta responde_a écris_à écris_au
task écris_aux réponds_à réponds_au réponds répondre 回复 答复 收件箱 返信 返事 連絡 お知らせ 답장
task 회신 메시지 연락

files
rule lower_case file_names filename* kebab dateinamen kleinschreib* minúsculas minuscules 文件名
rule 小写 ファイル名 小文字 파일명 파일_이름 소문자
both file files folder folders director* backup* pdf archive* datei dateien ordner* sicherung*
both sicherheitskopie* archiv archivier* archivo* carpeta* fichero* copia_de copias_de respaldo*
both fichier* dossier_de dossiers sauvegarde* 文件 文件夹 备份 归档 目录 ファイル フォルダ
both バックアップ アーカイブ 파일 폴더 백업 보관
task rename save scans photo photos download downloads upload delete umbenenn* speicher* lösch*
task fotos benenn* renombra* guarda guardar borra borrar descargas elimina renomme* enregistre*
task supprime* télécharg* 重命名 保存 删除 照片 下载 リネーム 名前を変 削除 写真 저장 이름_변경
task 이름을_바 삭제 사진

privacy
rule password* passphrase* secret secrets credential* api_key api_keys keys tokens encrypt* privacy
rule confidential* personal_data private personally sensitive anonym* passwort passwörter geheim*
rule vertraulich* zugangsdaten personenbezogen* datenschutz* verschlüssel* privat* contraseña*
rule secreto* confidencial* datos_personales cifra* privad* sensible* mot_de mots_de secret*
rule chiffrer confidentiel* données_personnelles privé* privée* 密码 口令 密钥 隐私 机密 保密 加密
rule 个人信息 敏感 パスワード 秘密 機密 暗号 個人情報 鍵 비밀번호 암호 기밀 개인정보 비밀 민감
rule chiffrez chiffrement
task password* login log_in credentials share publish forward send_out upload contract contracts
task customer_data addresses account accounts access passwort passwörter anmeld* teile teil_die
task leite weiterleit* weitergeb* veröffentlich* kundendaten adressen zugang* vertrag verträge
task contraseña* comparte compartir reenvía* publica contrato* acceso* direcciones partage* partager
task transmets transfère* contrat contrats connexion accès coordonnées 登录 账号 账户 分享 共享 转发
task 公开 合同 客户资料 ログイン アカウント 共有 転送 公開 契約書 顧客 로그인 계정 공유 전달 공개
task 계약서 고객

shopping
rule brand brands second_hand local_shops organic fair_trade marke marken gebraucht bio regional*
rule marca marcas tiendas barrio segunda_mano marque marques occasion commerces 品牌 国货 二手 有机
rule ブランド 中古 国産 브랜드 중고 국산
both buy buying shop shopping shops purchase* gift gifts present_for kauf* einkauf* geschenk* kaufen
both compra comprar compras regalo* regalar achat achats achète* acheter cadeau* 买 购买 购物 礼物
both 采购 下单 買い 購入 プレゼント 贈り物 買う 구매 쇼핑 선물 장보기 les_courses de_courses
task groceries order_a order_some birthday bestell* besorg* geburtstag* lebensmittel pide pedir
task cumpleaños encarga commande* anniversaire* 生日 订购 誕生日 注文 買って 생일 주문 사_줘

health
rule diabet* asthma pregnan* migraine* knee back_pain injury schwanger* migräne knie diabét* asma
rule embarazada rodilla espalda enceinte asthme genou 糖尿病 哮喘 怀孕 膝盖 腰 糖尿 喘息 妊娠 膝
rule 腰痛 당뇨 천식 임신 무릎 허리
both health exercise* workout* fitness gym medicine* medication* doctor* diet diets sleep
both training_plan gesundheit* sport trainingsplan* fitness* medikament* arzt ärztin ernährung*
both schlaf* salud ejercicio* gimnasio entrenamiento* medicament* médico* dieta* dormir deporte*
both santé exercice* entraînement* médicament* médecin* régime* sommeil 健康 锻炼 运动 健身 药 医生
both 饮食 睡眠 减肥 運動 筋トレ 薬 医者 ダイエット 病院 건강 운동 헬스 약을 의사 다이어트 수면 병원

media
rule jazz classical rock techno horror comedies subtitles dubbed klassik untertitel* originalton
rule clásica subtítulo* doblad* classique sous_titres 爵士 古典 字幕 摇滚 ジャズ クラシック ホラー
rule 재즈 클래식 자막 공포
both music song songs playlist* album* band bands podcast* film films movie movies novel* series
both musik* lied lieder serie serien kino* roman romane konzert* hörbuch* música canción canciones
both película* cine novela* concierto* musique* chanson* série séries cinéma concert* 音乐 歌 歌单
both 电影 电视剧 小说 播客 唱片 音楽 曲 映画 ドラマ 小説 プレイリスト 音악 음악 노래 영화 드라마
both 소설 filme
task watch listen play_something concert netflix spotify anhören schauen_wir escuchar ver_esta
task écouter regarder 听 看什么 聴 観る 見るもの 들을 볼만한 볼_만한 fernsehen was_schauen
task heute_schauen

writing
rule sources citations citing oxford_comma quellen quellenangabe* zitier* fuentes citas_de 引用 出处
rule 来源 参考文献 出典 출처 인용
both report reports documentation docs essay* article articles presentation* slides blog readme
both bericht berichte dokumentation* aufsatz artikel präsentation* folien informe* documentación
both artículo* presentación* diapositiva* ensayo rapport rapports article* présentation*
both diapositive* 报告 文档 文章 论文 演示 幻灯片 博客 レポート 報告書 文書 記事 論文 スライド 資料
both ブログ 보고서 문서 기사 논문 발표 슬라이드 블로그

charts
rule dark_mode colour_blind color_blind farbenblind* dunkelmodus dunkle daltónic* modo_oscuro
rule daltonien* mode_sombre 深色 色盲 暗色 ダークモード 色覚 다크_모드 색맹
both chart charts plot plots graph graphs diagram* dashboard* colour colours color colors theme
both diagramm* grafik* farbe farben gráfico* gráfica* colores graphique* couleur couleurs 图表 颜色
both 配色 柱状图 折线图 グラフ 図表 チャート 차트 그래프 색상 도표
task visuali* slides visualisier* visualiz* 可视化 可視化 시각화

packages
rule npm pnpm yarn pip uv poetry conda homebrew docker podman licence* license*
both dependenc* library libraries abhängigkeit* bibliothek* dependencia* librería* biblioteca*
both dépendance* bibliothèque* 依赖 软件包 依存 パッケージ ライブラリ 의존성 패키지 라이브러리
both package_manager packages
task install* upgrade* installier* aktualisier* instala* actualiza* installe* 安装 升级 インストール
task 설치 업그레이드

replies
rule answer* reply replies respond* response* concise emoji* formal* informal* polite* tone bullet*
rule english german spanish french chinese japanese korean explanation* antwort* duz* siez* formell*
rule knapp emojis deutsch englisch tonfall stichpunkt* erklärung* respuesta* responde* tutea* trato
rule inglés español tono conciso* viñetas réponse* répond* réponds tutoie* tutoyer vouvo* ton
rule anglais français concis* explication* 回答 回复 语气 简短 简洁 中文 英文 英语 表情 答复 敬語
rule 丁寧 返答 答え 日本語 英語 絵文字 口調 답변 대답 존댓말 반말 말투 한국어 영어 이모지 usted
task explain* summari* describe outline write draft compare translat* tell_me answer rewrite erklär*
task zusammenfass* fasse fass beschreib* schreib* entwirf formulier* vergleich* übersetz* explica*
task resume resumir redacta* escrib* compara* traduce* cuéntame explique* résume* décri* rédige*
task écri* compare* tradui* réponds raconte* réponse 解释 总结 介绍 说明 描述 写 起草 比较 翻译 概括
task 讲讲 説明 要約 まとめ 書い 紹介 翻訳 比較 解説 설명 요약 소개 써_줘 작성 비교 번역 알려

-
both 大约 约定 节约 合约 条约 违约 约束 信息 微信 信用 相信 信号 自信 信任 菜鸟 吃力 吃惊 歌手 药店
both 曲線 曲がる 宿題 下宿 円満 鍵盤 먹이 구약 일정한 알려진 얼마나 얼마전 기차게 술래 예술 기술
both 미술 수술 마술 学術
"""
BROAD = frozenset({"replies"})
"""Topics that say less than others, for any text may be asked for."""

AMOUNTS = frozenset({"units", "money", "times"})
"""Topics of what is counted or measured."""

_LONGEST = 8
_WIDE = "\u2e80"
"""The first character of scripts without spaces; Korean is read as they are, for its endings."""
_WORD = re.compile(r"[^\W_]+")


def topics_of_rule(text: str) -> frozenset[str]:
    """The topics of an instruction."""
    return frozenset(_topics(text, _table()[0]))


def topics_of_task(text: str) -> dict[str, int]:
    """The topics of a task, each with how many of its words are of it."""
    return _topics(text, _table()[1])


class _Words(NamedTuple):
    """Topics by word, by the beginning of one, and by text of scripts without spaces."""

    whole: dict[str, frozenset[str]]
    begun: dict[str, frozenset[str]]
    wide: dict[str, frozenset[str]]


def _topics(text: str, words: _Words) -> dict[str, int]:
    text = text.lower()
    found: dict[str, int] = {}
    last = ""
    for word in _WORD.findall(text):
        topics = words.whole.get(word, _NONE) | words.whole.get(f"{last}_{word}", _NONE)
        for end in range(_SHORTEST, min(_LONGEST, len(word)) + 1):
            topics |= words.begun.get(word[:end], _NONE)
        if len(word) >= _COMPOUND and not topics:  # of German, which end with what they are
            for end in range(_HEAD, len(word) - 2):
                topics |= words.whole.get(word[-end:], _NONE) | words.begun.get(word[-end:], _NONE)
        _count(topics, found)
        last = word
    if not text.isascii() and max(text) > _WIDE:
        at = 0
        while at < len(text):
            for end in range(min(at + _LONGEST, len(text)), at, -1):
                if topics := words.wide.get(text[at:end], _NONE):
                    _count(topics, found)
                    at = end
                    break
            else:
                at += 1
    return found


def _count(topics: frozenset[str], found: dict[str, int]) -> None:
    for topic in topics:
        if topic != "-":
            found[topic] = found.get(topic, 0) + 1


_NONE: frozenset[str] = frozenset()
_SHORTEST = 3
_COMPOUND = 9
_HEAD = 5


@cache
def _table() -> tuple[_Words, _Words]:
    """The words of rules, and those of tasks."""
    rules, tasks = _Words({}, {}, {}), _Words({}, {}, {})
    topic = ""
    for line in TABLE.strip().splitlines():
        side, _, listed = line.partition(" ")
        if not listed:
            topic = side
        for word in listed.split():
            for words in {"both": (rules, tasks), "rule": (rules,), "task": (tasks,)}[side]:
                _put(words, word, topic)
    return rules, tasks


def _put(words: _Words, word: str, topic: str) -> None:
    if max(word) > _WIDE:
        among, word = words.wide, word.replace("_", " ")
    elif word.endswith("*"):
        among, word = words.begun, word[:-1][:_LONGEST]
    else:
        among = words.whole
    among[word] = among.get(word, _NONE) | {topic}
