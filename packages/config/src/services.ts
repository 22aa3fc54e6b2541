/**
 * Reads the settings of each service. First its table is read, then rules between settings are checked, then derived
 * defaults are filled in.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ArnDefaults, KEY_COMMAND } from '@fantail/contracts'
import { allowsOwnRedis, isRedisStream } from '@fantail/policy'
import { WrappedKey } from '@fantail/vault'
import { PLACES, redisRule } from './redis-settings.ts'
import {
  type Env,
  type ReadSettings,
  readSettings,
  type SettingProblem,
  SettingsError,
  type Table,
  togetherRule,
  type Values,
} from './setting.ts'
import { apiTable, keyTable, receiverTable, redriveTable, workerTable } from './tables.ts'

type Common = Pick<Values<typeof apiTable>, 'mode' | 'port' | 'host'>

export type ApiSettings = ReturnType<typeof readApiSettings>
export type WorkerSettings = ReturnType<typeof readWorkerSettings>

type Rule<T extends Table> = (values: Partial<Values<T>>, env: Env) => SettingProblem[]

/** Throws a SettingsError that names every problem. */
export function readApiSettings(env: Env) {
  const values = read(apiTable, env, [...COMMON_RULES, ...SENDING_RULES, TLS_RULE])
  const isLocal = values.mode === 'local'
  return {
    ...values,
    ...derived(values),
    ...derivedOfSending(values),
    archive: archiveOf(values),
    sqsDeleteCooldownSeconds: values.sqsDeleteCooldownSeconds ?? (isLocal ? 0 : 60),
    unsignedUnsubscribe: (values.unsignedUnsubscribe ?? (isLocal ? 'on' : 'off')) === 'on',
  }
}

/** Throws a SettingsError that names every problem. */
export function readWorkerSettings(env: Env) {
  const values = read(workerTable, env, [...COMMON_RULES, portRule('FANTAIL_OPS_PORT', 1), ...SENDING_RULES])
  const opsPort = values.opsPort ?? portAfter(values.port, 1)
  return { ...values, ...derived(values), ...derivedOfSending(values), opsPort }
}

/** Throws a SettingsError that names every problem. */
export function readRedriveSettings(env: Env) {
  const values = read(redriveTable, env, [
    ...COMMON_RULES,
    portRule('FANTAIL_OPS_PORT', 2),
    masterKeyRule,
    vaultRule,
  ])
  const opsPort = values.opsPort ?? portAfter(values.port, 2)
  return { ...values, ...derived(values), archive: archiveOf(values), opsPort }
}

/** Throws a SettingsError that names every problem. */
export function readKeySettings(env: Env) {
  return read(keyTable, env, [vaultRule])
}

/** Undefined: no topic can have an archive. */
function archiveOf({
  archive,
  mode,
  dataDir,
}: Pick<Values<typeof redriveTable>, 'archive' | 'mode' | 'dataDir'>): string | undefined {
  return archive ?? (mode === 'local' ? pathToFileURL(join(dataDir, 'archive')).href : undefined)
}

/** Throws a SettingsError that names every problem. */
export function readReceiverSettings(env: Env) {
  const values = read(receiverTable, env, [
    hostRule,
    portRule('FANTAIL_RECEIVER_PORT', 9),
    portRule('FANTAIL_RECEIVER_SMTP_PORT', 8),
  ])
  return {
    ...values,
    host: hostOf(values),
    receiverPort: values.receiverPort ?? portAfter(values.port, 9),
    receiverSmtpPort: values.receiverSmtpPort ?? portAfter(values.port, 8),
  }
}

function read<T extends Table>(table: T, env: Env, rules: Rule<NoInfer<T>>[]): Values<T> {
  const { values, problems }: ReadSettings<T> = readSettings(table, env)
  const all = [...problems, ...rules.flatMap((rule) => rule(values, env))]
  if (all.length > 0) throw new SettingsError(all)
  return values as Values<T>
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/

function hostRule({ mode, host }: Partial<Common>): SettingProblem[] {
  if (mode !== 'local' || host === undefined || LOOPBACK.test(host)) return []
  const message =
    'must be a loopback address (127.0.0.1, ::1 or localhost) in local mode; FANTAIL_MODE=server listens elsewhere'
  return [{ name: 'FANTAIL_HOST', message }]
}

/** One script moves the time of all shards, so they must be on one server. */
function timeTravelRule(
  { mode, timeTravel }: Partial<Values<typeof redriveTable>>,
  env: Env,
): SettingProblem[] {
  if (timeTravel !== 'on') return []
  const isApart = PLACES.some((name) => name !== 'REDIS_URL' && env[name]?.trim())
  if (mode === 'local' && !isApart) return []
  const message = 'must be off in server mode and with several Redis servers: only tests move the time'
  return [{ name: 'FANTAIL_TIME_TRAVEL', message }]
}

type AuthSetting = { auth?: 'on' | 'off' | undefined }

function authRule({ mode, auth }: Partial<Common> & AuthSetting): SettingProblem[] {
  if (mode !== 'server' || auth !== 'off') return []
  const message =
    'must be on in server mode: anyone who reaches the port could publish, read and delete. ' +
    `\`${KEY_COMMAND}\` makes a first API key`
  return [{ name: 'FANTAIL_AUTH', message }]
}

/** Credentials are required if AWS targets are allowed, or if the URL of a bucket contains no credentials. */
function awsRule({ streams = {}, awsTargets }: Partial<Values<typeof workerTable>>, env: Env) {
  if (env.FANTAIL_AWS_CREDENTIALS?.trim()) return []
  const name = 'FANTAIL_AWS_CREDENTIALS'
  if (awsTargets) return [{ name, message: 'must be set where FANTAIL_AWS_TARGETS is' }]
  const urls = Object.values(streams).map((url) => new URL(url))
  const bare = urls.some(({ protocol, username }) => protocol.startsWith('s3') && username === '')
  return bare
    ? [{ name, message: 'must be set where FANTAIL_STREAMS names a bucket without credentials' }]
    : []
}

/** A stream in Fantail's own Redis takes memory from deliveries, so the operator must allow it. */
function ownRedisRule({ streams = {} }: Partial<Values<typeof workerTable>>, env: Env): SettingProblem[] {
  const own = PLACES.map((name) => env[name] ?? '').join()
  const isOwn = (url: URL) => isRedisStream(url) && !allowsOwnRedis(url) && own.includes(url.host)
  if (!Object.values(streams).some((url) => isOwn(new URL(url)))) return []
  const message = 'names the Redis that holds Fantail’s own data, which `&own=true` in the URL allows'
  return [{ name: 'FANTAIL_STREAMS', message }]
}

function masterKeyRule(_: unknown, env: Env): SettingProblem[] {
  if (!env.FANTAIL_MASTER_KEYS_OLD?.trim() || env.FANTAIL_MASTER_KEY?.trim()) return []
  return [{ name: 'FANTAIL_MASTER_KEY', message: 'must be set where FANTAIL_MASTER_KEYS_OLD is' }]
}

/** A key that Vault has wrapped needs an address and a login. */
function vaultRule({ masterKey, masterKeysOld = [] }: Partial<Values<typeof workerTable>>, env: Env) {
  const keys = [masterKey, ...masterKeysOld]
  if (!keys.some((key) => key instanceof WrappedKey && key.by.service === 'vault')) return []
  const missing = ['FANTAIL_VAULT_URL', 'FANTAIL_VAULT_LOGIN'].filter((name) => !env[name]?.trim())
  return missing.map((name) => ({ name, message: 'must be set where Vault has wrapped a master key' }))
}

/** Local mode makes a master key itself. */
function sealRule({ mode, seal }: Partial<Values<typeof workerTable>>, env: Env): SettingProblem[] {
  if (seal !== 'all' || mode !== 'server' || env.FANTAIL_MASTER_KEY?.trim()) return []
  return [{ name: 'FANTAIL_MASTER_KEY', message: 'must be set where FANTAIL_SEAL is all' }]
}

/** People open the links in mails, so links need a public https address. */
function mailRule({ mode }: Partial<Common>, env: Env): SettingProblem[] {
  const given = (name: string) => env[name]?.trim() ?? ''
  if (mode !== 'server' || given('FANTAIL_SMTP_URL') === '') return []
  const problems: SettingProblem[] = []
  if (given('FANTAIL_EMAIL_FROM') === '') {
    problems.push({ name: 'FANTAIL_EMAIL_FROM', message: 'must be set where FANTAIL_SMTP_URL is' })
  }
  if (URL.parse(given('FANTAIL_PUBLIC_URL'))?.protocol !== 'https:') {
    const message = 'must be an https URL where FANTAIL_SMTP_URL is set: mails hold links to it'
    problems.push({ name: 'FANTAIL_PUBLIC_URL', message })
  }
  return problems
}

/** Text messages cost money. So their countries must be set, and no default allows all countries. */
function smsRule(_: unknown, env: Env): SettingProblem[] {
  const given = (name: string) => env[name]?.trim() ?? ''
  const provider = ['FANTAIL_SMS_TWILIO', 'FANTAIL_SMS_URL'].find((name) => given(name) !== '')
  if (provider === undefined || given('FANTAIL_SMS_COUNTRIES') !== '') return []
  return [{ name: 'FANTAIL_SMS_COUNTRIES', message: `must be set where ${provider} is` }]
}

const DKIM_RULE = togetherRule([
  'FANTAIL_EMAIL_DKIM_DOMAIN',
  'FANTAIL_EMAIL_DKIM_SELECTOR',
  'FANTAIL_EMAIL_DKIM_KEY_FILE',
])
const SIGNING_RULE = togetherRule(['FANTAIL_SIGNING_KEY_FILE', 'FANTAIL_SIGNING_CERT_FILE'])
const TLS_RULE = togetherRule(['FANTAIL_TLS_KEY_FILE', 'FANTAIL_TLS_CERT_FILE'])

/**
 * @limit Port that a service derives from FANTAIL_PORT. Past it: the service does not start, and names the setting that
 * must be given.
 */
const DERIVED_PORT_MAX = 65_535

function portRule(name: string, offset: number) {
  return ({ port }: Partial<Common>, env: Env): SettingProblem[] => {
    if (port === undefined || env[name]?.trim() || portAfter(port, offset) <= DERIVED_PORT_MAX) return []
    return [{ name, message: `must be set where FANTAIL_PORT + ${offset} is past ${DERIVED_PORT_MAX}` }]
  }
}

/** Port 0 means any free port, so the derived port is 0 too. */
function portAfter(port: number, offset: number): number {
  return port === 0 ? 0 : port + offset
}

function hostOf({ mode, host }: Common): string {
  return host ?? (mode === 'local' ? '127.0.0.1' : '0.0.0.0')
}

/** Defaults that depend on other values. `auth`: whether calls need a key. */
function derived(values: Common & AuthSetting & { account: string; region: string }) {
  const { mode, auth, region, account } = values
  const arn: ArnDefaults = { partition: 'aws', region, account }
  return { host: hostOf(values), arn, auth: auth === undefined ? mode === 'server' : auth === 'on' }
}

type Sending = Pick<Values<typeof workerTable>, 'mode' | 'allowPrivateEndpoints' | 'smtpTls'>

function derivedOfSending({ mode, allowPrivateEndpoints = mode === 'local', smtpTls }: Sending) {
  return { allowPrivateEndpoints, smtpTls: smtpTls ?? (mode === 'server' ? 'required' : 'offered') } as const
}

/** Rules of every service that uses Redis. */
const COMMON_RULES = [hostRule, redisRule, timeTravelRule, authRule]
/** Rules of the services that make attempts. */
const SENDING_RULES = [
  SIGNING_RULE,
  masterKeyRule,
  vaultRule,
  sealRule,
  awsRule,
  ownRedisRule,
  mailRule,
  smsRule,
  DKIM_RULE,
]
