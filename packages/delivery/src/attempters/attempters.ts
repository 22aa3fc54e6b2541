/** The attempters, one for every protocol. A protocol without one does not compile. */
import type { Protocol } from '@fantail/contracts'
import type { MailSettings } from '../mail/mail-settings.ts'
import type { SmsSettings } from '../sms/sms-settings.ts'
import { createTemplateProvider } from '../sms/template-provider.ts'
import { createTwilioProvider } from '../sms/twilio-provider.ts'
import type { Attempt, AttemptDone, Attempter } from './attempter.ts'
import {
  createFunctionCalls,
  FunctionAttempter,
  type FunctionEndpointSettings,
} from './function-attempter.ts'
import { MailAttempter, type MailAttempterOptions } from './mail-attempter.ts'
import {
  MobilePushAttempter,
  type MobilePushAttempterOptions,
  type MobilePushSettings,
} from './mobile-push-attempter.ts'
import { QueueAttempter, type QueueAttempterOptions, type QueueEndpointSettings } from './queue-attempter.ts'
import { SmsAttempter, type SmsAttempterOptions } from './sms-attempter.ts'
import { createStreamAttempter, type StreamEndpointSettings, type StreamTools } from './stream-attempter.ts'
import { WebhookAttempter, type WebhookAttempterOptions } from './webhook-attempter.ts'

export type Attempters = Readonly<Record<Protocol, Attempter>>

interface KindOptions {
  /** Settings of the protocols. A protocol without its settings gets an UnconfiguredAttempter. Default: no settings. */
  protocolSettings?: ProtocolSettings
}

/** Each process calls this once, and calls `closeAttempters` when it stops. */
export function createAttempters(
  options: WebhookAttempterOptions &
    QueueAttempterOptions &
    MailAttempterOptions &
    SmsAttempterOptions &
    MobilePushAttempterOptions &
    Pick<StreamTools, 'openStreamWriter'> &
    KindOptions,
): Attempters {
  const webhook = new WebhookAttempter(options)
  const { protocolSettings: settings = {} } = options
  const queue = new QueueAttempter(options, settings)
  const lambda = functionAttempter(options, settings)
  const firehose = createStreamAttempter(options, settings) ?? new UnconfiguredAttempter('FANTAIL_STREAMS')
  const mail = mailAttempter(options, settings)
  const sms = smsAttempter(options, settings)
  const application = new MobilePushAttempter(settings, options)
  return {
    http: webhook,
    https: webhook,
    sqs: queue,
    lambda,
    firehose,
    email: mail,
    'email-json': mail,
    sms,
    application,
  }
}

function functionAttempter(options: WebhookAttempterOptions, settings: FunctionEndpointSettings): Attempter {
  const calls = createFunctionCalls(options, settings)
  return calls ? new FunctionAttempter(calls) : new UnconfiguredAttempter('FANTAIL_FUNCTIONS')
}

function mailAttempter(options: MailAttempterOptions, { smtpUrl, ...settings }: MailSettings): Attempter {
  if (smtpUrl === undefined) return new UnconfiguredAttempter('FANTAIL_SMTP_URL')
  return new MailAttempter({ ...settings, smtpUrl }, options)
}

function smsAttempter(
  options: SmsAttempterOptions,
  { smsUrl, smsTwilio, ...settings }: SmsSettings,
): Attempter {
  if (smsTwilio)
    return new SmsAttempter(createTwilioProvider({ ...settings, smsUrl, smsTwilio }), settings, options)
  if (smsUrl === undefined) return new UnconfiguredAttempter('FANTAIL_SMS_URL')
  return new SmsAttempter(createTemplateProvider({ ...settings, smsUrl }), settings, options)
}

/** Closes each attempter once, also one that several protocols share. */
export async function closeAttempters(attempters: Attempters): Promise<void> {
  await Promise.all(Array.from(new Set(Object.values(attempters)), (attempter) => attempter.close()))
}

/**
 * Settings of all protocols, under their names in the configuration of worker and API. Each protocol declares the
 * settings that it needs, all of them optional. This type has all of them.
 */
export interface ProtocolSettings
  extends FunctionEndpointSettings,
    QueueEndpointSettings,
    StreamEndpointSettings,
    MailSettings,
    SmsSettings,
    MobilePushSettings {}

/** The attempter of a protocol whose settings this process does not have. Deliveries of existing subscriptions wait. */
export class UnconfiguredAttempter implements Attempter {
  readonly lacks: string

  /** `setting`: the environment variable that turns the protocol on. */
  constructor(setting: string) {
    this.lacks = setting
  }

  credentialOf(): string {
    return this.lacks
  }

  openAhead(): void {}

  attempt(_: Attempt, done: AttemptDone): void {
    const detail = `${this.lacks} is not set`
    setImmediate(done, { kind: 'misconfigured', credential: this.lacks, detail, durationMs: 0 })
  }

  async close(): Promise<void> {}
}
