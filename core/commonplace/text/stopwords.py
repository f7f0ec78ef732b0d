"""Words that say little of what a question is about; they leave the query, never the index."""

from __future__ import annotations

__all__ = ["STOP_WORDS"]

# Articles, pronouns, prepositions, auxiliaries, words of asking, and what an apostrophe leaves.
_ENGLISH = """
a about above after again all also am an and any are as at be because been before being below
between both but by can could did do does doing down during each every few for from further get
got had has have having he her here hers herself him himself his how i if in into is it its
itself just know let like many may me might more most much must my myself no nor not of off on
once only or other our ours ourselves out over own please same shall she should so some such
tell than that the their theirs them themselves then there these they think this those through
to too under until up us very want was we were what when where which while who whom whose why
will with would you your yours yourself yourselves d ll m re s t ve aren couldn didn doesn don
hadn hasn haven isn shouldn wasn weren won wouldn
"""
# Words of one language that mean something in another, or to a machine (son, sin, die, os, num),
# are left out: there is no telling which language a query is in.
_SPANISH = """
al como cual cuando de del desde donde el ella ellos en entre es esa ese eso esta este esto fue
ha la las le lo los más mi muy nos para pero por porque que qué quien se ser si sobre también te
tiene un una uno y ya yo cómo cuál cuándo dónde está quién
"""
_PORTUGUESE = """
ao aos com da das dele dela do e ela ele em essa esse está eu foi isso isto já mais mas na nas
não nos numa o onde ou para pela pelo por qual quando que quem são se sem ser seu sua só também
tem um uma você à
"""
_FRENCH = """
au aux avec ce ces cette dans des du elle et être ils je le les leur lui mais même ne nous où qu
que quel quelle qui sera ses sont très tu un une vos votre vous
"""
_RUSSIAN = """
а без был была были было быть в вы где да для до его ее её если есть же за и из или их к как
какая какие какой когда кто ли мне мы на не него нет но о об он она они от по при с так там то
только ты у что чтобы эта эти это этот я
"""
_ARABIC = """
أن أو إلى إن التي الذي ثم عن على في قد كان كانت كل كما كيف لا لم لماذا ما متى مع من هذا هذه هل
هنا هو هي و ولا يا
"""

STOP_WORDS = frozenset(f"{_ENGLISH}{_SPANISH}{_PORTUGUESE}{_FRENCH}{_RUSSIAN}{_ARABIC}".split())
