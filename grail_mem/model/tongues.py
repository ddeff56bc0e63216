"""How languages beside English say that what came before does not count, as beginnings of words.

Advice for who reads a text: words can be put in more ways than are listed here. Knows nothing of what is done about it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
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


_LETTERS: Final = bytes(code if chr(code) in "abcdefghijklmnopqrstuvwxyz" else 32 for code in range(256))
_BEGUN: Final = 3
_WORD: Final = re.compile(r"([a-z]+)(.?)", re.DOTALL)


def begun_in(folded: str) -> frozenset[str]:
    """How the words of a text begin: the first three of the plain Latin letters that each is made of, or fewer for a short one."""
    words = set(folded.encode(errors="replace").translate(_LETTERS).split())
    return frozenset([word[:_BEGUN].decode("ascii") for word in words])


def beginnings(marks: Iterable[str]) -> frozenset[str]:
    """How words begin in a text that has one of these marks at the beginning of a word, by the longest word of each.

    None when it cannot be told, since a mark has no word, or one that is short and may go on.
    """
    found = [max(_WORD.findall(mark), key=lambda word: len(word[0]), default=("", "")) for mark in marks]
    if any(len(word) < _BEGUN and not behind for word, behind in found):
        return frozenset()
    return frozenset(word[:_BEGUN] for word, _ in found)


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


_GROUP: Final = re.compile(r"\(\?:((?:[^()]|\((?:[^()])*\))*)\)")
_PLAIN: Final = re.compile(r"(?:[\p{L}' ](?![?*\[]))*")


def _said(tongue: _Tongue) -> str:
    verbs, nouns = f"(?:{folded(tongue.verbs)})", f"(?:{folded(tongue.nouns)})"
    said = rf"{nouns}.{{0,30}}{verbs}" if tongue.is_verb_last else rf"{verbs}.{{0,50}}{nouns}"
    return "|".join([said, *([folded(tongue.also)] if tongue.also else [])])


def _marks(pattern: str) -> Iterator[str]:
    """Beginnings of which one stands wherever a pattern is found: the plain letters that each of its alternatives begins with."""
    depth, begin = 0, 0
    for at, character in enumerate(f"{pattern}|"):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "|" and depth == 0:
            alternative, begin = pattern[begin:at], at + 1
            inner = _GROUP.match(alternative)
            if inner is not None:
                yield from _marks(inner[1])
            else:
                yield _PLAIN.match(alternative)[0]  # type: ignore[index]  # it matches nothing, too


class _Sought(NamedTuple):
    """What is looked for in one language: a pattern, marks of which one stands where it begins, and how words begin there."""

    begun: frozenset[str]
    marks: tuple[str, ...]
    pattern: re.Pattern[str]


@cache
def _of_latin() -> tuple[_Sought, ...]:
    made = []
    for tongue in (tongue for tongue in _TONGUES if tongue.verbs[0].isascii()):
        first = tongue.nouns if tongue.is_verb_last else tongue.verbs
        said = [folded(text) for text in (first, tongue.also) if text]
        marks = tuple(dict.fromkeys(mark for text in said for mark in _marks(text)))
        made.append(_Sought(beginnings(marks), marks, re.compile(rf"(?<!\p{{L}})(?:{_said(tongue)})", re.DOTALL)))
    return tuple(made)


@cache
def _of_others() -> re.Pattern[str]:
    return re.compile("|".join(_said(t) for t in _TONGUES if not t.verbs[0].isascii()), re.DOTALL)


def gives_orders(text: str, begun: frozenset[str]) -> bool:
    """Whether a folded text says in one of these languages that what came before does not count, or what to do from now on.

    Args:
        text: The text.
        begun: How its words begin; see `begun_in`.
    """
    for one in _of_latin():
        if begun.isdisjoint(one.begun) and one.begun:
            continue
        if any(mark in text for mark in one.marks) and one.pattern.search(text) is not None:
            return True
    return not text.isascii() and _of_others().search(text) is not None
