/** The requests at one webhook, and short functions that create topics and subscriptions for it. */
import type { ReceivedRequest } from '@fantail/test-kit'
import type { Stack } from '../services/stack.ts'

interface Notification {
  Type: string
  MessageId: string
  TopicArn: string
  Subject?: string
  Message: string
  Timestamp: string
  Token?: string
  SubscribeURL?: string
  UnsubscribeURL?: string
  MessageAttributes?: Record<string, { Type: string; Value: string }>
}

export function notification({ text }: ReceivedRequest): Notification {
  return JSON.parse(text) as Notification
}

interface LaneFigures {
  waiting: number
  inFlight: number
  oldestWaitingSeconds: number | null
  nextAttemptAt: string | null
  drainSeconds: number | null
  drainUnknown: string | null
  rate: number | null
  lastFailure: { at: string; statusCode: number | null; error: string | null } | null
  lastSuccessAt: string | null
}

export interface Subscription {
  id: string
  arn: string
  topicArn: string
  status: string
  lane: LaneFigures
}

/** Creates a topic with one subscription. Both settings are as the API takes them. */
export async function subscribe(
  { client }: Stack,
  topic: string,
  input: { endpoint: string; [setting: string]: unknown },
  topicSettings: Record<string, unknown> = {},
): Promise<Subscription> {
  await client.put(`/v1/topics/${topic}`, topicSettings)
  return client.post<Subscription>(`/v1/topics/${topic}/subscriptions`, input)
}

export async function publish({ client }: Stack, topic: string, message: unknown): Promise<string> {
  const { messageId } = await client.post<{ messageId: string }>(`/v1/topics/${topic}/messages`, { message })
  return messageId
}

export async function lane({ client }: Stack, { id }: { id: string }): Promise<LaneFigures> {
  return (await client.get<Subscription>(`/v1/subscriptions/${id}`)).lane
}

/** All subscriptions of a topic, read by pages. */
export async function subscriptionsOf({ client }: Pick<Stack, 'client'>, topic: string) {
  type Page = { subscriptions: Subscription[]; nextCursor: string | null }
  const subscriptions: Subscription[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: Page = await client.get(`/v1/topics/${topic}/subscriptions?limit=100${query}`)
    subscriptions.push(...page.subscriptions)
    cursor = page.nextCursor
  }
  return subscriptions
}

export async function lanesOf(stack: Stack, topic: string): Promise<LaneFigures[]> {
  return (await subscriptionsOf(stack, topic)).map((subscription) => subscription.lane)
}

/** A retry policy with `numRetries` and the given members. Delays are in seconds. */
export function retries(numRetries: number, set: Record<string, unknown> = {}) {
  return { healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries, ...set } }
}
