"""Weather stations and their observations, in SOSA and QUDT: short typed literals, many new subjects."""

import random
from collections.abc import Iterator

from .vocabulary import RDF_TYPE, RDFS_LABEL, XSD_BOOLEAN, XSD_DATE_TIME, XSD_DECIMAL, XSD_DOUBLE
from .wording import CITIES, ranked

STATIONS = 4000
SOSA = "http://www.w3.org/ns/sosa/"
QUDT = "http://qudt.org/schema/qudt/"
GEO = "http://www.w3.org/2003/01/geo/wgs84_pos#"
BASE = "https://weather.example.org/"

# property, unit, middle of the usual range, its width, decimals
_PROPERTIES = (
    ("AirTemperature", "DEG_C", 11.0, 30.0, 1),
    ("RelativeHumidity", "PERCENT", 65.0, 60.0, 0),
    ("WindSpeed", "M-PER-SEC", 6.0, 12.0, 1),
    ("AirPressure", "HectoPA", 1013.0, 50.0, 1),
    ("Rainfall", "MilliM", 1.5, 3.0, 2),
    ("Visibility", "M", 9000.0, 18000.0, 0),
    ("SolarRadiation", "W-PER-M2", 320.0, 640.0, 2),
    ("SoilMoisture", "PERCENT", 30.0, 40.0, 3),
)


def _time_stamp(minutes: int) -> str:
    days, minute_of_day = divmod(minutes, 1440)
    month, day = divmod(days % 336, 28)
    year = 2020 + days // 336
    return f"{year}-{month + 1:02}-{day + 1:02}T{minute_of_day // 60:02}:{minute_of_day % 60:02}:00Z"


def _station(number: int, rng: random.Random) -> list[str]:
    station = f"<{BASE}station/S{number:05}>"
    city = CITIES[int(rng.random() * len(CITIES))]
    return [
        f"{station} {RDF_TYPE} <{SOSA}Platform> .\n",
        f'{station} {RDFS_LABEL} "{city}, station {number}"@en .\n',
        f'{station} <{GEO}lat> "{36 + 28 * rng.random():.5f}"^^{XSD_DECIMAL} .\n',
        f'{station} <{GEO}long> "{-9 + 34 * rng.random():.5f}"^^{XSD_DECIMAL} .\n',
    ]


def blocks(rng: random.Random) -> Iterator[list[str]]:
    uniform = rng.random
    described: set[int] = set()
    minutes = 0
    observation_number = 0
    while True:
        # A station reports several properties at one time.
        number = ranked(uniform, STATIONS)
        minutes += int(uniform() * 3)
        time = _time_stamp(minutes)
        station = f"<{BASE}station/S{number:05}>"
        lines: list[str] = []
        if number not in described:
            described.add(number)
            lines += _station(number, rng)
        first = int(uniform() * len(_PROPERTIES))
        for offset in range(1 + int(uniform() * 4)):
            name, unit, middle, width, decimals = _PROPERTIES[(first + offset) % len(_PROPERTIES)]
            observation_number += 1
            observation = f"<{BASE}observation/{observation_number:x}-{number}>"
            value = f"{middle + width * (uniform() - 0.5):.{decimals}f}"
            lines += (
                f"{observation} {RDF_TYPE} <{SOSA}Observation> .\n",
                f"{observation} <{SOSA}madeBySensor> <{BASE}sensor/S{number:05}/{name}> .\n",
                f"{observation} <{SOSA}observedProperty> <{BASE}property/{name}> .\n",
                f"{observation} <{SOSA}hasFeatureOfInterest> {station} .\n",
                f'{observation} <{SOSA}resultTime> "{time}"^^{XSD_DATE_TIME} .\n',
            )
            if uniform() < 0.5:
                lines.append(f'{observation} <{SOSA}hasSimpleResult> "{value}"^^{XSD_DOUBLE} .\n')
            else:
                result = f"_:r{observation_number:x}"
                lines += (
                    f"{observation} <{SOSA}hasResult> {result} .\n",
                    f"{result} {RDF_TYPE} <{QUDT}QuantityValue> .\n",
                    f'{result} <{QUDT}numericValue> "{value}"^^{XSD_DECIMAL} .\n',
                    f"{result} <{QUDT}unit> <http://qudt.org/vocab/unit/{unit}> .\n",
                )
            if uniform() < 0.1:
                suspect = "true" if uniform() < 0.3 else "false"
                lines.append(f'{observation} <{BASE}def/suspect> "{suspect}"^^{XSD_BOOLEAN} .\n')
        yield lines
