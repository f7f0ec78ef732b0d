"""The tokens of the English words that come behind the most frequent 3,000.

Written by docs/generate/english_words.py from Google Books Ngrams (CC BY 3.0), as the package
symspellpy has them.
"""

from __future__ import annotations

RARER = """
aaliyah aaron abandon abbey abbrev aberd abid abnorm aboard aborigin abort abraham abroad absenc
absent absorb absorpt abund accel accent accident acclaim accompan accredit accru accumul accus
acoust acquaint acrobat acronym acryl activist actr actuat acut adaptor adelaid adequ adher adhes
adida adjac adjour administ admir adolesc ador adrian advent adver advert advoc advocac adwar
aerial aerospac aesthet affin affirm afghan afghanistan afraid afternoon afterward aggr aggreg
agil airbor airfar airway ajax akron alban albanian albert albuquerqu alex alexand alexandr alfr
algebr alger alia alic alici alien align alik alison aliv alkalin allah allan allegr allerg alley
alli allison allot alloy almanac almond alongsid aloud alpin alright altitud alto altogeth
aluminium alumn alzheim amand ambassador amber ambient ambigu ambit ambul amen amid amino amnest
amongst amort amplif amplitud amsterdam amus anaheim anali analog analyt anatom ancestor ancestr
anchor anchorag andi andorr andr angelin anger angol angri anguil anita ankl anna annex anni
anniversar annoy annuit anom antarct antenn anthem antholog anthon anthropolog antibiot antibod
anticip antig antigu antill antiviru anton anxiet anxiou anybod anymor anytim apach apertur apex
aphrodit apol apolog apostl apparatu appel append appetit applet appra apprentic approx aqua
aquarium aquat arabi arbitr arbitrar arcad arch archaeolog archer architect arctic arena argentin
arlington armen armour armstrong arnold aromatherap arrest arrow arsenal arter arthrit arthur
articul artif artwork aruba asap asbest ascend ashant ashle ashley asid asleep aspen aspir
assassin assault assay assert assoc assort assumpt asterisk asthm aston astonish astrolog astronom
asylum asymmetr atari athen atkin atlas attain attic attitud aubur auckland audi auditor
auditorium augment aunt auror aussi austrian auth autism autobiograph autograph automobil autonom
autumn auxiliar avalon aveng averi aviat avid avon await awak awaken awesom azerbaijan babylon
bach bachelor backpack backward backyard bacon bacter badg badger baghdad baham bahrain bail
bailey bait bake baker balcon bald baldwin bali ballard ballet balloon ballot ballroom baltimor
bambo banan bandwidth bangalor bangkok bangladesh banker bankruptc banquet baptism baptist barbad
barbar barbecu barber barbi barbud barcelon bare bark barker barn baron barr barrel barrett barri
bart barton baselin basement bash basil basin bastard batch bate batman baton battalion batter
battlefield bauer beacon bead beam bean beard beast beaten beatl beaver beck becker bedford beef
beetl beginn begun behav behavior behaviour behold beig beij belaru belfast belgian beliz bella
belli belmont belov bench benchmark bend beneath benef beneficiar bengal benin benjamin bennett
benson bent bentley benz berkeley berkshir berlin bermud bernard berri besid bestial bestsel beth
betray betti bever beverag bewar bhutan bias biblic bibliograph bicycl bidder bigger biggest biker
bikin bilat bilingu billi billiard binar binder bingo binocular biochemistr biodiv biograph biol
biomed biotech biotechnolog birmingham biscuit bisexu bishop bissau bitch bite bitter bizarr
blackberr blackjack bladd blade blah blair blake blame blanc blanket blast blaze blazer bldg
bleach bleed blend bless blink bliss bloom bloomington blossom blown blueprint bluff blunt blur
blvd boast bobbi boil boiler bois bold boliv bollywood bolt bolton bomber bonni booklet bookshop
bookstor boolean boom boon boost booth booti bore borough borrow bosch bosni boss botan bother
botswan bould boulevard bounc bouquet bout boutiqu bowi boxer boyd boyfriend brace bracelet
bracket brad bradford bradi bradley brake brandon bras brasil brass brave brazilian breach bread
breakdown breakthrough breez brend brent brett brew brewer brick bridal bride briefl brigad
brighton brilliant brisban bristol brit britann britney broadway brochur broke brokerag bronc
bronx bronz brook brooklyn bruce brune brunett bruno brunswick brush brussel brutal bryan bryant
bubbl buck bucket buckl budapest buddh buddhist buffal buffer buffet buffi buick bulb bulgar
bulgarian bulk bull bulldog bullet bulli bump bumper bunch bundl bunni burden burger buri burial
burk burlington burma burner burst burton burund buse bust buster busti butch butler butter
butterfl buzz bylaw bypa byron cabin cadillac caesar cafe cage cairn cairo calcium calculu caledon
calgar calibr caller calm calor calvin cambod camden camel cameron cameroon campbel camper
campground canal canberr cancun candi candl cane cannon cano canop cant canterbur canton canva
canyon capacitor capitalist capitol capri capsul captain caption captiv carat caravan carbohydr
carcinom cardiac cardiff cardin cardiolog cardiovascular caregiv carey cargo cari carl carlisl
carlo carlson carlton carmel carmen carneg carniv carol carolin carolyn carpent carpet carr
carriag carrol carrot carson carter carv casa cascad casey cashi casio cassett castr casual
casualt catalyst catastroph categor cater cathedr catherin cathi cattl caught caution caval cave
cavit cayman ceas cecil cedar ceil celeb celest cellar cellphon cellular celtic cement cemet ceram
cereal cerebr ceremon cert chad chairperson chalet champ champagn chan chancellor chandl chant
chao chap chapel chapman charcoal charit charleston charlott chase chass cheapest checklist chee
cheek cheer cheerlead chef chels chem chemotherap chen cheney chequ cherok cherr cheryl cheshir
chess chest chestnut chevi chevrolet chew chic chick childcar childhood chile chill chin chlorid
choir choke cholesterol chop chopp chord choru chose christchurch christin christoph chrom
chromosom chronic chronicl chronolog chrysl chubb chuck chunk churchil ciao cigar cigarett
cincinnat cindi circa circu circul circular citat citizenship citru civic civilian claimant clair
clamp clan clara clare clarif clarit clash classmat claud claus claw clay clayton cleanup clearwat
cleric clerk cleveland clever cliff climb clinton clipboard clit clone closeout closer closest
closet closur clown clue clutch clutt coal coalit coastal cobra coca cocain cocktail coco cocoa
coconut coeffic cognit cohen coher cohort coil coincid coke cola cole coleman coli colin coll
collag collap collar collat colleagu collector colli collin cologn colomb colon colonel colt
columbu columnist comb combat combo combust comet comm comma commemor commenc commend commentar
commod commonwealth communist commut como comor comp compa companion compaq compart compel
competitor compl complain complement complementar compliant complic compliment complimentar
compost compound compr compressor comprom compulsor conc conceal conceiv conceptu conci concord
concret concurr condemn conden condition condo condom condominium conductor cone conf conferenc
confin conform confront congest congo congratul congreg congression conjunct connector conquer
conrad conscienc consciou consecut consensu consortium conspirac constitu constrain constraint
constru constructor consul consumpt cont contamin contempl contend contin continent conting
contour contr contracept contractu contradict contrar contributor controv conven converg convey
convict convinc conway cookbook cooker cookwar cooler cope copenhag copier copper coral cord cordl
corinthian cork corn cornel cornwal coron coronar corps corpu correl corridor corro corrupt cosmet
cosmic cosponsor costum cote cottag couch cough councillor counsel counselor counterpart
countrysid coup courag couri courtyard cousin cove coven coventr cowboy crab cradl craig crane
crank crap crate crave crawford crawl creator creatur credent credibl creditor creed creep
crescent crest crib cricket crimson crisi crisp criterion critiqu croat crook crossword crow crowd
crown crucial crude cruel crui crunch crusad crush crust cruz cuba cuban cube cubic cuff cuisin
culinar cult cultiv cumberland cumul cunt curat curb cure curio curiou curl curri curs cursor
curtain curti curv cushion custod cute cuti cutler cutter cyclon cylind cynth cypru daddi daemon
dairi daisi dale dame damn damp dana dancer dane daniell danish danni dare darl darren dart darwin
dash dashboard davidson dawn dawson daylight daytim dayton deadlin deaf dealership dealt debbi
debian debit deborah debri debtor debug debut decal decay decea decent decept decim deco decod
decre deduct deed deem deeper deepl deer defeat defect defen defenc defer defic deficit deform
degen degrad delawar deleg delhi deli delib delic delight della delph delux demograph demon denial
denim denis denmark denni denomin denot dens densit dent dentist dentistr department departur
depict deplet depot deprec depriv dept deput derbi derek desc descend descent descriptor desert
deserv desper dessert destruct detach detain detector detent deterior detroit deutschland devast
development deviant deviat devil devon devot dewey diagn diagnost diagon diagram dial dialog
dialogu diamet dian diana diaper diari diazepam dice dictat diesel dietar diffu dignit dilemm
dilig dilut dimension diminish dinar diner dinosaur dion dioxid diplom diplomat dirt dirti
disadvantag disagr disappear disappoint discard discharg discipl disciplin disciplinar discl
disclosur disco discograph disconnect discontinu discour discourag discreet discrep discret
discrimin dishwash dislik dismi dispar dispen disper displac disposit disput disrupt dissemin
dissent dissert dissolv dist distant distil distinguish distort distr distract distributor disturb
ditch diva diver diversif dividend divin divorc dixon djibout dock docket doctrin documentar dodg
dolbi dolphin dome dominican dominion donald dong donna donor doom doroth dorset dosag doug dougl
dove dover downstream downward doyl dozen drag drain drainag drake dramat draper drawer drawn
dread drew drift drill drip driven drought drove drown drunk dryer dubai dublin duck duct dude
duff duke dull dumb dummi dump duncan dunde dune dungeon dunn duplex duplic durabl durat durham
dust dutch dwarf dwell dylan dynast dysfunct eager earl earliest earring earthquak easiest easter
eaten eater eboni eclip ecolog economist ecosyst ecuador eddi eden edgar edinburgh edison edmonton
edwin efficac egypt egyptian eighth einstein ejacul elabor elain elast elbow elder elector
electrod electromagnet eleg eleph elev eleven elit ellen elli elliott elsewh elvi emac emba embarr
embed embod embrac embri embroid emerald emerson emili emin eminem emir emit emma emperor empha
empow emul enact encart enchant enclo enclosur encomp encor encount encrypt endang endl endor
endow endur energet engrav enlight enlist enorm enquir enrich enrol ensembl enthusiasm enthusiast
entranc entrepreneur enumer envelop enzym epic epidem epidemiolog epson equilibrium equit eras
erect ergonom erik erin eritr ernest eros erot escal escort espr essenc essex esteem esther eston
etch etern ether ethernet ethiop etiquett eugen eurek evacu evan evanesc evangel evapor eventu
everett evergr everybod everyday everywh evit evolutionar evolv excav excerpt excur excus exec
exempt exet exhaust exhibitor exil exot expedit expenditur explan explicit explo explod exploit
expo expon expressl exquisit exterior extinct extraordinar fabul facet facial factual fade faint
fairfax fairfield fairi fake falcon falkland fallen fame familiar fanci fantast fare fargo faro
fascin fasten fastest fatal fate fatigu fatti faucet fault fave favor favour feasibl feast feat
feath fedex fedor feeder fell fellowship felon feminin feminist fenc fender ferguson fernand
ferrar ferri fertil fest fetch fetish fever fewer fiat fiber fibr fiddl fidel fierc fiest fift
fifth fifti figurin fiji filenam filler filmmak filmograph filth finest fingerprint finit finland
finnish firearm firefight firefox fireplac firewal firework firmwar fisch fisher fist fitzgerald
fixtur flame flap flare flashlight flatt flavor flavour flaw flea fleec fleet flesh fletch flew
flex flick flint flip flirt float flock flop flopp flora floral florenc flour floyd fluctuat fluid
fluoresc flush flute flux flyer foam focal foil followup fond fool footag footer footnot footwear
forb forbidd fore foreclosur foren forestr forev forg forgiv forgott fork formul forth forthcom
forti fortun fossil foster fought foul fountain fraction fractur fragment fragranc franch
frankfurt franklin franz fraser frater fraud freak fred fredd frederick freeb freel freelanc
freeman freestyl freewar freez freight freshman freshwat fresn friction fridg friendship fright
fring frog frost frozen frustrat fuji fujitsu fulfil fuller fulton fundr funer funk funki furi
furnac furthermor fuse fusion fuzzi gabon gabriel gadget gage gail galax gale gallon gambi gamer
gang garag garbag garci gardn garland garlic garment garner garnet garrett gase gasolin gaug gaza
gaze gazett geek gemin gemston genealog generou genev genit geniu genom gentl gentleman genuin
genus geolog geometr geoph georgetown gerald gestur getaway getti ghana ghett ghost gibraltar
gibson gilbert gill gina ginger girlfriend glaci glad glanc gland glasgow glaze glen glenn glide
glimp glitt globe glori gloriou gloss glove glow gluco glue gnome goat godd goggl gonna goodby
goodi goodman goos gordon gore gorgeou gospel gossip gothic gotta gotten government govt gown grab
grad gradient gradual graham grain gram grammar gran grandchildr grandfath grandm grandmoth
grandpar grang granit grann grape grasp grass grate grave gravel gravit grea greed greenhou
greenland greensbor greenwich greenwood greet greg gregor grenad grew grey grief grievanc griffin
grill grin grind grip grocer groom groov gross groundwat grove grower grown guadeloup guam
guardian guatem gucci guestbook guian guidebook guild guilt guitarist gulf guru guyan gwen gymnast
habit habitat hack hacker hail hairdr hairi haiti hale halifax hallmark hallow halo halt hama
hamburg hamilton hammer hammond hamper hampton hancock handbag handbook handheld handi handicap
handmad handout handset handsom hank hannah hansen hanson hara harbour hardback harden harder
hardi hardwood harley harm harmon harold harper harrison harsh hart hartford harvard harvest
harvey hash hassl hast hatch hath hatr haul haunt haven hawaiian hawk hawthor headach headlight
headphon headquart headset heap heater heath heavil hebrew heck hedg heel helen helicopt helmet
helper helsink henc henderson hendrix hepat herald herb herbal herbert herd hereb herein herman
heroin herp herself herzegovin hesit hewitt hewlett hierarch highland hike hilar hilton hindi
hindu hing hint hispan hist historian hitach hitch hitler hobart hoffman hogti holden holist
holland holli hollow hollywood holm holocaust homel homeland homemad homeown homer homestead
hometown homework homo homosexu honda hondur honest honey honeymoon honolulu honor honour hood
hook hoop hoover hopkin hord horizon horizont hormon horn horni horoscop horribl horror
horticultur hose hostel hostil hotlin hottest hound housew housewar howel hudson hugh hugo hull
humanitarian humbl humid humil hummer humour hump hung hungar hungarian hunger hungr hunk
huntington huntsvill hurri hurt huski hussein hustl hybrid hyde hydraul hydro hydrog hydrolog
hygien hype hyperlink hypert hypoth hypothet hyund ibid iceland ideolog idiot idol ignit illumin
illus imit immen immer immort immun immunolog impair impart imped imper implant implic implicit
impo impos imprint imprison improp impul inabl inaccurac inact inadequ inappropr inaugur inbox
incen incent incident incl inclin incomplet inconsist inconv incorrect incred increment incub
incur indent indi indianapol indict indig indirect indon indonesian indoor induc induct indulg
inequ inevit inexp infant infantr infer infin infinit inflamm inflat influent influenz informat
infrar infring infus ingr inhabit inhal inher inherit inhibit inhibitor init inject injur inland
inlet inlin inmat inner inning innoc inquir insan insect insist inspector inst instinct insuff
insul insulin insult intact intak integ inter intercept interchang interconnect interdisciplinar
interf interim interm internship interop interrupt intersect interstat interv interval intervent
intestin intim intimid intranet intrigu intrin intro introductor intru intuit invad invalid invar
invas invent inventor inver invert invis invoic invok iranian iraqi irregular irrelev irrig irrit
irvin isaac isabel isra issuanc issuer istanbul isuzu ital italic iter itinerar itun ivan ivori
jacki jackpot jacksonvill jacob jacqu jacuzz jade jaguar jail jakart jake jamaic jami janet jasper
jealou jeann jedi jeep jefferson jeffrey jelli jenkin jenna jenni jensen jerem jerk jerom jerri
jerus jess jessic jewel jigsaw jill jimmi joan joann jockey jodi joel joey johann johannesburg
johnn johnston jonathan josh joshu journalist joyc juan judgement judgment judi judic judiciar
judith juic juici julia julian jumbo jumper junction jungl junk jupit juri jurisdict justif justin
juvenil kaiser kane karaok karat karen karl karma kate katherin kathi kathl kati katrin kayak
kazakhstan keen keeper keith keller kelley kennel kenneth kenni keno kent kenya keral kerri keynot
khan kidnap kidney killer kina kinda kindergart kinet kingston kiribat kirk kite kitten kitti
klein knee knife knight knit knive knob knock knot knoxvill kodak korean kosov krist kristin
kruger kurt kuwait kyle kyoto kyrgyzstan labrador lace lacro ladder laden lafayett laid lamb lambd
lame lamin lanc lancashir lancast landfil landlord landmark lang lanka lans lanter larri lateral
latex latitud latter lattic latvi laught laundr laura laurel lauren laurent lauri lavend lawn
lawrenc lawsuit layout lazi leaf leaflet leak lean leap lebanon leed legac legendar legion
legislatur legitim lego leicest leigh lemma lemon lend lender lens leon leonard lesion lesli
lesoth lesser lethal lever leverag levi levin lexington lexus liabl liaison libert librarian libya
licen licenc lick liechtenstein lien lieu lieut lifelong lifetim lighthou lightn lightweight
likelihood likew lili lima limb lime limo limousin linda lindsay linen liner lineup linguist
linkag lion lipid liquor lisa lisbon lisp lister lite liter literac literar lithium lithuan litig
litr litter liver liverpool livestock livingston lloyd loader lobbi lobst locker loft logan logist
logout lolit lone longest longitud lookup loom loos lopez lori loser lotion lotter lotus loud
louis louisvill loung lover loyal loyalt lubric luca luci lucia luck lucki luggag luke lumber
lumin lump lunar lung lure lust luther lutheran luxembourg lynch lynn lynx lyon macau macdonald
macedon macintosh mack macro madagascar madam madden madison madonn madrid maggi magnesium magnif
magnific magnitud maid maiden mailbox mailer mailman mainland mainstream majest makeup malar malaw
malay malcolm maldiv mali malic malign mall malpractic malt malta mama mambo mammal mandat manga
manhattan mania manifest manifold manil manipul manitob mankind mann manor mansfield mansion
manuel manuscript mapl marathon marbl marc marci marco marcu mare margaret maria marian marijuan
marilyn mario marion marit maritim marker markup marley marqu marriott marsh mart marth marti
martial martinez martiniqu marvel marvin mask mason massacr massag mastercard masterpiec masturb
mate mater mattr maui mauric mauritan mauritiu maxim maxwel maya mayer mayo mayor mazda mccarth
mcdonald mead meadow meaning meant meantim meanwhil meat medal median mediat medicaid medicar
mediev medit mediterranean meetup mega megan megapixel melbour meli melod melt membran memo memoir
memor memorabil memorandum memph mentor menus merced mercer merci mercur mere merg merger meridian
merit merri mesa mess messi meta metabol metadat metaphor meteorolog methodist methodolog methyl
metr metric metro metropolitan mexican meyer mice michel michell mickey microb microbiolog micron
microphon microscop microwav midi midland midnight midst midway midwest migrant migrat miguel
milan mild mileag mileston milit millennium millionair milton milwauk mime miniatur minneapol
minolt mint minus miracl miser mislead misplac missil missionar mist mistak mistr misus mitchel
mitig mitsubish mixer mixtur mock modal modest modular moistur mold moldov molecul molecular molli
momentum mommi monac monarch monetar mongol monic monk monkey mono monogram monopol monro mont
montenegr monterey montgom montreal montserrat monument mood moodi moos moreov morgan morocc
morpholog morri morrison mortal morton mosaic moscow mose mosquit moss motel motherboard motif
mould mourn movabl mover mozambiqu mozart mozil multicultur multiplay mumba munich murph murray
muse mushroom musician muslim mustang mutant mutat mute mutual myanmar myer myrtl myspac mystic
myth mytholog nail namib nanci nanni nanotechnolog napl napoleon napst narni narrat nash nashvill
nasti natal nathan nationwid naught nauru naval nazi neal nearest neat nece necessaril neck
necklac needl neglect neglig negro neighbour neighbourhood neil nelli nelson neon neoplasm nepal
nero nerv nervou ness nest netscap neural neurolog neuron neutral neverthel nevi newark newbi
newbor newcastl newcom newer newfoundland newman newport newsgroup newsroom newton niagar nicaragu
nich nichol nick nickel nicknam nicol niger nightclub nightlif nightmar nike nikki nikon nile nina
ninet ninja nintend ninth nirvan nissan nitrog nixon noah nobel nobl nobod noel noisi nonethel
nonfict nonlinear nonprofit nonsen noon nordic norfolk norm norman northeast norton norway
norwegian norwich nose nostalg notabl notat notch notion notor nottingham notwithstand noun nova
novelt novic nowher nucleotid nucleu nudist nudit nuke nurser nutrient nylon oakland oakley oasi
obes obey obituar objection obliqu obscur obsolet obstacl obstruct occasion occurr odyssey offen
offenc offend offset offshor offspr okay oldest oliv olivi olymp olympu omaha oman omega omiss
omit oncolog ongo onion onset onsit opera oppo oppon oppos oppr optimist optimum oracl orbit
orchard orchestr orchid ordin ordinar organ organism orgasm orgi orion ornament orphan orthodox
oscar oscil oslo ottaw ought ounc ourselv outbreak outdat outer outerwear outfit outgo outlaw
outlook outpat outrag outreach outsourc oval oven overcom overflow overhead overlap overlay
overload overlook overnight overrid overs oversight overstock overtim overtur overwhelm owen
ownership oxid oxygen oyster ozon pace packard packer paddl pagan paintbal palac palau pale
palestin palestinian palmer pamel panam panda panic panoram panth panti pantyh papa papua para
parad paradigm paradox paraguay paramount parasit parcel parish parker parkway parliament
parliamentar parol parrot pars parser parson particl partit pasad passag passeng passion passiv
passport pasta paste pastor pathog patholog pathway patienc patio patric patrick patriot patrol
patron patterson patti paula paus pave pavement pavilion payabl payday payn payout payrol peach
peanut pear pearson peculiar pedal pedestrian pedro peel pencil pend pendant penetr penguin peni
peninsul penn penni pentagon pentax pentium pepper peptid perceiv percentil percept percu perfum
periph perkin perpetu perri persecut persian persist persu persuad pertain perth pertin peru peso
pest pesticid pete petersburg peterson petition petrol petroleum peugeot pewter phantom pharmaceut
pharmacist pharmacolog phenom phenomenon phil philipp phillip philosoph phosphat photocop photon
phys physiolog pickup picnic pier pierc pierr pigeon pigment pike pile pillar pillow pine ping
pinnacl pion pipelin piper pirat pistol piston pitch piti pitt pittsburgh pivot pixel pizza
placement plagu plaintiff planetar plann plantat plaqu plasm platinum platt playa playback playboy
playground playlist playoff plaza plea plead pleasant pleasur pledg plent plugin plum plumb plump
plung plural plush plymouth poet pogo poison pokemon poland polar pole poli politician polo
polyest polym polyn polynom polyphon pond ponder poni pontiac pooh pope popup porcelain porch pork
pornograph porsch porter portrait portray portsmouth portug portugu pose postag postcard postcod
postgradu postpon postscript potassium potat pouch poultr pour povert powder powel powerpoint
pract practition pragu prai prair pray preach precaut preced precinct preciou precipit precursor
predat predic predomin prefix pregnant prejudic preliminar prematur premi prep prepaid prepared
prerequisit pres presbyterian preschool prescrib presley prestig preston presum prete pretend
prevail preval prey pride priest primaril primer primit princeton privileg proactiv probat probe
proc proclaim procur prod prof profe profic profound prog projector prolif prolong prom promin
promo pronounc prop propag propagand propel prophec prophet proport proposit proprietar pros
prosecut prosecutor prosp prospectu prostat prostitut prot protector protest proton prototyp
proven proverb provision provok proxi proxim prozac prudent psalm pseud psych psychiatr psychic
puerto puffi pulmonar pulp puma pumpkin punch punish punk pupil puppet puppi purdu purif purpl
purs pursu pursuant pursuit pyramid python qatar quad quak qualif qualit quantif quantit quantum
quartet quartz quebec queensland quest questionnair queue quilt quinn quiz quizz quota quotat
rabbi rabbit racer rachel racial racism racist radar radic radioact radiolog radiu raft rage raid
raider railroad railway rainbow rainfal raini raleigh ralli ralph ramad rambl ramp ranch rand
randal randi randolph ranger rant ratif ration rational rave raven raymond razor react reactiv
reactor readabl readil reagan reali realist realm realt realtor rebat rebel reboot rebound rebuild
recal recap rece receipt recept receptor recharg reciproc recit recombin reconcil reconsid
reconstruct recov rectangl rectangular recur recurr recycl redeem redempt redesign redhead
redirect redistribut redund reebok reed reef reel reev referenc referr refil refinanc reflex
refresh refrig refug refurbish regardl regen regenc regent regga regim regiment regin registrar
regr regret rehab rehabilit rehear reid reign reimbur reinforc relay relianc reliev reload reloc
reluct remaind reme remix renai renal renam renault render rene reno renov renown reorgan repay
repeal repetit replay replic repositor reprint reproduc reptil reput requisit resal rescu resel
resembl reservoir reset residu resign resin reson respir restart restraint restructur resurrect
retard retent retract retreat retro retrospect reunion reus reuter revel reveng rever revert
revisit reviv revok revolutionar revolv reward rewrit reynold rhapsod rhetor rhode rhyme rhythm
ribbon richardson richmond rick ricki rico rider ridg ridicul rifl righteou rigid rigor riley
ringer riot ripe ripper rita rite ritual rival riversid roam roar roast robber robbi robbin robe
robertson robin robinson robust rochest rocker rocket rocki rodeo rodney rodriguez rogu roland
rolex roller roma romanian romant romeo ronald rooki roommat roosevelt rope rosa rosemar ross
roster rotar rotat roth rotten roug rough roulett roundup rover royalt rubber rubi rude rugbi ruin
ruler runner runway rupe russ russel rust ruth rwand ryan saab sack sacr sacrament sacrific saddam
saddl safeguard safer saga sage sahar sail sailor sake salad salem salin salisbur salli salmon
salon salsa salvador salvat samba samoa samuel samur sanction sanctuar sandal sander sandi sandr
sandwich sang sanit santiag sapphir sara sarasot saskatchewan satan satin satisfact satisfactor
satur sauc saudi sauna sausag savag savannah saver scalabl scam scandal scar scarc scare scarf
scari scat scatt scenar scener scenic scent schem schmidt schneid scholar schoolgirl schwartz
scissor scoop scoot scoreboard scoti scottish scottsdal scout scrap scrapbook scratch scream
screensav screenshot screw scriptur scroll scrub scrutin scuba sculptur seafood seam seaml sean
sear sebastian secretariat secular sedan sediment seeker sega seismic seiz seizur selector semant
semest semi semiconductor sender seneg sensat sensibl sentiment sentinel seoul sept sequel sequent
serbi seren sergeant sermon serum servant seth settl sevent seventh sewag sewer seychell shade
shaft shake shaker shakespear shallow shame shamp shane shangh shannon sharehold sharewar shark
sharon shaw shawn shear shed sheep sheer sheffield shelb shelf shelt shelv shepherd sheraton
sheriff sherman shield shine shipment shirley shit shore shortag shortcut shout showc showroom
shrimp shrink shrub shuffl shut shutdown shutt shuttl sibl sick sidewalk siemen sierr sigh sigma
signif silenc silent silicon silk silli simmon simplic simplif simpson simultan sincer singer
singh singular sink sioux sixt sixth sixti skate skateboard skeleton sketch skinn skirt skull
skype slack slam slap slash slate slaught slave slaver slayer sleev slice slideshow slim slip
slipknot slipp slope slovak sloven slower slowl slut smallest smartphon smash smell smiley
smithsonian smoker snack snake snap snapshot snatch sneak snoop snowboard soak soap soar socialist
sociolog sock socket soda sodium sofa softbal solder solicit solicitor solitair solo solomon
solubl solvent soma somal somebod somehow somerset somewh somewhat sonat songwrit sonic sooner
soonest sooth sophi sophist sophomor sore sorrow sought soundtrack soup sour southampton southeast
southwest souvenir sovereign soviet spacecraft spaciou span spar spare spark sparkl spas spatial
spawn spear specim spectacular spectat spectr spectral spectroscop spectrum specul spenc sperm
spher spice spider spike spill spin spinal spine spiral spite splash spoil spokan spoke spoken
spokesman sponsorship spontan spoon spotlight spous spray spreadsheet springfield sprinkl sprint
spur squad squadron squash squeez squid squirt stab stabl staci stack stadium staf stafford stain
stainl stair stake stakehold stalk stall stan stanc stanford stanley stapl stare stark starr
startup statewid stationar statu statut statutor stead steak steal stealth steam steep steer
stefan stein stem stephan stere stereotyp steril stern steroid stewart stiff stimul sting stipul
stir stitch stockholm stockton stoke stolen stomach stood stool stove straightforward strain
strait strand strang strap straw strawberr streak streamlin stretch strict stripp striv strok
stroll strongest struck strut stuart stub stuck stud stuf stumbl stun stunt stupid stylish stylu
subaru subcl subcommitt subdiv sublim submarin subordin subsect subset subsid subsidiar substrat
subsyst subtitl subtl subtot subtract subunit suburb suburban subway succeed successor sudan
sudden sued suffolk suicid sullivan summar summit summon sungl sunlight sunni sunri sunset sunshin
superb superintend superman supermarket superstar superstor superv supervisor supplementar suppr
supra surf surfer surg surgeon surgic surinam surnam surplu surrend surrey surveil surveyor
survivor susan suscept sushi suspect suspen suspend suspic suspicion sussex sutton suzann suzuk
swallow swamp swan swap swaziland swear sweat sweatshirt swedish sweep swell swift swimwear swing
switchboard swivel sword syllabu sylvi symmetr sympath symphon symposium sync synchron syndrom
synerg synonym synop syntax synth synthet syracu syria syrian syrup systemat tablet taboo tack
tackl tacom tactic taho tail tailor taip tajikistan tall tamil tampa tanzan tapestr tara tariff
tarot tasman tasti tatto taught taver taxabl taxat taxi taxonom taxpay tear teas teaspoon techn
technician teddi teeth telegraph telescop telnet temp temper templ tempo tempor temporaril tempt
temptat tenant tendenc tender tension tent tentat tenth tenur tere terminolog terra terrac terrain
terri terribl terrif terrorist testament tester testif textil textur thai thame thanksgiv theatric
thee theft theodor theolog theor theoret therapeut therapist thereaft thereb therein thereof
thermal thesauru thesi theta thigh thin thirt thompson thomson thorough thou threesom threshold
threw thric thrill thriv throat thron thrown thru thrust thumb thund thur thyroid tibet tibetan
tick ticker ticketmast tickl tide tier tiffan tile till tilt timber timel timelin timeout timer
timeshar timet timoth tina tini tissu titan titanium toast tobacc tobag todd toddl toggl togo
toilet token tokyo tole toler tomat tomb tome tommi toner tonga tongu tonn toolbar toolbox toolkit
tooth topl topograph topolog torch tori torn torqu torrent tortur toshib toss tote tough tourist
tout towel township toxic toyot trace traci tract tractor trader traffick trage tragic trait tran
tranc transcend transient transmit transmitt transpar transplant transsexu transvestit trap trash
traum traver travi tray treadmil trek tremend trent trevor triangl tribal tribe tribun tribut
trick trigg trilog trim trinidad trinit trio tripl tripod triumph trivi trivial trojan troll
trolley troop troph tropic troubleshoot trous trout troy trump trumpet trunk tsunam tubercul tuck
tucker tucson tuition tulip tulsa tumbl tuner tungst tuni tunnel turbin turbo turk turkish
turkmenistan turner turnov turtl tuscan tutor tuvalu twain tweak twelv twentieth twice twilight
twink twist tyler tyre ugand ugli ukrain ukrainian ulcer ultrasound umbrel unabl unaccept unanim
unauthor unavail unbeliev unbia uncertain uncertaint unchang uncl unclear uncov uncut undefin
underg undergradu underground underlin undermin underneath understood undertak underwat underway
underwear underwrit undo unemploy unexpect unfair unfold unfortun unicod unifi uninstal uniti univ
unlaw unleash unlock unnecessar unoff unreal unrel unsecur unsign unspecif unstabl unsubscrib
untitl unto unus unusu unveil unwant unwrap upholst upright upset upstream upward uranium urgent
urin uruguay usabl usel usenet usher utili utter uzbekistan vacanc vacant vaccin vacuum vagin vagu
vale valenc valer valium valuabl valuat valv vampir vane vanil vanish vanit vanuatu varianc
variant vascular vase vast vatican vault vector vegetarian veil vein veloc velvet venezuel venic
vent ventil venus vera verb verbal verd verdict verif verizon vermont vernon veron vers versatil
versu vertex vessel vest veterinar viabl vibe vibrant vicin vicki victor victorian vienn vietnam
viewer viewpoint viii vike vinc vincent vine vineyard vinyl violent violet violin viral virtu
vista vita vital vivid vocabular vocal vocat volatil volcan volkswag volleybal volt voltag
voluntar volvo voter vouch voyag vuitton wade wager wagner wagon waist waiv waiver wake walker
wallac wallet walli walnut walsh walt walter walton wander wang wanna ward wardrob ware wareh
warehou warfar warmer warner warp warrant warren warrior warsaw warwick washer wastewat waterfal
waterford waterfront waterl waterproof watersh watson watt wavelength wayn weaken wealth weav
weaver webb webcam webcast weber webpag webst wedg weed weekday weigh weird weld welfar wellington
welsh wendi wesley westminst weston wetland whale whatsoev wheat wheelchair whenev whereb wherein
wherev whilst whip whirlpool whisk whisp whistl whitney whoever wholl whore wichit wick widen
wider widescr widespread widget widow wifi wiki wikip wildcat wilder wiley willi williamson
willing willow wilmington winchest windsor winer winnipeg winston wipe wisdom wise witch withdraw
withdrawn withhold wive wizard wolf wolv wong wont wooden woodi woodland woodwork wool worcest
wore workflow workforc workload workout workplac worksheet workstat worm worn wors worship worst
wound woven wrapp wreck wrestl wretch wright wrinkl wrist wyom xerox xmas yacht yale yamah yang
yanke yarn yeast yell yemen yoga yorkshir yugoslav yukon zambi zimbabw zinc zipper zodiac zoloft
zombi zoophil zurich
"""
