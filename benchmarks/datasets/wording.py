"""Words, names and prose that the data sets are made of, already escaped for N-Triples."""

import random
from collections.abc import Callable

RandomFloat = Callable[[], float]

_WORDS = {
    "en": (
        "the of and a to in is was for on with by from that at which as water system field study data "
        "model method result sample network energy market river city history theory surface cell protein "
        "signal pressure climate measure response growth between during within under several recent local "
        "early significant stable large common observed described reported increased remained compared "
        "suggests"
    ),
    "de": (
        "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch Größe Wärme "
        "Fläche Straße Messung Gewässer Lösung Übersicht Verhältnis Entwicklung Untersuchung Ergebnis "
        "können während zwischen häufig größer später möglich gemäß"
    ),
    "fr": (
        "de la le et les des en un du une que est pour qui dans par sur au plus énergie modèle étude "
        "rivière résultat système réseau données températures élevé après être même années théorie où déjà "
        "façon"
    ),
    "pl": (
        "w i na z do się że nie jest o jak po od za przez wyniki badań źródło powietrze sieć środowisko "
        "miasto rzeka próbka wzrost między również został większość żółty łąka ćwiczenie można są"
    ),
    "el": (
        "και το της η να του την με για από σε στο τα που είναι στη ένα αποτέλεσμα μελέτη νερό δίκτυο "
        "ποταμός πόλη θερμοκρασία ενέργεια ιστορία θεωρία μεταξύ κατά"
    ),
    "ja": (
        "観測 データ 研究 結果 河川 都市 気温 理論 歴史 の は を に が で と も から この その 水質 測定 "
        "方法 分析 増加 示す"
    ),
}
_WORDS_OF = {language: tuple(words.split()) for language, words in _WORDS.items()}

# Most of the text is in a few languages, as on the web.
LANGUAGES = ("en",) * 10 + ("de",) * 4 + ("fr",) * 3 + ("pl",) * 2 + ("el", "ja")

GIVEN_NAMES = tuple(
    "Anna Łukasz Maria José Zoë Peter Chloé Jürgen Olga Ahmed Wei Fatima Björn Søren Ingrid Émile "
    "Tomás Katarzyna Νίκος Ελένη 美咲 翔太 Priya Arjun Noah Emma Liam Sofia Mateo Aisha Kwame Yuki "
    "Dmitri Svetlana Siobhán Ewa Piotr Hanna Lars Inés Marek Nadia Omar Paolo Giulia Renée Viktor "
    "Žofia Müge Çelik".split()
)
FAMILY_NAMES = tuple(
    "Smith Kowalski Müller García Dubois Nowak O'Brien Jensen Nielsen Rossi Ivanova Petrov Tanaka "
    "Suzuki Chen Wang Patel Singh Okafor Mensah Hansen Larsen Wiśniewski Wójcik Fernández López "
    "Schröder Weiß Lefèvre Moreau Bianchi Papadopoulos Γεωργίου Yılmaz Öztürk Novák Dvořák Horváth "
    "Szabó Andersson Lindström Virtanen Korhonen Jansen de-Vries Haddad Nasser Kim Park Nguyễn".split()
)
CITIES = tuple(
    "Warszawa Kraków Berlin München Köln Paris Lyon Zürich Genève London Dublin København Århus Oslo "
    "Stockholm Malmö Helsinki Madrid Málaga Lisboa Roma Milano Αθήνα İstanbul 東京 京都 Praha Brno "
    "Wien Budapest".split()
)

# Pieces that make prose awkward for a parser: escapes, quotation marks, characters outside the basic plane.
_AWKWARD = (
    '\\"as it is called\\"',
    "(C:\\\\data\\\\run)",
    "5\\u00B0C",
    "caf\\u00E9",
    "\\U0001F30D",
    "🚀",
    "naïve",
    "x²",
    "≥ 3",
    "a\\tb",
)


def ranked(uniform: RandomFloat, population: int) -> int:
    """Return a number from 1 to `population`, small ones far more often (by Zipf's law)."""
    return int(population ** uniform())


def person_name(uniform: RandomFloat) -> tuple[str, str]:
    given = GIVEN_NAMES[ranked(uniform, len(GIVEN_NAMES)) - 1]
    family = FAMILY_NAMES[int(uniform() * len(FAMILY_NAMES))]
    return given, family


def sentence(language: str, uniform: RandomFloat) -> str:
    words = _WORDS_OF[language]
    chosen = [words[int(len(words) * uniform() ** 2)] for _ in range(6 + int(uniform() * 14))]
    if uniform() < 0.12:
        chosen[int(uniform() * len(chosen))] = _AWKWARD[int(uniform() * len(_AWKWARD))]
    chosen[0] = chosen[0][:1].upper() + chosen[0][1:]
    if language == "ja":
        return "".join(chosen) + "。"
    if len(chosen) > 10:
        chosen[5] += ","
    return " ".join(chosen) + "."


class Prose:
    """A stock of sentences in each language; longer texts are drawn from it, which is fast."""

    def __init__(self, seed: str, sentences: int = 1500) -> None:
        uniform = random.Random(seed).random
        self._sentences = {language: [sentence(language, uniform) for _ in range(sentences)] for language in _WORDS_OF}

    def paragraphs(self, language: str, sentences: int, uniform: RandomFloat) -> str:
        """Return a number of sentences, with an escaped line break now and then."""
        stock = self._sentences[language]
        size = len(stock)
        text = " ".join([stock[int(uniform() * size)] for _ in range(sentences)])
        if sentences > 6:
            middle = text.find(". ", len(text) // 2)
            if middle > 0:
                text = f"{text[: middle + 1]}\\n\\n{text[middle + 2 :]}"
        return text
