"""Write the table into the documentation."""

from __future__ import annotations

from tests.rulebook.table import PAGE, problems, table


def main() -> None:
    for problem in problems():
        print(problem)
    PAGE.write_text(table(), encoding="utf-8")


if __name__ == "__main__":
    main()
