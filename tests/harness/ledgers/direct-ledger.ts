/**
 * The ledger of direct messages, to devices and phone numbers in turn. Each one that is accepted must reach its
 * provider. The ledger plays the provider of notifications and the one of text messages.
 */
import {
  firebaseCredential,
  type ReceivedRequest,
  type Receiver,
  startReceiver,
  waitFor,
} from '@fantail/test-kit'
import { afterAll } from 'vitest'
import type { RestClient } from '../services/rest-client.ts'

const AGAIN_EVERY_MS = 100
/**
 * The number of devices, and of phone numbers. Together they need several lanes, and each target gets several messages.
 */
const DEVICES = 10
const SMS = '/sms'
const SEND = '/v1/projects/shop-4711/messages:send'
const TOKEN = { status: 200, body: JSON.stringify({ access_token: 'at-1', expires_in: 3_600 }) }
const SENT = { status: 200, body: '{"name":"projects/shop-4711/messages/1"}' }

interface DirectAccount {
  accepted: number
  lost: number
}

export class DirectLedger {
  readonly #provider: Receiver
  readonly #accepted = new Set<string>()
  readonly #targets: ({ targetArn: string } | { phoneNumber: string })[] = []
  /** Number of texts so far. Each has its own, because its key is the text. */
  #texts = 0

  private constructor(provider: Receiver) {
    this.#provider = provider
  }

  /** Must be called while a test file is loaded, before its stack. The provider closes after the file's tests. */
  static async open(): Promise<DirectLedger> {
    const provider = await startReceiver()
    provider.respond('/token', TOKEN)
    provider.respond(SEND, SENT)
    provider.respond(SMS, { status: 202 })
    afterAll(() => provider.close())
    return new DirectLedger(provider)
  }

  /** Settings of the services that send to the provider. */
  get env(): Record<string, string> {
    const { url } = this.#provider
    return {
      FANTAIL_FCM_URL: url,
      FANTAIL_FCM_TOKEN_URL: `${url}/token`,
      FANTAIL_SMS_URL: `${url}${SMS}`,
      FANTAIL_SMS_BODY: '{"number":"{number}","text":"{message}"}',
      FANTAIL_SMS_COUNTRIES: '+1=0.0001',
      FANTAIL_SMS_MONTH_USD: '1000',
    }
  }

  /** Registers the devices that get messages. Numbers need no registration. */
  async register(client: RestClient): Promise<void> {
    const path = '/v1/platform-applications/GCM/ledger'
    await client.put(path, { credential: firebaseCredential().PlatformCredential })
    for (let n = 0; n < DEVICES; n++) {
      const { arn } = await client.post<{ arn: string }>(`${path}/endpoints`, { token: `device-${n}` })
      this.#targets.push({ targetArn: arn })
      this.#targets.push({ phoneNumber: `+1555010${String(n).padStart(4, '0')}` })
    }
  }

  /** Publishes `count` texts at once. Resolves when all are accepted. */
  async publishAll(client: RestClient, count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#publish(client)))
  }

  /** Resolves when everything accepted has arrived. */
  async whenSettled(): Promise<DirectAccount> {
    const timeoutMs = 60_000
    await waitFor(() => this.#account().lost === 0, { what: 'the direct messages', timeoutMs }).catch(
      () => undefined,
    )
    return this.#account()
  }

  #account(): DirectAccount {
    const requests = [...this.#provider.requestsTo(SEND), ...this.#provider.requestsTo(SMS)]
    const arrived = new Set(requests.map(textIn))
    const lost = [...this.#accepted].filter((text) => !arrived.has(text)).length
    return { accepted: this.#accepted.size, lost }
  }

  async #publish(client: RestClient): Promise<void> {
    const n = this.#texts++
    const body = { ...this.#targets[n % this.#targets.length], message: `d${n}` }
    const headers = { 'idempotency-key': body.message }
    const isAccepted = async () => {
      const answer = await client.call('POST', '/v1/messages', { body, headers }).catch(() => undefined)
      return answer?.status === 202
    }
    await waitFor(isAccepted, {
      what: `a 202 for ${body.message}`,
      timeoutMs: 60_000,
      intervalMs: AGAIN_EVERY_MS,
    })
    this.#accepted.add(body.message)
  }
}

/** The message's text in a request for a device or for a phone number. */
function textIn({ text: body }: ReceivedRequest): string {
  const { message, text } = JSON.parse(body) as { message?: { data: { default: string } }; text: string }
  return message?.data.default ?? text
}
