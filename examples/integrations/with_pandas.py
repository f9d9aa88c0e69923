"""A data frame of pandas with categorical columns, and back: `python -m examples.integrations.with_pandas`."""

from __future__ import annotations

import tempfile

import jellyframe
from examples.integrations.people import FOAF, write_people


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_people(folder)
        frame = jellyframe.read_pandas(path, dictionary=True)
        print(frame["p"].value_counts().to_dict()[FOAF + "age"], "ages")
        names = jellyframe.read_pandas(path, predicates=FOAF + "name", columns=["s", "o"])
        print(sorted(names["o"]))
        jellyframe.write_table(frame, f"{folder}/copy.jelly")
        print("the same again:", jellyframe.compare(path, f"{folder}/copy.jelly").is_equal)


if __name__ == "__main__":
    main()
