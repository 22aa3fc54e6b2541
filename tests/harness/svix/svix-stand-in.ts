/**
 * A stand-in for Svix: the calls that set up applications, endpoints and event types, those that read them, and
 * messages, which it delivers once. Svix's own client judges the calls, because tests make them with it, and Svix's
 * library signs the messages.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { Webhook } from 'svix'

type Json = Record<string, unknown>

interface Endpoint {
  shown: Json
  key: string
  headers: Record<string, string>
  sensitive: string[]
  transformation: Json
}

interface Application {
  shown: Json
  endpoints: Map<string, Endpoint>
}

export interface SvixStandIn {
  url: string
  /** Calls that were not a GET. */
  changes(): number
  /** Resolves when every message was delivered, and rejects if one was not. */
  delivered(): Promise<void>
  close(): void
}

/** Members of a page, fewer than callers ask for, so that they must read on. */
const PAGE_MEMBERS = 20

/** Knows nobody but the holder of the token. */
export async function startSvix(token: string): Promise<SvixStandIn> {
  const applications = new Map<string, Application>()
  const eventTypes = new Map<string, Json>()
  const under: Promise<void>[] = []
  let changes = 0
  const app = new Hono()
  app.use(async (context, next) => {
    if (context.req.header('authorization') !== `Bearer ${token}`)
      return problem(context, 401, 'authentication_failed')
    if (context.req.method !== 'GET') changes++
    return next()
  })
  const found = (context: Context) => {
    const application = applications.get(context.req.param('app') ?? '')
    const endpoint = application?.endpoints.get(context.req.param('endpoint') ?? '')
    return { application, endpoint }
  }
  app.post('/api/v1/app', async (context) => {
    const { name, uid = null, metadata = {}, throttleRate, rateLimit } = await context.req.json<Json>()
    const shown = dated({ id: newId('app'), name, uid, metadata, throttleRate, rateLimit })
    applications.set(String(shown.id), { shown, endpoints: new Map() })
    return context.json(shown, 201)
  })
  app.get('/api/v1/app', (context) =>
    page(
      context,
      [...applications.values()].map(({ shown }) => shown),
    ),
  )
  app.post('/api/v1/app/:app/endpoint', async (context) => {
    const { application } = found(context)
    if (!application) return problem(context, 404, 'not_found')
    const { secret, headers = {}, ...given } = await context.req.json<Json>()
    const shown = dated({ id: newId('ep'), metadata: {}, description: '', disabled: false, ...given })
    application.endpoints.set(String(shown.id), {
      shown,
      key: typeof secret === 'string' ? secret : `whsec_${randomBytes(24).toString('base64')}`,
      headers: headers as Record<string, string>,
      sensitive: [],
      transformation: { enabled: false, code: null },
    })
    return context.json(shown, 201)
  })
  app.patch('/api/v1/app/:app/endpoint/:endpoint', async (context) => {
    const { endpoint } = found(context)
    if (!endpoint) return problem(context, 404, 'not_found')
    Object.assign(endpoint.shown, await context.req.json<Json>())
    return context.json(endpoint.shown)
  })
  app.post('/api/v1/app/:app/msg', async (context) => {
    const { application } = found(context)
    if (!application) return problem(context, 404, 'not_found')
    const { eventType, payload, channels = [] } = await context.req.json<Json>()
    const message = { id: newId('msg'), eventType, payload, channels, timestamp: new Date().toISOString() }
    for (const endpoint of application.endpoints.values())
      if (takes(endpoint, message)) under.push(deliver(endpoint, message))
    return context.json(message, 202)
  })
  app.get('/api/v1/app/:app/endpoint', (context) => {
    const { application } = found(context)
    if (!application) return problem(context, 404, 'not_found')
    return page(
      context,
      [...application.endpoints.values()].map(({ shown }) => shown),
    )
  })
  app.all('/api/v1/app/:app/endpoint/:endpoint/:part{.+}', async (context) => {
    const { endpoint } = found(context)
    if (!endpoint) return problem(context, 404, 'not_found')
    const body = context.req.method === 'GET' ? {} : await context.req.json<Json>()
    switch (`${context.req.method} ${context.req.param('part')}`) {
      case 'GET secret':
        return context.json({ key: endpoint.key })
      case 'POST secret/rotate':
        endpoint.key = String(body.key ?? `whsec_${randomBytes(24).toString('base64')}`)
        return context.body(null, 204)
      case 'GET headers':
        return context.json({ headers: endpoint.headers, sensitive: endpoint.sensitive })
      case 'PUT headers':
        hideSensitive(endpoint, body.headers as Record<string, string>)
        return context.body(null, 204)
      case 'GET transformation':
        return context.json(endpoint.transformation)
      case 'PATCH transformation':
        endpoint.transformation = { ...endpoint.transformation, ...body }
        return context.body(null, 204)
      default:
        return problem(context, 404, 'not_found')
    }
  })
  app.post('/api/v1/event-type', async (context) => {
    const shown = dated({
      archived: false,
      deprecated: false,
      schemas: null,
      ...(await context.req.json<Json>()),
    })
    eventTypes.set(String(shown.name), shown)
    return context.json(shown, 201)
  })
  app.get('/api/v1/event-type', (context) => {
    const all = [...eventTypes.values()]
    const { include_archived: archived, with_content: content } = context.req.query()
    const seen = archived === 'true' ? all : all.filter((type) => type.archived !== true)
    return page(context, content === 'true' ? seen : seen.map(({ schemas: _, ...type }) => type))
  })
  const server = createAdaptorServer({ fetch: app.fetch })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    changes: () => changes,
    delivered: async () => void (await Promise.all(under)),
    close: () => void server.close(),
  }
}

interface Message {
  id: string
  eventType: unknown
  payload: unknown
  channels: unknown
}

/** Without event types or channels of its own an endpoint takes all. */
function takes({ shown }: Endpoint, { eventType, channels }: Message): boolean {
  const { disabled, eventTypes, channels: own } = shown as Record<string, unknown[] | undefined>
  if (disabled || (eventTypes && !eventTypes.includes(eventType))) return false
  return !own || own.some((channel) => (channels as unknown[]).includes(channel))
}

async function deliver({ shown, key, headers }: Endpoint, { id, payload }: Message): Promise<void> {
  const [body, at] = [JSON.stringify(payload), new Date()]
  const signed = {
    'svix-id': id,
    'svix-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'svix-signature': new Webhook(key).sign(id, at, body),
  }
  const all = { ...headers, ...signed, 'content-type': 'application/json' }
  const response = await fetch(String(shown.url), { method: 'POST', body, headers: all })
  if (!response.ok) throw new Error(`${shown.url} answers ${response.status}`)
}

function newId(kind: string): string {
  return `${kind}_${randomBytes(14).toString('hex').slice(0, 27)}`
}

function dated(members: Json): Json {
  const now = new Date().toISOString()
  return { ...members, createdAt: now, updatedAt: now }
}

/** Svix never shows the values of such headers again. */
function hideSensitive(endpoint: Endpoint, headers: Record<string, string>): void {
  const isSensitive = ([name]: [string, string]) => /^(authorization|cookie)$|secret|token/i.test(name)
  const all = Object.entries(headers)
  endpoint.sensitive = all.filter(isSensitive).map(([name]) => name)
  endpoint.headers = Object.fromEntries(all.filter((header) => !isSensitive(header)))
}

function page(context: Context, all: Json[]) {
  const limit = Math.min(Number(context.req.query('limit') ?? 50), PAGE_MEMBERS)
  const from = Number(context.req.query('iterator') ?? 0)
  const next = from + limit
  const iterator = String(Math.min(next, all.length))
  return context.json({ data: all.slice(from, next), iterator, prevIterator: null, done: next >= all.length })
}

function problem(context: Context, status: 401 | 404, code: string) {
  return context.json({ code, detail: code }, status)
}
