"""Fake secrets: samples made at run time, so that no scanner trips over this file."""

from __future__ import annotations

import base64
import json
import random
import string
from dataclasses import dataclass

HEX = "0123456789abcdef"
CAPS = string.ascii_uppercase + string.digits
ALNUM = string.ascii_letters + string.digits
URL64 = ALNUM + "_-"


@dataclass(frozen=True, slots=True)
class Sample:
    """A text with one secret in it."""

    before: str
    secret: str
    after: str
    what: str  # as the marker calls it

    @property
    def text(self) -> str:
        """The text as it was written."""
        return self.before + self.secret + self.after

    @property
    def redacted(self) -> str:
        """The text as it ought to be stored: lines keep their numbers."""
        lines = "\n" * self.secret.count("\n")
        return f"{self.before}[redacted: {self.what}]{lines}{self.after}"


def made(size: int, alphabet: str = ALNUM, seed: int = 0) -> str:
    """Return characters that look random, the same ones every time, a letter at each end."""
    dice = random.Random(f"{size} {alphabet} {seed}")
    ends = [char for char in alphabet if char.isalnum()]
    inner = "".join(dice.choices(alphabet, k=size - 2))
    return dice.choice(ends) + inner + dice.choice(ends)


def pem(label: str, *, lines: int = 6, end: bool = True, newline: str = "\n") -> str:
    """Return a private key block that opens nothing."""
    body = [made(64, ALNUM + "+/", seed) for seed in range(lines)]
    last = [f"-----END {label}-----"] if end else []
    return newline.join([f"-----BEGIN {label}-----", *body, *last])


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


_JWT = ".".join(
    base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
    for part in ({"alg": "HS256", "typ": "JWT"}, {"sub": "1234567890", "name": "Ann"})
)

KEYS: dict[str, tuple[str, ...]] = {
    "OpenAI key": (
        "sk-" + "A1b2" * 12,
        "sk-" + made(48),
        "sk-proj-" + made(120, URL64),
        "sk-svcacct-" + made(80, URL64),
    ),
    "Anthropic key": ("sk-ant-" + "api03-" + made(93, URL64) + "AA",),
    "OpenRouter key": ("sk-or-v1-" + made(64, HEX),),
    "Langfuse key": ("sk-lf-" + "1c2d3e4f-0a1b-4c2d-8e3f-4a5b6c7d8e9f",),
    "Groq key": ("gsk_" + made(52),),
    "xAI key": ("xai-" + made(80),),
    "Perplexity key": ("pplx-" + made(48),),
    "Replicate token": ("r8_" + made(37),),
    "Pinecone key": ("pcsk_" + made(70, ALNUM + "_"),),
    "LangSmith key": ("lsv2_" + "pt_" + made(32, HEX) + "_" + made(10, HEX),),
    "Hugging Face token": ("hf_" + made(34, string.ascii_letters),),
    "Google API key": ("AIza" + "Sy" + made(33, URL64),),
    "Google OAuth secret": ("GOCSPX-" + made(28, URL64),),
    "Google OAuth token": ("ya29." + made(120, URL64),),
    "Google refresh token": ("1//0" + made(60, URL64),),
    "AWS access key": ("AKIA" + made(16, CAPS), "ASIA" + made(16, CAPS)),
    "Alibaba access key": ("LTAI" + made(20),),
    "GitHub token": (
        *(f"{kind}_" + made(36) for kind in ("ghp", "gho", "ghu", "ghs", "ghr")),
        "github_pat_" + made(22) + "_" + made(59),
    ),
    "GitLab token": ("glpat-" + made(20, URL64), "glrt-" + made(20, URL64)),
    "Bitbucket token": ("ATBB" + made(32),),
    "Atlassian token": ("ATATT3" + made(180, URL64) + "=" + made(8, HEX.upper()),),
    "Slack token": (
        *(f"xox{kind}-" + f"{10**11 + 7}-{10**12 + 9}-" + made(24) for kind in "abprs"),
        "xapp-1-" + made(11, CAPS) + "-" + made(64, HEX),
    ),
    "Slack webhook": ("hooks.slack.com/" + "services/T" + "0A1B2C3D4/B0E1F2G3H/" + made(24),),
    "Discord webhook": ("/api/webhooks/" + "1" * 3 + "234567890123456/" + made(68, URL64),),
    "Discord token": ("MT" + made(24) + "." + made(6, URL64) + "." + made(38, URL64),),
    "Stripe key": tuple(
        f"{kind}_{mode}_" + made(24) for kind in ("sk", "rk") for mode in ("live", "test")
    ),
    "Stripe webhook secret": ("whsec_" + made(32),),
    "SendGrid key": ("SG." + made(22, URL64) + "." + made(43, URL64),),
    "Twilio key": ("SK" + made(32, HEX),),
    "Mailgun key": ("key-" + made(32, HEX),),
    "Brevo key": ("xkeysib-" + made(64, HEX) + "-" + made(16),),
    "npm token": ("npm_" + made(36),),
    "PyPI token": ("pypi-" + "AgEIcHlwaS5vcmc" + made(150, URL64),),
    "RubyGems key": ("rubygems_" + made(48, HEX),),
    "Docker token": ("dckr_pat_" + made(27, URL64),),
    "DigitalOcean token": ("dop_v1_" + made(64, HEX),),
    "Azure client secret": (made(3) + "8Q~" + made(34, ALNUM),),
    "Databricks token": ("dapi" + made(32, HEX), "dapi" + made(32, HEX, 1) + "-2"),
    "Square token": ("sq0atp-" + made(22, URL64), "EAAA" + made(60)),
    "Shopify token": ("shpat_" + made(32, HEX), "shpss_" + made(32, HEX)),
    "Linear key": ("lin_api_" + made(40),),
    "Notion token": ("secret_" + made(43), "ntn_" + made(46)),
    "Figma token": ("figd_" + made(40, URL64),),
    "Postman key": ("PMAK-" + made(24, HEX) + "-" + made(34, HEX),),
    "New Relic key": ("NRAK-" + made(27, CAPS),),
    "Sentry token": ("sntrys_" + made(90),),
    "Grafana token": ("glsa_" + made(32) + "_" + made(8, HEX),),
    "Heroku key": ("HRKU-" + "1c2d3e4f-0a1b-4c2d-8e3f-4a5b6c7d8e9f",),
    "Tailscale key": ("tskey-" + "auth-" + made(16) + "-" + made(32),),
    "Pulumi token": ("pul-" + made(40, HEX),),
    "Doppler token": ("dp." + "pt." + made(43),),
    "Vault token": ("hvs." + made(90, URL64),),
    "1Password token": ("ops_eyJ" + made(120, URL64),),
    "PlanetScale secret": ("pscale_tkn_" + made(43, URL64),),
    "Supabase key": ("sbp_" + made(40, HEX),),
    "Netlify token": ("nfp_" + made(40),),
    "HubSpot token": ("pat-na1-" + "1c2d3e4f-0a1b-4c2d-8e3f-4a5b6c7d8e9f",),
    "SonarQube token": ("sqp_" + made(40, HEX),),
    "age key": ("AGE-SECRET-KEY-1" + made(58, CAPS),),
    "JWT": (_JWT + "." + made(43, URL64),),
    "private key": tuple(
        pem(label + "PRIVATE KEY" + more)
        for label, more in (
            ("", ""),
            ("RSA ", ""),
            ("EC ", ""),
            ("DSA ", ""),
            ("OPENSSH ", ""),
            ("ENCRYPTED ", ""),
            ("PGP ", " BLOCK"),
        )
    ),
}
"""Keys that their form betrays, by what the marker calls them."""

PLACES: tuple[tuple[str, str], ...] = (
    ("Hi, can you check why this fails? I use ", " and get a 401 since Monday. Thanks!"),
    ("# Discord bot\nDEBUG=1\nAPP_VALUE=", "\nPORT=8080\n"),
    ("discord:\n  name: web\n  thing: ", "\n  replicas: 2\n"),
    ('{"model": "discord-1", "thing": "', '", "retries": 3}'),
    ("2024-05-01T10:00:00Z ERROR discord.client: rejected '", "' (status 403)\n"),
    ('from discord import Client\nclient = Client("', '", timeout=30)\nclient.run()\n'),
    ("$ discord-cli login ", " --verbose\nLogin failed\n"),
    ('Traceback (most recent call last):\n  File "discord.py", line 3\nValueError: ', "\n"),
)
"""Where people leave keys."""


def shaped() -> list[Sample]:
    """Every key in two places."""
    keys = [(what, key) for what, several in KEYS.items() for key in several]
    return [
        Sample(before, key, after, what)
        for number, (what, key) in enumerate(keys)
        for before, after in (PLACES[number % 8], PLACES[(number + 3) % 8])
    ]


_PASS = "hunter2" + "!Kx"
_LONG = made(40, ALNUM + "+/", 5)
_HEX32 = made(32, HEX, 7)
_LOGIN = _b64("ann:" + _PASS)

NAMED: tuple[Sample, ...] = (
    # passwords in URLs
    Sample("DATABASE_URL=postgres://ann:", _PASS, "@db.example.com:5432/app\n", "password"),
    Sample("redis://:", _PASS, "@localhost:6379/0", "password"),
    Sample("mongodb+srv://ann:", "p@ss" + "w0rd", "@cluster0.abc.mongodb.net/?w=1", "password"),
    Sample("git clone https://ann:", _PASS, "@git.example.com/team/app.git", "password"),
    Sample('url = "amqp://guest:', "gu3st", '@rabbit:5672//"', "password"),
    Sample("proxy: http://ann:", "p%40ss1", "@10.0.0.1:3128", "password"),
    Sample("jdbc:mysql://root:", "toor", "@127.0.0.1/test", "password"),
    # code
    Sample('password = "', _PASS, '"\n', "password"),
    Sample("password = '", _PASS, "'  # temporary", "password"),
    Sample('db.connect(user="ann", password="', _PASS, '", host=host)', "password"),
    Sample('PASSWORD: str = "', _PASS, '"', "password"),
    Sample('password: Optional[str] = "', _PASS, '"', "password"),
    Sample('const dbPassword = "', _PASS, '";', "password"),
    Sample("const password: string = '", _PASS, "';", "password"),
    Sample('var password string = "', _PASS, '"', "password"),
    Sample('password := "', _PASS, '"', "password"),
    Sample('let password: &str = "', _PASS, '";', "password"),
    Sample('private static final String PASSWORD = "', _PASS, '";', "password"),
    Sample("$password = '", _PASS, "';", "password"),
    Sample("'password' => '", _PASS, "',", "password"),
    Sample('config["password"] = "', _PASS, '"', "password"),
    Sample('os.environ["DB_PASSWORD"] = "', _PASS, '"', "password"),
    Sample('monkeypatch.setenv("DB_PASSWORD", "', _PASS, '")', "password"),
    Sample('user.setPassword("', _PASS, '");', "password"),
    Sample('if password == "', _PASS, '":', "password"),
    Sample('password = b"', _PASS, '"', "password"),
    Sample('passphrase = "', "correct horse battery staple", '"', "password"),
    Sample("db_pass = '", _PASS, "'", "password"),
    Sample("userPwd: '", _PASS, "',", "password"),
    Sample("CREATE USER ann IDENTIFIED BY '", _PASS, "';", "password"),
    Sample("alter user ann with password '", _PASS, "';", "password"),
    # files of settings
    Sample("DB_HOST=db\nDB_PASSWORD=", "letmein", "\nDB_PORT=5432\n", "password"),
    Sample("export PGPASSWORD=", "a&b;c)d", "\npsql -h db\n", "password"),
    Sample("PGPASSWORD=", "letmein", " psql -h db -U ann", "password"),
    Sample('export MYSQL_PWD="', _PASS, '"', "password"),
    Sample("ENV ADMIN_PASSWORD=", "letmein", "\nRUN make\n", "password"),
    Sample("docker run -e POSTGRES_PASSWORD=", "letmein", " postgres:16", "password"),
    Sample('$env:DB_PASSWORD="', _PASS, '"', "password"),
    Sample(
        "spring.datasource.password=", "letmein", "\nspring.datasource.username=ann\n", "password"
    ),
    Sample("[db]\nuser = ann\npassword = ", _PASS, "\n", "password"),
    Sample("db:\n  user: ann\n  password: ", _PASS, "\n  port: 5432\n", "password"),
    Sample("db:\n  password: '", _PASS, "'\n", "password"),
    Sample('{"user": "ann", "password": "', _PASS, '"}', "password"),
    Sample('{"user":"ann","password":"', "letmein", '","port":1}', "password"),
    Sample('"{\\"user\\": \\"ann\\", \\"password\\": \\"', _PASS, '\\"}"', "password"),
    Sample('{"env": "A=1\\nDB_PASSWORD=', "letmein", '\\nB=2"}', "password"),
    Sample("- name: DB_PASSWORD\n  value: ", _PASS, "\n", "password"),
    Sample('{"name": "DB_PASSWORD", "value": "', _PASS, '"}', "password"),
    Sample('<property name="password" value="', _PASS, '"/>', "password"),
    Sample("<server><id>x</id><password>", "letmein", "</password></server>", "password"),
    Sample('<db user="ann" password="', _PASS, '" />', "password"),
    Sample("machine git.example.com login ann password ", _PASS, "\n", "password"),
    Sample("Server=db;User Id=ann;Password=", _PASS, ";Encrypt=true", "password"),
    Sample("https://example.com/login?user=ann&password=", "hunter2x", "&next=/", "password"),
    # commands and talk
    Sample("mysqldump --password=", "letmein", " app > dump.sql", "password"),
    Sample("tool --user ann --password ", "letmein", " --verbose", "password"),
    Sample("tool --password '", _PASS, "' --verbose", "password"),
    Sample("sshpass -p '", _PASS, "' ssh ann@host", "password"),
    Sample("curl -s -u ann:", _PASS, " https://example.com/api", "password"),
    Sample("The password is ", _PASS, " if you need it.", "password"),
    Sample("my wifi password: ", _PASS, "\nplease remember", "password"),
    # secrets, tokens and keys that only their names betray
    Sample("AWS_SECRET_ACCESS_KEY=", _LONG, "\nAWS_REGION=eu-west-1\n", "secret"),
    Sample("aws_secret_access_key = ", _LONG, "\n", "secret"),
    Sample('"SecretAccessKey": "', _LONG, '",', "secret"),
    Sample("TWILIO_AUTH_TOKEN=", _HEX32, "\n", "token"),
    Sample('api_key = "', _HEX32, '"', "key"),
    Sample('apiKey: "', made(32), '",', "key"),
    Sample('client_secret: "', made(24, URL64), '"', "secret"),
    Sample("CLIENT_SECRET=", made(24, URL64, 3), "\n", "secret"),
    Sample("clientSecret = '", "1c2d3e4f-0a1b-4c2d-8e3f-4a5b6c7d8e9f", "'", "secret"),
    Sample("SECRET_KEY = '", "django-" + made(50, ALNUM + "!@#$%^*(-_=+)", 2), "'", "secret"),
    Sample("SECRET_KEY_BASE=", made(128, HEX), "\n", "secret"),
    Sample("session_token: ", made(64, ALNUM + "+/", 3), "\n", "token"),
    Sample("//registry.npmjs.org/:_authToken=", made(30), "\n", "token"),
    Sample('{"auths": {"ghcr.io": {"auth": "', _LOGIN, '"}}}', "credentials"),
    Sample("curl -H 'X-Api-Key: ", made(32, ALNUM, 4), "' https://example.com", "key"),
    Sample("tool --token ", made(32, ALNUM, 5), " --verbose", "token"),
    Sample("tool --api-key=", made(32, ALNUM, 6), "\n", "key"),
    Sample("GET /v1/items?api_key=", made(32, ALNUM, 8), "&page=2 HTTP/1.1", "key"),
    Sample("access_token=", made(40, ALNUM, 9), "&expires_in=3600", "token"),
    Sample("my_service_key = '", made(32, ALNUM, 11), "'", "key"),
    Sample("encryptionKey: '", made(44, ALNUM, 12), "'", "key"),
    Sample("GITHUB_CREDENTIAL='", made(32, ALNUM, 13), "'", "credential"),
    Sample("JWT_SECRET=", made(32, ALNUM, 14), "\n", "secret"),
    # headers
    Sample("Authorization: Bearer ", made(40, URL64, 15), "\nAccept: */*\n", "authorization"),
    Sample("Authorization: Basic ", _LOGIN, "\n", "authorization"),
    Sample('headers = {"Authorization": "Bearer ', made(32, ALNUM, 16), '"}', "authorization"),
    Sample("curl -H 'authorization: token ", made(40, HEX, 17), "' x", "authorization"),
    Sample("sent bearer ", made(40, ALNUM, 18), " and got 403", "bearer token"),
    Sample("header was Basic ", _LOGIN, ", rejected", "basic credentials"),
    # the rest
    Sample("AccountName=ann;", "AccountKey=" + made(86, ALNUM + "+/") + "==", ";", "Azure key"),
    Sample("Endpoint=sb://x/;", "SharedAccessKey=" + made(43) + "=", "\n", "Azure key"),
    Sample("https://x.example/a?sv=2024&", "sig=" + made(43) + "%3D", "&se=1", "Azure signature"),
    Sample(
        "https://api.telegram.org/bot123456789", ":AA" + made(33), "/getMe", "Telegram bot token"
    ),
    Sample("x" * 14, ".atlasv1." + made(67), "\n", "Terraform token"),
    Sample('KEY="', pem("RSA PRIVATE KEY", newline="\\n"), '"\nA=1', "private key"),
    Sample('{"key": "', pem("PRIVATE KEY", newline="\\n"), '\\n"}', "private key"),
    Sample(
        "cut off: ", pem("RSA PRIVATE KEY", end=False), "\n\nand so on, as I said", "private key"
    ),
    Sample("one line: ", pem("EC PRIVATE KEY", newline=" "), " there", "private key"),
    Sample("> ", pem("OPENSSH PRIVATE KEY", newline="\n> "), "\nhe wrote", "private key"),
    Sample("  1\t", pem("PRIVATE KEY", end=False, newline="\n  2\t"), "\n", "private key"),
    Sample('k = "', pem("PRIVATE KEY", newline='\\n"\n    "'), '"', "private key"),
    Sample(
        "",
        pem("RSA PRIVATE KEY").replace(
            "-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\n", 1
        ),
        "\nnext",
        "private key",
    ),
    Sample(
        "Private-Lines: 2\n", f"{made(64)}\n{made(64, ALNUM, 1)}\n", "Private-MAC: x", "private key"
    ),
)
"""Secrets that the text around them gives away."""


def _digest(size: int) -> str:
    return made(size, HEX, 21)


LOOK_ALIKES: tuple[str, ...] = (
    # hashes and ids
    f"commit {_digest(40)}",
    f"git checkout {_digest(7)}",
    f"index {_digest(7)}..{_digest(7)} 100644",
    f"sha256: {_digest(64)}",
    f"{_digest(64)}  ragforge.tar.gz",
    f"image: nginx@sha256:{_digest(64)}",
    f'"integrity": "sha512-{made(86, ALNUM + "+/")}==",',
    f"pip install x --hash=sha256:{_digest(64)}",
    "id: 123e4567-e89b-12d3-a456-426614174000",
    '{"token": "123e4567-e89b-12d3-a456-426614174000"}',
    f'cache_key = "{_digest(32)}"',
    f'key = "{_digest(40)}"',
    f'password_hash = "{_digest(64)}"',
    f"token_id: {_digest(32)}",
    f'ETag: "{_digest(32)}"',
    f"public_key = '{made(44)}'",
    f"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ{made(300, ALNUM + '+/')} ann@host",
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{made(43)} ann@host",
    f'<img src="data:image/png;base64,iVBORw0KGgo{made(400, ALNUM + "+/")}=">',
    f"-----BEGIN CERTIFICATE-----\n{made(64)}\n{made(64)}\n-----END CERTIFICATE-----",
    f"-----BEGIN PUBLIC KEY-----\n{made(64)}\n{made(64)}\n-----END PUBLIC KEY-----",
    f"Gemfile.lock: {made(22)}",
    "4111 1111 1111 1111",
    # code
    "password = get_password()",
    "password = getpass.getpass('Password: ')",
    "password = input('Your password? ')",
    "password = None",
    'password = ""',
    "password: str",
    "password: str | None = None",
    "password: Optional[SecretStr] = None,",
    "password?: string;",
    "password: z.string().min(8).max(64)",
    "password: &str,",
    "password: Vec<u8>",
    "def login(user: str, password: str) -> Token:",
    "connect(user=user, password=password)",
    "connect(user=user, password=pw1)",
    "connect(password=self._password, port=1)",
    "connect(\n    password=settings.db_password2,\n)",
    "password=os.environ['DB_PASSWORD'],",
    "this.password = password2;",
    "self.password = hash_password(password, rounds=12)",
    "if not password or len(password) < 12:",
    'if key == "password": value2 = row[3]',
    'fields = ["username", "password", "email2"]',
    '("name", "password", "remember_me2")',
    "token = tokens[0]",
    "token = next(self.tokens)",
    "token: Token = self.peek(1)",
    'token = "identifier"',
    'token_type = "bearer"',
    "tokenizer = Tokenizer.from_file('tokenizer-2024-v3.json')",
    "max_tokens = 4096",
    "tokens: 128000",
    'eos_token = "<|endoftext|>"',
    'key = "name"',
    'key: "user:1234:profile"',
    "for key, value in sorted(items.items()):",
    "keys = [k for k in data if k]",
    'primary_key = "customer_order_line_2024"',
    'sort_key = "2024-05-01T10:00:00Z#order#000123"',
    's3_key = "backups/2024/05/01/dump-03.sql.gz"',
    "keyboard: qwerty-us-intl-2",
    "api_key: str",
    "api_key: str | None = None",
    'api_key = os.environ["API_KEY"]',
    "api_key = os.getenv('OPENAI_API_KEY')",
    "apiKey: process.env.OPENAI_API_KEY,",
    "const key = await crypto.subtle.generateKey(algorithm, true, usages);",
    'os.environ["API_KEY"]',
    "secret = secrets.token_urlsafe(32)",
    "secret = base64.b64decode(encoded2)",
    "from secrets import token_hex, compare_digest",
    "SecretStr = Annotated[str, Secret()]",
    'secretName: "my-app-tls-2024"',
    "secretKeyRef:\n  name: app\n  key: db-password",
    "credentials = service_account.Credentials.from_service_account_file(path)",
    "author = 'Ann Example'",
    "authors: [a, b]",
    "compass = 'north-west-2'",
    "passenger = 'row12seat34'",
    "pass: 42, fail: 0",
    "tests passed: 1234567",
    "bypass=true",
    "PWD=/home/ann/projects/app2",
    '"PWD": "/home/ann/app2"',
    "assert_password_is_hashed_before_it_is_stored_in_the_database_v2()",
    'raise PermissionError("The password is required")',
    '"password=" + password + "&user=" + user',
    'url = "?token="+token+"&x=1"',
    '<input type="password" name="pw1" placeholder="Password">',
    '<label for="password">Password</label>',
    'input[type="password"]:focus { color: #a1b2c3 }',
    '"type": "password", "label": "Passwort2"',
    "case 'password': return validate2(value);",
    "Buffer.from(password, 'base64')",
    # placeholders and references
    "export TOKEN=${TOKEN}",
    "TOKEN=$GITHUB_TOKEN",
    "password: ${{ secrets.DB_PASSWORD }}",
    "password: {{ .Values.db.password }}",
    "password: !vault |",
    "password: <your-password>",
    "API_KEY=<your-key>",
    "OPENAI_API_KEY=sk-...",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "OPENAI_API_KEY=your-api-key-goes-here-1234",
    "ghp_" + "x" * 36,
    "AKIA" + "IOSFODNN7EXAMPLE",
    "password: changeme",
    "DB_PASSWORD=change-me-2024",
    'password = "xxxx"',
    'password = "********"',
    'password = "..."',
    "password: string",
    '{"password": "string"}',
    'secret: "REPLACE_ME_1234567890"',
    "DB_PASSWORD=%DB_PASSWORD%",
    "password=@db.password@",
    "DB_PASSWORD_FILE=/run/secrets/db_password_2",
    'f"postgres://{user}:{password}@{host}/{name}"',
    "postgres://user:password@localhost/app",
    "postgres://$USER:$PASS@db/app",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer YOUR_ACCESS_TOKEN_12345",
    'headers["Authorization"] = f"Bearer {token}"',
    '"Authorization": "Bearer " + token',
    "WWW-Authenticate: Bearer realm='example', error='invalid_token'",
    "basic authentication, bearer authentication-scheme-negotiation",
    "[redacted: OpenAI key] and password = [redacted: password]",
    # addresses
    "http://localhost:8080/path",
    "http://localhost:8080?mail=ann@example.com",
    "https://example.com:443,ann@example.com",
    "ssh://git@github.com:22/org/repo.git",
    "git@github.com:org/repo.git",
    "https://ann@example.com/path:with:colons",
    "http://[::1]:8080/@scope/package",
    "https://medium.com/@ann:latest",
    "mailto:ann@example.com",
    "ann.example+tag@mail.example.com",
    "arn:aws:secretsmanager:us-west-2:123456789012:secret:DatabaseSecret-a1b2c3",
    # names that begin as keys do
    "sk-learn-contrib, task-1234567890-abcdefghijklm, disk-usage-report-2024-05",
    ".sk-toggleable__label-arrow-1:before { margin: 0 }",
    "hf_model_name_or_path_for_the_tokenizer_and_config_v2",
    "npm_config_registry npm_package_version npm_lifecycle_event",
    "pypi-attestations-for-trusted-publishing",
    "key-value-store-with-expiry-and-eviction-policies-v2",
    "secret_santa_gift_exchange_assignments_for_2024",
    "glpat-, ghp_, xoxb-, AKIA, AIza, eyJ: prefixes of keys",
    "eyJ is how base64 of '{\"' begins: eyJhIjoxfQ",
    'if "-----BEGIN PRIVATE KEY-----" in text:',
    "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    'pem = "-----BEGIN PRIVATE KEY-----\\n" + body + "\\n-----END PRIVATE KEY-----"',
    "test_a_very_long_name_of_a_test_that_says_what_happens_when_2_users_log_in_at_once",
    "/usr/lib/python3.11/site-packages/keyring/backends/SecretService.py",
    "AbstractSingletonProxyFactoryBeanTokenProviderKeyManager2",
    "docker run -u 1000:1000 image",
    "curl -u $USER:$PASS https://example.com",
    "Use the --username and --password options instead of the URL.",
    "--registry-password requires --registry-username.",
    "SKIP_TESTS=1 SKU=A1B2C3D4",
    # the rest
    "color: #ff00aa; background: #0a1b2c3d",
    "version 1.2.3-rc.4+build.20240501.abcdef1",
    "!function(e,t){var n=e.key,r=t.token;return n?r.auth=n:r.pass=t[0]}(a1,b2);",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor.",
    "The key to a good token economy is a secret: pass it on.",
    "Keys: 12, tokens: 3456, cost: $0.0789",
    "The password must have at least 8 characters, 1 digit and 1 sign.",
    "prompt tokens=1234 completion tokens=567 key=value pairs",
    "2024-05-01 10:00:00 INFO auth: user=ann result=ok session=3",
    "Schlüssel, Passwörter und Geheimnisse: nichts davon.",
)
"""Texts without a secret, whatever they look like."""
