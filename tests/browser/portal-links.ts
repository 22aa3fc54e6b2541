/** API keys, portal links and a customer's data, for tests in a browser. The API requires keys. */
import { execFileSync } from 'node:child_process'
import { launcher } from '../harness/services/service-bundles.ts'
import type { Stack } from '../harness/services/stack.ts'
import { ROOT } from '../repo/repository.ts'

export const PORTAL_SCOPES = ['read', 'manage', 'redrive', 'bodies']
const ALL_SCOPES = [...PORTAL_SCOPES, 'publish']

/** The token of a new key. */
export function createKey({ place }: Stack): string {
  const scopes = ALL_SCOPES.flatMap((scope) => ['--scope', scope])
  const args = ['keys', 'create', '--name', 'ops', ...scopes, '--quiet']
  const env = { ...process.env, ...place.env }
  return execFileSync(process.execPath, [launcher(), ...args], { cwd: ROOT, env, encoding: 'utf8' }).trim()
}

export type Call = <Answer>(method: string, path: string, body?: object) => Promise<Answer>

/** Calls the API with a key of its own. */
export function callerOf(stack: Stack): Call {
  const headers = { authorization: `Bearer ${createKey(stack)}`, 'content-type': 'application/json' }
  return async (method, path, body) => {
    const given = body && { body: JSON.stringify(body) }
    const response = await fetch(`${stack.api.url}${path}`, { method, headers, ...given })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
}

/** The path of a new link, with its token behind the `#`. */
export async function pathOfLink(call: Call, grant: object): Promise<string> {
  const { url } = await call<{ url: string }>('POST', '/v1/portal-links', grant)
  const { pathname, search, hash } = new URL(url)
  return `${pathname}${search}${hash}`
}
const ORDER_PAID = {
  description: 'A customer has paid an order.',
  schema: {
    type: 'object',
    required: ['order'],
    properties: {
      order: { type: 'integer', description: 'Number of the order.' },
      total: { type: ['number', 'null'] },
    },
  },
  examples: [{ order: 7, total: 19.9 }],
}

/** A topic that keeps its messages, with a catalogue of three event types. */
export async function makeCatalogue(call: Call, topic: string): Promise<void> {
  await call('PUT', `/v1/topics/${topic}`, { keepMessages: { seconds: 86_400, bytes: 10_485_760 } })
  const types = `/v1/topics/${topic}/event-types`
  await call('PUT', `${types}/order.paid`, ORDER_PAID)
  await call('PUT', `${types}/order.shipped`, { description: 'An order has left the warehouse.' })
  await call('PUT', `${types}/invoice.sent`, { description: 'An invoice was sent by mail.' })
}

const HOURS = 168

/** Made-up figures of a week with a day of failures, because a worker adds real ones only once a minute. */
export function weekOfFigures() {
  const hours = Array.from({ length: HOURS }, (_, hour) => hour)
  const isOutage = (hour: number) => hour >= 72 && hour < 84
  return {
    stepSeconds: 3_600,
    kept: true,
    at: hours.map((hour) => new Date(Date.now() - (HOURS - 1 - hour) * 3_600_000).toISOString()),
    delivered: hours.map((hour) => (isOutage(hour) ? 0 : 20 + (hour % 24))),
    failed: hours.map((hour) => (isOutage(hour) ? 40 : 0)),
    deadLettered: hours.map((hour) => (hour === 83 ? 2 : 0)),
    meanMs: hours.map((hour) => (isOutage(hour) ? null : 38)),
  }
}
