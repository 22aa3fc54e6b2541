/** An endpoint of Svix as a subscription of its application's topic, and its secrets apart from it. */
import {
  METADATA_KEY_CHARS_MAX,
  METADATA_MEMBERS_MAX,
  METADATA_VALUE_CHARS_MAX,
  SUBSCRIPTION_NAME_CHARS_MAX,
} from '@fantail/contracts'
import type { SubscriptionState } from '../../service/state-file.ts'
import type { Findings } from '../plan/findings.ts'
import { type About, chosenOf } from './svix-choice.ts'
import { type EndpointSecrets, MEMBERS, secretsOf } from './svix-secrets.ts'
import type { SvixApplication, SvixEndpoint } from './svix-source.ts'

interface Place {
  topic: string
  /** Addresses of the topic so far, without credentials. */
  taken: Set<string>
  findings: Findings
}

/** undefined: it cannot come over, and a finding says why. */
export function subscriptionOf(
  endpoint: SvixEndpoint,
  application: SvixApplication,
  { topic, taken, findings }: Place,
): { subscription: SubscriptionState; secrets: EndpointSecrets } | undefined {
  const about = { findings, subject: `${labelOf(application)} ${endpoint.uid ?? endpoint.id}` }
  const chosen = chosenOf(endpoint, about)
  if (chosen === undefined) return undefined
  const address = addressOf(endpoint, taken, about)
  const shown = withoutCredentials(address)
  taken.add(shown)
  addDifferences(endpoint, about)
  const rate = lower(rateOf(endpoint), rateOf(application))
  const settings = {
    status: 'paused',
    rawMessageDelivery: true,
    svixHeaders: true,
    ...chosen,
    deliveryPolicy: rate === null ? null : { throttlePolicy: { maxReceivesPerSecond: rate } },
    metadata: metadataOf(endpoint, application, about),
  }
  const name = (endpoint.description ?? '').slice(0, SUBSCRIPTION_NAME_CHARS_MAX).toWellFormed() || null
  return {
    subscription: { endpoint: shown, name, settings },
    secrets: secretsOf(endpoint, { ...about, topic, shown, address }),
  }
}

export function labelOf({ id, uid }: Pick<SvixApplication, 'id' | 'uid'>): string {
  return uid ?? id
}

export function rateOf({ throttleRate, rateLimit }: Pick<SvixEndpoint, 'throttleRate' | 'rateLimit'>) {
  return throttleRate ?? rateLimit ?? null
}

function lower(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}

/** Credentials in an address are secrets, which the document must not have. */
function withoutCredentials(address: string): string {
  return address.replace(/^(https?:\/\/)[^/?#]*@/i, '$1')
}

function addDifferences(
  { description = '', isTransformed, disabled }: SvixEndpoint,
  { findings, subject }: About,
) {
  if (isTransformed)
    findings.add(
      {
        matter: 'requests',
        what: 'lost',
        text: 'transformations: the endpoint would get the message as it was published',
        remedy: 'publish what the endpoint should get, or leave it at Svix',
      },
      subject,
    )
  if (disabled)
    findings.add(
      {
        matter: 'messages',
        what: 'changed',
        text: 'disabled endpoints are paused: they keep messages, which a resume sends',
        remedy: 'resume the others by `fantail lanes resume --metadata svixState=enabled`',
      },
      subject,
    )
  if (description.length > SUBSCRIPTION_NAME_CHARS_MAX)
    findings.add(
      {
        matter: 'details',
        what: 'changed',
        text: `descriptions are cut after ${SUBSCRIPTION_NAME_CHARS_MAX} characters`,
      },
      subject,
    )
}

/** A topic has an address once. What follows a `#` is not sent, so it distinguishes a second one. */
function addressOf({ id, url }: SvixEndpoint, taken: Set<string>, { findings, subject }: About): string {
  if (!taken.has(withoutCredentials(url))) return url
  findings.add(
    {
      matter: 'details',
      what: 'changed',
      text: 'a second endpoint with the same address gets `#` and its id, which is not sent',
    },
    subject,
  )
  return `${url.split('#', 1)[0]}#${id}`
}

const METADATA_KEY = new RegExp(`^[A-Za-z0-9_.-]{1,${METADATA_KEY_CHARS_MAX}}$`)
/** Members that Svix may fill. The import has the others. */
const ROOM = METADATA_MEMBERS_MAX - Object.keys(MEMBERS).length

function metadataOf(
  { id, uid, disabled = false, metadata = {} }: SvixEndpoint,
  application: SvixApplication,
  { findings, subject }: About,
): Record<string, string> {
  const given = Object.entries(metadata)
  const kept = given
    .filter(([key, value]) => METADATA_KEY.test(key) && value.length <= METADATA_VALUE_CHARS_MAX)
    .slice(0, ROOM)
  if (kept.length < given.length)
    findings.add(
      {
        matter: 'details',
        what: 'lost',
        text:
          `metadata past ${ROOM} members, ${METADATA_KEY_CHARS_MAX} characters of a key or ` +
          `${METADATA_VALUE_CHARS_MAX} of a value`,
      },
      subject,
    )
  const label = labelOf(application)
  return {
    ...Object.fromEntries(kept),
    [MEMBERS.application]: label.length > METADATA_VALUE_CHARS_MAX ? application.id : label,
    [MEMBERS.endpoint]: id,
    // It selects the subscriptions that a switch resumes.
    [MEMBERS.state]: disabled ? 'disabled' : 'enabled',
    ...(uid && uid.length <= METADATA_VALUE_CHARS_MAX && { [MEMBERS.uid]: uid }),
  }
}
