"""Makes the workbooks and Arrow files beside it, and the text that they equal.

    pip install pandas openpyxl odfpy pyarrow && python make_tables.py
"""

import datetime
import random

import pandas

draw = random.Random(7)
n = 12
table = pandas.DataFrame(
    {
        "id": [f"s{i}" for i in range(n)],
        "x1": [round(draw.gauss(i % 2, 1), 3) for i in range(n)],
        "grade": [["low", "mid, or so", 'high "h"'][i % 3] for i in range(n)],
        "count": [i * i for i in range(n)],
        "half": [None if i == 4 else i / 2 for i in range(n)],
        "flag": [i % 4 == 0 for i in range(n)],
        "when": [datetime.datetime(2024, 1, 30) + datetime.timedelta(days=i) for i in range(n)],
        "y": [["no", "yes"][i % 3 % 2] for i in range(n)],
    }
)
table.to_csv("table.csv", index=False, date_format="%Y-%m-%d")
table.to_excel("table.xlsx", index=False)
table.to_excel("table.ods", index=False, engine="odf")
table.to_feather("table.feather", compression="uncompressed")
categories = table.assign(
    grade=table["grade"].astype("category"), count=table["count"].astype("int16"), y=table["y"].astype("category")
)
categories.to_feather("categories.feather", compression="zstd")
with pandas.ExcelWriter("sheets.xlsx") as book:
    pandas.DataFrame({"note": ["the data are on the other sheet"]}).to_excel(book, sheet_name="read me", index=False)
    table.to_excel(book, sheet_name="data", index=False, startrow=2, startcol=1)
