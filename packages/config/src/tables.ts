/** Every setting, and the services that read it. Defaults, units and bounds are defined only here. */
import {
  ARN_DEFAULTS,
  ATTEMPT_DEADLINE_MS,
  RETENTION_SECONDS_MAX,
  RETRY_SECONDS_MAX,
} from '@fantail/contracts'
import { redisTable } from './redis-settings.ts'
import {
  addressRanges,
  addressRules,
  archivePlace,
  arnPatterns,
  awsClientCredentials,
  awsCredentials,
  file,
  flag,
  folder,
  fraction,
  functionMap,
  kmsKeys,
  mailSender,
  masterKey,
  masterKeys,
  matching,
  oneOf,
  organizationMap,
  origins,
  queueMap,
  rsaKeyFile,
  smtpUrl,
  streamMap,
  url,
  vaultLogin,
  wholeNumber,
} from './schemas.ts'
import { optional, setting } from './setting.ts'
import { smsBody, smsCountries, smsHeaders, smsStatuses, twilioLogin } from './sms-forms.ts'

const PORT = { min: 0, max: 65_535 }

const port = setting({
  name: 'FANTAIL_PORT',
  schema: wholeNumber(PORT),
  default: '4100',
  description: 'Port of the API; 0 takes a free one. The other services derive their ports from it.',
})

/** Read by every service. */
const common = {
  mode: setting({
    name: 'FANTAIL_MODE',
    schema: oneOf(['local', 'server']),
    default: 'local',
    description:
      'local: one machine, loopback only. server: needs a Redis and says so where something is missing.',
  }),
  port,
  host: optional({
    name: 'FANTAIL_HOST',
    schema: matching(/^[A-Za-z0-9.:_-]+$/, 'must be an address or a host name'),
    unset: '127.0.0.1 in local mode, 0.0.0.0 in server mode',
    description: 'Address to listen on. Local mode accepts only loopback addresses.',
  }),
  commit: optional({
    name: 'FANTAIL_COMMIT',
    schema: matching(/^[\w.+-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 _ . + -'),
    unset: 'the commit of the checkout',
    description: 'Commit shown by /readyz, logs and metrics. The build of the image sets it.',
  }),
  logLevel: setting({
    name: 'FANTAIL_LOG_LEVEL',
    schema: oneOf(['debug', 'info', 'warn', 'error', 'silent']),
    default: 'info',
    description: 'Least level that is logged.',
  }),
}

const storage = {
  ...redisTable,
  dataDir: setting({
    name: 'FANTAIL_DATA_DIR',
    schema: folder(),
    default: '.fantail',
    description: 'Folder of local mode, with the local Redis and its URL. Relative to the repository.',
  }),
  queues: setting({
    name: 'FANTAIL_QUEUES',
    schema: wholeNumber({ min: 1, max: 64 }),
    default: '1',
    description:
      'Dispatch queues: 1 on a single Redis, one per master on a cluster. May be changed at any time.',
  }),
  timeTravel: setting({
    name: 'FANTAIL_TIME_TRAVEL',
    schema: oneOf(['off', 'on']),
    default: 'off',
    description:
      'Whether tests may move the time of this stack. It needs local mode and an empty Redis of its own.',
  }),
  minReplicas: setting({
    name: 'FANTAIL_MIN_REPLICAS',
    schema: wholeNumber({ min: 0, max: 16 }),
    default: '0',
    unit: 'replicas',
    description: 'Replicas that must have a message before it is acknowledged.',
  }),
  allowVolatileRedis: setting({
    name: 'FANTAIL_ALLOW_VOLATILE_REDIS',
    schema: flag(),
    default: 'false',
    description:
      'Whether server mode starts on a Redis that would lose accepted messages: one that evicts keys, or keeps no data over a restart.',
  }),
  logMessages: setting({
    name: 'FANTAIL_LOG_MESSAGES',
    schema: wholeNumber({ min: 0, max: 100_000_000 }),
    default: '100000',
    unit: 'messages',
    description: 'Messages whose outcomes can be looked up; 0 turns the outcome log off.',
  }),
  attemptRecordBytes: setting({
    name: 'FANTAIL_ATTEMPT_RECORD_BYTES',
    schema: wholeNumber({ min: 0, max: 10_000_000_000 }),
    default: '16777216',
    unit: 'bytes',
    description:
      'Memory of Redis for recorded attempts (docs/attempts.md). Past it: the subscription that has had no attempt for the longest time loses its records. 0 records nothing.',
  }),
  keptMessagesShare: setting({
    name: 'FANTAIL_KEPT_MESSAGES_SHARE',
    schema: fraction({ min: 0, max: 0.5 }),
    default: '0.1',
    unit: 'share of the memory of Redis',
    description:
      'Share that the kept messages of all topics may fill together. Past it: the topic with the most bytes loses its oldest messages.',
  }),
  account: setting({
    name: 'FANTAIL_ACCOUNT',
    schema: matching(/^\d{12}$/, 'must be 12 digits'),
    default: ARN_DEFAULTS.account,
    description: 'Account in the ARNs of plain names.',
  }),
  region: setting({
    name: 'FANTAIL_REGION',
    schema: matching(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 of a-z 0-9 -'),
    default: ARN_DEFAULTS.region,
    description: 'Region in the ARNs of plain names.',
  }),
  organizations: optional({
    name: 'FANTAIL_ORGANIZATIONS',
    schema: organizationMap(),
    unset: 'conditions on organizations cannot be judged',
    description:
      'Organizations of accounts, which access policies ask for (aws:PrincipalOrgID): ACCOUNT=ORGANIZATION, separated by commas. Same for every service.',
  }),
}

const archive = optional({
  name: 'FANTAIL_ARCHIVE',
  schema: archivePlace(),
  unset: 'a folder in FANTAIL_DATA_DIR in local mode; in server mode no topic can have an archive',
  description:
    'Where messages of topics with an archive go (docs/archive.md): file:///folder, s3://bucket/prefix?region=eu-west-1 or s3+https://host/bucket/prefix. Its host may be private. Same for the API and the redrive service.',
})

/** The names and addresses by which callers reach a service. */
const names = {
  publicUrl: optional({
    name: 'FANTAIL_PUBLIC_URL',
    schema: url(['http:', 'https:']),
    unset: 'the origin that the publisher used',
    description: 'Base of the links in delivered messages: confirm, unsubscribe. Set it in server mode.',
  }),
  hosts: optional({
    name: 'FANTAIL_HOSTS',
    schema: addressRules(),
    unset: 'loopback, the machine’s own name and the host of FANTAIL_PUBLIC_URL',
    description:
      'Host names, *.domains and addresses, separated by commas, that local mode answers to in addition to its own names. Server mode answers to any host.',
  }),
}

/** Mail: deliveries to addresses, over an SMTP server. */
const mail = {
  smtpUrl: optional({
    name: 'FANTAIL_SMTP_URL',
    schema: smtpUrl(),
    unset: 'no mail is sent, and email subscriptions are refused',
    description:
      'SMTP server that takes mails to email subscribers: smtp://user:password@host:587, or smtps:// for TLS from the start. Same for every service.',
  }),
  smtpTls: optional({
    name: 'FANTAIL_SMTP_TLS',
    schema: oneOf(['required', 'offered']),
    unset: 'required in server mode, offered in local mode',
    description:
      'required: nothing is sent without TLS. offered: TLS is used if the server offers it. Its certificate must be valid either way.',
  }),
  smtpConnections: setting({
    name: 'FANTAIL_SMTP_CONNECTIONS',
    schema: wholeNumber({ min: 1, max: 100 }),
    default: '5',
    unit: 'connections',
    description: 'Most connections to the SMTP server that one worker keeps.',
  }),
  emailFrom: optional({
    name: 'FANTAIL_EMAIL_FROM',
    schema: mailSender(),
    unset: 'no-reply@localhost; server mode needs it where FANTAIL_SMTP_URL is set',
    description:
      'Sender of mails: an address, or News <news@example.com>. A topic’s display name replaces the name.',
  }),
  emailDomainRate: setting({
    name: 'FANTAIL_EMAIL_DOMAIN_RATE',
    schema: wholeNumber({ min: 1, max: 100_000 }),
    default: '20',
    unit: 'mails a second',
    description: 'Mails to the addresses of one domain, over all workers. Further mails wait.',
  }),
  emailDkimDomain: optional({
    name: 'FANTAIL_EMAIL_DKIM_DOMAIN',
    schema: matching(/^[A-Za-z0-9.-]{1,253}$/, 'must be a domain'),
    unset: 'mails carry no signature of Fantail’s',
    description: 'Domain of the DKIM signature of mails (RFC 6376).',
  }),
  emailDkimSelector: optional({
    name: 'FANTAIL_EMAIL_DKIM_SELECTOR',
    schema: matching(/^[A-Za-z0-9._-]{1,63}$/, 'must be 1 to 63 of A-Z a-z 0-9 . _ -'),
    unset: 'mails carry no signature of Fantail’s',
    description:
      'Selector of the DKIM signature: the public key is in the TXT record SELECTOR._domainkey.DOMAIN.',
  }),
  emailDkimKey: optional({
    name: 'FANTAIL_EMAIL_DKIM_KEY_FILE',
    schema: rsaKeyFile(),
    unset: 'mails carry no signature of Fantail’s',
    description: 'Private RSA key in PEM for the DKIM signature.',
  }),
}

/** Text messages: deliveries to phone numbers, by a provider. They cost money. */
const sms = {
  smsUrl: optional({
    name: 'FANTAIL_SMS_URL',
    schema: url(['http:', 'https:']),
    unset:
      'no text messages are sent, and sms subscriptions are refused; with FANTAIL_SMS_TWILIO https://api.twilio.com',
    description:
      'Where an SMS provider takes messages (docs/guides/sms.md), one request each. Its host may be private. Same for every service.',
  }),
  smsMethod: setting({
    name: 'FANTAIL_SMS_METHOD',
    schema: oneOf(['POST', 'PUT']),
    default: 'POST',
    description: 'Method of these requests.',
  }),
  smsHeaders: optional({
    name: 'FANTAIL_SMS_HEADERS',
    schema: smsHeaders(),
    unset: 'a content type of application/json',
    description:
      'Headers of the requests to the SMS provider, as JSON: {"authorization":"Bearer …"}. The content type is application/json or application/x-www-form-urlencoded.',
  }),
  smsBody: optional({
    name: 'FANTAIL_SMS_BODY',
    schema: smsBody(),
    unset: '{"to":"{number}","from":"{sender}","text":"{message}","id":"{id}"}',
    description:
      'Body of the requests to the SMS provider: {number}, {message}, {sender}, {id} and {type} are replaced, escaped for the content type.',
  }),
  smsStatuses: optional({
    name: 'FANTAIL_SMS_STATUSES',
    schema: smsStatuses(),
    unset: '2xx delivered; 401, 403 and 407 misconfigured; 408, 425, 429 and 5xx retry; all others permanent',
    description:
      'What further statuses mean: 402=misconfigured,410=optedOut. delivered, retry, permanent, misconfigured, optedOut, unknown.',
  }),
  smsTwilio: optional({
    name: 'FANTAIL_SMS_TWILIO',
    schema: twilioLogin(),
    unset: 'FANTAIL_SMS_URL is the provider',
    description:
      'Account and token at Twilio, ACCOUNTSID:AUTHTOKEN: it sends the messages. FANTAIL_SMS_SENDER is a number there, or a messaging service.',
  }),
  smsSender: optional({
    name: 'FANTAIL_SMS_SENDER',
    schema: matching(/^[A-Za-z0-9+ -]{1,34}$/, 'must be 1 to 34 of A-Z a-z 0-9 + - and spaces'),
    unset: 'the provider’s own',
    description: 'Sender of messages that name none by AWS.SNS.SMS.SenderID or DefaultSenderID.',
  }),
  smsCountries: optional({
    name: 'FANTAIL_SMS_COUNTRIES',
    schema: smsCountries(),
    unset: 'no number gets messages; must be set where a provider is',
    description:
      'Beginnings of the only numbers that get messages, some with the price of one part in USD: +1=0.0079,+49. The longest one counts.',
  }),
  smsPriceUsd: setting({
    name: 'FANTAIL_SMS_PRICE_USD',
    schema: fraction({ min: 0, max: 100 }),
    default: '0.1',
    unit: 'USD',
    description: 'Price of one part of a message to countries without a price of their own.',
  }),
  smsDayUsd: optional({
    name: 'FANTAIL_SMS_DAY_USD',
    schema: fraction({ min: 0, max: 1_000_000 }),
    unset: 'only the limit of the month',
    unit: 'USD',
    description: 'What the text messages of a day (UTC) may cost. Past it: deliveries fail permanently.',
  }),
  smsMonthUsd: setting({
    name: 'FANTAIL_SMS_MONTH_USD',
    schema: wholeNumber({ min: 0, max: 1_000_000 }),
    default: '1',
    unit: 'USD',
    description:
      'What the text messages of a month (UTC) may cost. MonthlySpendLimit of SetSMSAttributes lowers it. Past it: deliveries fail permanently.',
  }),
}

/** Settings of the services that make attempts or judge policies. */
const delivery = {
  ...names,
  ...mail,
  ...sms,
  maxRetrySeconds: setting({
    name: 'FANTAIL_MAX_RETRY_SECONDS',
    schema: wholeNumber({ min: 1, max: RETENTION_SECONDS_MAX }),
    default: String(RETRY_SECONDS_MAX),
    unit: 'seconds',
    description:
      'Most seconds that all delays of one delivery policy may take together, over the AWS protocols.',
  }),
  retryJitter: setting({
    name: 'FANTAIL_RETRY_JITTER',
    schema: fraction({ min: 0, max: 1 }),
    default: '0.1',
    unit: 'share of the delay',
    description: 'Share by which each retry delay may be shorter or longer than planned.',
  }),
  attemptTimeoutMs: setting({
    name: 'FANTAIL_ATTEMPT_TIMEOUT_MS',
    schema: wholeNumber({ min: 1, max: 120_000 }),
    default: String(ATTEMPT_DEADLINE_MS),
    unit: 'milliseconds',
    description: 'Deadline of one attempt, including connecting, headers and body.',
  }),
  userAgent: optional({
    name: 'FANTAIL_USER_AGENT',
    schema: matching(
      /^[\x21-\x7e]([\x20-\x7e]{0,254}[\x21-\x7e])?$/,
      'must be 1 to 256 printable ASCII characters',
    ),
    unset: 'Amazon Simple Notification Service Agent, as SNS has it',
    description:
      'User-Agent of requests to webhooks that were subscribed by the native API. `outbound.headers` of a subscription may set another.',
  }),
  allowPrivateEndpoints: optional({
    name: 'FANTAIL_ALLOW_PRIVATE_ENDPOINTS',
    schema: flag(),
    unset: 'true in local mode, false in server mode',
    description: 'Whether webhooks may point to loopback, private and link-local addresses.',
  }),
  outboundAllow: optional({
    name: 'FANTAIL_OUTBOUND_ALLOW',
    schema: addressRules(),
    unset: 'no exceptions',
    description:
      'Addresses, CIDRs, host names and *.domains that webhooks and proxies may be at though they are private, separated by commas.',
  }),
  outboundDeny: optional({
    name: 'FANTAIL_OUTBOUND_DENY',
    schema: addressRules(),
    unset: 'nothing beyond private addresses',
    description:
      'Addresses, CIDRs, host names and *.domains that Fantail never connects to, even if another setting allows them.',
  }),
  functions: optional({
    name: 'FANTAIL_FUNCTIONS',
    schema: functionMap(),
    unset: 'no function has a URL of its own',
    description:
      'Where functions are invoked (docs/guides/functions.md), as JSON: {"name or ARN": "URL"}, `*` for all others. A URL without a path is the base of an invoke API; any other is posted to as it is. Their hosts may be private.',
  }),
  fcmUrl: optional({
    name: 'FANTAIL_FCM_URL',
    schema: url(['http:', 'https:']),
    unset: 'https://fcm.googleapis.com',
    description: 'Firebase Cloud Messaging, or an emulator of it. Same for every service.',
  }),
  fcmTokenUrl: optional({
    name: 'FANTAIL_FCM_TOKEN_URL',
    schema: url(['http:', 'https:']),
    unset: 'https://oauth2.googleapis.com/token',
    description:
      'Where service accounts of Firebase are exchanged for tokens. Their own `token_uri` is never used. Same for every service.',
  }),
  apnsUrl: optional({
    name: 'FANTAIL_APNS_URL',
    schema: url(['http:', 'https:']),
    unset: 'https://api.push.apple.com',
    description: 'Apple Push Notification service, or an emulator of it. Same for every service.',
  }),
  apnsSandboxUrl: optional({
    name: 'FANTAIL_APNS_SANDBOX_URL',
    schema: url(['http:', 'https:']),
    unset: 'https://api.sandbox.push.apple.com',
    description: 'The sandbox of Apple Push Notification service, or an emulator. Same for every service.',
  }),
  streams: optional({
    name: 'FANTAIL_STREAMS',
    schema: streamMap(),
    unset: 'no stream has a place of its own',
    description:
      'Where records of streams go (docs/guides/streams.md), as JSON: {"name or ARN": "URL"}, `*` for all others. An http or https URL speaks the API of Firehose; file:///folder, s3://bucket/prefix and s3+https://host/bucket/prefix hold compressed lines, every second or as `?seconds=` says. redis://host:6379/0?stream=key&maxlen=1000000 is a Redis Stream. Hosts may be private.',
  }),
  awsQueues: optional({
    name: 'FANTAIL_AWS_QUEUES',
    schema: queueMap(),
    unset: 'no queue outside of Fantail has a URL of its own',
    description:
      'Where queues outside of this Fantail are (docs/guides/aws.md), as JSON: {"pattern of ARNs": "URL"}. The URL is the base of SQS’s API, with KEY:SECRET@ before its host if requests are to be signed. Hosts may be private.',
  }),
  awsClientCredentials: optional({
    name: 'FANTAIL_AWS_CREDENTIALS',
    schema: awsClientCredentials(),
    unset: 'nothing is called at AWS',
    description:
      'Credentials that queues, functions, streams and buckets at AWS, archives included, are called with, as ACCESSKEYID:SECRET, or ACCESSKEYID:SECRET:SESSIONTOKEN for temporary ones. `default` takes those that AWS’s SDKs would find, and renews them: environment, web identity, shared files, a container’s or an instance’s endpoint.',
  }),
  awsTargets: optional({
    name: 'FANTAIL_AWS_TARGETS',
    schema: arnPatterns(),
    unset: 'nothing is called at AWS',
    description:
      'ARNs that these credentials may call, separated by commas. `*` means any text between two colons, `?` one character.',
  }),
  masterKey: optional({
    name: 'FANTAIL_MASTER_KEY',
    schema: masterKey(),
    unset: 'local mode makes one and keeps it in FANTAIL_DATA_DIR; server mode takes no secrets',
    description:
      'Key that seals secrets and messages in Redis: 32 random bytes in base64 or hex, or a key that AWS KMS or Vault has wrapped. Same for every service.',
  }),
  masterKeysOld: optional({
    name: 'FANTAIL_MASTER_KEYS_OLD',
    schema: masterKeys(),
    unset: 'none',
    description:
      'Further master keys, separated by commas. They only open secrets and messages: earlier keys, and the next key.',
  }),
  vaultUrl: optional({
    name: 'FANTAIL_VAULT_URL',
    schema: url(['http:', 'https:']),
    unset: 'no master key is wrapped by Vault',
    description: 'Address of the HashiCorp Vault that unwraps master keys.',
  }),
  vaultLogin: optional({
    name: 'FANTAIL_VAULT_LOGIN',
    schema: vaultLogin(),
    unset: 'no master key is wrapped by Vault',
    description: 'Login at Vault: token:TOKEN, approle:ROLEID:SECRETID or kubernetes:ROLE.',
  }),
  seal: setting({
    name: 'FANTAIL_SEAL',
    schema: oneOf(['asked', 'all']),
    default: 'asked',
    description:
      'Which messages are stored sealed under the master key: those of topics and queues that ask for it, or all.',
  }),
  kmsKeys: optional({
    name: 'FANTAIL_KMS_KEYS',
    schema: kmsKeys(),
    unset: 'only alias/aws/sns and alias/aws/sqs are known',
    description:
      'Further values of KmsMasterKeyId that topics and queues may use, all for the master key: KEY=ACCOUNT+ACCOUNT, KEY=* for all accounts, or KEY=disabled, separated by commas.',
  }),
  awsMetrics: setting({
    name: 'FANTAIL_AWS_METRICS',
    schema: flag(),
    default: 'true',
    description: 'Whether the metrics of SNS and SQS are shown too, by topic and queue in use.',
  }),
  signingKeyFile: optional({
    name: 'FANTAIL_SIGNING_KEY_FILE',
    schema: file(),
    unset: 'a key that Fantail makes when it first needs one, and stores in Redis',
    description: 'RSA private key in PEM that messages are signed with. Same for every service.',
  }),
  signingCertFile: optional({
    name: 'FANTAIL_SIGNING_CERT_FILE',
    schema: file(),
    unset: 'the certificate that is made with the key',
    description: 'X.509 certificate in PEM of that key, served to subscribers.',
  }),
}

const opsPort = optional({
  name: 'FANTAIL_OPS_PORT',
  schema: wholeNumber(PORT),
  unset: 'FANTAIL_PORT + 1 for the worker, + 2 for the redrive service',
  description:
    'Port of /metrics, /healthz and /readyz of the worker and the redrive service; 0 takes a free one.',
})

const apiOpsPort = optional({
  name: 'FANTAIL_API_OPS_PORT',
  schema: wholeNumber(PORT),
  unset: 'the API serves them at FANTAIL_PORT only',
  description:
    'A second port of /metrics, /healthz and /readyz for one API of several that share FANTAIL_PORT. `fantail all` sets it.',
})

const redisMemoryBytes = optional({
  name: 'FANTAIL_REDIS_MEMORY_BYTES',
  schema: wholeNumber({ min: 1_048_576, max: 999_999_999_999_999 }),
  unset: 'half of the host’s memory',
  unit: 'bytes',
  description: 'Used as maxmemory if Redis has none; publishing is refused from 75 % of it.',
})

/** Who needs a key. */
const access = {
  auth: optional({
    name: 'FANTAIL_AUTH',
    schema: oneOf(['on', 'off']),
    unset: 'off in local mode, on in server mode',
    description:
      'on: every call needs an API key, made by `fantail keys create` (docs/security.md). off: in local mode only.',
  }),
  openMetrics: setting({
    name: 'FANTAIL_OPEN_METRICS',
    schema: flag(),
    default: 'false',
    description: 'Whether /metrics needs no key even if all other routes need one.',
  }),
}

export const apiTable = {
  ...common,
  ...storage,
  archive,
  ...delivery,
  ...access,
  fifoHttp: setting({
    name: 'FANTAIL_FIFO_HTTP',
    schema: flag(),
    default: 'false',
    description: 'Whether webhooks may subscribe to FIFO topics over the AWS wire, where SNS refuses them.',
  }),
  emailConfirmOnGet: setting({
    name: 'FANTAIL_EMAIL_CONFIRM_ON_GET',
    schema: flag(),
    default: 'false',
    description:
      'Whether opening the link of a confirmation mail confirms at once, as on AWS. Programs that check mails open links, too; by default a page shows a button.',
  }),
  unsignedUnsubscribe: optional({
    name: 'FANTAIL_UNSIGNED_UNSUBSCRIBE',
    schema: oneOf(['on', 'off']),
    unset: 'on in local mode, off in server mode',
    description:
      'on: a link to unsubscribe needs no token, as in SNS, for subscriptions that were made over the AWS wire. Whoever knows the ARN of such a subscription can then take it out.',
  }),
  trustedProxies: optional({
    name: 'FANTAIL_TRUSTED_PROXIES',
    schema: addressRanges(),
    unset: 'the address of the connection is the caller’s',
    description:
      'Addresses and CIDRs of your reverse proxies, separated by commas. Behind them, the caller is the last address in X-Forwarded-For that is none of them: for failed logins, aws:SourceIp and the audit log. The last value of their X-Forwarded-Proto says whether it used TLS.',
  }),
  auditFile: optional({
    name: 'FANTAIL_AUDIT_FILE',
    schema: file(),
    unset: 'audit lines are in the log',
    description:
      'File to which audit lines are appended, at any FANTAIL_LOG_LEVEL, in place of the log. It may be renamed at any time. /dev/fd/3 is a stream that the process inherits.',
  }),
  console: setting({
    name: 'FANTAIL_CONSOLE',
    schema: oneOf(['on', 'off']),
    default: 'on',
    description: 'off: the API serves no console (docs/console.md). Its pages hold no data.',
  }),
  corsOrigins: optional({
    name: 'FANTAIL_CORS_ORIGINS',
    schema: origins(),
    unset: 'only pages of the API itself',
    description:
      'Web pages of other sites that may call /v1, by their exact origins with commas between them: https://app.example.com. They send a key; cookies are not accepted.',
  }),
  portalOrigins: optional({
    name: 'FANTAIL_PORTAL_ORIGINS',
    schema: origins(),
    unset: 'no page may show the portal in a frame',
    description:
      'Web pages that may show the portal in a frame, by their exact origins with commas between them: https://app.example.com.',
  }),
  awsCredentials: optional({
    name: 'FANTAIL_ACCESS_KEYS',
    schema: awsCredentials(),
    unset: 'only keys that are made by `fantail keys create --aws`',
    description:
      'Access keys that may do everything, as ACCESSKEYID:SECRET[:ACCOUNT], separated by commas. If some are given, calls of the AWS protocols need a signature in local mode, too.',
  }),
  opsPort: apiOpsPort,
  redisMemoryBytes,
  queueInFlightMax: setting({
    name: 'FANTAIL_QUEUE_IN_FLIGHT_MAX',
    schema: wholeNumber({ min: 1, max: 100_000_000 }),
    default: '120000',
    unit: 'messages',
    description: 'Messages of one queue that may be in flight: past it nothing more is received, as in SQS.',
  }),
  noticeMinutes: setting({
    name: 'FANTAIL_NOTICE_MINUTES',
    schema: wholeNumber({ min: 1, max: 1_440 }),
    default: '5',
    unit: 'minutes',
    description: 'How long an endpoint must fail before a notice reports it (docs/guides/notices.md).',
  }),
  sqsDeleteCooldownSeconds: optional({
    name: 'FANTAIL_SQS_DELETE_COOLDOWN_SECONDS',
    schema: wholeNumber({ min: 0, max: 60 }),
    unset: '60 in server mode, as in SQS, and 0 in local mode, where queues are often created again',
    unit: 'seconds',
    description: 'How long SQS’s CreateQueue refuses the name of a deleted queue.',
  }),
  tlsCertFile: optional({
    name: 'FANTAIL_TLS_CERT_FILE',
    schema: file(),
    unset: 'plain HTTP',
    description: 'Certificate chain in PEM: the API is served over https.',
  }),
  tlsKeyFile: optional({
    name: 'FANTAIL_TLS_KEY_FILE',
    schema: file(),
    unset: 'plain HTTP',
    description: 'Private key in PEM of that certificate.',
  }),
}

export const workerTable = {
  ...common,
  ...storage,
  ...delivery,
  ...access,
  opsPort,
  redisMemoryBytes,
  deadLetterQueueShare: setting({
    name: 'FANTAIL_DEAD_LETTER_QUEUE_SHARE',
    schema: fraction({ min: 0, max: 1 }),
    default: '0.05',
    unit: 'share of the memory of Redis',
    description:
      'Share that the dead-letter queue of a topic may fill, if the topic made the queue itself. Past it: its oldest letters are discarded and counted.',
  }),
  deadLettersShare: setting({
    name: 'FANTAIL_DEAD_LETTERS_SHARE',
    schema: fraction({ min: 0, max: 1 }),
    default: '0.2',
    unit: 'share of the memory of Redis',
    description:
      'Share that all dead-letter queues of topics may fill together. Past it: the queue with the most bytes loses its oldest letters.',
  }),
  attemptLines: setting({
    name: 'FANTAIL_ATTEMPT_LINES',
    schema: wholeNumber({ min: 0, max: 100 }),
    default: '100',
    unit: 'percent of messages',
    description:
      'Messages whose attempts have a line delivery.attempted in the log; 0 logs none. A message has all of its lines or none. The ends of failed deliveries always have a line.',
  }),
  attemptsMax: setting({
    name: 'FANTAIL_ATTEMPTS_MAX',
    schema: wholeNumber({ min: 1, max: 100_000 }),
    default: '2000',
    unit: 'attempts',
    description: 'Attempts that one worker makes at the same time.',
  }),
}

export const redriveTable = {
  ...common,
  ...storage,
  archive,
  ...names,
  ...access,
  awsClientCredentials: delivery.awsClientCredentials,
  opsPort,
  redisMemoryBytes,
  masterKey: delivery.masterKey,
  masterKeysOld: delivery.masterKeysOld,
  vaultUrl: delivery.vaultUrl,
  vaultLogin: delivery.vaultLogin,
}

/** For commands that ask a key service. */
export const keyTable = {
  awsClientCredentials: delivery.awsClientCredentials,
  masterKey: delivery.masterKey,
  vaultUrl: delivery.vaultUrl,
  vaultLogin: delivery.vaultLogin,
}

/** Settings of the example receiver, which shows the deliveries of `npm start`. */
export const receiverTable = {
  ...common,
  ...names,
  receiverPort: optional({
    name: 'FANTAIL_RECEIVER_PORT',
    schema: wholeNumber(PORT),
    unset: 'FANTAIL_PORT + 9',
    description: 'Port of the example webhook receiver; 0 takes a free one.',
  }),
  receiverSmtpPort: optional({
    name: 'FANTAIL_RECEIVER_SMTP_PORT',
    schema: wholeNumber(PORT),
    unset: 'FANTAIL_PORT + 8',
    description: 'Port on which the example receiver takes mails; 0 takes a free one.',
  }),
}
