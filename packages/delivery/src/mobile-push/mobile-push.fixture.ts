/**
 * Starts stand-ins for the push providers on this machine, and an attempter that sends to them. The test chooses their
 * answers.
 */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { createServer as createHttp2Server, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import {
  type AttemptResult,
  type Message,
  type MessageAttribute,
  type Platform,
  type PlatformApplicationRecord,
  type PlatformCredential,
  type PlatformEndpointRecord,
  platformApplicationArn,
  platformEndpointArn,
} from '@fantail/contracts'
import { createMasterKeyText, createVault, parseMasterKey } from '@fantail/vault'
import { MobilePushAttempter } from '../attempters/mobile-push-attempter.ts'
import { compileEnvelope } from '../envelope/envelope.ts'
import type { EndpointTarget } from '../envelope/target.ts'
import { createHttpSender } from '../http/http-sender.ts'
import { sealPlatformCredential } from './mobile-push-tools.ts'

export const NOW = 1_790_000_000_000
const PLACE = { partition: 'aws', region: 'us-east-1', account: '000000000000' }
const ENDPOINT_ID = '5e3e9847-3183-4f18-a7e8-671c3a57d4b3'

interface Asked {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

interface Reply {
  status: number
  body?: object
  headers?: Record<string, string>
  /** Interim answers of APNs before this one. */
  interim?: number
}

export interface Providers {
  url: string
  appleUrl: string
  /** All requests, in order. */
  asked: Asked[]
  /** Makes the answers of both servers. Undefined: no answer is sent. */
  reply: (asked: Asked) => Reply | undefined
  /** If it is set, it gets the answers of APNs and may send them later. */
  hold: ((answer: () => void) => void) | undefined
  /** Ends the connections to APNs after their outstanding answers. */
  goAway(): void
  /** Cuts the connections to APNs. */
  cut(): void
  /** How many connections to APNs there were. */
  sessions(): number
  close(): Promise<void>
}

export async function startProviders(): Promise<Providers> {
  const sessions = new Set<ServerHttp2Session>()
  let opened = 0
  const providers = { asked: [] as Asked[], reply: () => ({ status: 200, body: {} }) } as unknown as Providers
  const answer = (asked: Asked) => {
    providers.asked.push(asked)
    return providers.reply(asked)
  }
  const plain = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const reply = answer({ path: request.url ?? '', headers: request.headers, body })
    if (reply) response.writeHead(reply.status, reply.headers).end(JSON.stringify(reply.body ?? {}))
  })
  const apple = createHttp2Server(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const reply = answer({ path: request.url, headers: request.headers, body })
    if (!reply) return
    const give = () => {
      for (let n = 0; n < (reply.interim ?? 0); n++) response.stream.additionalHeaders({ ':status': 103 })
      response.writeHead(reply.status, reply.headers).end(JSON.stringify(reply.body ?? {}))
    }
    if (providers.hold) providers.hold(give)
    else give()
  })
  apple.on('session', (session) => {
    sessions.add(session)
    opened++
    session.on('close', () => sessions.delete(session))
  })
  const listen = (server: typeof plain | typeof apple) =>
    new Promise<string>((resolve) =>
      server.listen(0, '127.0.0.1', () =>
        resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      ),
    )
  const [url, appleUrl] = [await listen(plain), await listen(apple)]
  const goAway = () => {
    for (const session of sessions) session.goaway()
  }
  const cut = () => {
    for (const session of sessions) session.destroy()
  }
  const close = async () => {
    for (const session of sessions) session.destroy()
    plain.closeAllConnections()
    await Promise.all([plain, apple].map((server) => new Promise((resolve) => server.close(resolve))))
  }
  return Object.assign(providers, { url, appleUrl, goAway, cut, sessions: () => opened, close })
}

interface Device {
  attemptTimeoutMs?: number
  platform: Platform
  credential: PlatformCredential
  token: string
  deny?: string[]
}

/** One device and its application, as the store would have them. `now` is the clock. */
export function createDevice(
  providers: Providers,
  { platform, credential, token, attemptTimeoutMs, deny }: Device,
) {
  const masterKey = parseMasterKey(createMasterKeyText())
  if (!masterKey) throw new Error('a new key must be readable')
  const vault = createVault([masterKey])
  const arn = platformApplicationArn(platform, 'shop', PLACE)
  const application: PlatformApplicationRecord = {
    arn,
    platform,
    sealed: sealPlatformCredential(credential, { arn }, vault),
    attributes: { Enabled: 'true' },
    createdAt: NOW,
  }
  const endpoint: PlatformEndpointRecord = {
    arn: platformEndpointArn(arn, ENDPOINT_ID),
    token,
    enabled: true,
    createdAt: NOW,
  }
  const sender = createHttpSender({
    timeoutMs: attemptTimeoutMs ?? 15_000,
    allowPrivate: true,
    deny: deny ?? [],
  })
  const done = { disabled: [] as string[], published: [] as string[] }
  const state = { now: NOW, application, endpoint, ...done, damage: undefined as Error | undefined }
  const attempter = new MobilePushAttempter(
    {
      fcmUrl: providers.url,
      attemptTimeoutMs,
      fcmTokenUrl: `${providers.url}/token`,
      apnsUrl: providers.appleUrl,
      apnsSandboxUrl: providers.appleUrl,
    },
    {
      sender,
      vault,
      clock: () => state.now,
      mobilePush: {
        application: async (asked) => {
          if (state.damage) throw state.damage
          return asked === arn ? state.application : null
        },
        endpoint: async (asked) => (asked === endpoint.arn ? state.endpoint : null),
        disable: async ({ token: dead }) => void state.disabled.push(dead),
        publishOwed: async ({ arn: owed }) => void state.published.push(owed),
      },
    },
  )
  const target = { url: endpoint.arn, protocol: 'application' } as EndpointTarget
  const push = (given: Partial<Message> & { message: string }) =>
    new Promise<AttemptResult>((resolve) => {
      const message: Message = { messageId: ENDPOINT_ID, topicArn: 'arn', publishedAt: NOW, ...given }
      const envelope = compileEnvelope(message)
      attempter.attempt({ envelope, target, delivery: undefined, textBytesMax: 1_000 }, resolve)
    })
  return {
    state,
    push,
    target,
    attempter,
    close: async () => Promise.all([attempter.close(), sender.close()]),
  }
}

export function reserved(values: Record<string, string>): Record<string, MessageAttribute> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`AWS.SNS.MOBILE.${name}`, { type: 'String', value }]),
  )
}
