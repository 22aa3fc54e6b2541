/**
 * Receives requests of SNS over HTTP. A request is answered with 200 only when it was handled. SNS tries again after a
 * 503, but not after a 4xx, so only a request that is not of SNS gets a 403.
 */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { VerifyError, verifySnsMessage, type WebhookEvent } from '@fantail/client'
import type { AwsTopic } from './aws-topic.ts'

/** @limit Body of a request that a bridge reads. Past it: the request is refused. */
const BRIDGE_BODY_BYTES_MAX = 4_194_304
/** Time for the request that confirms a subscription. Past it: SNS asks again. */
const CONFIRM_MS_MAX = 10_000

interface SnsRequest {
  text: string
  headers: IncomingHttpHeaders
  path: string
}

interface SnsRequestsOptions {
  host: string
  port: number
  handle(request: SnsRequest): Promise<void>
  failed(error: unknown): void
  /** The answer to a GET. */
  status(): object
}

interface SnsRequests {
  port: number
  /** Resolves when the requests under way are answered. */
  close(): Promise<void>
}

export async function receiveSns(options: SnsRequestsOptions): Promise<SnsRequests> {
  const server = createServer((request, response) => {
    void answer(request, options).then(([status, body]) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  server.listen(options.port, options.host)
  await once(server, 'listening')
  const close = async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeIdleConnections()
    await closed
  }
  return { port: (server.address() as AddressInfo).port, close }
}

async function answer(
  request: IncomingMessage,
  { handle, failed, status }: SnsRequestsOptions,
): Promise<[status: number, body: object]> {
  try {
    if (request.method === 'GET') return [200, status()]
    const { headers, url: path = '/' } = request
    await handle({ text: await bodyOf(request), headers, path })
    return [200, {}]
  } catch (error) {
    failed(error)
    return [error instanceof VerifyError ? 403 : 503, {}]
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BRIDGE_BODY_BYTES_MAX) throw new VerifyError('wrong_body', 'the body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/**
 * The event in a request that SNS has signed for the topic. Certificates come from the host of SNS. Only a stand-in for
 * SNS may serve them without TLS.
 */
export function verifiedEvent(text: string, { arn, url }: AwsTopic): Promise<WebhookEvent> {
  const trusted = { hosts: [url.host], topicArns: [arn] }
  if (url.protocol === 'https:') return verifySnsMessage(text, trusted)
  const secured = text.replace('"SigningCertURL" : "http://', '"SigningCertURL" : "https://')
  const plain: typeof fetch = (at, init) => fetch(String(at).replace('https://', 'http://'), init)
  return verifySnsMessage(secured, { ...trusted, fetch: plain })
}

/** The protocol of a subscription with this URL, as SNS names it. */
export function schemeOf(url: string): string {
  return new URL(url).protocol.slice(0, -1)
}

/** Confirms the subscription for which SNS asks. */
export async function confirmAtSns({ subscribeUrl = '' }: WebhookEvent, { url }: AwsTopic): Promise<void> {
  if (URL.parse(subscribeUrl)?.host !== url.host)
    throw new VerifyError('wrong_body', 'SubscribeURL is not of SNS')
  const response = await fetch(subscribeUrl, { signal: AbortSignal.timeout(CONFIRM_MS_MAX) })
  if (!response.ok) throw new Error(`SubscribeURL answers ${response.status}`)
}
