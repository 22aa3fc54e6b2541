/** The topics, queues and subscriptions of a run. */
import { topicArn } from '../../harness/aws/aws-clients.ts'
import type { RestClient } from '../../harness/services/rest-client.ts'
import { subscribeKinds } from '../providers/subscribe-kinds.ts'
import type { World } from '../world/world.ts'
import { KEPT_QUEUE, type Subscribed } from './chaos-endpoint.ts'
import { DEAD_QUEUE, ENDPOINTS } from './endpoints.ts'

export const TOPIC = 'chaos'
export const FIFO_TOPIC = 'chaos.fifo'
export const FIFO_QUEUE = 'chaos.fifo'
export const FIFO_PATH = '/fifo'
/** Deleted and made again. */
export const FLEETING_TOPIC = 'fleeting'

/** Resolves with the subscriptions of the standard topic, by the endpoint's name. */
export async function makeTopics({
  clients: [client],
  services: [api],
  receiver,
  providers,
}: World): Promise<Map<string, Subscribed>> {
  // Dead letters become sealed here, and return sealed to lanes whose other messages are not.
  await client.put(`/v1/queues/${DEAD_QUEUE}`, { sealMessages: true })
  await client.put(`/v1/queues/${KEPT_QUEUE}`)
  await client.put(`/v1/topics/${TOPIC}`)
  const subscriptions = new Map<string, Subscribed>()
  for (const [name, { settings, queue, paused, protocol }] of Object.entries(ENDPOINTS)) {
    if (protocol !== undefined) continue
    const endpoint = queue === undefined ? `${receiver.url}/${name}` : await makeQueue(client, queue)
    const input = { endpoint, rawMessageDelivery: true, ...settings }
    const subscribed = await client.post<Subscribed>(`/v1/topics/${TOPIC}/subscriptions`, input)
    if (paused) await client.post(`/v1/subscriptions/${subscribed.id}/pause`)
    subscriptions.set(name, subscribed)
  }
  await makeFifo(client, receiver.url)
  const kinds = await subscribeKinds(api?.url ?? '', topicArn(TOPIC), providers)
  return new Map([...subscriptions, ...kinds])
}

/** Its ARN. */
async function makeQueue(client: RestClient, queue: string): Promise<string> {
  return (await client.put<{ arn: string }>(`/v1/queues/${queue}`)).arn
}

async function makeFifo(client: RestClient, receiverUrl: string): Promise<void> {
  await client.put(`/v1/topics/${FIFO_TOPIC}`, { sealMessages: true })
  const arn = await makeQueue(client, FIFO_QUEUE)
  const path = `/v1/topics/${FIFO_TOPIC}/subscriptions`
  await client.post(path, { endpoint: arn, rawMessageDelivery: true })
  const deliveryPolicy = {
    healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 50, numNoDelayRetries: 50 },
  }
  await client.post(path, {
    endpoint: `${receiverUrl}${FIFO_PATH}`,
    rawMessageDelivery: true,
    deliveryPolicy,
  })
}

type Step = (method: string, path: string, body?: unknown) => Promise<unknown>

/** The path of a subscription has the number of the incarnation. No message of another incarnation may arrive there. */
export async function makeFleeting(step: Step, receiverUrl: string, incarnation: number): Promise<void> {
  await step('PUT', `/v1/topics/${FLEETING_TOPIC}`, {})
  const endpoint = `${receiverUrl}/fleeting/${incarnation}`
  const input = { endpoint, rawMessageDelivery: true }
  await step('POST', `/v1/topics/${FLEETING_TOPIC}/subscriptions`, input)
}
