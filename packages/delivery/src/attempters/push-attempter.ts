/**
 * Attempts at platform endpoints: each attempt is one notification to one device or browser.
 *
 * | case | result |
 * |---|---|
 * | the endpoint or its application is gone or disabled, its time is over, its body is no notification | permanent |
 * | the provider says that the token is dead | permanent, and the endpoint is disabled |
 * | the provider refuses the application's credential | misconfigured |
 * | otherwise | by the provider's answer (push/provider-answers.ts) |
 */
import {
  ATTEMPT_DEADLINE_MS,
  type AttemptErrorCode,
  type AttemptResult,
  type Message,
  type Platform,
  type PlatformApplicationRecord,
  type PlatformCredential,
  parsePlatformEndpointArn,
} from '@fantail/contracts'
import { secretsFailure } from '../envelope/attempt-request.ts'
import type { Target } from '../envelope/target.ts'
import type { HttpSender } from '../http/http-sender.ts'
import type { Sealing } from '../outbound/outbound-secrets.ts'
import { Apple } from '../push/apple.ts'
import { Browsers } from '../push/browsers.ts'
import { Firebase } from '../push/firebase.ts'
import { openPlatformCredential } from '../push/platform-credential.ts'
import { PUSH_THROTTLE_SECONDS } from '../push/provider-answers.ts'
import { type Push, type Pushed, type PushProvider, RefusedCredentialError } from '../push/push-provider.ts'
import type { PushTools } from '../push/push-tools.ts'
import type { Attempt, AttemptDone, Attempter } from './attempter.ts'

export interface PushKindSettings {
  /** FANTAIL_FCM_URL */
  fcmUrl?: string | undefined
  /** FANTAIL_FCM_TOKEN_URL */
  fcmTokenUrl?: string | undefined
  /** FANTAIL_APNS_URL */
  apnsUrl?: string | undefined
  /** FANTAIL_APNS_SANDBOX_URL */
  apnsSandboxUrl?: string | undefined
}

export interface PushAttempterOptions {
  push: PushTools
  sender: Pick<HttpSender, 'send'>
  vault: Pick<Sealing, 'seal' | 'open'> | undefined
  /** Epoch ms. */
  clock: () => number
}

const FCM_URL_DEFAULT = 'https://fcm.googleapis.com'
const FCM_TOKEN_URL_DEFAULT = 'https://oauth2.googleapis.com/token'
const APNS_URL_DEFAULT = 'https://api.push.apple.com'
const APNS_SANDBOX_URL_DEFAULT = 'https://api.sandbox.push.apple.com'

export class PushAttempter implements Attempter {
  readonly #options: PushAttempterOptions
  readonly #providers: Record<Platform, PushProvider>

  constructor(settings: PushKindSettings, options: PushAttempterOptions) {
    const { sender } = options
    const { fcmUrl: url = FCM_URL_DEFAULT, fcmTokenUrl: tokenUrl = FCM_TOKEN_URL_DEFAULT } = settings
    this.#options = options
    this.#providers = {
      GCM: new Firebase({ sender, url, tokenUrl }),
      APNS: new Apple({ platform: 'APNS', url: settings.apnsUrl ?? APNS_URL_DEFAULT }),
      APNS_SANDBOX: new Apple({
        platform: 'APNS_SANDBOX',
        url: settings.apnsSandboxUrl ?? APNS_SANDBOX_URL_DEFAULT,
      }),
      WEBPUSH: new Browsers(sender),
    }
  }

  /** A browser's own provider may refuse what others take, so only an attempt knows that credential's name. */
  credentialOf({ url }: Target): string | undefined {
    const arn = parsePlatformEndpointArn(url)
    return arn && arn.platform !== 'WEBPUSH' ? `push:${arn.application}` : undefined
  }

  /** Connections are those of providers, and stay open between attempts. */
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

  /** An exchange of tokens and a repeated request have deadlines of their own, so the whole attempt has one, too. */
  async #inTime(arn: string, message: Message): Promise<AttemptResult> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<AttemptResult>((resolve) => {
      const result = failed('timeout', 'the provider did not answer in time', false)
      timer = setTimeout(resolve, ATTEMPT_DEADLINE_MS, result)
    })
    try {
      return await Promise.race([this.#attempt(arn, message), late])
    } finally {
      clearTimeout(timer)
    }
  }

  async #attempt(arn: string, message: Message): Promise<AttemptResult> {
    const { push: tools, vault, clock } = this.#options
    const applicationArn = parsePlatformEndpointArn(arn)?.application ?? ''
    try {
      const found = await Promise.all([tools.application(applicationArn), tools.endpoint(arn)])
      const [application, endpoint] = found
      if (!application) return disabled('the platform application does not exist')
      if (!endpoint) return disabled('the endpoint does not exist')
      if (application.attributes.Enabled !== 'true') return disabled('the platform application is disabled')
      if (!endpoint.enabled) return disabled('the endpoint is disabled')
      const credential = opened(application, vault)
      if ('kind' in credential) return credential
      return await this.#push({ message, application, endpoint, credential, now: clock() })
    } catch (error) {
      const detail = error instanceof Error ? error.message : 'unknown'
      if (error instanceof RefusedCredentialError) return misconfigured(`push:${applicationArn}`, detail)
      return failed('storage', detail, false)
    }
  }

  async #push(push: Push): Promise<AttemptResult> {
    const { application, endpoint } = push
    const pushed = await this.#providers[application.platform].push(push)
    if ('unsendable' in pushed) return failed(pushed.unsendable, pushed.detail, true)
    if (pushed.verdict === 'dead') await this.#options.push.disable(endpoint, application)
    return resultOf(pushed, credentialNameOf(push))
  }
}

function opened(
  application: PlatformApplicationRecord,
  vault: PushAttempterOptions['vault'],
): PlatformCredential | AttemptResult {
  try {
    return openPlatformCredential(application, vault)
  } catch (error) {
    return secretsFailure(error instanceof Error ? error.message : 'unknown')
  }
}

/** Other browsers' providers still take the credential, so its name has the host. */
function credentialNameOf({ application, endpoint }: Push): string {
  if (application.platform !== 'WEBPUSH') return `push:${application.arn}`
  const { endpoint: url } = JSON.parse(endpoint.token) as { endpoint: string }
  return `push:${application.arn}:${new URL(url).host}`
}

function resultOf({ result, verdict, reason = '' }: Pushed, credential: string): AttemptResult {
  if (result.kind !== 'response' || verdict === undefined) return result
  const { body: _, headers: __, ...plain } = result
  if (verdict === 'refused' || verdict === 'stale') {
    return misconfigured(credential, `${result.statusCode} ${reason}`.trim())
  }
  const waits = result.statusCode === 429 && {
    retryAfterSeconds: result.retryAfterSeconds ?? PUSH_THROTTLE_SECONDS,
  }
  return { ...plain, ...waits, verdict: verdict === 'dead' ? 'permanent' : verdict, text: reason }
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
