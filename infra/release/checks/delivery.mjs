// @ts-check
/**
 * Delivers messages through an installed Fantail by its own command line, as its first user would: a key, a topic, a
 * subscription, a message.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as passes } from 'node:timers/promises'
import { run } from '../../bootstrap/steps.mjs'

/**
 * The installed command line. It resolves to what it printed.
 * @typedef {(words: string[], settings?: Record<string, string>) => Promise<string>} CommandLine
 *
 * `command`: the words before `api`, `keys create` and so on. `env`: the whole environment.
 * @typedef {{ command: string[], env: Record<string, string> }} Installed
 */

const API = 'http://127.0.0.1:4100'
const WITHIN_MS = 60_000
const LOOK_AGAIN_MS = 100
const ROLES = ['api', 'worker', 'redrive']
const SCOPES = ['publish', 'read', 'manage'].flatMap((scope) => ['--scope', scope])

/**
 * Starts the services at free ports, delivers one message, and stops them.
 * @param {Installed} installed @param {string} redisUrl
 */
export async function deliverOne({ command: [program = '', ...words], env }, redisUrl) {
  const settings = {
    ...env,
    REDIS_URL: redisUrl,
    FANTAIL_MODE: 'server',
    FANTAIL_HOST: '127.0.0.1',
    FANTAIL_PORT: '0',
    FANTAIL_OPS_PORT: '0',
    FANTAIL_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    FANTAIL_OUTBOUND_ALLOW: '127.0.0.1',
  }
  const services = ROLES.map((role) => startService(program, [...words, role], settings))
  try {
    const [port] = await Promise.all(services.map(({ listening }) => listening))
    const delivery = await createDelivery(
      (more, user) => run(program, [...words, ...more], { env: { ...settings, ...user } }),
      `http://127.0.0.1:${port}`,
    )
    delivery.close()
  } finally {
    await Promise.all(services.map(({ stop }) => stop()))
  }
}

/**
 * `listening` resolves to the port. It rejects with the log if the service ends before.
 * @param {string} program @param {string[]} words @param {Record<string, string>} env
 */
function startService(program, words, env) {
  const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  /** @type {string[]} */
  const lines = []
  /** @type {Promise<number>} */
  const listening = new Promise((resolve, reject) => {
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on('line', (line) => {
        lines.push(line)
        if (/"msg":"(api|ops)\.listening"/.test(line)) resolve(JSON.parse(line).port)
      })
    }
    ended.then(() => reject(new Error(`${words.at(-1)} ended while starting:\n${lines.join('\n')}`)), reject)
  })
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { listening, stop }
}

/**
 * Call it as soon as the services start: the first message must arrive within a minute from then, after `firstMs`.
 * Also checks that console, portal and documentation open.
 * @param {CommandLine} fantail @param {string} [api]
 */
export async function createDelivery(fantail, api = API) {
  const startedAt = performance.now()
  /** @type {string[]} */
  const received = []
  const server = createServer(async (request, response) => {
    received.push((await request.setEncoding('utf8').toArray()).join(''))
    response.end()
  }).listen(0, '127.0.0.1')

  /** @param {string} message @param {number} [from] */
  async function deliver(message, from = performance.now()) {
    await fantail(['publish', 'check', message], user)
    await within(`the message ${message} arrives`, from, () =>
      received.some((body) => body.includes(message)),
    )
  }
  /** @type {Record<string, string>} */
  const user = { FANTAIL_URL: api }
  try {
    await once(server, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    await apiReady(api)
    user.FANTAIL_API_KEY = (await fantail(['keys', 'create', '--quiet', '--name', 'check', ...SCOPES])).trim()
    await fantail(['topics', 'create', 'check'], user)
    await fantail(['subs', 'add', 'check', `http://127.0.0.1:${port}/hook`], user)
    await deliver('the first message', startedAt)
    const firstMs = Math.round(performance.now() - startedAt)
    await pagesOpen(api)
    return { firstMs, deliver, close: () => server.close() }
  } catch (error) {
    server.close()
    throw error
  }
}

/** Resolves when the API takes calls. @param {string} [api] */
export function apiReady(api = API) {
  return within('the API is ready', performance.now(), () =>
    fetch(`${api}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
}

/** @param {string} api */
async function pagesOpen(api) {
  for (const page of ['/console/', '/portal/', '/docs', '/_assets/scalar.js']) {
    const answer = await fetch(api + page)
    if (!answer.ok || (await answer.text()) === '') throw new Error(`${page} answers ${answer.status}`)
  }
}

/** @param {string} what @param {number} from when the minute began @param {() => boolean | Promise<boolean>} look */
async function within(what, from, look) {
  while (!(await look())) {
    if (performance.now() - from > WITHIN_MS) throw new Error(`${what}: not within ${WITHIN_MS / 1_000} s`)
    await passes(LOOK_AGAIN_MS)
  }
}
