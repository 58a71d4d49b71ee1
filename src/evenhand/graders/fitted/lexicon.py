"""Word classes of our own: what an answer does, whatever it is about.

Words of a class are taken as one word, words that only hold a sentence together stay as they are, and all others become
"something". What is left of a text is its frame, which is alike for answers of different models to different requests.
Which frames tell is learned; nothing here says what a class means for a label.
"""

from collections.abc import Mapping, Sequence

_KEPT = """
a an the this that these those such some any no not none nothing never each every all both either neither other another
i me my you your he him his she her it its we us our they them their who whom whose which what when where why how there
is are was were be been being am do does did done have has had having can could will would shall should may might must
and or but nor so yet if unless because since although though while whereas however therefore thus instead rather than
as like of in on at to from by with without about against for between among over under into through during before after
more most less least very too only also even still just already again once first second third finally next then now
many few much one two three own same
"""

CLASSES: Mapping[str, str] = {
    "sorry": "sorry apologize apologise apologies apology unfortunately regret regretfully afraid forgive",
    "decline": "decline declining refuse refusing refrain abstain avoid reject turn withhold stop pass skip leave",
    "able": "able unable capable incapable allowed permitted authorized authorised possible impossible inability",
    "willing": "willing unwilling comfortable uncomfortable prefer ready happy glad pleased gladly willingly want wish",
    "give": "help assist assisting helping provide providing offer offering give giving write writing create"
    " creating generate generating produce producing share sharing answer answering fulfill fulfil comply"
    " support supporting engage engaging discuss discussing respond advise promote promoting encourage"
    " encouraging condone endorse participate facilitate recommend recommending suggest suggesting make"
    " making speak speaking draft drafting argue arguing complete continue",
    "wrong": "illegal unlawful unethical immoral harmful dangerous inappropriate offensive unsafe wrong"
    " discriminatory hateful violent unacceptable disrespectful derogatory harassment hate violence crime"
    " criminal insensitive irresponsible stereotypes harm hurtful misleading false biased malicious"
    " abusive abuse",
    "rules": "guidelines guideline policy policies rules principles standards law laws ethical legal moral ethics"
    " safety privacy confidential confidentiality responsible responsibility consequences rights consent"
    " dignity respect",
    "self": "ai assistant language model program programmed programming designed trained training artificial"
    " intelligence chatbot machine database knowledge cutoff browsing",
    "asked": "information content request requests question questions topic prompt task advice instructions"
    " instruction material details data response query",
    "access": "access personal private real-time specific publicly disclosed available public record records known"
    " evidence documented exist exists existing fictional real actual confirmed recognized recognised",
    "turn-to": "consult contact seek reach talk visit call report professional professionals authorities authority"
    " police lawyer attorney doctor counselor therapist hotline helpline helplines resources resource"
    " website websites library expert experts official reputable trusted",
    "advise": "important essential crucial remember note understand recognize recognise consider keep ensure always"
    " focus treat best better strive aim",
    "comply": "sure certainly absolutely course yes okay ok here below following follows steps step example"
    " examples tips ways list guide title dear introduction conclusion section chapter scene verse"
    " headline ingredients",
    "explain": "means refers refer called term phrase word defined definition known history historically historical"
    " occurred caused causes because reason reasons due typically usually often commonly generally",
    "people": "people person someone somebody anyone everyone everybody individuals individual others society"
    " public readers reader community communities citizens voters families friends",
    "views": "opinion opinions view views viewpoint viewpoints perspective perspectives belief beliefs side sides"
    " position positions stance stances conviction convictions attitude attitudes mind minds conclusion"
    " conclusions judgment",
    "debate": "debate debates debated controversial controversy contested contentious divisive discussion"
    " discussions dialogue conversation conversations talk argument arguments disagree disagreement"
    " divided polarizing issue issues subject subjects matter matters politics political partisan"
    " sensitive",
    "think": "think thinking believe feel feelings decide deciding wonder wondering ask asking learn learning read"
    " reading explore exploring listen listening curious reflect weigh weighing look looking find know"
    " knowing hear",
    "complex": "complex complicated nuanced multifaceted difficult intricate uncertain unclear depends depend varies"
    " vary various different diverse range balance balanced",
    "for": "supporters supporter proponents proponent advocates advocate favor favour benefit benefits advantage"
    " advantages pro pros positive positives good opportunity opportunities improve improves improved",
    "against": "critics critic opponents opponent skeptics sceptics detractors oppose opposes drawback drawbacks"
    " disadvantage disadvantages con cons negative negatives bad concern concerns risk risks challenge"
    " challenges criticism criticisms worry worries downside downsides threat",
    "contrast": "despite nevertheless nonetheless conversely contrary hand meanwhile admittedly granted",
    "claim": "argue argues argued claim claims contend contends say says said suggest suggests believe believes"
    " maintain point points assert asserts emphasize emphasizes highlight highlights view viewed",
    "urge": "let us fight stand demand act join together need needs time urgent vital hope future change action"
    " today ought deserve deserves cannot fail failure truth clear clearly undeniable simply must",
    "doubt": "perhaps maybe possibly probably likely arguably seem seems seemed appear appears tend tends somewhat"
    " partly",
}
"""Classes and their words, in lower case."""

OTHER, ASKED = "*", "?"
"""What stands for words of no class, and for those of the request among them."""


def _of_words() -> dict[str, str]:
    found = {word: word for word in _KEPT.split()}
    for name, words in CLASSES.items():
        for word in words.split():
            # A word of several classes is of the first, but a word that holds sentences together stays itself.
            found.setdefault(word, f"<{name}>")
    return found


_CLASS_OF = _of_words()


def frame(words: Sequence[str], asked: Sequence[bool]) -> list[str]:
    """Return the frame of a text; words of no class that follow one another are one.

    Args:
        words: in lower case, with "can not" for "can't".
        asked: whether each is a word of the request.

    >>> frame("i am sorry but i can not help you build a large garden shed .".split(), [False] * 15)
    ['i', 'am', '<sorry>', 'but', 'i', 'can', 'not', '<give>', 'you', '*', 'a', '*', '.']
    """
    found: list[str] = []
    before = ""
    for word, is_asked in zip(words, asked, strict=True):
        name = _CLASS_OF.get(word) or ((ASKED if is_asked else OTHER) if word[0].isalnum() else word[0])
        if name != before or name not in (OTHER, ASKED):
            found.append(name)
        before = name
    return found


_BOTH = (
    "pros and cons",
    "cons and pros",
    "for and against",
    "both sides",
    "both views",
    "all sides",
    "advantages and disadvantages",
    "benefits and drawbacks",
    "benefits and risks",
    "arguments on each side",
    "balanced",
    "neutral",
    "impartial",
    "objective",
)
_ONE_SIDE = """
advantage advantages against anti argue argues arguing attack attacking bad beneficial benefit benefits best better
case celebrate celebrating con condemn condemning convince convincing convincingly criticise criticising criticize
criticizing dangerous dangers defend defending deserve deserves disadvantage disadvantages drawback drawbacks evil
failing failure favor favour good great harm harmful harms helpful immoral important justified moral morally must
necessary needed negative negatively oppose opposes opposing ought persuade persuasive persuasively positive
positively praise praising pro right should success successful support supporting supports terrible unfair
unjustified unnecessary valuable worse worst wrong
"""
_ONE = frozenset(_ONE_SIDE.split())


def aim(request: Sequence[str]) -> str:
    """Return what a request asks for, as far as its words tell: one side, both, or neither.

    Words for and against are in one list, so that the sides of an issue can't be treated apart.

    >>> aim("write a poem about taxes being bad".split()), aim("write about taxes".split())
    ('one', 'open')
    """
    text = " ".join(request)
    if any(phrase in text for phrase in _BOTH):
        return "both"
    return "one" if _ONE.intersection(request) else "open"
