/**
 * Reads an endpoint's answer to a batch, which says which messages are deleted. The others stay, and become visible
 * again after their visibility timeout. Partial answers follow the rules of Lambda's event sources.
 */
import type { AttemptResult, QueueMessage } from '@fantail/contracts'
import { failureText } from '@fantail/policy'

interface BatchAnswer {
  result: AttemptResult
  /** Why the batch failed, if the status does not show it. */
  failure?: string | undefined
  messages: readonly QueueMessage[]
  /** Whether a 2xx may name messages that failed. */
  reportsFailures: boolean
  /** For a FIFO queue: no message is deleted if an earlier one of its group failed. */
  inOrder: boolean
}

export interface BatchOutcome {
  done: readonly QueueMessage[]
  /** Why the whole batch failed. null: it did not. */
  failure: string | null
}

/** The answer cannot be understood. The message is for a log line. */
class UnreadableAnswer extends Error {}

export function judgeBatch(answer: BatchAnswer): BatchOutcome {
  const { result, failure, messages, reportsFailures, inOrder } = answer
  if (failure !== undefined) return { done: [], failure }
  if (result.kind !== 'response') return { done: [], failure: failureText(result) }
  const { statusCode, body } = result
  if (statusCode < 200 || statusCode > 299) return { done: [], failure: `answered ${statusCode}` }
  if (!reportsFailures) return { done: messages, failure: null }
  try {
    const failed = failedIds(body, new Set(messages.map(({ messageId }) => messageId)))
    return { done: succeeded(messages, failed, inOrder), failure: null }
  } catch (error) {
    if (!(error instanceof UnreadableAnswer)) throw error
    return { done: [], failure: error.message }
  }
}

/** An empty answer means that nothing failed. An answer that cannot be read fails the whole batch. */
function failedIds(body: Buffer | undefined, known: Set<string>): Set<string> {
  if (body === undefined) throw new UnreadableAnswer('its answer is too long')
  const value = parsed(body.toString().trim())
  if (value === null) return new Set()
  if (typeof value !== 'object' || Array.isArray(value))
    throw new UnreadableAnswer('its answer is not a JSON object')
  const { batchItemFailures: items = null } = value as { batchItemFailures?: unknown }
  if (items === null) return new Set()
  if (!Array.isArray(items)) throw new UnreadableAnswer('batchItemFailures is not a list')
  return new Set(items.map((item) => identifierOf(item, known)))
}

function parsed(text: string): unknown {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch {
    throw new UnreadableAnswer('its answer is not JSON')
  }
}

function identifierOf(item: unknown, known: Set<string>): string {
  const { itemIdentifier: id } = Object(item) as { itemIdentifier?: unknown }
  if (typeof id === 'string' && known.has(id)) return id
  throw new UnreadableAnswer('batchItemFailures names no message of the batch')
}

function succeeded(
  messages: readonly QueueMessage[],
  failed: Set<string>,
  inOrder: boolean,
): readonly QueueMessage[] {
  const failedGroups = new Set<string | undefined>()
  return messages.filter(({ messageId, groupId }) => {
    if (failed.has(messageId)) failedGroups.add(groupId)
    return !failed.has(messageId) && !(inOrder && failedGroups.has(groupId))
  })
}
