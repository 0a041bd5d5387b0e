"""Patterns: secrets that are recognised by their form alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from ragforge.memory.secrets.services import SERVICES
from ragforge.memory.secrets.values import (
    is_login,
    is_placeholder,
    is_random,
    is_sample,
    is_strong,
)
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """A kind of secret. Each one contains one of the hints.

    The pattern is tried only at a hint, so that other text costs only a substring search. It never
    backtracks over a long run: classes are possessive and match from the left edge of a run.
    """

    what: str
    hints: tuple[str, ...]
    regex: str
    is_secret: Callable[[str], bool]
    group: int = 0  # what to redact; the rest of the match stays
    any_case: bool = False  # the hints are in lower case, the text may be in any case
    back: int = 0  # how far before the hint the pattern begins
    long: bool = False  # has a run of RUN characters, with its hint at most REACH before it

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern. Most are never needed, and all of them take long to compile."""
        return _compile(self.regex)


@cache
def _compile(regex: str) -> re.Pattern[str]:
    return re.compile(regex)


def _is_key(value: str) -> bool:
    return not is_sample(value)


def _is_credential(value: str) -> bool:
    return not is_placeholder(value) and (len(value) >= 20 or any(c.isdigit() for c in value))


def _is_password(value: str) -> bool:
    return not is_placeholder(value) and not value.isdigit()


def _build(
    what: str, prefixes: str, body: str, *, edge: str = "A-Za-z0-9", long: bool = True
) -> SecretPattern:
    """Return the pattern of a key that begins with one of the space-separated prefixes."""
    hints = tuple(prefixes.split())
    starts = "|".join(map(re.escape, hints))
    pattern = f"(?a)(?<![{edge}])(?:{starts})(?:{body})(?![A-Za-z0-9])"
    return SecretPattern(what, hints, pattern, _is_key, long=long)


PATTERNS: tuple[SecretPattern, ...] = (
    _build("Anthropic key", "sk-ant-", r"[\w-]{20,}+"),
    _build("OpenAI key", "sk-", r"(?:proj|svcacct|admin|None)-[\w-]{20,}+|[A-Za-z0-9]{20,}+(?!-)"),
    _build("OpenRouter key", "sk-or-v1-", r"[0-9a-f]{32,}+"),
    _build("Langfuse key", "sk-lf-", r"[0-9a-f-]{32,}+"),
    _build("Groq key", "gsk_", r"[A-Za-z0-9]{40,}+"),
    _build("xAI key", "xai-", r"[A-Za-z0-9]{40,}+"),
    _build("Perplexity key", "pplx-", r"[A-Za-z0-9]{32,}+"),
    _build("Replicate token", "r8_", r"[A-Za-z0-9]{30,}+"),
    _build("Pinecone key", "pcsk_", r"[\w-]{40,}+"),
    _build("LangSmith key", "lsv2_", r"(?:pt|sk)_[0-9a-f_]{32,}+"),
    _build("Hugging Face token", "hf_ api_org_", r"[A-Za-z0-9]{30,}+"),
    _build("Google API key", "AIza", r"[\w-]{35}"),
    _build("Google OAuth secret", "GOCSPX-", r"[\w-]{24,}+"),
    _build("Google OAuth token", "ya29.", r"[\w.-]{20,}+"),
    _build("Google refresh token", "1//0", r"[\w-]{30,}+"),
    _build("AWS access key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?!_)"),
    _build("Alibaba access key", "LTAI", r"[A-Za-z0-9]{16,24}+"),
    _build("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,}+"),
    _build("GitHub token", "github_pat_", r"\w{36,}+"),
    _build("GitLab token", "glpat- gldt- glrt- glptt- glcbt- glsoat-", r"[\w.-]{20,}+"),
    _build("Bitbucket token", "ATBB", r"[A-Za-z0-9]{28,}+"),
    _build("Atlassian token", "ATATT3", r"[\w=-]{50,}+"),
    _build("Slack token", "xoxa- xoxb- xoxp- xoxr- xoxs- xoxe- xoxe. xapp-", r"[\w.-]{16,}+"),
    _build("Slack webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/[\w/-]{20,}+"),
    _build("Discord webhook", "/api/webhooks/", r"\d{15,20}/[\w-]{40,}+", edge="\n"),
    _build("Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_", r"[A-Za-z0-9]{16,}+"),
    _build("Stripe webhook secret", "whsec_", r"[A-Za-z0-9+/]{24,}+={0,2}", long=False),
    _build("SendGrid key", "SG.", r"[\w-]{16,32}+\.[\w-]{20,64}+"),
    _build("Twilio key", "SK", r"[0-9a-f]{32}", edge="A-Za-z0-9_"),
    _build("Mailgun key", "key-", r"[0-9a-f]{32}"),
    _build("Brevo key", "xkeysib- xsmtpsib-", r"[\w-]{40,}+"),
    _build("npm token", "npm_", r"[A-Za-z0-9]{36}"),
    _build("PyPI token", "pypi-", r"[\w-]{50,}+"),
    _build("RubyGems key", "rubygems_", r"[0-9a-f]{48}"),
    _build("Docker token", "dckr_pat_ dckr_oat_", r"[\w-]{20,}+"),
    _build("Telegram bot token", ":AA", r"(?<=\d{8}:AA)[\w-]{33}", edge="\n"),
    _build("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    _build("Azure key", "AccountKey= SharedAccessKey=", r"[A-Za-z0-9+/]{40,}+={0,2}", long=False),
    _build(
        "Azure signature", "sig=", r"(?:[A-Za-z0-9+/_-]|%[0-9A-Fa-f]{2}){40,}+={0,2}", long=False
    ),
    _build("Databricks token", "dapi", r"[0-9a-f]{32}(?:-\d)?"),
    _build("Square token", "sq0atp- sq0csp- sq0idp-", r"[\w-]{22,}+"),
    _build("Square token", "EAAA", r"[\w-]{58,64}+", edge=r"\w+/=-"),
    _build("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    _build("Linear key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,}+"),
    _build("Notion token", "secret_ ntn_", r"[A-Za-z0-9]{40,}+"),
    _build("Figma token", "figd_", r"[\w-]{36,}+"),
    _build("Postman key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _build("New Relic key", "NRAK-", r"[A-Z0-9]{27}"),
    _build("Sentry token", "sntrys_ sntryu_", r"[\w+/=-]{40,}+", long=False),
    _build("Grafana token", "glsa_ glc_", r"[\w+/=]{32,}+"),
    _build("Heroku key", "HRKU-", r"[\w-]{36,}+"),
    _build("Tailscale key", "tskey-", r"[a-z]{3,12}-[\w-]{16,}+"),
    _build("Terraform token", ".atlasv1.", r"[\w-]{60,}+", edge="\n"),
    _build("Pulumi token", "pul-", r"[0-9a-f]{40}"),
    _build("Doppler token", "dp.", r"(?:pt|st|sa|ct|scim|audit)\.[\w.-]{40,}+"),
    _build("Vault token", "hvs. hvb. hvr.", r"[\w-]{24,}+"),
    _build("1Password token", "ops_eyJ", r"[\w-]{60,}+"),
    _build("PlanetScale secret", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.-]{32,}+"),
    _build("Supabase key", "sbp_ sb_secret_", r"[\w-]{30,}+"),
    _build("Netlify token", "nfp_", r"[A-Za-z0-9]{36,}+"),
    _build("HubSpot token", "pat-na1- pat-eu1-", r"[0-9a-f-]{36}"),
    _build("SonarQube token", "sqp_ squ_ sqa_", r"[0-9a-f]{40}"),
    _build("age key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{58}"),
    _build("JWT", "eyJ", r"[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]{8,}+", edge=r"\w-"),
    *(_build(what, starts, rest, long="/" not in starts) for what, starts, rest in SERVICES),
    SecretPattern(
        "Azure client secret",
        ("Q~",),
        r"(?a)(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}+(?![\w~-])",
        _is_key,
        back=4,
    ),
    SecretPattern(
        "password",
        ("://",),
        (
            r"(?<=[A-Za-z0-9])://[^\s/:@\"'`<>\[\](){},;|\\]*+(?::|%3[Aa])"
            r"(?!\d{1,5}[^\w@%.~!$*+=-])([^\s/\"'`<>|\\]+)@(?=[\w\[{$%<*.-])"
        ),
        lambda value: not is_placeholder(value),
        group=1,
    ),
    SecretPattern(
        "authorization",
        ("authorization",),
        (
            r"(?ai:authorization(?:_header)?[\\\"'\]]{0,6}\s{0,4}(?::|=>?|,)\s{0,4}[\\\"'`]{0,4}"
            r"(?:bearer|token|bot|basic|apikey|api-key|key|genie ?key|oauth)[ :=]\s{0,4})"
            r"([A-Za-z0-9._~+/=|:-]{8,}+)"
        ),
        _is_credential,
        group=1,
        any_case=True,
    ),
    SecretPattern(
        "bearer token",
        ("bearer",),
        r"(?ai:bearer)[ \t]{1,4}([A-Za-z0-9._~+/=|-]{16,}+)",
        is_random,
        group=1,
        any_case=True,
    ),
    SecretPattern(
        "basic credentials",
        ("basic",),
        r"(?ai:basic)[ \t]{1,4}([A-Za-z0-9+/]{8,}+={0,2})",
        is_login,
        group=1,
        any_case=True,
    ),
    SecretPattern(
        "password",
        ("IDENTIFIED BY ",),
        r"IDENTIFIED BY ['\"]([^'\"\n]{3,200}+)",
        _is_password,
        group=1,
    ),
    SecretPattern(
        "password",
        ("identified by ",),
        r"(?i:identified by )['\"]([^'\"\n]{3,200}+)",
        is_strong,
        group=1,
        any_case=True,
    ),
    SecretPattern(
        "password",
        ("curl ",),
        (
            r"curl (?:[^\n]{0,400}? )?(?:-u|--user|--proxy-user)[ =]{0,2}[\"']?"
            r"[^\s:\"'$]{1,100}+:([^\s\"']{3,200}+)"
        ),
        _is_password,
        group=1,
    ),
    SecretPattern(
        "password",
        ("sshpass",),
        r"sshpass[ \t]{1,4}-p[ \t]{0,4}['\"]?([^\s'\"]{3,200}+)",
        _is_password,
        group=1,
    ),
    SecretPattern(  # -pPASSWORD, where a space would name a database
        "password",
        ("mysql", "mariadb"),
        r"(?:mysql|mariadb)\w*+(?:-dump|-admin)? (?:[^\n]{0,300}? )?-p['\"]?"
        r"([^\s'\"=-][^\s'\"]{2,200}+)",
        _is_password,
        group=1,
    ),
    SecretPattern(  # the password after a flag of its own
        "password",
        ("redis-cli ", "docker login ", "mongosh ", "mongodump "),
        r"(?:redis-cli (?:[^\n]{0,200}? )?-a|docker login (?:[^\n]{0,200}? )?-p"
        r"|mongo(?:sh|dump) (?:[^\n]{0,200}? )?-p)[ \t]{1,4}['\"]?([^\s'\"-][^\s'\"]{2,200}+)",
        _is_password,
        group=1,
    ),
    SecretPattern(
        "password",
        ("pass:",),
        r"(?<=[ =\"'])pass:([^\s\"'`<>]{4,200}+)(?![\"'`]?\s*[,:)])",
        lambda value: is_strong(value) and not is_placeholder(value),
        group=1,
    ),
    SecretPattern(  # a line of .pgpass
        "password",
        (":5432:", ":5433:", ":6432:", ":*:*:"),
        r":(?:\d{4}|\*):[^\s:\"'`/]{1,63}+:[^\s:\"'`/]{1,63}+:([^\s\"'`]{3,200}+)(?=[\s\"'`]|\Z)",
        _is_password,
        group=1,
    ),
    SecretPattern(  # a token in the place of a user
        "token",
        ("://",),
        r"(?<=[A-Za-z0-9])(?<!ssh)://([A-Za-z0-9_.~-]{16,200}+)(?::(?:x-oauth-basic)?)?@(?=[\w\[-])",
        is_random,
        group=1,
    ),
    SecretPattern(
        "Airtable key",
        ("airtable",),
        r"(?ai:airtable)[^\n]{0,80}?(?<![A-Za-z0-9])(key[A-Za-z0-9]{14})(?![A-Za-z0-9])",
        lambda value: any(char.isdigit() for char in value) and value.lower() != value,
        group=1,
        any_case=True,
    ),
    SecretPattern(
        "Azure function key",
        ("AzFu", "AzSe", "AzCa"),
        r"(?a)(?<![\w+/-])[\w+/-]{44}Az(?:Fu|Se|Ca)[\w+/-]{4,8}={0,2}(?![\w+/=-])",
        _is_key,
        back=44,
        long=True,
    ),
    SecretPattern(
        "Mailchimp key",
        ("-us",),
        r"(?<![0-9A-Za-z])[0-9a-f]{32}-us\d{1,2}(?![0-9A-Za-z])",
        _is_key,
        back=32,
        long=True,
    ),
    SecretPattern(
        "Google Chat webhook",
        ("chat.googleapis.com/v1/spaces/",),
        r"chat\.googleapis\.com/v1/spaces/[^\s\"'<>]{1,200}?[?&]token=([\w%-]{20,}+)",
        _is_key,
        group=1,
    ),
    SecretPattern(
        "application key",
        ("base64:",),
        r"(?<![\w/;,])base64:([A-Za-z0-9+/]{43}=)(?![A-Za-z0-9+/=])",
        _is_key,
        group=1,
    ),
)

COOKIES = re.compile(r"(?i)\b(?:set-)?cookie[\"']?\s{0,4}[:=,]\s{0,4}[\"']?([^\n\"'<>]{3,8000}+)")
COOKIE = re.compile(r"(?:\A|;)\s*([^\s=;,\"']{1,80}+)=([^\s;,\"'\\]{6,4000}+)")
SESSION = re.compile(r"(?i)sess|sid\b|auth|token|jwt|csrf|xsrf|remember|login|identity|secret")
"""Names of cookies that let somebody in."""

_EDGE, _END = r"(?a)(?<![\w.-])", r"(?![\w.-])"
BESIDE_A_WORD = (
    (
        "discord",
        "Discord token",
        re.compile(rf"{_EDGE}([MNO][\w-]{{23,27}}+\.[\w-]{{6}}\.[\w-]{{27,40}}+){_END}"),
    ),
    ("okta", "Okta token", re.compile(rf"{_EDGE}(00[\w-]{{40}}){_END}")),
    ("ssws", "Okta token", re.compile(rf"{_EDGE}(00[\w-]{{40}}){_END}")),
    ("asana", "Asana token", re.compile(r"(?<![\w/])([12]/\d{13,17}(?:/\d{13,17})?:[0-9a-f]{32})")),
    ("twitter", "Twitter token", re.compile(rf"{_EDGE}(A{{20,}}[\w%]{{60,}}+)")),
)
"""They have no prefix of their own, so they are searched for only in a text with such a word."""

PEM_MARK = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----")
_GAP = r"(?:\\{1,4}[nrt]|[\s\"'`+>|#,*\\-]|\d{1,6}[\t:|→])"
PEM_HEADERS = (
    rf"(?:{_GAP}*+(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\n\\]{{0,200}}+)*+"
)
KEY_STARTS = re.compile(  # how the bodies of private keys begin
    r"(?<![A-Za-z0-9+/])(?:b3BlbnNzaC1rZXktdjEA|MII[A-Z][\w+/]{2}IBAAKCA|MII[A-Z][\w+/]{2}IBADANBgkqhkiG9w0BAQ"
    r"|MHcCAQEEI|MHQCAQEEI|MIGkAgEBBD|MIGHAgEAMBMGByqGSM49|MC4CAQAwBQYDK2VwBCIEI|MIGTAgEAMBMGByqGSM49"
    r"|lQ(?:OYB|VYB|dGB|IGB)[A-Za-z0-9+/])[A-Za-z0-9+/]{8,}+"
)
KEY_HINTS = ("b3BlbnNzaC1rZXktdjEA", "AKCA", "BADANBgkqhkiG9w0BAQ", "CAQEEI", "MIG", "MC4CAQ", "lQ")
KEY_LINE = re.compile(r"(?<![A-Za-z0-9+/=])([A-Za-z0-9+/]{4,}={0,2})(?:\\[nr])*[\"'`,;)+ \t\r]*$")
"""The end of a line of such a body, whatever stands before it: `server.txt:3:MIIE…`."""
FULL_LINE = 40
PEM_BODY = re.compile(rf"{PEM_HEADERS}(?:{_GAP}*+[A-Za-z0-9+/=]{{16,}}+)+")
KEY_RUN = re.compile(r"[A-Za-z0-9+/=]{16,}+")
PUTTY = re.compile(
    r"(Private-Lines: \d{1,3}(?:\s{1,2}|\\n))((?:[A-Za-z0-9+/=]{4,}+(?:\r?\n|(?:\\r)?\\n|\Z))+)"
)
