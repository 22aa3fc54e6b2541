/**
 * Turns the set-up of Svix into the document of `fantail apply`. Each application becomes a topic, so that no event of
 * one customer can reach another one.
 */
import { DISPLAY_NAME_CHARS_MAX, TAG_KEY_CHARS_MAX, TAG_VALUE_CHARS_MAX, TAGS_MAX } from '@fantail/contracts'
import type { State } from '../../service/state-file.ts'
import type { Findings } from '../plan/findings.ts'
import type { CatalogueType } from './svix-event-types.ts'
import type { EndpointSecrets } from './svix-secrets.ts'
import type { SvixApplication } from './svix-source.ts'
import { labelOf, rateOf, subscriptionOf } from './svix-subscription.ts'

/** Characters of a topic's name. */
const TOPIC_NAME_CHARS_MAX = 256
const SUFFIX = '-events'
/** Svix disables an endpoint after so many days of failures. */
const DISABLE_AFTER_DAYS = 5

/**
 * Svix retries after every status, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h after the failure before. This curve has
 * as many retries with the same first and last delays, and lasts 28.4 h instead of 27.6 h.
 */
const RETRIES = {
  numRetries: 7,
  numMaxDelayRetries: 1,
  minDelayTarget: 5,
  maxDelayTarget: 36_000,
  backoffFunction: 'exponential',
  retryOn: ['3xx', '4xx', '5xx'],
}

interface Translated {
  wanted: State
  secrets: EndpointSecrets[]
}

export function documentOf(
  applications: readonly SvixApplication[],
  eventTypes: CatalogueType[],
  findings: Findings,
): Translated {
  const names = topicNames(applications, findings)
  const secrets: EndpointSecrets[] = []
  const topics = applications.map((application, at) => {
    const topic = names[at] ?? application.id
    const taken = new Set<string>()
    const subscriptions = application.endpoints.flatMap((endpoint) => {
      const one = subscriptionOf(endpoint, application, { topic, taken, findings })
      if (!one) return []
      secrets.push(one.secrets)
      return [one.subscription]
    })
    const settings = {
      displayName: application.name.slice(0, DISPLAY_NAME_CHARS_MAX).toWellFormed(),
      tags: tagsOf(application, findings),
      deliveryPolicy: {
        healthyRetryPolicy: RETRIES,
        requestPolicy: { headerContentType: 'application/json' },
      },
      disableAfterDays: DISABLE_AFTER_DAYS,
    }
    addDifferences(application, findings)
    return { name: topic, settings, eventTypes, subscriptions }
  })
  return { wanted: { version: 1, queues: [], topics }, secrets }
}

/**
 * The uid, or else the id, with a suffix. The whole name is then a prefix that covers one customer, while `acme` would
 * also cover `acme-labs`.
 */
function topicNames(applications: readonly SvixApplication[], findings: Findings): string[] {
  const taken = new Set<string>()
  const names = applications.map((application) => {
    const label = labelOf(application)
    const wanted = `${label.replaceAll('.', '-')}${SUFFIX}`
    const isFree = wanted.length <= TOPIC_NAME_CHARS_MAX && !taken.has(wanted)
    const name = isFree ? wanted : `${application.id}${SUFFIX}`
    taken.add(name)
    if (name !== `${label}${SUFFIX}`)
      findings.add(
        { matter: 'details', what: 'changed', text: 'topics that are not named after the uid' },
        `${label}: ${name}`,
      )
    return name
  })
  const sorted = names.toSorted()
  for (const [at, name] of sorted.entries())
    if (sorted[at + 1]?.startsWith(name))
      findings.add(
        {
          matter: 'access',
          what: 'changed',
          text: 'the name of a topic begins that of another, so as a prefix it covers both customers',
          remedy: 'choose another uid at Svix before the import',
        },
        name,
      )
  return names
}

function tagsOf(application: SvixApplication, findings: Findings): Record<string, string> {
  const given = Object.entries(application.metadata ?? {})
  const kept = given
    .filter(
      ([key, value]) =>
        /^(?!aws:).+/i.test(key) && key.length <= TAG_KEY_CHARS_MAX && value.length <= TAG_VALUE_CHARS_MAX,
    )
    .slice(0, TAGS_MAX)
  if (kept.length < given.length)
    findings.add(
      {
        matter: 'details',
        what: 'lost',
        text: `metadata of applications past ${TAGS_MAX} members, or ${TAG_VALUE_CHARS_MAX} characters`,
      },
      labelOf(application),
    )
  return Object.fromEntries(kept)
}

function addDifferences(application: SvixApplication, findings: Findings): void {
  const subject = labelOf(application)
  if (application.name.length > DISPLAY_NAME_CHARS_MAX)
    findings.add(
      {
        matter: 'details',
        what: 'changed',
        text: `names are cut after ${DISPLAY_NAME_CHARS_MAX} characters`,
      },
      subject,
    )
  if (rateOf(application) !== null && application.endpoints.length > 1)
    findings.add(
      {
        matter: 'delivery',
        what: 'changed',
        text: 'the rate of an application holds for each endpoint, and not for all together',
      },
      subject,
    )
}
