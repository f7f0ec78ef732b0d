"""How rare the most frequent 3,000 stems of English are.

Written by docs/generate/english_words.py from Google Books Ngrams (CC BY 3.0), as the package
symspellpy has them.
"""

from __future__ import annotations

LEVELS = {
    0: """
a and in of the to
""",
    1: """
are be by for i is it not on or that this with you
""",
    2: """
about all an as at can do free from has have home if more my new one other page search servic
site time us use was we will your
""",
    3: """
add also am ani back been book busi but click contact date day design develop find first game
get go had he help here his hotel how includ inform item like link list make manag may me member
messag name need news no now onli onlin our out peopl pm post price product program provid
public rate report review right see so some state support system than their there these they top
up view web were what when which who work would year
""",
    4: """
access account activ addit address advanc advertis after american applic area art articl associ
author avail base becaus befor best between black board build buy call car card care case
categori chang check citi class code collect come comment communiti compani compar complet
comput condit content control copyright cost could counti countri cours creat current custom
data de depart detail did differ direct directori doe down download each ebay edit educ effect
email end engin even event famili featur file follow form forum found friend full general gift
good govern great group guid health her high hour hous imag index industri info interest
internat internet into issu jan januari job join just know last law learn level life line live
local locat long look love made mail main mani map market meet model month most movi much music
must nation network next note number off offer offic open oper option order over own part
perform person phone photo pictur place plan play pleas point polici power present print privaci
problem process profil project properti question re read real receiv record refer regist relat
releas repli requir research reserv resourc respons result return room said sale same save say
school section secur select send set sex she ship shop should show sign size softwar sourc south
special sport standard start store stori student studi subject such take technolog teen term
test them then thing think those through titl today tool topic total train travel two type under
unit universiti updat user valu veri version video visit want water way websit week well where
window within women world
""",
    5: """
abov accept accessori accord act action actual administr adult again against age agenc agreement
air al allow alway america amount analysi anim anoth answer appear appli april archiv around
artist ask assist audio august award away babi bank beach beauti becom begin below benefit
better bid big bill blog blue bodi both box brand brows calendar california camera canada career
cart caus cd cell centr central charg child children china clear client close club co colleg
committe common communic confer connect consid construct consult contain continu copi corpor
council court cover credit cultur databas deal dec decemb deliveri descript determin digit
director discount discuss display distribut district document drive drug dure easi east econom
electron employ energi english enter entertain entri environ equip error estat everi exampl
execut exist expect experi express face facil fact fax februari feder feedback feel few field
figur film final financ financi fit food forc format four franc function fund futur galleri
garden gay generat girl give given god got green hand hard head him histori hold holiday host
hot howev human id idea ii import improv increas indic individu initi instal institut insur
integr invest involv island john journal juli june keep key kid la land languag larg latest lead
leav left legal less let librari licens light limit littl loan log login london lot low magazin
major man manufactur mar march mark match materi mean measur media medic memori men method might
mile million minut mobil money move natur near net never newslett night non north notic nov
novemb object oct octob offici old opportun organiz origin owner packag paper parent park parti
particip particular partner pass password pay payment pc per period pic player poker polit
popular porn posit possibl practic presid press previous privat produc profession promot propos
protect publish purchas purpos put qualiti quick quot radio rang realli reason recent recommend
red region remov rental repres request respect road rule run sampl san scienc second seem self
sell seller septemb seri serv server sever shall share short side similar sinc singl small
social societi solut someth song sort sound space specif sponsor staff star statement status
step still stock street structur style submit subscrib success suggest sun suppli sure tabl talk
tax team tell texa text thank thought thread three ticket tip too tour toy track trade tri turn
understand until vote war washington watch wed welcom west whi while white win without word
write yahoo yes yet york young
""",
    6: """
abil abl abstract academ accommod achiev across adapt adjust adopt advic affect affili africa
agent ago agre aid airport album alert almost along alreadi altern although amazon amend among
anal angel announc annual anti anyon anyth apart approach appropri approv apr architectur arm
arriv asia asian ass assess assign assum attach attack attend attorney attract auction aug
australia auto automat averag background bad bag balanc ball band bar basi basic basket batteri
bay bear bed believ bin bit block blood boat born boy break breast bring british brother brown
browser budget bug built bush button buyer cabl calcul came camp canadian cancer capit carolina
carri cash casino cat celebr center centuri certain certif chair challeng channel chapter
charact chart chat cheap chemic chicago chines choic choos christian christma church civil claim
classic classifi clean clinic clip cloth com combin comfort command commerci commiss commit
competit complex compon concept concern conduct configur confirm consist constitut consum
contract contribut convers convert cook cool correct count coupl creativ critic cross cut daili
damag danc dark david death debt decid decis default defin definit degre delet deliv demand
depend describ desktop devic die disabl disclaim diseas distanc divis doctor dog dollar domain
done door doubl draw dream drink driver drop due earli earn earth editor effort either elect
electr element els employe enabl england enhanc enjoy enough ensur enterpris entir environment
equal especi essenti est establish estim eur europ european evalu ever everyon everyth evid
examin excel except exchang exercis expens expert explain explor extend extens extern extra
extrem eye factor faculti fail fair fall fan far farm fast feb fee feed feet femal fill filter
fine finish fire firm fish five fix flash flight floor florida flow flower focus footbal foreign
former forward foundat frame french fri friday front fuck fun furnitur further gain gas georg
german germani glass global goal gold golf googl grade graduat grand grant graphic greater
ground grow growth guarante guest guy hair half hall handl happen happi hardwar hear heart heat
held higher hill histor hit homepag hope hors hospit huge identifi iii immedi impact implement
inc inch incom independ india indian inn input insid instead instruct instrument interact
interfac internal interview introduc introduct investig ireland itali jame japan java jul jump
jun keyword kill kind king kingdom kit kitchen knowledg known label ladi lake larger late later
lawyer leader least length lesbian letter linux listen load logo los loss lost lower ltd lyric
mac machin maintain male manual mari master matter matur max maximum mechan medicin membership
menu metal mexico michael microsoft middl milf militari mind miss mission mix mode modern modifi
modul mon monday monitor morn mortgag mother motor mount mountain multi multipl museum navig
necessari nice nokia none normal noth nude nurs observ obtain occur often oil onc opinion
organis outdoor output outsid overal overview pack paid paint panel past patch patient pattern
paul paypal peac percent perfect permit pet peter photograph photographi physic pick piec plant
plus polic pool pop popul port poster potenti prefer prepar pressur prevent primari printer
prior pro probabl procedur profit programm progress protein provis pussi quarter quit race rais
rank rather reach reader readi recip reduc reflect regard registr regul regular relationship
remain rememb remot rent repair replac republ resid resolut resort respond rest restaur retail
revis richard ring rington risk river robert rock role roll root round safe safeti sat saturday
scale schedul score screen script sea season seat sector seek seen senior sens sent sep separ
session sexi sheet shirt shoe shot shown signific silver simpl simpli situat six skill skin
smith someon son soni soon speak speaker specifi speed spring st stage stand station statist
stay stone stop storag strategi stream string strong studio stuff suit summari summer sunday
super surfac survey switch tag taken target task teach teacher tech technic techniqu tel
telephon televis theme theori therefor third thoma though thousand thu thursday thus togeth told
took toward town trademark tradit traffic transfer transit translat transport treatment tree
trial trip true trust tue tuesday union uniqu upgrad upon usual util vacat valid valley van
variabl various vehicl via virginia virtual visitor visual voic volum wait walk wall warn
weather wednesday weight went western whether whole wide william wind wine wireless wish woman
wonder wood worker worldwid written wrote yellow zip zone
""",
    7: """
absolut abus academi accid accur accuraci acid acquir actor ad adam admin admiss adob advantag
adventur advis advisor advisori affair afford african agricultur ahead aim airlin alabama alaska
alcohol algorithm alloc alon alpha amateur amaz andrew ann annot anonym antiqu apparel appeal
appl applianc appoint appreci approxim arab argument arizona armi arrang array aspect assembl
asset assur athlet atlanta atom attempt attent attribut audienc audit austin australian austria
authent autom automot ave avenu avg avoid awar babe bargain basebal basketbal bath battl beat
becam bedroom began behind bell bet beta beyond bibl bike billion bind biographi biolog bird
birth birthday blond blow blowjob bob bond bondag bonus boob bookmark boot border boston bottl
bottom bought bound bowl brain branch brazil breakfast brian bridg brief broadcast broken
brought buddi burn bus byte cach cam campaign campus cancel candid canon cap capabl capac cape
captur carrier cartoon cartridg cast catch cent certifi chain chairman chamber chanc
characterist charl cheat checkout chief chip chris christ circl circuit cisco citizen clark
climat clock coach coast coat cock coffe coin cold collabor color colorado colour columbia
column comic commerc compact comparison compat compens compet compil complaint complianc
composit comprehens con concentr concert conclus confid conflict congress consequ conserv
consider consolid constant contemporari contest context contractor conveni convent cooki cooper
coordin core corner correspond counter coverag craft cream creation creek crime crimin criteria
cruis crystal cum cup currenc cycl dakota dalla dan danger daniel daughter dave davi dead dealer
debat declar decor decreas dedic deep defend del delay dell delta democrat demonstr deposit
depth deriv desir desk despit destin detect diamond dick dictionari diego diet diff difficult
dildo dimens dine dinner disc discov dish disk disney disord divers doc doll domest donat dot
draft dress dri dual duti dynam earlier easili eastern eat economi edg editori edward effici
eight elig elimin emergenc emot empir empti encourag enforc engag enlarg entiti episod equiti
equival etc ethic euro evening exact exceed excit exclud exclus exhibit exit expand experienc
export exposur extract fabric factori failur faith fals famous fantasi fashion faster fat father
favourit fear felt festiv fiction fight finger flag flat flexibl fli folder folk font foot ford
forecast forest forget forgot formal fort framework francisco frank freedom frequenc frequent
fresh fruit fuel fulli funni gambl gamma gate gather gave gear gender gene genet genr georgia
goe golden gone grati guard guess guidelin guitar gun hardcor harri hat hate hawaii header
headlin healthcar healthi heard heavi height hello henri hey hide highest highlight highway
himself hip hire holder hole hong household houston hundr hunt hunter ice icon ideal ident ignor
ill illinoi illustr imagin impress incest incorpor indiana infect influenc infrastructur injuri
ink innov insert inspect inspir instanc instant int intel intellig intend intens intent interior
interpret investor invit iowa ipod iraq iron israel italian itself jack jacket jackson japanes
jazz jean jersey jesus jim joe johnson joint jone joseph judg junior justic kansa kelli kept
keyboard kiss knew kong korea lab laboratori lack landscap lane laptop largest las laser latin
launch layer leadership leagu leas leather lectur led lee leg legisl len les lesson liabil liber
lie lift lingeri liquid literatur lock lodg logic longer loop lord lose loui lowest luxuri magic
magnet mainten maker manner marin marri marriag martin maryland mass massachusett mathemat
matrix matt mayb medium mental mention merchant met meter miami michigan mid mike mill miller
min mine mini minimum minist ministri minnesota minor mirror miscellan missouri moder moment
moon motion motorola mous movement multimedia myself mysteri nake nativ nearbi negat negoti
netherland newspap node nor northern notebook notifi novel nuclear null numer nutrit oblig
obvious occup ocean ohio oklahoma older ontario optic optim oral orang oregon orient otherwis
outcom pacif pad pain pair palm panason paperback paragraph paramet pari partnership patent path
peak pennsylvania percentag perhap perman permiss personnel perspect pharmaci phase philadelphia
philosophi phoenix physician pilot pin pink plain planet plastic plate platform plot plug pocket
poll poor porno portabl portal portfolio portion postal pound precis predict premier premium
prescript presenc preserv pretti prev preview prime princip principl prioriti prison proceed
processor professor prohibit promis proof proper protocol prove psycholog pub pull pump pure
push qualifi quantiti queen queri rain ram random rape rapid rare ratio ray realiti realiz
recogn recoveri recreat recruit reduct refin reform relev reliabl religi religion remark renew
repeat residenti resist restor restrict resum retir retriev reveal revenu revers rich ride rise
rom rose rout router row royal rural russia russian saint salari salt samsung santa satellit
satisfi saw scan scene scheme scientif scotland scott seal seattl sec secondari secret secretari
seed seminar senat sensit sequenc serial serious seven sexual shape sharp shift shoot shopper
shower signal signatur simul singapor sister sit sitemap ski skip sky sleep slide slight slot
slow smart smoke snow soccer soft soil sold solid solv sometim sorri soul southern spa spain
spam spanish spec speci specialist speech spend spent spi spirit spiritu spot spread squar stamp
stat static steel stephen steve stick straight strateg strength stress strike strip sub submiss
subscript substanc suck suffer suffici supplement supplier suppos surgeri surpris surround
surviv sustain sweet swim symbol tab tank tape tast tea temperatur templat ten tennesse termin
territori terror testimoni theatr themselv therapi threat throughout throw tie tire tit toll tom
tone toni toronto touch tourism tournament tower trail trailer transact transform treat trend
troubl truck truth tube tune turkey tutori twin typic ultim universal unknown unless upload
upper urban usernam utah var vari varieti vega vendor verifi vice victim villa villag vintag
violat violenc virgin virus vision void vol volunt voyeur wale wallpap warm warranti wast wave
weapon wear weblog webmast weekend whatev wheel wholesal whom whose wife wild wing winner winter
wire wisconsin wit won workshop worth wrap writer wrong xxx yard yesterday yourself youth
zealand zero zoom
""",
    8: """
acc accomplish acknowledg acquisit acr addict admit agenda aircraft alan alarm alleg allen
allianc alphabet alter analyst ancient anderson angl antonio anyway anywher app appar appendix
argu aris arkansa atlant atmospher avatar backup ban bang banner bass bathroom beer behalf
belgium belief belong belt ben bio blank blind blogger bluetooth bomb bone boundari breath breed
bright britain broad broadband broker builder bulletin bureau butt cabinet cake cambridg camcord
carbon caribbean castl catalogu cathol census champion championship char charm charter chemistri
chicken chocol chosen cinema circumst cite classif classroom clearanc cloud cluster comedi
commission compos compress conclud confus connecticut consent consol contrast corp costa cotton
coupon crack crash crazi crew cri crop curriculum czech dean dear decad deck declin demo
democraci deni dental denver deploy depress der destroy diabet difficulti digest disast
discoveri dispatch dispos distinct dive divid domin don dose doubt downtown dragon drama drum
eagl ear easier echo egg elementari elizabeth emerg emiss encod encyclopedia enemi entitl equat
eric ericsson escap essay ethnic evil evolut exam excess expans experiment expir expos extent
facilit faq farmer fellow fig finder fiscal flood florist fold formula fourth fox fundament
furnish gap gari gateway generic geograph giant glossari gnu gourmet governor grace graph gray
greatest greec greek grid guidanc guinea hampshir hang hardcov hazard heal heaven hell heritag
hero hidden hobbi hockey holi hop howard hurrican husband idaho identif illeg immigr impli incid
inclus inde inquiri insight instructor intellectu interraci inventori iran irish islam isol jane
jason javascript jeff jennif jet jewish joke jordan jose journey kentucki kernel kevin kick
labour lamp laugh lay legend leisur lewi lib lifestyl lincoln linear louisiana lunch mad
manchest margin marketplac marshal massiv matthew meal merchandis mesh messeng micro milk miner
minim misc mississippi mod modem modif monster montana moor moral motiv motorcycl mouth municip
murder muscl narrow navi nebraska neither nevada newest newli nine nippl nois nomin northwest
notif oak occas odd offlin onto opposit organic orlando orlean outlet outlin outstand oxford
packet pakistan pan pant parallel partial pearl pee peer pen penalti pension perl petit philip
philippin phrase piano pill pipe piss plane playstat podcast poem poetri polish pollut portland
possess potter prayer pregnanc princ printabl prize prompt prospect proud provinc puls puzzl
quiet rack radiat rail raw reaction rear recognit ref refund refus registri regulatori reject
relax reli relief remind represent reproduct republican resolv retain revolut rice robot roger
roman romanc rome roof routin rush safari sam sand sarah scanner scholarship scientist scope
segment sensor sentenc settlement setup shadow shave shell shock sight simon sin sing sir
smaller smile smooth solar soldier sole spank spell split spywar stabil sterl steven storm
struggl subsequ substanti substitut sugar suitabl sum superior suprem sweden swiss switzerland
sydney symptom syndic taiwan tale talent taylor teenag telecommun temporari tend tenni textbook
thailand thick thong thumbnail tiger tight tim tomorrow tonight transcript transmiss treasur
truli twenti ultra uniform univers unix unlik unlimit upcom usag valentin vancouv variat vat
veget ventur venu vertic veteran viagra vibrat victoria visa visibl vitamin vulner wage wash
weak wet width wildlif wilson worri yeah yield
""",
}

HIGHEST = 15
"""The level of a stem that would be in no passage; 0 is in every passage of 100 words."""

RAREST = 9
"""The level of what is not listed."""
