/** The route that publishes to one phone number or platform endpoint. */
import { FantailError } from '@fantail/contracts'
import {
  DirectMessageInput,
  DirectMessageReceipt,
  IdempotencyKey,
} from '@fantail/contracts/schemas/messages/message-schemas'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import {
  type DirectTarget,
  endpointTarget,
  numberTarget,
  refusedTarget,
  TargetRefusal,
} from '../../direct/direct-targets.ts'
import { publishDirect } from '../../direct/publish-direct.ts'
import { type Answer, type Call, type Endpoint, endpoint } from '../../http/endpoint.ts'
import { publicUrlFor } from '../../http/origin.ts'
import { keyOf } from '../../messages/idempotent.ts'
import { MessageStore } from '../../messages/message-store.ts'
import { readMessages } from '../../messages/read-messages.ts'
import { Replayed } from './publish-routes.ts'

type DirectCall = Call<unknown, z.output<typeof DirectMessageInput>>

interface Tools {
  deps: ApiDeps
  store: MessageStore
}

export function directRoutes(deps: ApiDeps): Endpoint[] {
  const tools = { deps, store: new MessageStore(deps) }
  return [
    endpoint({
      id: 'publishDirect',
      method: 'POST',
      path: '/v1/messages',
      tag: 'Messages',
      summary: 'Publish a message to one phone number, device or browser',
      description:
        'Needs no topic and no subscription. Answers once the message is stored; it is delivered and retried ' +
        'afterwards. A message that fails permanently is discarded and counted, because it has no dead-letter queue. ' +
        'A phone number needs the scope `sms`. An `Idempotency-Key` belongs to the target.',
      headers: { 'Idempotency-Key': IdempotencyKey.optional() },
      body: DirectMessageInput,
      answers: {
        202: {
          description: 'The message is stored and will be delivered.',
          schema: DirectMessageReceipt,
          headers: { 'Idempotent-Replayed': Replayed },
        },
      },
      errors: ['not_found', 'conflict', 'idempotency_mismatch', 'rate_limited', 'storage_full'],
      handle: (call) => publish(tools, call),
    }),
  ]
}

async function publish(tools: Tools, call: DirectCall): Promise<Answer> {
  const { request, requestId, startedAt } = call
  const { phoneNumber: _, targetArn: __, ...given } = call.body
  const key = keyOf(request)
  const { messages, bytes } = readMessages(JSON.stringify(given))
  const [message] = messages
  if (!message) throw new Error('a checked body has no message')
  try {
    const target = await targetOf(tools.deps, call)
    const publicUrl = publicUrlFor(tools.deps.settings, call)
    const traceparent = request.header('traceparent')
    const wanted = { target, message, bytes, key, publicUrl, traceparent, requestId, startedAt }
    const { messageId, replayed } = await publishDirect(tools, wanted)
    const headers = replayed && { headers: { 'Idempotent-Replayed': 'true' } }
    return { status: 202, body: { messageId }, ...headers }
  } catch (error) {
    throw error instanceof TargetRefusal ? refusedTarget(error) : error
  }
}

async function targetOf(deps: ApiDeps, { body, caller }: DirectCall): Promise<DirectTarget> {
  const { phoneNumber, targetArn } = body
  if (targetArn !== undefined) return endpointTarget(deps, targetArn)
  if (phoneNumber !== undefined)
    return numberTarget(deps, phoneNumber, caller?.account ?? deps.settings.arn.account)
  throw FantailError.invalid('phoneNumber', 'or targetArn is required')
}
