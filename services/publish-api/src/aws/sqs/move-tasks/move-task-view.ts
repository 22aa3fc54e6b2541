/** Names and forms of a redrive task in SQS's API. */
import type { Shape } from '@fantail/aws-wire'
import type { RedriveStatus, RedriveTask } from '@fantail/contracts'

export const TASK_SHAPE: Record<string, Shape> = {
  TaskHandle: 'string',
  Status: 'string',
  SourceArn: 'string',
  DestinationArn: 'string',
  MaxNumberOfMessagesPerSecond: 'integer',
  ApproximateNumberOfMessagesMoved: 'integer',
  ApproximateNumberOfMessagesToMove: 'integer',
  FailureReason: 'string',
  StartedTimestamp: 'integer',
}

/**
 * SQS cannot pause tasks. A task that the native API has paused will continue at some time, so it counts as running.
 */
const STATUS: Record<RedriveStatus, string> = {
  running: 'RUNNING',
  paused: 'RUNNING',
  canceling: 'CANCELLING',
  canceled: 'CANCELLED',
  completed: 'COMPLETED',
  failed: 'FAILED',
}

export function taskStatus({ status }: RedriveTask): string {
  return STATUS[status]
}

export function taskView(task: RedriveTask): Record<string, unknown> {
  const Status = taskStatus(task)
  return {
    ...(Status === 'RUNNING' && { TaskHandle: formatTaskHandle(task) }),
    Status,
    SourceArn: task.source,
    ...(task.destination !== null && { DestinationArn: task.destination }),
    ...(task.maxMessagesPerSecond !== null && { MaxNumberOfMessagesPerSecond: task.maxMessagesPerSecond }),
    ApproximateNumberOfMessagesMoved: task.moved,
    ApproximateNumberOfMessagesToMove: task.matched,
    ...(task.error !== null && { FailureReason: failureReason(task.error) }),
    StartedTimestamp: task.startedAt,
  }
}

/** A task fails because one of its queues is gone (redrive-batches.ts, choose-redriven-1.lua). */
function failureReason(error: string): string {
  return /^the (source|destination) queue is gone$/.test(error)
    ? 'AWS.SimpleQueueService.NonExistentQueue'
    : error
}

interface TaskName {
  taskId: string
  sourceArn: string
}

/** A handle in the form of SQS's own handles. */
export function formatTaskHandle({ id, source }: RedriveTask): string {
  return Buffer.from(JSON.stringify({ taskId: id, sourceArn: source })).toString('base64')
}

/** undefined: the text is not a handle. */
export function parseTaskHandle(handle: string): TaskName | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(handle, 'base64').toString())
    const { taskId, sourceArn } = (value ?? {}) as Partial<Record<keyof TaskName, unknown>>
    return typeof taskId === 'string' && typeof sourceArn === 'string' ? { taskId, sourceArn } : undefined
  } catch {
    return undefined
  }
}
