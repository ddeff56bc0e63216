"""Small closed classes of English words by which a statement is read. Knows nothing of how they are used.

Each is written by hand and holds only words that are in it whatever stands around them. What is not here is not known, and
what is not known supports nothing.
"""

from __future__ import annotations

from typing import Final

from grail_mem.support.wording import NEGATIONS


def words_of(text: str) -> frozenset[str]:
    """A class of words, from a text that has them."""
    return frozenset(text.split())


ARTICLES: Final = words_of("a an the")
FILLERS: Final = words_of("""
really actually just also already now currently definitely certainly absolutely totally simply honestly basically personally too
please still very always finally luckily fortunately thankfully
""")
"""What a quote may say more, anywhere, without saying less."""
OPENINGS: Final = words_of("""
sure well oh ok okay hey hi hello yes yeah yep anyway btw fyi so and but then thanks sorry honestly no actually look listen
today yesterday tonight lately recently usually generally because since although though in on at during
last this every week month year morning evening night day
""")
"""With fillers, what may stand before a statement in its own clause."""
JOINS: Final = words_of("and but so because although though while whereas which who")
"""Where a new clause may begin without a comma."""

CONDITIONS: Final = words_of("""
if unless whether when whenever once until till provided providing suppose supposing assuming assume except excluding without
unlike otherwise lest depending depends imagine hypothetically theoretically pending contingent subject-to
""")
HEDGES: Final = words_of("""
maybe perhaps probably possibly likely apparently supposedly allegedly reportedly seemingly presumably hopefully guess think thought
believe believed suspect doubt wonder seems seem seemed looks sounds appears feels might may could would should 'd wish hope hoped
unsure uncertain guessing rumour rumor rumours rumors almost nearly roughly about approximately around kidding joking pretend
pretended imagined dreamed dreamt false untrue myth lie wrong not-sure not-certain hopes example instance eg joke todo fixme translate
tentatively provisionally figuratively metaphorically ironically sarcastically jokingly nominally virtually
""")
REPORTS: Final = words_of("""
said says say saying told tells tell telling heard hear claims claim claimed claiming according read reads mentioned mentions
insists insisted argued argues reported reports thinks believes swears swore promised promises asked asks wrote writes states
stated announced suggested suggests quote quoted deny denies denied
""")
RESTRICTIONS: Final = words_of("""
only instead rather than nor neither or either hardly barely rarely seldom never not no nobody nothing none
excluded excluding minus less
""")
"""Beside an operator, what makes of the same words another statement when it stands right behind them."""
OPERATORS: Final = CONDITIONS | HEDGES | REPORTS
"""A sentence with one of these says its other words of somebody's belief or of some case, not of the world."""

PREPOSITIONS: Final = words_of("""
in on at with by from for to into during after before since near over under between through via using instead because and but so
while which who every each next last this than as
""")
"""What may stand right behind a statement, with more behind it: where, when, why, or the next clause."""
ADVERBS: Final = words_of("""
now already today yesterday tomorrow tonight too again daily weekly monthly yearly ago anymore here there always lately recently
together instead either
""")
"""What may stand right behind a statement, alone as well."""
NARROWING: Final = NEGATIONS | words_of(
    "all every each only few most everyone everybody everything not-anymore seldom rarely hardly"
)
"""In a statement with one of these, more words behind it or before a noun make it say less, not more."""
UNREAL: Final = words_of("""
theory principle paper dream dreams game games play film films movie movies book books novel story stories mind simulation fiction
imagination head nightmare sketch poem song series episode scenario tale television training
""")
"""Behind `in` or `on`, where things are not so in the world."""
BOUNDS: Final = words_of("most least best worst earliest latest maximum minimum")
"""Behind `at`, what makes of a value a bound."""
AUXILIARIES: Final = words_of("is was have had do did can @me @we")
INSIDE: Final = words_of("of between to for with from by in on at among")
ENDED: Final = words_of("longer anymore not-anymore")
UNIVERSAL: Final = words_of(
    "anyone everyone nobody everybody all anything everything nothing none anybody any every no-one"
)

INTERSECTIVE: Final = words_of("""
new big small large little huge tiny red green blue black white yellow brown grey gray orange pink purple used expensive cheap
beautiful nice good great young tall short long thick thin heavy light round square electric shiny dirty clean quiet loud fast slow
""")
"""Adjectives that may be left away: a red car is a car, while a toy car is none, and nobody lists all that is like a toy."""
DRAFTS: Final = words_of("""
write reply translate rewrite rephrase paraphrase proofread summarize summarise draft fix edit improve correct here dear lyrics
""")
DRAFTED: Final = words_of("""
email mail letter message text story poem song speech post tweet paragraph translation translate rewrite rephrase paraphrase
proofread lyrics dear grammar reply note article script dialogue chat transcript
""")
"""What begins with one of the first and names one of the second asks for or brings a text in which `I` may be anybody."""
FIRST: Final = words_of("@me @we @my @our")
NOT_AFTER_ALL: Final = words_of("really anymore yet any true quite exactly")
"""Behind `not`, what takes back the whole."""
FUNCTION_WORDS: Final = words_of("""
of in on at for with about against between into through during before after above below to from up down out off over under by
and but or nor if because as until while than so that which who whom whose what where when why how
is was been being have had do did can could will would shall should may might must
@me @my @we @our you your he she it they him her his its them their this these those 's
all every each any some most few several many much both no not never none only
""")

NEGATING: Final = NEGATIONS | words_of("not-anymore")
FAKES: Final = words_of("toy fake model replica prank metaphor imaginary pretend cardboard dream dreams imagination")
"""What a thing is called that is none."""
REVERSALS: Final = words_of("""
again back relapsed restarted resumed returned restored reverted undid undone cancelled canceled withdrew retracted stopped quit left
ended expired
""")
"""Behind a statement, in its sentence or at the beginning of the next one, what ends it or makes it one of many."""
RETRACTIONS: Final = (
    ("just", "kidding"), ("no", "wait"), ("wait", "no"), ("scratch", "that"), ("@me", "was", "wrong"), ("correction",),
    ("that", "was", "wrong"), ("@me", "lied"), ("not", "really"), ("ignore", "that"), ("forget", "that"), ("or",),
    ("that", "is", "not", "true"), ("that", "is", "wrong"), ("strike", "that"), ("@me", "mean"),
)  # fmt: skip
"""How a sentence begins that takes back the one before it."""
DENIALS: Final = words_of("""
lie lies lied false wrong joke joking kidding jk untrue nonsense sarcasm irony fiction myth no not nope nah hypothetically
""")
"""A sentence of a few words that ends in one of these takes back its neighbour."""
FRAMES: Final = words_of("imagine suppose supposing assume assuming pretend say")
"""A sentence of a few words that begins so makes of the next one a case."""
TAGS: Final = words_of("right correct or really sure no yes yeah ok huh eh true agreed")
"""A question that begins so and is a few words long asks whether the sentence before it is so."""

_ONE_SPELLING: Final = """
favourite favorite|favourites favorites|colour color|colours colors|grey gray|organise organize|organised organized
neighbour neighbor|neighbours neighbors|licence license|centre center|theatre theater|programme program|travelling traveling
cancelled canceled|bought purchased|buy purchase|buys purchases|began started|begin start|begins starts|begun started
mum mom|mother mom|father dad|bike bicycle|bikes bicycles|tv television|fridge refrigerator|film movie|films movies
phone telephone|automobile car|photo photograph|photos photographs|kilo kg|kids children|kid child|exam examination
repo repository|repos repositories|config configuration|docs documentation|db database|k8s kubernetes|postgresql postgres
"""
ONE_SPELLING: Final = {
    word: pair.split()[1] for pair in _ONE_SPELLING.strip().replace("\n", "|").split("|") for word in pair.split()[:1]
}
"""Words that are one word in two spellings, or two that mean one thing wherever they stand."""
_PHRASES: Final = (
    ("is called", "is named"), ("was called", "was named"), ("have got", "have"), ("can not stand", "hate"),
    ("is scheduled", "is planned"), ("are called", "is named"), ("every day", "daily"), ("each day", "daily"),
    ("per day", "daily"), ("each week", "weekly"), ("every week", "weekly"), ("every month", "monthly"), ("each month", "monthly"),
    ("a dozen", "12"), ("no longer", "not-anymore"), ("subject to", "subject-to"), ("not sure", "not-sure"), ("not certain", "not-certain"),
)  # fmt: skip
PHRASES: Final = {tuple(one.split()): tuple(other.split()) for one, other in _PHRASES}

SAME_FORM: Final = {
    "am": "is", "are": "is", "'m": "is", "has": "have", "were": "was", "does": "do", "i": "@me", "me": "@me", "my": "@my",
    "mine": "@my", "myself": "@self", "we": "@we", "us": "@we", "our": "@our", "ours": "@our", "ourselves": "@ourselves",
    "an": "a", "cannot": "can",
}  # fmt: skip
"""Forms of the auxiliaries that differ by person alone, and the first person as marks."""
PERSONS: Final = words_of("@me @my")
THIRD_POSSESSIVE: Final = words_of("his her their")
SPEAKER_AS: Final = {
    "@my": THIRD_POSSESSIVE, "@me": words_of("he she they him her them"), "@self": words_of("himself herself themselves themself"),
}  # fmt: skip
"""How a claim may say again who speaks, for each mark."""
NOT_YET: Final = words_of("""
will shall going plan plans planned want wants wanted try tries tried trying intend intends intended need needs used about forgot forget
hesitate refuse refused avoid avoided considering consider considered asked invited must can
""")
"""Verbs after which what is named has not happened, or no longer does."""
QUANTIFIERS: Final = words_of(
    "all every each always only both most least exactly everyone everybody everything sometimes often usually some any few several many half"
)
ROLES: Final = words_of("user assistant agent they we us our @we")
"""Who may speak, in a claim: who is named so is who says `I`, or is not in the quote."""

_UNITS: Final = """
kg kilogram kilograms kilos kilogramme kilogrammes|g gram grams|mg milligram milligrams|t tonne tonnes|lb lbs pound pounds|oz ounce ounces
km kilometre kilometres kilometer kilometers|m metre metres meter meters|cm centimetre centimetres centimeter centimeters
mm millimetre millimetres millimeter millimeters|mile miles|ft foot feet|inch inches|l litre litres liter liters|ml millilitre milliliter
ms millisecond milliseconds|s sec secs second seconds|min mins minute minutes|h hr hrs hour hours|day days|week weeks|month months
year years|b byte bytes|kb kilobyte kilobytes|mb megabyte megabytes|gb gigabyte gigabytes|tb terabyte terabytes
mbit megabit megabits|gbit gigabit gigabits|tbit terabit terabits
$ usd dollar dollars|€ eur euro euros|£ gbp|¥ jpy yen|cent cents|percent|c|f|kw kilowatt kilowatts|w watt watts|v volt volts
million millions|billion billions|thousand thousands|k|gib|mib|kib|tib|chf
"""
UNIT_OF: Final = {
    word: group.split()[0] for group in _UNITS.strip().replace("\n", "|").split("|") for word in group.split()
}
"""Each spelling of a unit with the one that stands for all; only behind a number."""
UNITS: Final = frozenset(UNIT_OF.values())
CURRENCIES: Final = frozenset("$€£¥")

_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_TEENS: Final = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
TENS: Final = {word: 10 * n for n, word in enumerate(_TENS.split(), 2)}
TEENS: Final = {word: n for n, word in enumerate(_TEENS.split(), 13)}

_OPPOSITES: Final = """
passed failed|love hate|loves hates|like hate|likes hates|like dislike|enjoy hate|enjoys hates|increased decreased|rose fell|grew shrank
increases decreases|faster slower|won lost|wins loses|everyone nobody|everybody nobody|somebody nobody|someone nobody|with without
included excluded|includes excludes|stopped started|more less|higher lower|older younger|cheaper dearer|bigger smaller|up down
before after|left right|hot cold|accepted declined|approved declined|married divorced|bought sold|gained lost|true false
north south|east west|first last|early late|earlier later|best worst|maximum minimum|correct incorrect|same different
agree disagree|agrees disagrees|arrived left|arrives leaves|opened closed|opens closes|buy sell|buys sells|alive dead|easy hard
safe dangerous|cheap expensive|internal external|manual automatic|sync async|inside outside|win lose|all none|stopped keep
"""
OPPOSITES: Final = frozenset(frozenset(pair.split()) for pair in _OPPOSITES.strip().replace("\n", "|").split("|"))
"""Pairs that cannot both be said in one place of one sentence, beside those of `difference`."""
DIRECTED: Final = words_of("""
bought acquired owns reports beat beats defeated lent lend owes older younger faster slower bigger smaller taller shorter higher
lower over than depends from prefers prefer manages leads supervises precedes follows replaced replaces before after above below
outranks sued employs hired married-into inherits extends contains includes purchased
""")
"""With one of these, two names that change places make a statement that cannot hold beside the first."""
EXCLUSIVE: Final = words_of("is was named live lives leads lead hosts host won chairs heads")
"""Before or behind these, another name in the place of a name makes a statement that cannot hold beside the first."""
DETERMINERS: Final = words_of(
    "a the @my @our his her their its your this that these those 's no some every each any both all two"
)
