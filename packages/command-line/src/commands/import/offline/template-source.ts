/** Topics, subscriptions and queues of a CloudFormation template. */
import { isObject } from '@fantail/contracts'
import type { Finding } from '../plan/findings.ts'
import type { Attributes, AwsSource, SourceNote } from '../sns/aws-source.ts'
import {
  arnOf,
  attributesBy,
  emptySource,
  LOGGED_KINDS,
  lostAttribute,
  type Place,
  setPart,
  sourceQueue,
} from './offline-source.ts'
import type { Template, TemplateResource } from './template-file.ts'
import { POLICIES, QUEUE, SUBSCRIPTION, sameNames, TOPIC } from './template-tables.ts'
import { isNoValue, resolved, type TemplateScope, Unresolved } from './template-values.ts'

type Properties = Record<string, unknown>

/** `parameters`: values that replace the defaults of the template. */
export function templateSource(template: Template, place: Place, parameters: Attributes): AwsSource {
  return new TemplateReader(template, place, parameters).read()
}

class TemplateReader {
  readonly #resources: [id: string, resource: TemplateResource][]
  readonly #scope: TemplateScope
  readonly #source = emptySource()

  constructor({ Parameters = {}, Resources }: Template, place: Place, given: Attributes) {
    this.#resources = Object.entries(Resources).filter(([, { Type }]) => /^AWS::(SNS|SQS)::/.test(Type))
    const defaults = Object.entries(Parameters).flatMap(([name, { Default }]) =>
      Default === undefined ? [] : [[name, Default] as const],
    )
    this.#scope = { place, parameters: { ...Object.fromEntries(defaults), ...given }, resources: new Map() }
  }

  read(): AwsSource {
    for (const [id, resource] of this.#resources) this.#name(id, resource)
    for (const [id, resource] of this.#resources) {
      if (resource.Condition !== undefined)
        this.#note(id, {
          ...{ matter: 'details', what: 'changed' },
          text: `it is made whether or not the condition ${resource.Condition} holds`,
        })
      this.#add(id, resource)
    }
    for (const [id, resource] of this.#resources)
      if (POLICIES.has(resource.Type)) this.#addPolicy(id, resource)
    return this.#source
  }

  #note(object: string, finding: SourceNote['finding']): void {
    this.#source.notes.push({ object, finding })
  }

  #lost(object: string, matter: Finding['matter'], text: string): void {
    this.#note(object, { matter, what: 'lost', text })
  }

  /** Names come first, because every value may refer to them. */
  #name(id: string, { Type, Properties = {} }: TemplateResource): void {
    const { place, resources } = this.#scope
    if (Type === 'AWS::SNS::Topic') {
      const name = this.#nameOf(id, Properties, 'TopicName', 'FifoTopic')
      const arn = arnOf('sns', name, place)
      resources.set(id, { ref: arn, attributes: { TopicArn: arn, TopicName: name } })
    }
    if (Type === 'AWS::SQS::Queue') {
      const name = this.#nameOf(id, Properties, 'QueueName', 'FifoQueue')
      const arn = arnOf('sqs', name, place)
      const url = `https://sqs.${place.region}.amazonaws.com/${place.account}/${name}`
      resources.set(id, { ref: url, attributes: { Arn: arn, QueueName: name, QueueUrl: url } })
    }
  }

  #nameOf(id: string, properties: Properties, member: string, fifo: string): string {
    const given = this.#try(() => resolved(properties[member], this.#scope))
    if (given.value !== undefined && given.value !== '') return String(given.value)
    const { value: isFifo } = this.#try(() => resolved(properties[fifo], this.#scope))
    const made = `${id}${String(isFifo) === 'true' ? '.fifo' : ''}`
    const why = given.problem ?? `the template has no ${member}, so that CloudFormation makes one up`
    this.#note(id, {
      ...{ matter: 'requests', what: 'changed' },
      text: `the name is the logical id here, because ${why}`,
    })
    return made
  }

  #try<T>(work: () => T): { value?: T; problem?: string } {
    try {
      return { value: work() }
    } catch (error) {
      if (error instanceof Unresolved) return { problem: error.message }
      throw error
    }
  }

  /** The properties that can be resolved. The others are noted, and left out. */
  #resolve(id: string, properties: Properties): Properties {
    const found = Object.entries(properties).flatMap(([name, given]) => {
      if (isNoValue(given)) return []
      const { value, problem } = this.#try(() => resolved(given, this.#scope))
      if (problem !== undefined) this.#source.notes.push(lostAttribute(id, name, `${name}: ${problem}`))
      return problem === undefined ? [[name, value] as const] : []
    })
    return Object.fromEntries(found)
  }

  #add(id: string, { Type, Properties: given = {} }: TemplateResource): void {
    if (POLICIES.has(Type)) return
    const known = this.#scope.resources.get(id)
    const { TopicName: _, QueueName: __, Subscription: inline, ...others } = given
    if (Type === 'AWS::SNS::Topic' && known) {
      this.#addTopic(known.ref, this.#resolve(id, others))
      for (const one of listOf(inline)) this.#addSubscription(id, { ...one, TopicArn: known.ref })
    } else if (Type === 'AWS::SQS::Queue' && known) {
      const properties = this.#resolve(id, others)
      const arn = known.attributes.Arn ?? ''
      this.#source.queues.push(sourceQueue(arn, attributesBy(QUEUE, properties), tagsOf(properties)))
    } else if (Type === 'AWS::SNS::Subscription') this.#addSubscription(id, given)
    else this.#lost(id, 'details', `resources of the type ${Type}`)
  }

  #addTopic(arn: string, properties: Properties): void {
    const attributes = { ...attributesBy(TOPIC, properties), ...feedbackOf(properties) }
    this.#source.topics.push({ arn, attributes, tags: tagsOf(properties) })
  }

  /** Without its filter a subscription would get too much, so it is not imported then. */
  #addSubscription(id: string, given: Properties): void {
    const properties = this.#resolve(id, given)
    const needed = ['TopicArn', 'Protocol', 'Endpoint', ...('FilterPolicy' in given ? ['FilterPolicy'] : [])]
    const missing = needed.filter((name) => !(name in properties) && !isNoValue(given[name]))
    if (missing.length > 0) {
      this.#lost(
        id,
        'messages',
        `a subscription needs ${missing.join(', ')}, which the template does not decide`,
      )
      return
    }
    const { TopicArn, Protocol, Endpoint } = properties
    this.#source.subscriptions.push({
      topicArn: String(TopicArn),
      protocol: String(Protocol),
      endpoint: String(Endpoint),
      isConfirmed: true,
      attributes: attributesBy(SUBSCRIPTION, properties),
    })
  }

  #addPolicy(id: string, { Type, Properties: given = {} }: TemplateResource): void {
    const properties = this.#resolve(id, given)
    const { PolicyDocument: policy } = properties
    const targets = [properties[POLICIES.get(Type) ?? '']]
      .flat()
      .filter((target) => typeof target === 'string')
    if (!isObject(policy)) return
    for (const target of targets) {
      const isSet = setPart(this.#source, target, { Policy: JSON.stringify(policy) })
      if (!isSet) this.#lost(id, 'access', 'the policy of a resource that the template does not have')
    }
  }
}

/** Tags are a list of keys and values, in newer resources a map. */
function tagsOf({ Tags }: Properties): Attributes {
  if (isObject(Tags))
    return Object.fromEntries(Object.entries(Tags).map(([key, value]) => [key, String(value)]))
  return Object.fromEntries(listOf(Tags).map(({ Key, Value }) => [String(Key), String(Value)]))
}

function feedbackOf({ DeliveryStatusLogging: logging }: Properties): Attributes {
  const members = ['SuccessFeedbackRoleArn', 'FailureFeedbackRoleArn', 'SuccessFeedbackSampleRate']
  const found = listOf(logging).flatMap((entry) => {
    const kind = LOGGED_KINDS.get(String(entry.Protocol).replace(/^http\/s$/, 'http')) ?? ''
    return Object.entries(attributesBy(sameNames(members), entry)).map(([name, text]) => [kind + name, text])
  })
  return Object.fromEntries(found)
}

function listOf(value: unknown): Properties[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
