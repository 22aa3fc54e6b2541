// @ts-check
/** Publishes messages to a Fantail at its usual port, and waits until they arrive at a receiver. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as passes } from 'node:timers/promises'

const API = 'http://127.0.0.1:4100'
const WITHIN_MS = 60_000
const LOOK_AGAIN_MS = 100

/** @template T @param {string} what @param {() => T | Promise<T>} look @returns {Promise<NonNullable<T>>} */
async function within(what, look) {
  const until = performance.now() + WITHIN_MS
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > until) throw new Error(`${what}: not within ${WITHIN_MS / 1_000} s`)
    await passes(LOOK_AGAIN_MS)
  }
}

/** Resolves when the API takes calls. */
export function apiReady() {
  return within('the API is ready', () =>
    fetch(`${API}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
}

/** A receiver, a topic and a subscription. @param {string} token of an API key */
export async function createDelivery(token) {
  /** @type {string[]} */
  const received = []
  const server = createServer(async (request, response) => {
    received.push((await request.setEncoding('utf8').toArray()).join(''))
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  await call('PUT', '/v1/topics/check', token)
  await call('POST', '/v1/topics/check/subscriptions', token, { endpoint: `http://127.0.0.1:${port}/hook` })
  return {
    /** @param {string} message */
    async deliver(message) {
      await call('POST', '/v1/topics/check/messages', token, { message })
      await within(`the message ${message} arrives`, () => received.some((body) => body.includes(message)))
    },
    close: () => server.close(),
  }
}

/** Resolves if the console is there. */
export async function consoleOpens() {
  const answer = await fetch(`${API}/console/`)
  if (!answer.ok || !(await answer.text()).includes('<html'))
    throw new Error(`the console answers ${answer.status}`)
}

/** @param {string} method @param {string} path @param {string} token @param {unknown} [body] */
async function call(method, path, token, body = {}) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(API + path, { method, headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
}
