"""Lines with a secret and lines without one, as they stand in notes, code, configuration and logs.

Keys are made when the lines are read, from a fixed seed, so that none stands in this file. `{name}` is filled by `MADE`.
"""

from __future__ import annotations

import base64
import random
import re
import string
from collections.abc import Callable
from itertools import pairwise
from typing import Final

_RANDOM: Final = random.Random(20_261_130)
_ALNUM: Final = string.ascii_letters + string.digits
_UPPER: Final = string.ascii_uppercase + string.digits
_URL: Final = _ALNUM + "-_"


def _of(alphabet: str, n: int) -> str:
    return "".join(_RANDOM.choice(alphabet) for _ in range(n))


def _hex(n: int) -> str:
    return _of("0123456789abcdef", n)


def _mixed(n: int, alphabet: str = _ALNUM) -> str:
    """Letters of both cases and digits, as keys that are made at random have."""
    while not (
        re.search("[a-z]", made := _of(alphabet, n)) and re.search("[A-Z]", made) and len(re.findall("[0-9]", made)) > 1
    ):
        pass
    return made


def _b64(n: int) -> str:
    return base64.b64encode(_RANDOM.randbytes(n)).decode()


def _jwt() -> str:
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    return f"{part('{' + chr(34) + 'alg' + chr(34) + ':' + chr(34) + 'HS256' + chr(34) + '}')}.{part(chr(123) + chr(34) + 'sub' + chr(34) + ':' + chr(34) + _hex(8) + chr(34) + '}')}.{_of(_URL, 43)}"


def _card(begin: str, n: int, gap: str = "") -> str:
    body = begin + _of(string.digits, n - len(begin) - 1)
    total = sum(sum(divmod(int(d) * (2 if i % 2 == 0 else 1), 10)) for i, d in enumerate(reversed(body)))
    digits = body + str(-total % 10)
    if not gap:
        return digits
    cuts = (0, 4, 10, 15) if n == 15 else (0, 4, 8, 12, 16)
    return gap.join(digits[a:b] for a, b in pairwise(cuts))


def _uuid() -> str:
    return f"{_hex(8)}-{_hex(4)}-4{_hex(3)}-a{_hex(3)}-{_hex(12)}"


def _password() -> str:
    return (
        _RANDOM.choice(("Sommer", "tiger", "Postgres", "winter", "Admin", "qwertz"))
        + _of(string.digits, 3)
        + _RANDOM.choice("!#%?")
    )


MADE: Final[dict[str, Callable[[], str]]] = {
    "aws": lambda: "AKIA" + _of(_UPPER, 16), "asia": lambda: "ASIA" + _of(_UPPER, 16), "awssecret": lambda: _mixed(40, _ALNUM + "/+"),
    "ghp": lambda: "ghp_" + _of(_ALNUM, 36), "gho": lambda: "gho_" + _of(_ALNUM, 36), "ghs": lambda: "ghs_" + _of(_ALNUM, 36),
    "pat": lambda: f"github_pat_{_of(_ALNUM, 22)}_{_of(_ALNUM, 59)}", "glpat": lambda: "glpat-" + _of(_URL, 20),
    "xoxb": lambda: f"xoxb-{_of(string.digits, 12)}-{_of(string.digits, 12)}-{_of(_ALNUM, 24)}",
    "xoxp": lambda: f"xoxp-{_of(string.digits, 11)}-{_of(string.digits, 11)}-{_hex(32)}",
    "hook": lambda: f"https://hooks.slack.com/services/T{_of(_UPPER, 8)}/B{_of(_UPPER, 8)}/{_of(_ALNUM, 24)}",
    "stripe": lambda: "sk_live_" + _of(_ALNUM, 24), "rk": lambda: "rk_live_" + _of(_ALNUM, 24), "whsec": lambda: "whsec_" + _of(_ALNUM, 32),
    "google": lambda: "AIza" + _of(_URL, 35), "ya29": lambda: "ya29." + _of(_URL, 60), "gocspx": lambda: "GOCSPX-" + _of(_URL, 28),
    "openai": lambda: "sk-" + _mixed(48), "proj": lambda: "sk-proj-" + _mixed(64, _URL), "ant": lambda: "sk-ant-api03-" + _mixed(60, _URL),
    "npm": lambda: "npm_" + _of(_ALNUM, 36), "pypi": lambda: "pypi-AgEIcHlwaS5vcmc" + _of(_URL, 70), "hf": lambda: "hf_" + _of(_ALNUM, 34),
    "sg": lambda: f"SG.{_of(_URL, 22)}.{_of(_URL, 43)}", "twilio": lambda: "SK" + _hex(32), "telegram": lambda: f"{_of('123456789', 9)}:AA{_of(_URL, 33)}",
    "do": lambda: "dop_v1_" + _hex(64), "shp": lambda: "shpat_" + _hex(32), "dapi": lambda: "dapi" + _hex(32), "hvs": lambda: "hvs." + _of(_URL, 28),
    "lin": lambda: "lin_api_" + _of(_ALNUM, 40), "jwt": _jwt, "pw": _password, "tok": lambda: _mixed(32), "tok20": lambda: _mixed(20),
    "hex32": lambda: _hex(32), "hex40": lambda: _hex(40), "hex64": lambda: _hex(64), "sha7": lambda: _hex(7), "uuid": _uuid,
    "ulid": lambda: "01J" + _of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23), "b64": lambda: _b64(33), "b64long": lambda: _b64(180),
    "visa": lambda: _card("4", 16, " "), "visadash": lambda: _card("4", 16, "-"), "mc": lambda: _card("53", 16), "amex": lambda: _card("37", 15, " "),
    "basic": lambda: base64.b64encode(f"admin:{_password()}".encode()).decode(),
    "pem": lambda: "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(_b64(48) for _ in range(6)) + "\n-----END RSA PRIVATE KEY-----",
    "ssh": lambda: "-----BEGIN OPENSSH PRIVATE KEY-----\n" + "\n".join(_b64(51) for _ in range(5)) + "\n-----END OPENSSH PRIVATE KEY-----",
    "notcard": lambda: _card("4", 16)[:-1] + "x", "digits16": lambda: "9" + _of(string.digits, 15), "ns": lambda: "17" + _of(string.digits, 17),
}  # fmt: skip
"""What fills each `{name}`."""


def filled(line: str) -> str:
    """A line with its keys made."""
    return re.sub(r"\{(\w+)\}", lambda m: MADE[m[1]]() if m[1] in MADE else m[0], line)


def lines(block: str) -> list[str]:
    """The lines of a block, filled."""
    return [filled(line) for line in block.strip().splitlines() if line.strip()]


WITH: Final = r"""
export AWS_ACCESS_KEY_ID={aws}
The staging bucket uses {aws}, Dana rotates it in July.
aws_access_key_id = {aws}
[default]  aws_session id {asia}
AKID for the backup user is {aws}.
aws_secret_access_key = {awssecret}
AWS_SECRET_ACCESS_KEY="{awssecret}"
"SecretAccessKey": "{awssecret}",
secretAccessKey: '{awssecret}'
git clone https://{ghp}@github.com/acme/orders.git
GITHUB_TOKEN={ghp}
gh auth login --with-token <<< {gho}
The CI uses {pat} until March.
token: {ghs}
remote: set-url origin https://x-access-token:{ghs}@github.com/acme/orders
- Lena's PAT: {ghp}
GITLAB_TOKEN: {glpat}
curl --header "PRIVATE-TOKEN: {glpat}" https://gitlab.example.com/api/v4/projects
the runner was registered with {glpat}
SLACK_BOT_TOKEN={xoxb}
slack_token: "{xoxp}"
client = WebClient(token="{xoxb}")
Alerts go to {hook}
webhook_url = "{hook}"
stripe.api_key = "{stripe}"
STRIPE_SECRET_KEY={stripe}
Restricted key for the report: {rk}
endpoint_secret = '{whsec}'
STRIPE_WEBHOOK_SECRET={whsec}
const maps = "https://maps.googleapis.com/maps/api/js?key={google}";
GOOGLE_API_KEY={google}
firebase apiKey: "{google}",
access token for the calendar: {ya29}
client_secret: {gocspx}
OPENAI_API_KEY={openai}
openai.api_key = '{openai}'
my key is {proj} please use it for the tests
export OPENAI_API_KEY="{proj}"
ANTHROPIC_API_KEY={ant}
client = Anthropic(api_key="{ant}")
x-api-key: {ant}
//registry.npmjs.org/:_authToken={npm}
NPM_TOKEN: {npm}
password = {pypi}
TWINE_PASSWORD={pypi}
huggingface-cli login --token {hf}
HF_TOKEN={hf}
SENDGRID_API_KEY={sg}
sendgrid: {sg}
TWILIO_API_KEY={twilio}
bot = telegram.Bot("{telegram}")
TELEGRAM_BOT_TOKEN={telegram}
doctl auth init -t {do}
DIGITALOCEAN_TOKEN={do}
X-Shopify-Access-Token: {shp}
databricks configure: {dapi}
VAULT_TOKEN={hvs}
LINEAR_API_KEY={lin}
Authorization: Bearer {jwt}
session cookie: {jwt}
curl -H "Authorization: Bearer {tok}" https://api.example.com/v1/me
"Authorization": "Bearer {tok}"
authorization: token {hex40}
Authorization: Basic {basic}
-H 'Authorization: Basic {basic}'
headers = {"Authorization": "Bearer {tok20}"}
DEBUG request headers: authorization=Bearer {tok}
2026-06-02T10:01:11Z DEBUG auth header Authorization: Bearer {jwt}
{pem}
key: |\n{pem}
{ssh}
Here is my deploy key:\n{ssh}\nkeep it safe
DATABASE_URL=postgres://app:{pw}@db.internal:5432/orders
postgresql://orders:{tok20}@10.0.0.4/orders
mysql://root:{pw}@localhost/shop
redis://:{tok20}@cache.internal:6379/0
mongodb+srv://admin:{tok20}@cluster0.mongodb.net/app
amqp://worker:{pw}@mq.internal/vhost
We connect with postgres://readonly:{tok20}@replica.internal/analytics for the reports.
SQLALCHEMY_DATABASE_URI = "postgresql+psycopg://svc:{pw}@db/orders"
https://deploy:{tok20}@registry.example.com/v2/
ftp://backup:{pw}@files.example.com/
smtp://mailer:{pw}@smtp.example.com:587
password=hunter2
password={pw}
DB_PASSWORD={pw}
db_password: {pw}
POSTGRES_PASSWORD: "{pw}"
passwd = "{pw}"
pwd={pw}
The router's password is {pw}
password is {pw}, do not tell Tom
My wifi password: {pw}
Wi-Fi password: {pw} (guest network)
Passwort: {pw}
passphrase: "{pw}"
"password": "{pw}",
'password': '{pw}'
<password>{pw}</password> password="{pw}"
spring.datasource.password={pw}
mysql -u root --password={pw} orders
ansible_ssh_pass: x ansible_become_password={pw}
admin login: user admin, password `{pw}`
The admin password was {pw} until Friday.
**Password:** {pw}
- password: {pw}
user=svc password={pw} host=db
requests.post(url, auth=("admin", "x"), data={"password": "{pw}"})
ENV MYSQL_ROOT_PASSWORD={pw}
export PGPASSWORD='{pw}'
PGPASSWORD={pw} psql -h db
set the Jenkins password to "{pw}"
keystore.password = {pw}
root password: toor1234
password: 12345678
password=letmein
DB_PASS=correcthorse
api_key = "{tok}"
API_KEY={hex32}
apiKey: '{tok20}'
"api_key": "{hex40}"
X-Api-Key: {tok}
api key is {tok}
The API key: {tok20}
ALGOLIA_ADMIN_API_KEY={hex32}
datadog_api_key: {hex32}
MAPBOX secret token = {tok}
access_token={tok}
"access_token":"{tok}"
refresh_token = '{tok}'
?access_token={tok}&page=2
auth_token: {tok20}
AUTH_TOKEN={hex40}
token = "{tok}"
token: {tok}
TOKEN={tok20}
The token is {tok}
client_secret={tok}
"client_secret": "{tok}"
CLIENT_SECRET={hex64}
azure: AccountKey={awssecret}==;EndpointSuffix=core.windows.net
SECRET_KEY = 'django-insecure-{tok}'
secret_key_base: {hex64}
JWT_SECRET={tok}
session_secret: "{tok20}"
app secret: {hex32}
webhook_secret = "{tok20}"
SIGNING_KEY={hex64}
encryption_key: "{hex64}"
private_key: {hex64}
ENCRYPTION_KEY={b64}
credential={tok}
deploy_token: {tok20}
SENTRY_AUTH_TOKEN={hex64}
I pay with {visa}, exp 04/29
card {visadash} cvc 123
Card number: {mc}
amex {amex}
The company card is {visa} and Dana has the pin.
cc={mc}
visa: {visa}
please charge {mc} for the hotel
"""

WITHOUT: Final = r"""
Acme picked Postgres over DynamoDB after the review.
The password policy requires twelve characters and a digit.
Password: required field
password: the one from 1Password
The password is stored in the vault.
password is wrong
Tom forgot his password again, reset it on Monday.
Please change your password before 2026-07-01.
password changed: 2026-06-02
Password reset link expires in 24 hours.
password = os.environ["DB_PASSWORD"]
password = getpass.getpass()
password=None
password = config.get("db", "password")
password: str = Field(min_length=12)
def login(user: str, password: str) -> Session:
if not check_password(password, user.password_hash):
password_hash = bcrypt.hashpw(raw, salt)
user.set_password(form.password.data)
POSTGRES_PASSWORD=${POSTGRES_PASSWORD}
password: {{ vault_db_password }}
DB_PASSWORD=<your password here>
password=********
password=changeme
password: "<redacted>"
"password": "string"
"password": null,
PASSWORD=$1
--password=$DB_PASS
password: !vault |
passwords: see the shared vault
The password manager we use is Bitwarden.
password length: 16
password_min_length=12
password_reset_url=https://example.com/reset
label(for="password") Password
input type="password" name="password"
assert response.json()["password"] == "***"
The passphrase is known to Dana and Lena.
Enter passphrase (empty for no passphrase):
pwd: /home/dana/projects
pwd && ls
echo $PWD
passport: needed for the trip to Oslo
pass: 12 fail: 0
all 412 tests pass: see run 88
bypass: none
The token budget of the pack is 2000.
max_tokens=4096
max_tokens: 1200
tokens: 812 in, 240 out
n_tokens = len(encoding.encode(text))
token = tokenizer.next_token()
token: str
token=token
token = request.headers.get("Authorization")
token: ${{ secrets.GITHUB_TOKEN }}
GITHUB_TOKEN: ${{ github.token }}
const token = await getToken(user);
The token expires after 15 minutes.
token_type: bearer
token_count: 123456789012
token bucket: 100 requests a second
cancellation token: passed to every task
csrf_token = generate_csrf()
The secret to good coffee is fresh water.
secret: true
secret santa: Tom has Lena
secretName: orders-tls
secret_name = "prod/orders/db"
secretKeyRef: {name: db, key: password}
secrets: inherit
client_secret=...
client_secret: see vault
API_KEY=your-api-key-here
api_key = "YOUR_API_KEY"
api_key="<API_KEY>"
api_key = os.getenv("OPENAI_API_KEY")
api_key: str | None = None
apiKey: process.env.API_KEY
OPENAI_API_KEY=sk-...
export OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx
Keys that begin with sk- belong to OpenAI.
sk-learn is the short name of scikit-learn.
.sk-folding-cube-spinner-with-four-parts { display: block }
import sk-learn-contrib-project-template-for-tests
The AKIA prefix marks a long-term access key.
AWS keys look like AKIA followed by sixteen characters.
ghp_ is the prefix of classic tokens.
glpat- tokens end on the last of the month
xoxb tokens are those of bots
primary key: order_id
PRIMARY KEY (tenant_id, order_id)
foreign key: orders.customer_id
key: value
key: acme/primary-database
key = "orders:2026-06-02:summary"
key=lambda o: o.observed_at
sorted(rows, key=operator.itemgetter("name"))
cache key: user_42_profile_v3
cache_key = f"user:{user_id}:profile"
The key decision: we stay with Postgres.
Key takeaways: faster, cheaper, simpler
key results: NPS 42, churn 3%
press any key: continue
keyboard: Ergodox EZ
keyword: consolidation-of-duplicates-2026
public key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUnrelatedPublicKeyMaterialHere dana@laptop
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 lena@desk
-----BEGIN PUBLIC KEY-----
-----BEGIN CERTIFICATE-----
A private key file begins with -----BEGIN RSA PRIVATE KEY----- and is never in git.
grep -r "BEGIN PRIVATE KEY" .
partition key: customer_id
sort key = created_at#order_id
idempotency-key: {uuid}
Idempotency-Key: {ulid}
cache key: {hex32}
cache key = {hex64}
key: {uuid}
key={ulid}
key: sha256:{hex64}
token: {uuid}
etag: "{hex32}"
commit {hex40}
Merge commit {sha7} into main
fixed in {sha7}, released as 2.3.1
git checkout {hex40}
HEAD is now at {sha7} Add the delta
sha256: {hex64}
sha256={hex64}
digest: sha256:{hex64}
image: registry.example.com/orders@sha256:{hex64}
md5sum {hex32}  orders.sql.gz
integrity sha512-{b64}
"integrity": "sha512-{b64}",
--hash=sha256:{hex64}
id: {ulid}
supersedes: {ulid}
related_to: [{ulid}, {ulid}]
request id {uuid}
trace_id={hex32}
traceparent: 00-{hex32}-{hex32}-01
span_id: {hex32}
session {uuid} ended
X-Request-Id: {uuid}
correlation-id={uuid}
build {hex40} is green
docker run {sha7}
container {hex64} exited with 137
![diagram](data:image/png;base64,{b64long})
data:image/svg+xml;base64,{b64long}
<img src="data:image/jpeg;base64,{b64long}">
"thumbnail": "{b64long}",
embedding: {b64long}
-----BEGIN PGP SIGNATURE-----
order 4532015112830366 was shipped
order id: 4532015112830366
ticket 4539578763621486
tracking number 4556737586899855
invoice no. 4485275742308327
phone +49 170 1234567
tel: 4916 0912 3456 7890
IBAN DE89 3704 0044 0532 0130 00
ISBN 978-3-16-148410-0
ISBN 9783161484100
timestamp {ns}
ts={ns} level=info
id {digits16}
1234 5678 9012 3456 is the example in the form
4111 1111 1111 1112 fails the check
0000 0000 0000 0000
2026-06-02 14:23:00 level=info msg="order placed"
192.168.100.200 - - [02/Jun/2026:14:23:00 +0000] "GET / HTTP/1.1" 200 5316
version 4.18.2026.1123
51.5074, -0.1278
3.141592653589793
https://example.com/orders?id=42&page=3
https://example.com:8443/@dana/notes
http://localhost:8000/docs
postgres://localhost:5432/orders
postgres://app@db.internal/orders
postgres://user:password@localhost/db
postgres://USER:${DB_PASSWORD}@db/orders
postgresql://app:<password>@db/orders
mysql://user:***@host/db
redis://cache.internal:6379
git@github.com:acme/orders.git
ssh://git@github.com:22/acme/orders.git
https://medium.com/@dana/why-we-left-dynamodb-1a2b3c4d5e6f
mailto:dana@example.com
scp backup.tar dana@files.example.com:/srv/backup
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer ${API_TOKEN}
Authorization: Bearer YOUR_TOKEN
"Authorization": f"Bearer {token}"
headers = {"Authorization": "Bearer " + token}
The bearer of this letter is Dana.
bearer authentication-with-short-lived-credentials is required
Authorization is decided before ranking.
authorization: required
Basic authentication is off.
He is the ring bearer at the wedding.
credentials: include
credentials = load_credentials(path)
Credentials are in the vault under prod/orders.
credential_source: Environment
Dana moved to Berlin in June 2026.
Tom prefers green tea, no sugar.
Lena works from home on Tuesdays.
We decided to go with Kafka 3.7 for events.
The meeting with Acme is on 2026-07-14 at 10:00.
Alice's birthday: 1990-04-12
Flight LH2026 leaves at 07:45 from gate A12.
Room 4711, code of the project: BLUE
License plate B-XY 1234
Size 42, colour black
The Wi-Fi at the office is called acme-guest.
Locker 17 on the second floor
Booking reference X7K2PQ
postal code 10115 Berlin
VAT DE123456789
weight=72.5kg height=181cm
Budget: 1,250,000 EUR for 2027
p95=212ms p99=480ms
The error rate fell from 2.1% to 0.4%.
retry_after=30 max_retries=5
feature_flag: new-checkout-v2
region: eu-central-1
bucket: acme-orders-prod-2026
arn:aws:s3:::acme-orders-prod
arn:aws:iam::123456789012:role/orders-reader
account 123456789012
s3://acme-backups/orders/2026/06/02/dump.sql.gz
gs://acme-exports/daily/part-00017.parquet
/home/dana/.ssh/id_ed25519
~/.aws/credentials
chmod 600 ~/.ssh/config
python -m pytest tests/write -n 1
pip install grail-mem==0.3.1
uv run ruff check .
npm install --save-dev eslint@9
docker compose up -d postgres redis
kubectl get secret orders-tls -o yaml
kubectl create secret generic db --from-file=password.txt
terraform apply -auto-approve
helm upgrade orders ./chart --set image.tag={sha7}
vault kv get secret/prod/orders
op read "op://prod/orders/password"
aws secretsmanager get-secret-value --secret-id prod/orders
sops -d secrets.enc.yaml
gpg --export-secret-keys > keys.asc
openssl genrsa -out key.pem 2048
ssh-keygen -t ed25519 -C "dana@example.com"
from secrets import token_urlsafe
token_urlsafe(32)
import keyring; keyring.get_password("orders", "svc")
class TokenBucket: pass
class PasswordField(CharField): pass
raise ValueError("password must not be empty")
log.info("token refreshed for %s", user)
log.warning("api key missing: %s", name)
logger.debug("secret %s rotated", secret_id)
assert "password" not in caplog.text
SELECT password_hash FROM users WHERE id = 42
ALTER USER app WITH PASSWORD :pw
CREATE INDEX idx_orders_key ON orders (key)
UNIQUE KEY uniq_email (email)
GRANT SELECT ON orders TO reporting
for key, value in settings.items():
const { key, ...rest } = props;
dict(key="name", value="Acme")
{"key": "status", "value": "open"}
{"token": null, "user": "dana"}
{"type": "object", "required": ["password"]}
openapi: securitySchemes: apiKey: in: header
security: [{bearerAuth: []}]
rate limit: 100 per key and minute
The access key of the building is with Dana.
The master key for room 12 hangs at the reception.
private key rotation is due in August
signing key: rotated every 90 days
encryption key id alias/orders-prod
key_id: alias/orders-2026
kid: orders-2026-06
access_key_id: see vault
secret sharing: 3 of 5 people
Secret Manager: https://console.cloud.google.com/security/secret-manager
webhook secret: set in the dashboard
refresh token rotation: enabled
access token lifetime: 3600
access_token_expires_in=3600
auth token: short-lived, from the identity provider
deploy token: created by the release job
"tokenizer": "cl100k_base"
Tokens per second: 142.5
monkey: 1 keyboard: 2
turkey: 12kg for Thanksgiving2026
hockey: Saturday, 10:30
Donkey-Kong-1981-highscore: 1272700
passage: 12 of chapter 3
compass: north
passenger: Dana Example
passing: 98.5
surpassed: 2025-target
encompass: all_regions_2026
keynote: 2026-09-14 in Oslo
keystone: bridge-42
keyframe=25
jwt: three parts, header.payload.signature
eyJ is how a JWT begins
The JWT is checked by the gateway.
Slack channel #orders-alerts, webhook set up by Tom
stripe test mode uses pk_test keys
npm_config_cache=/tmp/npm
hf_hub_download("acme/model", "config.json")
SG. is short for Singapore here
SKU SK12345 is out of stock
do_v1 is the old endpoint
dapi team: Lena, Tom
key-value store
key-results-2026-q3 are due
Antwerp, sk-antwerp-office-floor-plan
0x1F4A9 is the code of an emoji
#ff8800 is the brand colour
v2.3.1-rc.4+build.20260602
UTC+02:00
ISO 27001, SOC 2, GDPR
E = mc^2
¿Cuál es la contraseña? No la sé.
Das Passwort ist im Tresor hinterlegt.
Le mot de passe est chez Dana.
パスワードは金庫にあります。
"""
