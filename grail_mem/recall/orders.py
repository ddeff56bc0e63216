"""What a text reads like besides data: orders, other speakers' turns, claims of authority, what loads or sends something.

Advice for who reads it: words can be put in more ways than are listed here. Knows nothing of fences.
"""

from __future__ import annotations

import unicodedata
from typing import Final, NamedTuple

import regex as re

LOOKALIKES: Final = str.maketrans(
    "абеёіїјкмнорсѕтуѵхѡԁԛɡᴀᴇɪᴍɴᴏʀꜱᴛᴜᴠοαενιρτυκ∕⁄⧸", "abeeiijkmhopcstyvxwdqgaeimnorstuvoaeviptyk///"
)
"""Letters of other scripts that look like Latin ones."""


def folded(text: str) -> str:
    """A text for comparing: compatible letters as one, without case, accents and combining marks."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(char for char in parts if not unicodedata.combining(char))


class _Tongue(NamedTuple):
    """How a language says that what came before does not count, as beginnings of words."""

    verbs: str
    nouns: str
    also: str = ""
    is_verb_last: bool = False


_TONGUES: Final = (
    _Tongue("ignorier|missacht|vergiss|vergesst|umgeh", "anweisung|instruktion|vorgaben|regeln|befehl|systemprompt",
            "ab (?:sofort|jetzt) (?:sollst|musst|wirst|antworte|befolge)|(?:sag|verrate|erzahl|teile?)\\w* dem (?:nutzer|benutzer|anwender)\\w* nicht|"
            "dem (?:nutzer|benutzer|anwender) nichts davon|du bist (?:jetzt|ab sofort)"),
    _Tongue("ignore[zrs]?|oublie[zrs]?|neglige[zr]?|contourne[zr]?", "instruction|consigne|regles|directive|ordres",
            "desormais,? (?:tu|vous|reponds|repondez)|a partir de maintenant,? (?:tu|vous|reponds|repondez)|"
            "ne (?:dis|dites|revele[zr]?|mentionne[zr]?) (?:pas|rien|jamais) (?:a |cela a )?l['’]utilisateur|tu es (?:maintenant|desormais)"),
    _Tongue("ignora|olvida|desestima|omite|haz caso omiso", "instrucci|reglas|indicaci|directriz|directrices|ordenes",
            "a partir de ahora,? (?:responde|eres|debes|siempre)|no (?:le )?(?:digas|cuentes|menciones|reveles)\\b.{0,30}\\busuario"),
    _Tongue("ignore|ignora|esquec|desconsider|desobedec", "instruc|regras|diretriz|orientac|ordens",
            "a partir de agora,? (?:responda|voce|sempre)|nao (?:diga|conte|mencione|revele)\\b.{0,30}\\busuario"),
    _Tongue("ignora|dimentica|trascura|non seguire", "istruzion|regole|direttiv|ordini",
            "d'ora in poi,? (?:rispondi|devi|sei|sempre)|non (?:dire|rivelare|menzionare)\\b.{0,30}\\butente"),
    _Tongue("negeer|vergeet|sla .{0,10} over", "instructie|regels|richtlijn|opdracht",
            "vanaf nu (?:moet|zal|ben|antwoord)|(?:vertel|zeg) (?:het )?de gebruiker niet"),
    _Tongue("ignorera|glom|bortse|ignorer|glem", "instruktion|regler|anvisning|riktlinje|instruks", "fran och med nu (?:ska|svara|ar du)"),
    _Tongue("zignoruj|ignoruj|zapomnij|pomin", "instrukcj|polece|zasad|wytyczn|regul", "od teraz (?:zawsze|jestes|odpowiadaj)"),
    _Tongue("yok say|gormezden gel|unut|dikkate alma", "talimat|kural|yonerge|komut", is_verb_last=True),
    _Tongue("игнорир|проигнорир|забудь|забудьте|не следуй", "инструкци|указани|правил|команд|приказ",
            "отныне (?:ты|вы|всегда|отвечай)|не (?:говори|сообщай|рассказывай)\\w*.{0,20}пользовател"),
    _Tongue("ігнору|проігнору|забудь", "інструкці|вказівк|правил|наказ"),
    _Tongue("忽略|无视|無視|忘记|忘記|不要理会|不要理會|不要遵守|绕过", "指令|指示|规则|規則|提示|命令|说明|說明",
            "从现在开始|從現在開始|不要告诉用户|不要告訴用戶|不要告訴使用者"),
    _Tongue("無視|忘れ|従わない", "指示|命令|ルール|規則|プロンプト|指令", "ユーザーに(?:は)?(?:言わない|伝えない|知らせない)|今後は必ず|今から(?:あなた|必ず)", is_verb_last=True),
    _Tongue("무시|잊어|잊으", "지시|명령|규칙|지침|프롬프트", "사용자에게 (?:말하지|알리지)|지금부터", is_verb_last=True),
    _Tongue("تجاهل|انس|لا تتبع", "تعليمات|التعليمات|القواعد|الاوامر|الأوامر|توجيهات", "من الان فصاعدا|لا تخبر المستخدم"),
    _Tongue("התעלם|התעלמי|התעלמו|שכח", "הוראות|ההוראות|הכללים|כללים|הנחיות", "מעכשיו|אל תספר למשתמש"),
    _Tongue("अनदेखा|नजरअंदाज|नज़रअंदाज|भूल जा|उपेक्षा", "निर्देश|नियम|आदेश|अनुदेश", "अब से|उपयोगकर्ता को मत बता", is_verb_last=True),
    _Tongue("bo qua|phot lo|quen het|quen di", "huong dan|chi dan|quy tac|menh lenh", "tu bay gio"),
    _Tongue("abaikan|lupakan|jangan ikuti", "instruksi|arahan|aturan|perintah|peraturan", "mulai sekarang"),
)  # fmt: skip
"""Languages beside English, written as they are and folded before use."""


def _said(tongue: _Tongue) -> str:
    verbs, nouns = f"(?:{folded(tongue.verbs)})", f"(?:{folded(tongue.nouns)})"
    said = rf"{nouns}.{{0,30}}{verbs}" if tongue.is_verb_last else rf"{verbs}.{{0,50}}{nouns}"
    return "|".join([said, *([folded(tongue.also)] if tongue.also else [])])


_PATTERNS: Final = {
    "instruction": (
        (r"\b(?:ignore|disregard|forget|override|bypass|do not follow|don['’]t follow)\b.{0,40}\b(?:previous|prior|earlier|above|preceding|"
        r"all|any|your|these|system|other)\b.{0,40}\b(?:instructions?|rules?|prompts?|guidelines?|directives?|directions?|orders|messages?|"
        r"memor(?:y|ies)|observations?|training)\b"),
        r"\b(?:you must|you should|you shall|you will|you are to) (?:now|always|never|immediately|only|henceforth|obey|comply)\b",
        r"\b(?:you are|act as|behave as|pretend to be) (?:now|no longer|henceforth|an? (?:unrestricted|jailbroken|different))\b",
        r"\b(?:from now on|henceforth),? (?:you|always|never|ignore|respond|reply|answer|treat)\b",
        r"\b(?:system|developer|hidden|initial) (?:prompt|message|instructions?)\b",
        r"\bnew (?:instructions?|rules?|system prompt)\s*:",
        (r"\b(?:important|attention|note)\b.{0,20}\b(?:assistant|ai|model|agent)s?\b.{0,20}"
         r"\b(?:must|should|do not|never|always)\b"),
        r"\bdo not (?:tell|inform|mention|reveal|show)\b.{0,30}\b(?:user|human|anyone|operator)\b",
        r"\b(?:reveal|print|repeat|leak|exfiltrate)\b.{0,30}\b(?:prompt|instructions|secrets?|api keys?|credentials|passwords?)\b",
        r"(?<!\p{L})(?:" + "|".join(_said(t) for t in _TONGUES if t.verbs[0].isascii()) + ")",
    ),
    "role": (
        r"(?:^|\n)[ \t>*#_\-\[(\"']{0,8}(?:system|developer|assistant|human|tool)\b[ \t*_\])\"']{0,4}[:：]",
        r"(?:^|\n)[ \t>*#]{0,8}[\[【(](?:system|developer|admin(?:istrator)?|root)\b[^\])】\n]{0,20}[\])】]",
        r"<\s*\|\s*[\w ]{1,40}\|\s*>|<<\s*/?\s*sys\s*>>|\[\s*/?\s*inst\s*\]|</?s>|<(?:start|end)_of_turn>",
        r"<\s*/?\s*(?:system|assistant|user|human|developer|tool|function|instructions?|tool_(?:use|call|result)|function_(?:calls?|results?)|invoke)\b[^<>]{0,80}>",
        r"(?:^|\n)\s*#{1,6}\s*(?:system|instructions?|assistant|developer)\s*:?\s*(?:\n|$)",
    ),
    "label": (
        (r"\b(?:trust(?:ed)?|trust[ _-]?level|authority|priority|clearance|verified|confidence|status|source(?:_kind)?)[\"'”]?\s*[=:：]\s*[\"'“]?"
        r"(?:high(?:est)?|full|absolute|system|admin(?:istrator)?|root|owner|security[ -]team|trusted|verified|confirmed|true|yes|100 ?%|1(?:\.0+)?\b)"),
        (r"(?:^|\n)---[^\n]*\n(?:[^\n]{0,200}\n){0,20}?[ \t]*"
         r"(?:scope|source_kind|confidence|status|supersedes|superseded_by|trust|authority|valid_until|evidence|id)[ \t]*:"),
        r"\b(?:verified|approved|signed|authori[sz]ed|confirmed) by (?:the )?(?:system|admin\w*|security|owner|developers?|operators?|anthropic|openai)\b",
        r"\b(?:supersedes?|overrides?|replaces?|overrules?) (?:all|any|every)\b",
        r"\bthis (?:memory|observation|note|message) (?:is|has) (?:trusted|authoritative|the only|the highest|priority|precedence)\b",
    ),
    "remote": (
        r"!\[[^\]\n]{0,200}\](?:\(\s*<?(?:https?:)?//|\[)",
        r"<\s*(?:img|iframe|script|link|object|embed|video|audio|source|svg|image|form|meta|base)\b[^<>]{0,300}?\b(?:src|href|data|action|content)\s*=",
        r"\]\(\s*<?(?:javascript|vbscript|data)\s*:",
        r"\]\(\s*<?(?:https?:)?//[^)\s]{0,300}(?:[{<$]|%7b)",
        r"\burl\(\s*[\"']?(?:https?:)?//",
    ),
}  # fmt: skip
_READS_LIKE: Final = {name: re.compile("|".join(patterns), re.DOTALL) for name, patterns in _PATTERNS.items()}
_IN_OTHER_SCRIPTS: Final = re.compile("|".join(_said(t) for t in _TONGUES if not t.verbs[0].isascii()), re.DOTALL)


def like_orders(text: str) -> set[str]:
    """The names of what a folded text reads like, letters of other scripts taken for those that they look like as well."""
    found = {name for name, pattern in _READS_LIKE.items() if pattern.search(text)}
    if text.isascii():
        return found
    if _IN_OTHER_SCRIPTS.search(text):
        found.add("instruction")
    if (latin := text.translate(LOOKALIKES)) != text:
        found |= {name for name, pattern in _READS_LIKE.items() if name not in found and pattern.search(latin)}
    return found
