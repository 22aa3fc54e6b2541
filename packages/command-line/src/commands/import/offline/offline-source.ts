/**
 * The parts that files have in common: a Terraform state or plan, or a CloudFormation template, becomes attributes by
 * the names and in the texts of SNS and SQS, as their APIs would return them.
 */
import type { Finding } from '../plan/findings.ts'
import type { Attributes, AwsSource, SourceNote, SourceQueue } from '../sns/aws-source.ts'

/** The account and region of ARNs that a file does not know yet. */
export interface Place {
  partition: string
  region: string
  account: string
}

export function arnOf(service: 'sns' | 'sqs', name: string, { partition, region, account }: Place): string {
  return ['arn', partition, service, region, account, name].join(':')
}

/** A value as the text of an attribute. undefined: there is none. Objects are policies. */
function attributeText(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The attributes that a resource has, by a table of its members. */
export function attributesBy(table: Record<string, string>, members: Record<string, unknown>): Attributes {
  const found = Object.entries(table).flatMap(([member, name]) => {
    const text = attributeText(members[member])
    return text === undefined ? [] : [[name, text] as const]
  })
  return Object.fromEntries(found)
}

/** Kinds of subscribers whose deliveries AWS can log, by their names in files and in attributes. */
export const LOGGED_KINDS = new Map([
  ['http', 'HTTP'],
  ['firehose', 'Firehose'],
  ['lambda', 'Lambda'],
  ['application', 'Application'],
  ['sqs', 'SQS'],
])

export function emptySource(): AwsSource {
  return { topics: [], subscriptions: [], queues: [], unread: [], notes: [] }
}

/** Why an attribute matters, if it is left out. Others are details. */
const MATTERS = new Map<string, Finding['matter']>([
  ['Policy', 'access'],
  ['KmsMasterKeyId', 'access'],
  ['RedrivePolicy', 'messages'],
  ['DeliveryPolicy', 'delivery'],
])

export function lostAttribute(object: string, attribute: string, text: string): SourceNote {
  return { object, finding: { matter: MATTERS.get(attribute) ?? 'details', what: 'lost', text } }
}

/** SQS keeps messages for 4 days where nothing is set, and the native API for 14. */
const RETENTION_AT_AWS = { MessageRetentionPeriod: '345600' }

export function sourceQueue(arn: string, attributes: Attributes, tags: Attributes): SourceQueue {
  return { arn, attributes: { ...RETENTION_AT_AWS, ...attributes }, tags }
}

/** Sets an attribute of the topic or queue with this ARN or URL. A URL ends in account and name. */
export function setPart(source: AwsSource, named: string, attributes: Attributes): boolean {
  const [account, name] = named.split('/').slice(-2)
  const isMeant = ({ arn }: { arn: string }) => arn === named || arn.endsWith(`:${account}:${name}`)
  const target = [...source.topics, ...source.queues].find(isMeant)
  if (target) target.attributes = { ...target.attributes, ...attributes }
  return target !== undefined
}
