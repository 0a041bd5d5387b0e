"""Further fake secrets: keys of more services, and secrets in places where they hide."""

from __future__ import annotations

import string

from tests.fakes.secrets import ALNUM, CAPS, HEX, URL64, Sample, made, pem

LOWER = string.ascii_lowercase + string.digits
BASE58 = "".join(char for char in ALNUM if char not in "0OIl")
UUID = "-".join(made(size, HEX, 31) for size in (8, 4, 4, 4, 12))

FURTHER: dict[str, str] = {
    # models
    "NVIDIA key": "nvapi-" + made(64, URL64),
    "Cerebras key": "csk-" + made(48, LOWER),
    "Together key": "tgp_v1_" + made(43, URL64),
    "Fireworks key": "fw_" + made(24),
    "Voyage key": "pa-" + made(43, URL64),
    "Jina key": "jina_" + made(60, ALNUM + "_"),
    "Tavily key": "tvly-" + "dev-" + made(32),
    "Firecrawl key": "fc-" + made(32, HEX),
    "E2B key": "e2b_" + made(40, HEX),
    "ElevenLabs key": "sk_" + made(48, HEX),
    "RunPod key": "rpa_" + made(48),
    "Anyscale key": "esecret_" + made(26),
    "Friendli token": "flp_" + made(48),
    "Cursor key": "crsr_" + made(64, HEX),
    "Logfire token": "pylf_v1_" + "us_" + made(44),
    # clouds
    "AWS Bedrock key": "ABSKQmVkcm9ja0FQSUtleS" + made(100),
    "AWS session token": "IQoJb3JpZ2lu" + made(300, ALNUM + "+/"),
    "Amazon MWS token": "amzn.mws." + UUID,
    "Tencent key": "AKID" + made(32),
    "Yandex key": "AQVN" + made(36, URL64),
    "Cloudflare key": "v1.0-" + made(24, HEX) + "-" + made(146, HEX),
    "Cloudflare token": "cfut_" + made(48),
    "Fly token": "fm2_" + made(120, ALNUM + "+/"),
    "Vercel token": "vcp_" + made(56),
    "Render key": "rnd_" + made(32),
    "Neon key": "napi_" + made(64, LOWER),
    "Xata key": "xau_" + made(40),
    "UpCloud token": "ucat_" + made(26, CAPS),
    "OpenShift token": "sha256~" + made(43, URL64),
    "Azure function key": made(44) + "AzFu" + made(8) + "==",
    "Firebase server key": "AAAA" + made(7, URL64) + ":" + "APA91b" + made(134, URL64),
    # building and shipping
    "CircleCI token": "CCIPAT_" + made(22) + "_" + made(40, HEX),
    "Buildkite token": "bkua_" + made(40, HEX),
    "Artifactory key": "AKCp" + made(69),
    "NuGet key": "oy2" + made(43, LOWER),
    "crates.io token": "cio" + made(32),
    "Clojars token": "CLOJARS_" + made(60, LOWER),
    "Chromatic token": "chpt_" + made(20, HEX),
    "Prefect key": "pnu_" + made(36),
    "dbt token": "dbtc_" + made(40, URL64),
    "Harness token": "pat." + made(22, URL64) + "." + made(24, HEX) + "." + made(20),
    "Sourcegraph token": "sgp_" + made(16, HEX) + "_" + made(40, HEX),
    "Contentful token": "CFPAT-" + made(43, URL64),
    "Infracost key": "ico-" + made(32),
    "Octopus key": "API-" + made(30, CAPS),
    "Readme key": "rdme_" + made(70, LOWER),
    "Zuplo key": "zpka_" + made(32, HEX) + "_" + made(8, HEX),
    "Kong token": "kpat_" + made(50),
    "Trigger.dev key": "tr_prod_" + made(20),
    "Inngest key": "signkey-prod-" + made(64, HEX),
    "Ory token": "ory_pat_" + made(32),
    "Stytch secret": "secret-live-" + made(40, URL64),
    "Defined key": "dnkey-" + made(26, CAPS) + "-" + made(52, CAPS),
    "GitLab token": "glagent-" + made(50, URL64),
    # watching
    "Dynatrace token": "dt0c01." + made(24, CAPS) + "." + made(64, CAPS),
    "Honeycomb key": "hcaik_" + made(58, LOWER),
    "Axiom token": "xaat-" + UUID,
    "PostHog key": "phx_" + made(43),
    "LaunchDarkly key": "sdk-" + UUID,
    "Datadog key": "ddapp_" + made(34),
    # payment, mail and the like
    "Airtable token": "pat" + made(14) + "." + made(64, HEX),
    "Mailchimp key": made(32, HEX) + "-us12",
    "Resend key": "re_" + made(8) + "_" + made(24),
    "MailerSend key": "mlsn." + made(64, HEX),
    "PayPal token": "access_token$production$" + made(16, LOWER) + "$" + made(32, HEX),
    "Plaid token": "access-production-" + UUID,
    "Razorpay key": "rzp_live_" + made(14),
    "Flutterwave key": "FLWSECK-" + made(32, HEX) + "-X",
    "EasyPost key": "EZAK" + made(54),
    "Shippo token": "shippo_live_" + made(40, HEX),
    "Duffel token": "duffel_live_" + made(43, URL64),
    "WooCommerce secret": "cs_" + made(40, HEX),
    "Dropbox token": "sl." + made(130, URL64),
    "ClickUp token": "pk_" + "1234567_" + made(32, CAPS),
    "Typeform token": "tfp_" + made(44, URL64),
    "Frame.io token": "fio-u-" + made(64, URL64),
    "Mapbox token": "sk.eyJ" + made(60) + "." + made(22, URL64),
    "Facebook token": "EAAG" + made(100),
    "Instagram token": "IGQV" + made(100, URL64),
    "Twitch token": "oauth:" + made(30, LOWER),
    "Zoho token": "1000." + made(32, HEX) + "." + made(32, HEX, 1),
    "extended private key": "xprv" + made(107, BASE58),
    "Nostr key": "nsec1" + made(58, "023456789acdefghjklmnpqrstuvwxyz"),
    # addresses that let anyone write
    "Zapier webhook": "hooks.zapier.com/hooks/" + "catch/1234567/" + made(7, LOWER),
    "Teams webhook": ".webhook.office.com/" + f"webhookb2/{UUID}@{UUID}/IncomingWebhook/x",
    "IFTTT webhook": "maker.ifttt.com/trigger/" + "door/with/key/" + made(22, URL64),
    "Lark webhook": "/open-apis/bot/v2/hook/" + UUID,
    "WeCom webhook": "/cgi-bin/webhook/send?key=" + UUID,
    "DingTalk webhook": "/robot/send?access_token=" + made(64, HEX),
}
"""Keys that their form betrays, by what the marker calls them."""

_PASS = "hunter2" + "!Kx"
_KEY = pem("RSA PRIVATE KEY").split("\n")
_LINE = _KEY[2]

GAPS: tuple[Sample, ...] = (
    Sample("password: ", "hunter2" + "!", "", "password"),
    Sample("+DB_PASSWORD=", "sunshine", "\n context\n", "password"),
    Sample(" context\n-DB_PASSWORD=", "sunshine", "\n", "password"),
    Sample("> DB_PASSWORD=", "sunshine", "\nhe wrote", "password"),
    Sample(".env:3:DB_PASSWORD=", "sunshine", "\n.env:4:PORT=1\n", "password"),
    Sample("deploy/.env-3-DB_PASSWORD=", "sunshine", "\n", "password"),
    Sample('{"content": "DB_PASSWORD=', "sunshine", '", "line": 3}', "password"),
    Sample('password = "', "hunter2x9Z" + "…", '"', "password"),
    Sample("api_key = '", made(24) + "...", "'", "key"),
    Sample("Cookie: theme=dark; sessionid=", made(14, LOWER), "; lang=en\n", "cookie"),
    Sample("Set-Cookie: id=", made(24), "; Path=/; HttpOnly\n", "cookie"),
    Sample("curl -H 'Cookie: JSESSIONID=", made(32, CAPS), "' https://example.com", "cookie"),
    Sample("GET /feed?token=", UUID, "&page=2", "token"),
    Sample("POSTMARK_SERVER_TOKEN=", UUID, "\n", "token"),
    Sample("git clone https://", made(32), "@git.example.com/team/app.git", "token"),
    Sample("mysql -u root -p", _PASS, " app < dump.sql", "password"),
    Sample("mysqldump -p'", _PASS, "' app", "password"),
    Sample("db.example.com:5432:app:ann:", "sunshine9", "\n", "password"),
    Sample("*:*:*:ann:", "sunshine9", "\n", "password"),
    Sample("Authorization: SSWS ", "00" + made(40, URL64), "\n", "Okta token"),
    Sample("okta = Client('", "00" + made(40, URL64, 4), "')", "Okta token"),
    Sample("airtable: ", "key" + made(12) + "A1", "\n", "Airtable key"),
    Sample("openssl rsa -passin pass:", _PASS, " -in x", "password"),
    Sample("redis-cli -h db -a ", _PASS, " ping", "password"),
    Sample("docker login -u ann -p ", _PASS, " registry.example.com", "password"),
    Sample("APP_KEY=base64:", made(43, ALNUM) + "=", "\n", "application key"),
    Sample("asana ", "1/1234567890123456:" + made(32, HEX), "\n", "Asana token"),
    Sample("MISTRAL_API_KEY=", made(32), "\n", "key"),
    Sample("DD_API_KEY=", made(32, HEX), "\n", "key"),
    Sample("a.txt:4:", "b3BlbnNzaC1rZXktdjEA" + made(44), "\na.txt:9:x\n", "private key"),
)
"""Secrets that were once left in, in the places where they were."""


def grep_key() -> tuple[str, list[str]]:
    """Return a private key as grep prints it, and the lines of it that must go."""
    lines = [f"conf/server.txt:{number}:{line}" for number, line in enumerate(_KEY, 7)]
    return "\n".join([*lines, "conf/other.txt:1:hello"]), _KEY[1:-1]
