/** Topics, subscriptions and queues among the resources of Terraform or OpenTofu. */
import type { Finding } from '../plan/findings.ts'
import type { Attributes, AwsSource, SourceNote } from '../sns/aws-source.ts'
import {
  arnOf,
  attributesBy,
  emptySource,
  lostAttribute,
  type Place,
  setPart,
  sourceQueue,
} from './offline-source.ts'
import { NEEDED, PARTS, TABLES, TOPIC } from './terraform-tables.ts'

export interface TerraformResource {
  address: string
  type: string
  values: Record<string, unknown>
  /** Members that are set, but whose values Terraform knows only after `apply`. */
  unknown: string[]
  /** Addresses of the resources whose ARN or URL these members will have. */
  references: Record<string, string>
}

const LATER = 'Terraform knows it only after `terraform apply`'

export function terraformSource(resources: TerraformResource[], place: Place): AwsSource {
  const source = emptySource()
  const own = resources.filter(({ type }) => /^aws_(sns|sqs)_/.test(type)).map(withArn(resources, place))
  const usable = own.filter((resource) => {
    const finding = obstacleOf(resource)
    if (finding) source.notes.push({ object: resource.address, finding })
    return finding === undefined
  })
  for (const resource of usable) {
    addResource(source, resource)
    source.notes.push(...unknownAttributes(resource))
  }
  for (const resource of usable) if (PARTS.has(resource.type)) addPart(source, resource)
  return source
}

/** Gives topics and queues of a plan the ARN that they will have, and names it where others refer to it. */
function withArn(resources: TerraformResource[], place: Place) {
  const arns = new Map(resources.map((resource) => [resource.address, arnIn(resource, place)]))
  return (resource: TerraformResource): TerraformResource => {
    const referred = Object.entries(resource.references).flatMap(([member, address]) => {
      const arn = arns.get(address)
      return arn === undefined ? [] : [[member, arn] as const]
    })
    const own = arns.get(resource.address)
    const values = { ...Object.fromEntries(referred), ...resource.values, ...(own && { arn: own }) }
    return { ...resource, values, unknown: resource.unknown.filter((member) => !(member in values)) }
  }
}

const SERVICES = new Map<string, 'sns' | 'sqs'>([
  ['aws_sns_topic', 'sns'],
  ['aws_sqs_queue', 'sqs'],
])

function arnIn({ type, values }: TerraformResource, place: Place): string | undefined {
  const service = SERVICES.get(type)
  const { arn, name } = values
  if (service === undefined || typeof arn === 'string') return service && String(arn)
  return typeof name === 'string' ? arnOf(service, name, place) : undefined
}

/** Why a resource is not imported. */
function obstacleOf({ type, values, unknown }: TerraformResource): SourceNote['finding'] | undefined {
  const lost = (matter: Finding['matter'], text: string) => ({ matter, what: 'lost' as const, text })
  const needed = NEEDED.get(type)
  if (!needed) return lost('details', `resources of the type ${type}`)
  const missing = needed.filter((member) => typeof values[member] !== 'string' || values[member] === '')
  // Without its filter a subscription would get too much.
  if (unknown.includes('filter_policy')) missing.push('filter_policy')
  if (missing.length === 0) return undefined
  const why = missing.every((member) => unknown.includes(member)) ? LATER : 'the file does not have it'
  const matter = PARTS.has(type) ? 'access' : 'messages'
  return lost(matter, `a resource of the type ${type} needs ${missing.join(', ')}, and ${why}`)
}

/** Settings that a plan does not know yet. The resource itself is imported. */
function unknownAttributes({ address, type, unknown }: TerraformResource): SourceNote[] {
  const table = new Map(Object.entries(TABLES.get(type) ?? {}))
  return unknown.flatMap((member) => {
    const attribute = table.get(member)
    return attribute === undefined ? [] : [lostAttribute(address, attribute, `${attribute}: ${LATER}`)]
  })
}

function addResource(source: AwsSource, { type, values }: TerraformResource): void {
  const attributes = attributesBy(TABLES.get(type) ?? {}, values)
  if (type === 'aws_sns_topic') source.topics.push(topicOf(values))
  if (type === 'aws_sqs_queue')
    source.queues.push(sourceQueue(String(values.arn), queueAttributes(attributes), tagsOf(values)))
  if (type === 'aws_sns_topic_subscription')
    source.subscriptions.push({
      topicArn: String(values.topic_arn),
      protocol: String(values.protocol),
      endpoint: String(values.endpoint),
      isConfirmed: values.pending_confirmation !== true,
      attributes,
    })
}

/** Terraform has 0 and false where nothing is set. SNS shows no such attribute. */
function topicOf(values: Record<string, unknown>) {
  const set = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== 0 && value !== false))
  const attributes = attributesBy(TOPIC, set)
  return { arn: String(values.arn), attributes, tags: tagsOf(values) }
}

/** SQS shows attributes of FIFO queues and of keys only where they apply. */
function queueAttributes({
  FifoQueue,
  ContentBasedDeduplication,
  KmsDataKeyReusePeriodSeconds: reuse,
  ...attributes
}: Attributes): Attributes {
  return {
    ...attributes,
    ...(FifoQueue === 'true' && {
      FifoQueue,
      ContentBasedDeduplication: ContentBasedDeduplication ?? 'false',
    }),
    ...(attributes.KmsMasterKeyId !== undefined && reuse && { KmsDataKeyReusePeriodSeconds: reuse }),
  }
}

/** With the provider's default tags, if they are known. */
function tagsOf({ tags, tags_all: all }: Record<string, unknown>): Attributes {
  return { ...((tags ?? {}) as Attributes), ...((all ?? {}) as Attributes) }
}

function addPart(source: AwsSource, { address, type, values }: TerraformResource): void {
  const { of, member, attribute } = PARTS.get(type) ?? { of: '', member: '', attribute: '' }
  const named = String(values[of])
  if (setPart(source, named, { [attribute]: String(values[member]) })) return
  source.notes.push(
    lostAttribute(address, attribute, `${attribute} of a resource that the file does not have`),
  )
}
