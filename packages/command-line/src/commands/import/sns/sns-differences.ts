/** Findings that concern the whole account: what requests look like here, and what could not be read. */
import { nameOfArn, parseArn } from '@fantail/contracts'
import { traitsOf } from '@fantail/policy'
import type { TopicState } from '../../service/state-file.ts'
import type { Finding, Findings } from '../plan/findings.ts'
import { UNREADABLE } from './aws-calls.ts'
import type { AwsSource } from './aws-source.ts'
import { objectOfPlan } from './to-subscription.ts'
import type { Translation } from './translation.ts'

export function findGeneral(source: AwsSource, topics: TopicState[], { findings }: Translation): void {
  findUnread(source, findings)
  findForeign(source, findings)
  findWaiting(source, findings)
  for (const { object, finding } of source.notes) findings.add(finding, object)
  if (topics.length + source.queues.length === 0) return
  for (const difference of ALWAYS) findings.add(difference)
  const subscriptions = topics.flatMap((topic) => topic.subscriptions)
  if (subscriptions.some(({ endpoint }) => /^https?:/i.test(endpoint)))
    for (const difference of OF_WEBHOOKS) findings.add(difference)
  if (topics.some(({ name }) => name.endsWith('.fifo'))) findings.add(OF_FIFO)
  if (source.queues.length > 0) findings.add(OF_QUEUES)
  if (source.subscriptions.some(({ protocol }) => traitsOf(protocol)?.reports.byAccount))
    findings.add(OF_TEXTS)
}

/** Calls by their effect on what comes over, if AWS refuses them. */
const MISSING = new Map<string, Omit<Finding, 'what' | 'objects' | 'remedy'>>(
  Object.entries({
    'sns:ListTopics': { matter: 'messages', text: 'all topics, because they could not be listed' },
    'sqs:ListQueues': { matter: 'messages', text: 'all queues, because they could not be listed' },
    'sns:ListSubscriptionsByTopic': {
      matter: 'messages',
      text: 'subscriptions, because they could not be listed',
    },
    'sns:GetSubscriptionAttributes': {
      matter: 'messages',
      text: 'settings of subscriptions could not be read',
    },
    'sns:GetTopicAttributes': { matter: 'access', text: 'settings of topics, which get the default ones' },
    'sqs:GetQueueAttributes': { matter: 'access', text: 'settings of queues, which get the default ones' },
    'sns:ListPlatformApplications': { matter: 'messages', text: 'whether there are platform applications' },
    'sns:ListSubscriptions': {
      matter: 'messages',
      text: 'whether there are subscriptions to topics of others',
    },
    'sns:GetDataProtectionPolicy': { matter: 'details', text: 'data protection policies' },
    'sns:ListTagsForResource': { matter: 'details', text: 'tags of topics' },
    'sqs:ListQueueTags': { matter: 'details', text: 'tags of queues' },
  }),
)

function findUnread({ unread }: AwsSource, findings: Findings): void {
  for (const { call, code, objects } of unread) {
    const { matter, text } = MISSING.get(call) ?? { matter: 'details', text: `the answers to ${call}` }
    const remedy = code !== UNREADABLE && { remedy: `allow ${call}, and import again` }
    findings.add({ matter, what: 'lost', text: `${text} (${code})`, ...remedy }, ...objects)
  }
}

/** Topics of others, whose messages come to endpoints of this account. */
function findForeign({ topics, subscriptions }: AwsSource, findings: Findings): void {
  const own = new Set(topics.map(({ arn }) => arn))
  for (const subscription of subscriptions)
    if (!own.has(subscription.topicArn))
      findings.add(
        {
          matter: 'messages',
          what: 'lost',
          text: 'its topic is of another account or region',
          remedy: 'import that account or region too, or keep the subscription at AWS',
        },
        `${objectOfPlan(subscription)} (${parseArn(subscription.topicArn)?.account ?? 'unknown'})`,
      )
}

function findWaiting({ queues }: AwsSource, findings: Findings): void {
  for (const { arn, attributes = {} } of queues) {
    const waiting = ['', 'NotVisible', 'Delayed'].reduce(
      (sum, which) => sum + Number(attributes[`ApproximateNumberOfMessages${which}`] ?? 0),
      0,
    )
    if (waiting > 0)
      findings.add(
        {
          matter: 'messages',
          what: 'lost',
          text: 'messages that wait in queues stay at AWS',
          remedy: 'keep the consumers at AWS until the queues there are empty',
        },
        `${nameOfArn(arn)}: ${waiting}`,
      )
  }
}

const ALWAYS: Omit<Finding, 'objects'>[] = [
  {
    matter: 'access',
    what: 'changed',
    text: 'IAM does not come over: publishers and consumers need keys here',
    remedy: '`fantail keys create --aws`',
  },
  {
    matter: 'requests',
    what: 'changed',
    text: 'each subscription has another ARN, also in x-amz-sns-subscription-arn and UnsubscribeURL',
  },
  {
    matter: 'requests',
    what: 'changed',
    text: 'queues have URLs at this server, and SenderId of their messages is the account',
  },
  { matter: 'details', what: 'lost', text: 'alarms and dashboards of CloudWatch', remedy: 'docs/metrics.md' },
]

const OF_WEBHOOKS: Omit<Finding, 'objects'>[] = [
  {
    matter: 'requests',
    what: 'changed',
    text: 'requests come from other addresses, and SigningCertURL and UnsubscribeURL are at FANTAIL_PUBLIC_URL',
    remedy: 'warn the owners of the endpoints; a verifier needs the new host (docs/signing.md)',
  },
  { matter: 'requests', what: 'changed', text: 'UnsubscribeURL has one parameter more, Token' },
  {
    matter: 'requests',
    what: 'changed',
    text: 'requests have one header more, traceparent, if the publisher sends it or traces are on',
  },
  {
    matter: 'delivery',
    what: 'changed',
    text: 'each delay before a retry varies at random (FANTAIL_RETRY_JITTER)',
  },
]

const OF_FIFO: Omit<Finding, 'objects'> = {
  matter: 'requests',
  what: 'changed',
  text: 'sequence numbers of FIFO topics start again, and are not consecutive',
}

const OF_QUEUES: Omit<Finding, 'objects'> = {
  matter: 'messages',
  what: 'lost',
  text: 'functions that Lambda feeds from queues, if there are any: event source mappings belong to Lambda',
  remedy: 'let the queue push to the function (docs/push-consumers.md)',
}

const OF_TEXTS: Omit<Finding, 'objects'> = {
  matter: 'messages',
  what: 'lost',
  text: 'phone numbers that have opted out, and settings of text messages',
  remedy: 'opt the numbers of `aws sns list-phone-numbers-opted-out` out here (docs/guides/sms.md)',
}
