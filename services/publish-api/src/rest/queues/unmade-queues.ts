/**
 * A topic's own dead-letter queue is created by the first letter. Until then the queue does not exist, although
 * `onFailure` names it. The refusal therefore says what creates the queue.
 */
import { isOf } from '@fantail/access'
import { FantailError, parseArn, topicArn } from '@fantail/contracts'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Call, type Endpoint, queueOf } from '../../http/endpoint.ts'
import { notFound, Unseen } from '../../http/error-answers.ts'

type Tools = Pick<ApiDeps, 'settings' | 'topics' | 'topicQueues'>

const OWN_QUEUE = /^(.+)-dead-letters(?:-[0-9a-f]{8})?(\.fifo)?$/
const NO_QUEUE = notFound('queue').message

/** Routes of one queue. If the queue is missing, their error names the topic that would make it. */
export function namingTopics(deps: Tools, endpoints: Endpoint[]): Endpoint[] {
  return endpoints.map((route) => (route.method === 'GET' ? namingTopic(deps, route) : route))
}

function namingTopic(deps: Tools, route: Endpoint): Endpoint {
  const handle: Endpoint['handle'] = async (call) => {
    try {
      return await route.handle(call)
    } catch (error) {
      const isMissing =
        error instanceof FantailError && !(error instanceof Unseen) && error.message === NO_QUEUE
      throw (isMissing && (await unmadeQueue(deps, call))) || error
    }
  }
  return { ...route, handle }
}

/** Undefined if no topic that the caller may see would make the queue. */
async function unmadeQueue(deps: Tools, call: Call): Promise<FantailError | undefined> {
  const arn = queueOf(deps, call)
  const place = parseArn(arn)
  const [, stem, fifo = ''] = OWN_QUEUE.exec(place?.name ?? '') ?? []
  if (!place || stem === undefined) return undefined
  const topic = topicArn(`${stem}${fifo}`, place)
  if (call.caller && !isOf(call.caller, topic)) return undefined
  const [record, own] = await Promise.all([deps.topics.get(topic), deps.topicQueues.find(topic)])
  if (!record || own?.queueArn !== arn) return undefined
  return new FantailError('not_found', `${NO_QUEUE}; the first dead letter of topic ${record.name} makes it`)
}
