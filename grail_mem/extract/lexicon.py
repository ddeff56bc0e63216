"""The words by which statements are told: verbs, times, and what says nothing without the talk around it.

Closed lists, written by hand; what is not on them is not found. Knows nothing of sentences.
"""

from __future__ import annotations

from typing import Final


def either(words: str) -> str:
    """A part of a pattern that is one of these words; `_` stands for a space."""
    return "|".join(word.replace("_", " ") for word in sorted(words.split(), key=len, reverse=True))


def words(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


MONTHS: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
DAYS: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
DATE: Final = (
    rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|(?:(?:this|next|last) )?{DAYS}|tomorrow|tonight|next (?:week(?:end)?|month|year|spring|summer|fall|autumn|winter)|"
    rf"(?:the )?end of (?:the |this |next )?(?:week|month|year|day)|this (?:week(?:end)?|month|year|spring|summer|fall|autumn|winter)|"
    rf"(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{MONTHS})|(?:early |mid-?|late )?(?:{MONTHS})(?: \d{{1,2}}(?:st|nd|rd|th)?)?(?:,? \d{{4}})?|"
    r"the (?:spring|summer|fall|autumn|winter)|(?:19|20)\d{2}|q[1-4]|(?:a|one|two|three|four|five|six|\d+) (?:days|weeks?|months?|years?) (?:from now|time))"
)
_COUNT: Final = r"(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|a few|a couple(?: of)?|several|\d+)"
WHEN: Final = (
    rf"(?:yesterday|today|tonight|recently|lately|nowadays|these days|(?:this|last|past) (?:morning|afternoon|evening|night|week(?:end)?|month|year|"
    rf"spring|summer|fall|autumn|winter|{DAYS}|{MONTHS})|{_COUNT} (?:day|week|weekend|month|year|hour)s? (?:ago|back|now)|(?:in|on|since|around|back in|during|by|until) "
    rf"{DATE}|for (?:{_COUNT}|(?:about|around|over|almost|nearly|the (?:past|last)) ?{_COUNT}?) ?(?:days?|weeks?|months?|years?|decades?|hours?)|"
    rf"when I was|at the age of|at age|earlier this|(?:once|twice|(?:{_COUNT}) times)|so far|as a (?:kid|child|teen\w*))\b"
)
FREQUENCY: Final = (
    rf"(?:every|each) (?:other )?(?:single )?(?:day|morning|night|evening|afternoon|week(?:end|day)?|month|year|{DAYS}|few \w+)s?|on (?:{DAYS}s|weekends|weekdays)|"
    rf"(?:once|twice|{_COUNT}(?: to {_COUNT})? times) (?:a|per|every) (?:day|week|month|year)|daily|weekly|most (?:days|mornings|evenings|weekends)"
)
ADVERBS: Final = either(
    "really also just recently finally already actually always usually generally definitely especially particularly currently still absolutely "
    "personally strongly much even only now mostly often typically rarely normally regularly totally truly genuinely kind_of sort_of quite very "
    "pretty so too originally previously once initially lately simply both occasionally sometimes"
)
TASTES: Final = either("prefer like love hate dislike enjoy avoid adore despise detest can't_stand cannot_stand can't_eat cannot_eat don't_like don't_enjoy don't_eat don't_drink "
                       "don't_care_for do_not_like do_not_eat do_not_drink")  # fmt: skip
STATES: Final = words("""
live work study teach speak play drive run use own have attend volunteer collect grow raise manage lead wear drink eat cook bake read
write paint train commute share rent belong practice make sell sleep suffer coach breed follow
""")
"""Present verbs that tell what is so of somebody."""
ROUTINES: Final = STATES | words("""
go walk take swim visit meet do get wake call spend listen watch exercise meditate jog cycle bike hike clean check start finish pay order buy
try eat journal stretch volunteer ride prepare plan put host
""")
PAST: Final = either("""
went came got gave took made saw found left became began brought bought built broke caught chose drove ate fell flew grew held lost met paid ran
rode rose sold sent shot sang sank slept spent stood swam taught threw woke wore won wrote drew drank fought put read cut set hit hurt did
had kept led forgot quit
""") + r"|(?!(?:wanted|needed|liked|loved|wondered|asked|mentioned|hoped|figured|realized|realised|noticed|tried(?! out)|used|hated|enjoyed|preferred|assumed|expected|believed|feed|need|speed|indeed|seemed|looked|followed|checked|considered|guessed|intended|planned|supposed|wished|worried|remembered|named|managed|struggled|agreed|decided|picked|settled|interested|helped|stated|reviewed|listed|attached|noted)\b)[a-z]{2,}ed"  # fmt: skip
EVENTS: Final = either("""
graduated moved married got_married got_engaged got_divorced adopted bought quit started joined finished completed signed_up booked attended
visited grew_up studied worked won sold planted retired volunteered enrolled switched ordered participated performed hosted organized organised
ran earned passed broke got_promoted got_hired lost traveled travelled left built published planned_out upgraded installed subscribed
""")
"""What happens seldom enough that it is worth knowing without a time."""
ONGOING: Final = either("""
training learning studying working_on working_as working_at working_from working_in taking saving writing building reading growing attending
volunteering teaching raising expecting moving living staying_with staying_at hosting organizing organising preparing_for recovering renovating getting_married
getting_divorced going_through trying_to_lose trying_to_quit trying_to_eat trying_to_cut trying_to_learn trying_to_save practicing practising running coaching
managing leading starting launching opening buying selling planting pursuing majoring dating seeing allergic_to using
""")
PLANS: Final = either("planning scheduled_to supposed_to about_to determined_to aiming_to")
THOUGHTS: Final = either("thinking_of thinking_about considering hoping_to contemplating")
IS: Final = (
    rf"(?:not )?(?:(?:{ADVERBS}|a|a (?:big|huge|massive|lifelong|long-time)) )*(?:fan of|into|fond of|passionate about|obsessed with|allergic to|intolerant|intolerant to|keen on|sucker for|"
    r"addicted to|scared of|afraid of|interested in|good at|bad at|terrible at|comfortable with|responsible for|in charge of|vegan|vegetarian|pescatarian|gluten[- ]free|"
    r"lactose[- ]intolerant|diabetic|married|single|divorced|engaged|pregnant|retired|unemployed|self-employed|left-handed|colou?r-?blind|based in|originally from|from|"
    r"in my (?:early |mid-?|late )?(?:teens|twenties|thirties|forties|fifties|sixties|\d0s)|\d{1,2}(?= years| and|,|\.|!|$)|training|"
    r"an? (?!bit|little|lot|tad|couple|few|fan|sucker|big|huge|loss|bunch|good|great|bad|nice|happy|sad|long)(?:[\w-]+ ){0,3}?"
    r"(?:engineer|developer|teacher|nurse|doctor|student|designer|manager|lawyer|artist|writer|author|musician|chef|cook|baker|farmer|gardener|runner|cyclist|driver|accountant|"
    r"analyst|consultant|scientist|researcher|professor|lecturer|photographer|journalist|editor|marketer|owner|founder|parent|mother|father|mom|dad|grandparent|veteran|pilot|"
    r"mechanic|carpenter|electrician|plumber|therapist|psychologist|social worker|librarian|freelancer|contractor|beginner|vegetarian|vegan|christian|muslim|jew|buddhist|"
    r"resident|citizen|member|volunteer|coach|trainer|programmer|architect|dentist|pharmacist|vet|veterinarian|realtor|translator|person|woman|man|lover|enthusiast|collector|gamer|"
    r"reader|hiker|climber|swimmer|dancer|singer|guitarist|pianist|drummer|sophomore|freshman|junior|senior|graduate|postdoc|intern|apprentice))"
)
PEOPLE: Final = either("""
mom mum mother dad father parents sister brother sisters brothers wife husband partner girlfriend boyfriend fiancee fiancé fiancée son daughter sons
daughters kid kids child children baby grandma grandmother grandpa grandfather grandparents aunt uncle cousin cousins niece nephew friend friends best_friend
roommate roommates flatmate neighbor neighbour neighbors boss manager team coworker colleague colleagues dog dogs cat cats puppy kitten pet
pets family company landlord therapist doctor mentor city town church school club neighborhood neighbourhood village
""")
THINGS: Final = either("""
birthday anniversary name age job role salary budget rent house home apartment flat car bike bicycle laptop phone computer camera guitar piano
garden kitchen office commute flight flights trip wedding appointment exam deadline thesis project degree major diet allergy goal hobby hobbies
passion favorite favourite email address hometown school university startup business shop store channel podcast blog website band class course
meeting interview presentation surgery lease contract shift schedule routine username surname pronouns timezone dream_job collection record time
""")
ENGAGEMENTS: Final = either("""
appointment meeting exam interview flight party wedding trip test deadline presentation reservation concert surgery check-up checkup session
class race marathon recital conference workshop game match date_with performance tournament audition call dinner vacation holiday
""")
TALK: Final = (
    r"\b(?:the|this|that|these|those|your) (?:\w+ ){0,2}(?:ideas?|sounds? of|suggestions?|recommendations?|tips?|advice|options?|examples?|explanation|answers?|responses?|list|steps|"
    r"template|approach|thought|plan|look of|recipe|part|point|way|format|style|tone|title|names?)\b|\bthe (?:idea|sound|look|thought) of\b|\bidea\b|\bsuggest\w*|\brecommend\w*"
)
"""What the talk itself is about, which is nothing lasting."""
MENTAL: Final = (
    r"(?:know|knew|think|thought|heard|seen|saw|had|been|was|were|want|wanted|realized|realised|tried|understood|understand|imagined|expected|felt|feel|forget|"
    r"forgot|liked|considered|noticed|got|did|made|be|mind|see|remember)\b"
)
"""Behind always and never, what is no habit."""
LASTING: Final = (
    rf"lately|recently|these days|nowadays|since {DATE}|for (?:the (?:past|last) )?\w+ (?:weeks|months|years)"
)
TURNS_OF: Final = "into|to|a|an|on a|vegan|vegetarian|married|single|sober|obsessed with|interested in|passionate about"
SOME_DAY: Final = (
    "become|becoming|open(?:ing)? (?:a|my|an)|start(?:ing)? (?:a|my|an)|mov(?:e|ing) (?:to|back|out)|adopt(?:ing)?|retire|retiring|"
    r"buy(?:ing)? (?:a|my|an) (?:\w+ )?(?:house|home|car|flat|apartment)|writ(?:e|ing) a|run(?:ning)? a|go(?:ing)? back to|"
    "get(?:ting)? (?:married|a (?:dog|cat|puppy|kitten|degree)|my)|quit"
)
"""What somebody wants or dreams of who will still want it next month."""
WEIGHTY: Final = (
    r"(?:actually )?(?:(?:going|go|moving|move|traveling|travel|travelling|flying|relocating|relocate) (?:back |out |home )?(?:to|on|for|into|in)|visit(?:ing)?|host(?:ing)?|organi[sz](?:ing|e) (?:a|an)|"
    r"open(?:ing)?|launch(?:ing)?|buy(?:ing)? (?:a|an|my|our|the) (?:\w+ )?(?:house|home|car|flat|apartment|bike|boat|laptop|computer|camera|piano|guitar)|sell(?:ing)?|adopt(?:ing)?|apply(?:ing)?|enroll?(?:ing)?|sign(?:ing)? up|quit(?:ting)?|switch(?:ing)?|"
    r"stud(?:y|ying)|learn(?:ing)? (?:to|how|a|the|\w+ish|\w+ese|french|german|guitar|piano)|rent(?:ing)?|expand(?:ing)?|book(?:ing)? (?:a|an|my)|tak(?:e|ing) (?:a|an|my|up)|run(?:ning)? (?:a|the|my|for)|"
    r"writ(?:e|ing) (?:a|an|my)|hav(?:e|ing) (?:a baby|kids|children)|retir(?:e|ing)|renovat(?:e|ing)|remodel(?:ing)?|chang(?:e|ing) (?:jobs?|careers?|my)|"
    r"start(?:ing)? (?:a|an|my|to)|getting (?:a (?:dog|cat|puppy|kitten|degree|divorce|job|house|car|new)|married|my|back into)|pursu(?:e|ing)|join(?:ing)?|volunteer(?:ing)?|becom(?:e|ing))\b"
)
"""What is worth knowing although it is only thought of."""
