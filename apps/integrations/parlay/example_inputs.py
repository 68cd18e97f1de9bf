# SPDX-License-Identifier: Apache-2.0
"""The files that some examples of parlaylib read. They have random content, the same each time."""
import random
import string


def text(rng, length):
    """Words of 2 to 9 letters, of which some are much more frequent than others."""
    words = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 9)))
             for _ in range(20000)]
    shares = [1 / rank for rank in range(1, len(words) + 1)]
    return " ".join(rng.choices(words, shares, k=length // 6))[:length]


def table(rng):
    """Rows of ten pairs of an integer and a class, and the class of the row with some noise."""
    rows = ["i,d," * 10 + "d"]
    for _ in range(100000):
        row = [rng.randrange(limit) for _ in range(10) for limit in (64, 6)]
        noise = rng.random() < 0.1
        row.append((row[0] // 32 + row[1] + row[3] + noise) % 4)
        rows.append(",".join(map(str, row)))
    return "\n".join(rows)


def sparse(rng):
    """A vector of 2000 values, and a sparse matrix of 2000 rows, 5000 columns and 10^5 entries."""
    rows = ["y,2000", *(f"{rng.uniform(-1, 1):f}" for _ in range(2000)), "A,100000,5000", "b"]
    cells_used = sorted(rng.sample(range(2000 * 5000), 100000))
    return "\n".join(rows + [f"{cell + 1},{rng.uniform(-1, 1):f}" for cell in cells_used]) + "\n"


FILES = {"text1m": lambda rng: text(rng, 1000000), "text10m": lambda rng: text(rng, 10000000),
         "table.csv": table, "lasso.csv": sparse}


def write(folder):
    for name, content in FILES.items():
        (folder / name).write_text(content(random.Random(1)))
