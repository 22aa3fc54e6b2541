/**
 * Makes attempts at platform endpoints. An attempt sends one notification to one device or browser.
 *
 * | case | result |
 * |---|---|
 * | the endpoint or its application is gone or disabled; the time to live is over; the body cannot be sent | permanent
 * | | the provider says that the token is dead | permanent. The endpoint is disabled, and the application gets an event
 * | | the provider refuses the application's credential | misconfigured |
 * | otherwise | by the provider's answer (mobile-push/provider-answers.ts) |
 */
import {
  type AttemptErrorCode,
  type AttemptResult,
  type Message,
  type Platform,
  type PlatformApplicationRecord,
  type PlatformCredential,
  parsePlatformEndpointArn,
} from '@fantail/contracts'
import { statusLogOf } from '@fantail/policy'
import { attemptDeadline, untilAborted } from '../bounds/attempt-deadline.ts'
import { ProvidersUnderWay, refusedBy } from '../bounds/under-way.ts'
import type { Connector } from '../connections/connector.ts'
import type { EndpointTarget } from '../envelope/target.ts'
import type { HttpSender } from '../http/http-sender.ts'
import { Apple } from '../mobile-push/apple.ts'
import { Browsers } from '../mobile-push/browsers.ts'
import { Firebase } from '../mobile-push/firebase.ts'
import {
  type MobilePushProvider,
  type Push,
  type Pushed,
  RefusedCredentialError,
} from '../mobile-push/mobile-push-provider.ts'
import { type MobilePushTools, openPlatformCredential } from '../mobile-push/mobile-push-tools.ts'
import { MOBILE_PUSH_WAIT_SECONDS } from '../mobile-push/provider-answers.ts'
import type { Sealing } from '../outbound/outbound-secrets.ts'
import { type Attempt, type AttemptDone, type Attempter, DamagedDataError } from './attempter.ts'

export interface MobilePushSettings {
  /** FANTAIL_ATTEMPT_TIMEOUT_MS */
  attemptTimeoutMs?: number | undefined
  /** FANTAIL_FCM_URL */
  fcmUrl?: string | undefined
  /** FANTAIL_FCM_TOKEN_URL */
  fcmTokenUrl?: string | undefined
  /** FANTAIL_APNS_URL */
  apnsUrl?: string | undefined
  /** FANTAIL_APNS_SANDBOX_URL */
  apnsSandboxUrl?: string | undefined
}

export interface MobilePushAttempterOptions {
  mobilePush: MobilePushTools
  sender: Pick<HttpSender, 'send' | 'dial'>
  vault: Sealing | undefined
  /** Epoch ms. */
  clock: () => number
}

const FCM_URL_DEFAULT = 'https://fcm.googleapis.com'
const FCM_TOKEN_URL_DEFAULT = 'https://oauth2.googleapis.com/token'
const APNS_URL_DEFAULT = 'https://api.push.apple.com'
const APNS_SANDBOX_URL_DEFAULT = 'https://api.sandbox.push.apple.com'

export class MobilePushAttempter implements Attempter {
  readonly #options: MobilePushAttempterOptions
  readonly #providers: Record<Platform, MobilePushProvider>
  readonly #timeoutMs: number | undefined
  readonly #underWay = new ProvidersUnderWay()

  constructor(settings: MobilePushSettings, options: MobilePushAttempterOptions) {
    const { sender } = options
    const { fcmUrl: url = FCM_URL_DEFAULT, fcmTokenUrl: tokenUrl = FCM_TOKEN_URL_DEFAULT } = settings
    const dial: Connector = (origin, callback) => sender.dial(origin, callback)
    this.#options = options
    this.#timeoutMs = settings.attemptTimeoutMs
    this.#providers = {
      GCM: new Firebase({ sender, url, tokenUrl }),
      APNS: new Apple({ platform: 'APNS', url: settings.apnsUrl ?? APNS_URL_DEFAULT, dial }),
      APNS_SANDBOX: new Apple({
        platform: 'APNS_SANDBOX',
        url: settings.apnsSandboxUrl ?? APNS_SANDBOX_URL_DEFAULT,
        dial,
      }),
      WEBPUSH: new Browsers(sender),
    }
  }

  /**
   * Each kind of browser has its own push provider, and one may refuse a credential that the others accept. So the name
   * is not known before an attempt.
   */
  credentialOf({ url }: EndpointTarget): string | undefined {
    const arn = parsePlatformEndpointArn(url)
    return arn && arn.platform !== 'WEBPUSH' ? `push:${arn.application}` : undefined
  }

  /** Connections lead to providers and stay open between attempts. */
  openAhead(): void {}

  attempt({ envelope, target, textBytesMax }: Attempt, done: AttemptDone): void {
    const startedAt = performance.now()
    void this.#inTime(target.url, envelope.message).then((result) => {
      const { text, ...plain } = { text: undefined, ...result }
      const shown = textBytesMax === undefined ? plain : { ...plain, text }
      done({ ...(shown as AttemptResult), durationMs: performance.now() - startedAt })
    })
  }

  async close(): Promise<void> {
    for (const provider of Object.values(this.#providers)) provider.close?.()
  }

  /**
   * An attempt may exchange a token and repeat a request. Each of these requests has its own deadline, so the whole
   * attempt needs one too.
   */
  async #inTime(arn: string, message: Message): Promise<AttemptResult> {
    const signal = attemptDeadline(this.#timeoutMs)
    try {
      return await untilAborted(signal, this.#attempt(arn, message, signal))
    } catch {
      // Only the deadline makes this reject: the attempt itself never does.
      return failed('timeout', 'the provider did not answer in time', false)
    }
  }

  async #attempt(arn: string, message: Message, signal: AbortSignal): Promise<AttemptResult> {
    const { mobilePush: tools } = this.#options
    const applicationArn = parsePlatformEndpointArn(arn)?.application ?? ''
    try {
      const found = await Promise.all([tools.application(applicationArn), tools.endpoint(arn)])
      const [application, endpoint] = found
      if (!application) return disabled('the platform application does not exist')
      if (!endpoint) return disabled('the endpoint does not exist')
      if (endpoint.isEventOwed) await tools.publishOwed(endpoint, application)
      const result = await this.#attemptKnown({ message, application, endpoint, signal })
      const statusLog = statusLogOf(application.attributes, '')
      if (!statusLog || result.kind === 'misconfigured') return result
      return { ...result, application: { arn: application.arn, statusLog } }
    } catch (error) {
      const detail = error instanceof Error ? error.message : 'unknown'
      const isRefused = error instanceof RefusedCredentialError || error instanceof DamagedDataError
      if (isRefused) return misconfigured(`push:${applicationArn}`, detail)
      return failed('storage', detail, false)
    }
  }

  async #attemptKnown(known: Omit<Push, 'credential' | 'now'>): Promise<AttemptResult> {
    const { vault, clock } = this.#options
    const { application, endpoint } = known
    if (application.attributes.Enabled !== 'true') return disabled('the platform application is disabled')
    if (!endpoint.enabled) return disabled('the endpoint is disabled')
    const credential = opened(application, vault)
    if ('kind' in credential) return credential
    return this.#push({ ...known, credential, now: clock() })
  }

  async #push(push: Push): Promise<AttemptResult> {
    const { application, endpoint } = push
    const underWay = this.#underWay.of(providerOf(push))
    if (!underWay.begin()) return refusedBy(underWay)
    const pushing = this.#providers[application.platform].push(push)
    const pushed = await pushing.finally(() => underWay.end())
    if ('resultClass' in pushed) underWay.answered()
    if ('unsendable' in pushed) return failed(pushed.unsendable, pushed.detail, true)
    if (pushed.resultClass === 'dead') await this.#options.mobilePush.disable(endpoint, application)
    if (application.platform !== 'WEBPUSH' && isOfSettings(pushed.result)) {
      return misconfigured(`push:${application.arn}`, pushed.result.detail)
    }
    return resultOf(pushed, credentialNameOf(push))
  }
}

function opened(
  application: PlatformApplicationRecord,
  vault: MobilePushAttempterOptions['vault'],
): PlatformCredential | AttemptResult {
  try {
    return openPlatformCredential(application, vault)
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown'
    return misconfigured(`push:${application.arn}`, `its credential cannot be opened: ${reason}`)
  }
}

/** The push providers of other browsers may still accept the credential, so its name contains the host. */
function credentialNameOf({ application, endpoint }: Push): string {
  if (application.platform !== 'WEBPUSH') return `push:${application.arn}`
  return `push:${application.arn}:${browserHost(endpoint)}`
}

/** The provider of the endpoint. If a provider hangs, all its devices hang. */
function providerOf({ application, endpoint }: Push): string {
  return application.platform === 'WEBPUSH' ? browserHost(endpoint) : application.platform
}

function browserHost({ token }: Push['endpoint']): string {
  const { endpoint: url } = JSON.parse(token) as { endpoint: string }
  return new URL(url).host
}

/**
 * Whether the operator's settings caused the failure: the guard refused the provider's address, or the provider's
 * certificate is wrong.
 */
function isOfSettings(result: AttemptResult): result is Extract<AttemptResult, { kind: 'failure' }> {
  return result.kind === 'failure' && (result.permanent || result.error === 'tls')
}

function resultOf({ result, resultClass, reason = '' }: Pushed, credential: string): AttemptResult {
  if (result.kind !== 'response' || resultClass === undefined) return result
  if (resultClass === 'dead') return tokenRefused(result, reason)
  const { body: _, headers: __, ...plain } = result
  if (resultClass === 'refused' || resultClass === 'stale') {
    return misconfigured(credential, `${result.statusCode} ${reason}`.trim())
  }
  const waits = result.statusCode === 429 && {
    retryAfterSeconds: result.retryAfterSeconds ?? MOBILE_PUSH_WAIT_SECONDS,
  }
  return { ...plain, ...waits, resultClass, text: reason }
}

function tokenRefused({ statusCode }: { statusCode: number }, reason: string): AttemptResult {
  const detail = `the provider refuses the token: ${`${statusCode} ${reason}`.trim()}`
  return { kind: 'failure', error: 'token_refused', detail, durationMs: 0, permanent: true, statusCode }
}

function misconfigured(credential: string, detail: string): AttemptResult {
  return { kind: 'misconfigured', credential, detail, durationMs: 0 }
}

function disabled(detail: string): AttemptResult {
  return failed('endpoint_disabled', detail, true)
}

function failed(error: AttemptErrorCode, detail: string, permanent: boolean): AttemptResult {
  return { kind: 'failure', error, detail, durationMs: 0, permanent }
}
