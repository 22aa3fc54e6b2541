/** Makes messages and targets to sign, and a storage of the key pair that fails if the test says so. */
import {
  createMessageId,
  type Message,
  type Protocol,
  type SubscriptionRecord,
  SYSTEM_POLICY,
  type TopicRecord,
} from '@fantail/contracts'
import { compileEnvelope, type Envelope } from '../envelope/envelope.ts'
import { EnvelopeSigning } from '../envelope/envelope-signing.ts'
import { compileTarget, type EndpointTarget } from '../envelope/target.ts'
import type { SignatureVersion } from './signer.ts'
import { SigningKey, type SigningPairs } from './signing-key.ts'
import type { SigningPair } from './signing-pair.ts'

export const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders'
export const SUBSCRIPTION_ARN = `${TOPIC}:5f8a6f0e-8a4e-4d3f-9d53-0f6c0a5f1f11`
const PUBLISHED_AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678)

export function envelopeOf(set: Partial<Message>, version: SignatureVersion | undefined = '1'): Envelope {
  const message: Message = {
    messageId: createMessageId(PUBLISHED_AT),
    topicArn: TOPIC,
    publishedAt: PUBLISHED_AT,
    message: 'hello',
    ...set,
  }
  return compileEnvelope(message, { publicUrl: 'https://sns.example.com' }, version)
}

export function targetOf(protocol: Protocol = 'https', raw = false): EndpointTarget {
  const subscription = {
    id: '5f8a6f0e-8a4e-4d3f-9d53-0f6c0a5f1f11',
    arn: SUBSCRIPTION_ARN,
    protocol,
    endpoint: 'https://hooks.example.com/in',
    rawMessageDelivery: raw,
  } as SubscriptionRecord
  return compileTarget(subscription, SYSTEM_POLICY)
}

export function topicOf(set: Partial<TopicRecord>): TopicRecord {
  return { arn: TOPIC, name: 'orders', signing: 'sns', attributes: {}, ...set } as TopicRecord
}

interface MemoryPairs extends SigningPairs {
  pair: SigningPair | null
  published: string[]
  reads: number
  /** If it is set, calls fail with this error. */
  error: Error | undefined
}

export function createMemoryPairs(pair: SigningPair | null = null): MemoryPairs {
  const pairs: MemoryPairs = {
    pair,
    published: [],
    reads: 0,
    error: undefined,
    read: async () => {
      pairs.reads++
      if (pairs.error) throw pairs.error
      return pairs.pair
    },
    offer: async (offered) => {
      pairs.pair ??= offered
      return pairs.pair
    },
    restore: async (offered) => (await pairs.read()) ?? pairs.offer(offered),
    publish: async (_name, certificate) => void pairs.published.push(certificate),
  }
  return pairs
}

export function createSigning(pairs: SigningPairs): EnvelopeSigning {
  return new EnvelopeSigning(new SigningKey({ pairs }))
}
