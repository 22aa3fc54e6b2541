/** Attributes of platform applications, by the names of SNS. */
import {
  EVENT_ATTRIBUTES,
  FantailError,
  isPlatform,
  isPlatformApplicationName,
  PLATFORMS,
  type Platform,
  parseArn,
  platformApplicationArn,
  type TopicRecord,
} from '@fantail/contracts'
import type { PlatformApplicationInput } from '@fantail/contracts/schemas/mobile-push-schemas'
import { inWords } from '@fantail/policy'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Call } from '../http/endpoint.ts'
import { AttributeError, CREDENTIAL_MEMBERS, isCredentialName } from './platform-credentials.ts'

type Given = Record<string, string>

const EVENTS = new Set<string>(Object.values(EVENT_ATTRIBUTES))
const ROLES = new Set(['SuccessFeedbackRoleArn', 'FailureFeedbackRoleArn'])
const ROLE = /^arn:[a-z-]+:iam::\d{12}:role\/.{1,512}$/

interface Read {
  credential: Given
  /** All other attributes. An empty text resets an attribute. */
  settings: Given
}

/** Throws an AttributeError. */
export function readApplicationAttributes(given: Given): Read {
  const read: Read = { credential: {}, settings: {} }
  for (const [name, text] of Object.entries(given)) {
    if (isCredentialName(name)) read.credential[name] = text
    else read.settings[name] = checked(name, text)
  }
  return read
}

function checked(name: string, text: string): string {
  const refused = (message: string) => new AttributeError('value', name, message)
  if (EVENTS.has(name)) {
    if (text === '' || isTopic(text)) return text
    throw refused('must be the ARN of a topic')
  }
  if (ROLES.has(name)) {
    if (text === '' || ROLE.test(text)) return text
    throw refused('must be the ARN of a role')
  }
  if (name === 'SuccessFeedbackSampleRate') {
    if (/^(\d{1,2}|100)$/.test(text)) return text
    throw refused('must be a whole number from 0 to 100')
  }
  if (name !== 'Enabled') throw new AttributeError('name', name, 'is not an attribute')
  return checkedFlag(name, text)
}

/** `true` or `false`, in any case. */
export function checkedFlag(name: string, text: string): string {
  const flag = text.toLowerCase()
  if (flag === 'true' || flag === 'false') return flag
  throw new AttributeError('value', name, 'must be true or false')
}

/** Throws an AttributeError if the topic of an event does not exist, or is a FIFO topic. */
export async function checkEventTopics(
  { settings }: Read,
  find: (arn: string) => Promise<TopicRecord | null>,
): Promise<void> {
  for (const [name, arn] of Object.entries(settings)) {
    if (!EVENTS.has(name) || arn === '') continue
    const topic = await find(arn)
    if (!topic) throw new AttributeError('value', name, 'must be the ARN of a topic that exists')
    if (topic.fifo) throw new AttributeError('value', name, 'must not be a FIFO topic')
  }
}

/** The topics that these attributes name. */
export function eventTopicsIn(given: Given): string[] {
  return Object.entries(given).flatMap(([name, text]) => (EVENTS.has(name) && isTopic(text) ? [text] : []))
}

function isTopic(text: string): boolean {
  const arn = parseArn(text)
  return arn?.service === 'sns' && arn.subscriptionId === undefined
}

/** The attributes after a change. Empty texts are left out. */
export function withSettings(before: Given, settings: Given): Given {
  return Object.fromEntries(Object.entries({ ...before, ...settings }).filter(([, text]) => text !== ''))
}

/**
 * Platform applications in the words of REST: the names of a path, and members for the attributes of SNS. The
 * application that the path names. Throws `validation_failed`.
 */
export function applicationNamed(
  { params, caller }: Pick<Call, 'params' | 'caller'>,
  { settings }: Pick<ApiDeps, 'settings'>,
): { arn: string; platform: Platform } {
  const { platform = '', name = '' } = params
  if (!isPlatform(platform)) throw FantailError.invalid('platform', `must be ${inWords(PLATFORMS, 'or')}`)
  if (!isPlatformApplicationName(name)) {
    throw FantailError.invalid('name', 'must have 1 to 256 of A-Z a-z 0-9 _ - .')
  }
  const place = { ...settings.arn, account: caller?.account ?? settings.arn.account }
  return { arn: platformApplicationArn(platform, name, place), platform }
}

/** The body as attributes of SNS. */
export function attributesIn({
  enabled,
  events = {},
  ...credential
}: z.output<typeof PlatformApplicationInput>): Record<string, string> {
  const set: [string, string | null | undefined][] = [
    ...Object.entries(CREDENTIAL_MEMBERS).map(
      ([name, member]) => [name, credential[member]] as [string, string | undefined],
    ),
    ['Enabled', enabled === undefined ? undefined : String(enabled)],
    ...Object.entries(EVENT_MEMBERS).map(
      ([name, member]) => [name, events[member]] as [string, string | null | undefined],
    ),
  ]
  return Object.fromEntries(set.flatMap(([name, text]) => (text === undefined ? [] : [[name, text ?? '']])))
}

export const EVENT_MEMBERS = {
  [EVENT_ATTRIBUTES.EndpointCreated]: 'endpointCreated',
  [EVENT_ATTRIBUTES.EndpointUpdated]: 'endpointUpdated',
  [EVENT_ATTRIBUTES.EndpointDeleted]: 'endpointDeleted',
  [EVENT_ATTRIBUTES.DeliveryFailure]: 'deliveryFailure',
} as const

/** Members of the bodies, by the attributes of SNS. */
const MEMBERS = new Map([
  ...Object.entries(CREDENTIAL_MEMBERS),
  ...Object.entries(EVENT_MEMBERS).map(([name, member]) => [name, `events.${member}`] as const),
  ['Enabled', 'enabled'],
  ['Token', 'token'],
  ['CustomUserData', 'userData'],
])

/** Runs `work`. A refused attribute becomes `validation_failed` of the body's member. */
export async function inMembers<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AttributeError)) throw error
    throw FantailError.invalid(MEMBERS.get(error.attribute) ?? error.attribute, error.message)
  }
}
