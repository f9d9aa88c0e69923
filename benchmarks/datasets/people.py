"""People, where they live and work, and whom they know: FOAF and schema.org, blank nodes, many scripts."""

import random
from collections.abc import Iterator

from .vocabulary import RDF_TYPE, RDFS_SEE_ALSO, XSD_DATE, XSD_INTEGER
from .wording import CITIES, LANGUAGES, Prose, person_name, ranked

FOAF = "http://xmlns.com/foaf/0.1/"
SCHEMA = "http://schema.org/"
BASE = "https://people.example.org/id/"
ORGANISATIONS = 20_000
# Far more people are linked to than described in a short data set, as in a crawl.
POPULATION = 2_000_000
_SERVICES = ("https://social.example.net/", "https://code.example.com/", "https://photos.example.org/")


def _person(number: int) -> str:
    return f"<{BASE}p{number:07}>"


def _address(person: str, label: str, rng: random.Random) -> list[str]:
    city = CITIES[ranked(rng.random, len(CITIES)) - 1]
    return [
        f"{person} <{SCHEMA}address> {label} .\n",
        f"{label} {RDF_TYPE} <{SCHEMA}PostalAddress> .\n",
        f'{label} <{SCHEMA}addressLocality> "{city}" .\n',
        f'{label} <{SCHEMA}postalCode> "{int(rng.random() * 90000) + 10000}" .\n',
    ]


def _account(person: str, label: str, name: str, rng: random.Random) -> list[str]:
    service = _SERVICES[ranked(rng.random, len(_SERVICES)) - 1]
    return [
        f"{person} <{FOAF}account> {label} .\n",
        f'{label} <{FOAF}accountName> "{name}" .\n',
        f"{label} <{FOAF}accountServiceHomepage> <{service}> .\n",
    ]


def blocks(rng: random.Random) -> Iterator[list[str]]:
    uniform = rng.random
    prose = Prose("people")
    number = 0
    while True:
        number += 1
        person = _person(number)
        given, family = person_name(uniform)
        nickname = f"user{int(uniform() * 1_000_000)}"
        birth = f"{1930 + int(uniform() * 80)}-{1 + int(uniform() * 12):02}-{1 + int(uniform() * 28):02}"
        lines = [
            f"{person} {RDF_TYPE} <{FOAF}Person> .\n",
            f'{person} <{FOAF}name> "{given} {family}" .\n',
            f'{person} <{FOAF}givenName> "{given}" .\n',
            f'{person} <{FOAF}familyName> "{family}" .\n',
            f"{person} <{FOAF}mbox> <mailto:{nickname}@example.com> .\n",
            f'{person} <{SCHEMA}birthDate> "{birth}"^^{XSD_DATE} .\n',
            f"{person} <{SCHEMA}worksFor> <https://orgs.example.org/o/{ranked(uniform, ORGANISATIONS)}> .\n",
        ]
        if uniform() < 0.4:
            language = LANGUAGES[int(uniform() * len(LANGUAGES))]
            text = prose.paragraphs(language, 1 + int(uniform() * 2), uniform)
            lines.append(f'{person} <{SCHEMA}description> "{text}"@{language} .\n')
        if uniform() < 0.3:
            lines.append(f'{person} <{FOAF}age> "{18 + int(uniform() * 70)}"^^{XSD_INTEGER} .\n')
        if uniform() < 0.5:
            lines += _address(person, f"_:a{number}", rng)
        if uniform() < 0.5:
            lines += _account(person, f"_:acc{number}", nickname, rng)
        if uniform() < 0.2:
            lines.append(f"{person} {RDFS_SEE_ALSO} <https://en.example.org/wiki/{given}_{number}> .\n")
        for _ in range(ranked(uniform, 40)):
            # Friends are often people described not long ago, else anybody, the well-known ones more often.
            friend = ranked(uniform, POPULATION)
            if uniform() < 0.5:
                friend = max(1, number - ranked(uniform, 1000))
            lines.append(f"{person} <{FOAF}knows> {_person(friend)} .\n")
        yield lines
