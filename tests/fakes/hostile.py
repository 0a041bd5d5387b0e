"""Hostile texts: what a store must keep exactly, whatever it is made of."""

from __future__ import annotations

HOSTILE: dict[str, str] = {
    "emoji": "👩‍👩‍👧‍👦 🇫🇷 👍🏽 \U0001f9ff",
    "right to left": "שלום مرحبا \u202eabc\u202c",
    "combining": "e\u0301 é n\u0303 Z͑ͫ̓a͐̓l̀g̕o Å \u212b",
    "east asian": "修复数据库连接 データベース 데이터베이스 𠮷野家",
    "NUL": "before\x00after\x00",
    "control": "\x01\x1b[31m\x7f\x85\u2028\u2029\ufeff\uffff",
    "newlines": "\r\n one\n\n two\r three\t \n",
    "spaces": "  \u00a0 \u3000 ",
    "quotes": 'it\'s "quoted" `here` \'\'\' """ «»',
    "backslashes": "C:\\new\\table\\\\ \\' \\\" \\u0041 \\",
    "SQL": "'; DROP TABLE message; -- ' OR 1=1 /* %_% */ ? :name $1 @p",
    "Cypher": "'}) DETACH DELETE n // $uuid {uuid: $x} `Label` MATCH (n) RETURN n;",
    "words syntax": 'NEAR(a b) AND OR NOT col:* "open ( ^ -x +y a* field:value ~2 [a TO b]',
    "braces": "{} {{0}} %s %(x)s ${HOME} $(id) <script>&amp;</script>",
    "JSON": '{"a": [null, 1e999, "\\ud800"]}',
    "long": "long ünïcödé line " * 5_000,
}

NOT_UNICODE = "half a pair: \ud83d"
"""Holds a lone surrogate."""

HOSTILE_QUERIES: tuple[str, ...] = (
    '"',
    "'",
    '"zebra',
    "zebra*",
    "*",
    "^zebra",
    "NEAR(",
    "NEAR(zebra crossing, 2)",
    "AND OR NOT",
    "zebra AND",
    "NOT zebra",
    "content:zebra",
    "field:",
    ")",
    "((zebra",
    "{zebra}",
    "zebra~",
    "zebra^9",
    "[a TO z]",
    "/zebra/",
    "zebra && || !",
    "-zebra",
    "+zebra",
    "\\",
    "zebra\\",
    "zebra\x00crossing",
    "$zebra",
    "zebra; DROP TABLE message",
)
