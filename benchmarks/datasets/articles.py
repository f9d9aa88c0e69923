"""News articles in schema.org: bodies of up to a few thousand characters, escapes, language tags."""

import random
from collections.abc import Iterator

from .vocabulary import RDF_TYPE, XSD_DATE_TIME, XSD_INTEGER
from .wording import LANGUAGES, Prose, ranked

SCHEMA = "http://schema.org/"
BASE = "https://news.example.org/"
AUTHORS = 3000
KEYWORDS = 8000


def blocks(rng: random.Random) -> Iterator[list[str]]:
    uniform = rng.random
    prose = Prose("articles")
    number = 0
    while True:
        number += 1
        language = LANGUAGES[int(uniform() * len(LANGUAGES))]
        date = f"{2005 + int(uniform() * 20)}-{1 + int(uniform() * 12):02}-{1 + int(uniform() * 28):02}"
        article = f"<{BASE}{date[:4]}/{date[5:7]}/article-{number:x}>"
        published = f'"{date}T{int(uniform() * 24):02}:00:00Z"^^{XSD_DATE_TIME}'
        body = prose.paragraphs(language, 6 + ranked(uniform, 60), uniform)
        lines = [
            f"{article} {RDF_TYPE} <{SCHEMA}NewsArticle> .\n",
            f'{article} <{SCHEMA}headline> "{prose.paragraphs(language, 1, uniform)}"@{language} .\n',
            f'{article} <{SCHEMA}abstract> "{prose.paragraphs(language, 3, uniform)}"@{language} .\n',
            f'{article} <{SCHEMA}articleBody> "{body}"@{language} .\n',
            f'{article} <{SCHEMA}inLanguage> "{language}" .\n',
            f"{article} <{SCHEMA}datePublished> {published} .\n",
            f'{article} <{SCHEMA}wordCount> "{body.count(" ") + 1}"^^{XSD_INTEGER} .\n',
            f"{article} <{SCHEMA}publisher> <{BASE}publisher/{ranked(uniform, 40)}> .\n",
        ]
        for _ in range(ranked(uniform, 4)):
            lines.append(f"{article} <{SCHEMA}author> <{BASE}author/{ranked(uniform, AUTHORS)}> .\n")
        for _ in range(1 + int(uniform() * 6)):
            lines.append(f"{article} <{SCHEMA}about> <{BASE}topic/{ranked(uniform, KEYWORDS)}> .\n")
        for comment_number in range(ranked(uniform, 6) - 1):
            comment = f"_:c{number:x}x{comment_number}"
            text = prose.paragraphs(language, 1 + int(uniform() * 3), uniform)
            lines += (
                f"{article} <{SCHEMA}comment> {comment} .\n",
                f'{comment} <{SCHEMA}text> "{text}" .\n',
            )
        yield lines
