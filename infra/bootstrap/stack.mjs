// @ts-check
/** The part of the local stack that users see: addresses, readiness, and commands to paste. */
import { setTimeout as delay } from 'node:timers/promises'
import { dataDir } from './paths.mjs'
import { isFree } from './ports.mjs'
import { StepError } from './steps.mjs'
import { namesRedis } from './tools/redis-settings.mjs'

const POLL_MS = 100
/** After this time, services that are not ready are named once. The wait continues. */
const SLOW_MS = 20_000
const PORT_DEFAULT = 4100
/** The port of the receiver for mails is FANTAIL_PORT plus this number. */
const SMTP_OFFSET = 8
/** The receiver gets text messages to every number. Their price shows how spend is counted. */
const EVERY_COUNTRY = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => `+${digit}=0.001`).join(',')

/**
 * Each service with its place after FANTAIL_PORT and the path that answers 200 once it can be used.
 * @type {{ name: string, offset: number, ready: string, about: string }[]}
 */
const SERVICES = [
  { name: 'publish-api', offset: 0, ready: '/readyz', about: 'open it in a browser; documentation at /docs' },
  { name: 'delivery-worker', offset: 1, ready: '/readyz', about: '/metrics /readyz' },
  { name: 'redrive', offset: 2, ready: '/readyz', about: '/metrics /readyz' },
  {
    name: 'receiver',
    offset: 9,
    ready: '/',
    about:
      'shows what arrived; /ok /status/503 /flaky/3 /slow/5000 /hang; ' +
      'every function, stream, mail, text message and push notification',
  },
]

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {{ name: string, port: number, url: string, ready: string, about: string }[]}
 */
export function addresses(env) {
  const base = Number(env.FANTAIL_PORT?.trim() || PORT_DEFAULT)
  if (!Number.isInteger(base) || base < 1 || base > 65_000) {
    throw new StepError('FANTAIL_PORT must be a whole number from 1 to 65000 for the local stack')
  }
  return SERVICES.map(({ offset, ...service }) => {
    const own = service.name === 'receiver' ? Number(env.FANTAIL_RECEIVER_PORT?.trim() || 0) : 0
    const port = own || base + offset
    return { ...service, port, url: `http://${hostIn(env)}:${port}` }
  })
}

/**
 * Settings of the local stack's services, unless the environment has others. The receiver then plays every function and
 * every stream, and takes every mail, text message and notification of Firebase. If the environment names a provider of
 * text messages, no countries are set here, because real messages cost money.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Record<string, string>}
 */
export function localSettings(env) {
  const receiver = addresses(env).find(({ name }) => name === 'receiver')
  /** @type {Record<string, string>} */
  const settings = {
    FANTAIL_MODE: 'local',
    FANTAIL_FUNCTIONS: JSON.stringify({ '*': receiver?.url }),
    FANTAIL_STREAMS: JSON.stringify({ '*': `${receiver?.url}/firehose` }),
  }
  // In server mode mails reach people, so the operator must choose the SMTP server.
  if (env.FANTAIL_MODE?.trim() !== 'server') {
    settings.FANTAIL_SMTP_URL = smtpUrl(env)
    if (!env.FANTAIL_SMS_URL?.trim() && !env.FANTAIL_SMS_TWILIO?.trim()) {
      settings.FANTAIL_SMS_URL = `${receiver?.url}/sms`
      settings.FANTAIL_SMS_COUNTRIES = EVERY_COUNTRY
    }
    if (!env.FANTAIL_FCM_URL?.trim() && !env.FANTAIL_FCM_TOKEN_URL?.trim()) {
      settings.FANTAIL_FCM_URL = receiver?.url ?? ''
      settings.FANTAIL_FCM_TOKEN_URL = `${receiver?.url}/token`
    }
  }
  return settings
}

/** @param {NodeJS.ProcessEnv} env */
function smtpPort(env) {
  const [api] = addresses(env)
  return Number(env.FANTAIL_RECEIVER_SMTP_PORT?.trim() || 0) || Number(api?.port) + SMTP_OFFSET
}

/** @param {NodeJS.ProcessEnv} env */
function smtpUrl(env) {
  return `smtp://${hostIn(env)}:${smtpPort(env)}`
}

/** @param {NodeJS.ProcessEnv} env */
function hostIn(env) {
  const host = env.FANTAIL_HOST?.trim() || '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * Rejects with a StepError that names the ports that someone else listens on.
 * @param {NodeJS.ProcessEnv} env
 */
export async function checkPorts(env) {
  const host = env.FANTAIL_HOST?.trim() || '127.0.0.1'
  const taken = []
  const ports = [...addresses(env), { name: 'mails to the receiver', port: smtpPort(env) }]
  for (const { name, port } of ports) {
    if (!(await isFree(port, host))) taken.push(`port ${port} (for ${name})`)
  }
  if (taken.length === 0) return
  const [api] = addresses(env)
  const other = Number(api?.port) + 100
  throw new StepError(
    `${taken.join(', ')} of ${host} cannot be listened on: another Fantail, or another program, has it.\n` +
      '  Stop that one, or choose another range and folder: ' +
      `FANTAIL_PORT=${other} FANTAIL_DATA_DIR=.fantail-${other} npm start`,
  )
}

/**
 * Waits until every service answers, reports each, then prints examples to paste. Returns false if the signal ended the
 * wait.
 * @param {NodeJS.ProcessEnv} env
 * @param {{ signal?: AbortSignal, onSlow?: () => void }} [options] `onSlow` is called if it takes long
 */
export async function announceStack(env, { signal, onSlow } = {}) {
  const services = addresses(env)
  const slowAt = performance.now() + SLOW_MS
  let slow = false
  let missing = services
  for (;;) {
    const found = await Promise.all(missing.map(({ url, ready }) => isReady(`${url}${ready}`)))
    if (signal?.aborted) return false
    for (const service of missing.filter((_, index) => found[index])) console.log(lineOf(service))
    missing = missing.filter((_, index) => !found[index])
    if (missing.length === 0) break
    if (!slow && performance.now() > slowAt) {
      slow = true
      onSlow?.()
      const names = missing.map(({ name }) => name).join(', ')
      console.log(`fantail: still waiting for ${names}; the lines above may say why`)
    }
    await delay(POLL_MS)
  }
  console.log(invitation(services, asksForKeys(env) ? keyLines(env) : []))
  return true
}

const NAME_WIDTH = Math.max(...SERVICES.map(({ name }) => name.length))

/** @param {ReturnType<typeof addresses>[number]} service */
function lineOf({ name, url, about }) {
  return `  ${name.padEnd(NAME_WIDTH)}  ${url}  ${about}`
}

/** @param {string} url */
async function isReady(url) {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) })
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false // Not listening yet.
  }
}

/** @param {NodeJS.ProcessEnv} env */
function asksForKeys({ FANTAIL_AUTH: auth, FANTAIL_MODE: mode }) {
  return auth?.trim() === 'on' || mode?.trim() === 'server'
}

/**
 * Makes a key of this stack, from any terminal. The settings of a Redis may hold a password, so they are not printed.
 * @param {NodeJS.ProcessEnv} env
 */
export function keyLines(env) {
  const words = 'keys create --name me --scope manage --scope read --scope publish --quiet'
  const own = env.FANTAIL_DATA_DIR?.trim() ? `FANTAIL_DATA_DIR=${quoted(dataDir(env))} ` : ''
  return [
    ...(namesRedis(env) ? ['# With the REDIS_… and FANTAIL_… settings of this stack:'] : []),
    `TOKEN=$(${namesRedis(env) ? '' : own}npm run -s fantail -- ${words})`,
  ]
}

/** @param {string} path */
function quoted(path) {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** @param {ReturnType<typeof addresses>} services @param {string[]} keys the lines that make a key, if one is needed */
function invitation(services, keys) {
  const [api, , , receiver] = services.map(({ url }) => url)
  return [
    '',
    `Fantail is ready. ${keys.length > 0 ? 'Make a key, create' : 'Create'} a topic, subscribe the receiver, publish:`,
    ...keys,
    ...curlLines(api ?? '', receiver ?? '', keys.length > 0),
    '',
    'Ctrl-C stops everything; the next start finds its data again. What follows is the log.',
    '',
  ].join('\n')
}

/**
 * Commands to paste. Each may be pasted again: it leaves things that exist as they are.
 * @param {string} api
 * @param {string} receiver
 * @param {boolean} [withKey] whether the API needs a key
 */
export function curlLines(api, receiver, withKey = false) {
  const json = `${withKey ? '-H "authorization: Bearer $TOKEN" ' : ''}-H 'content-type: application/json'`
  return [
    `curl -sS -X PUT ${api}/v1/topics/hello ${json} -d '{}'`,
    `curl -sS ${api}/v1/topics/hello/subscriptions ${json} -d '{"endpoint":"${receiver}/ok"}'`,
    `curl -sS ${api}/v1/topics/hello/messages ${json} -d '{"message":"Hello from Fantail"}'`,
  ]
}
