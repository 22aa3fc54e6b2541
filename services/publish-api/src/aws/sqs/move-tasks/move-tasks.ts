/**
 * StartMessageMoveTask, ListMessageMoveTasks and CancelMessageMoveTask, as redrives (checklist 187, 188). In addition
 * to SQS, the source may be the dead-letter queue of subscriptions. Without a destination, its messages go back to
 * these subscriptions.
 */
import type { AwsCall, AwsError, AwsInput, Operation, Shape } from '@fantail/aws-wire'
import { FantailError, isFifoName, type RedriveStatus, type RedriveTask } from '@fantail/contracts'
import { allItems } from '@fantail/store'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { deadLetterSources } from '../../../redrives/dead-letter-sources.ts'
import { checkQueueArn } from '../wire/queue-url.ts'
import { invalidParameterValue, missingParameter, sqsError } from '../wire/sqs-error.ts'

/** @limit Messages per second of a message move task. Past it: the request is refused. */
const MOVE_RATE_MAX = 500
/** @limit Message move tasks of one answer. Past it: the request is refused. */
const MOVE_TASKS_LISTED_MAX = 10
/** Tasks that one read returns. Tasks of other sources may be between those of this source. */
const LOOK_AT = 100

export function moveTaskOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'StartMessageMoveTask',
      input: { SourceArn: 'string', DestinationArn: 'string', MaxNumberOfMessagesPerSecond: 'integer' },
      output: { TaskHandle: 'string' },
      run: (input, call) => startTask(deps, input, call),
    },
    {
      name: 'ListMessageMoveTasks',
      input: { SourceArn: 'string', MaxResults: 'integer' },
      output: { Results: { list: { struct: TASK_SHAPE }, flat: 'ListMessageMoveTasksResultEntry' } },
      run: (input) => listTasks(deps, input),
    },
    {
      name: 'CancelMessageMoveTask',
      input: { TaskHandle: 'string' },
      output: { ApproximateNumberOfMessagesMoved: 'integer' },
      run: (input, call) => cancelTask(deps, input, call),
    },
  ]
}

async function startTask(deps: ApiDeps, input: AwsInput, call: AwsCall) {
  const source = await arnGiven(deps, input, 'SourceArn')
  if (source === undefined) throw missingParameter('SourceArn')
  const destination = (await arnGiven(deps, input, 'DestinationArn')) ?? null
  if (destination !== null) checkPair(source, destination)
  const maxMessagesPerSecond = rateGiven(input)
  if ((await deadLetterSources(deps, source)).length === 0) {
    throw invalidParameterValue('Source queue must be configured as a Dead Letter Queue.')
  }
  const task = await create(deps, { source, destination, maxMessagesPerSecond })
  const { requestId } = call
  deps.log.info(
    { requestId, redriveId: task.id, source, destination, matched: task.matched },
    'redrive.created',
  )
  return { TaskHandle: formatTaskHandle(task) }
}

type NewTask = Pick<RedriveTask, 'source' | 'destination' | 'maxMessagesPerSecond'>

async function create({ redrives }: ApiDeps, task: NewTask): Promise<RedriveTask> {
  try {
    return await redrives.create({ ...task, filter: {} })
  } catch (error) {
    if (!(error instanceof FantailError)) throw error
    if (error.code === 'redrive_active') {
      const only = 'Only one active task is allowed for a source queue arn at a given time.'
      throw invalidParameterValue(`There is already a task running. ${only}`)
    }
    // The queue was deleted after the check above.
    if (error.code === 'not_found') throw notThere('SourceArn')
    if (error.code === 'validation_failed') throw notThere('DestinationArn')
    throw error
  }
}

/** The ARN of an existing queue, if a queue is given. */
async function arnGiven(
  { queues }: ApiDeps,
  input: AwsInput,
  name: 'SourceArn' | 'DestinationArn',
): Promise<string | undefined> {
  if (input[name] === undefined) return undefined
  const arn = checkQueueArn(input[name], name)
  if ((await queues.get(arn)) === null) throw notThere(name)
  return arn
}

function checkPair(source: string, destination: string): void {
  if (source === destination)
    throw invalidParameterValue('Source queue arn and destination queue arn cannot be the same.')
  if (isFifoName(source) !== isFifoName(destination)) {
    throw invalidParameterValue('The source queue and destination queue must be of the same queue type.')
  }
}

function rateGiven({ MaxNumberOfMessagesPerSecond: given }: AwsInput): number | null {
  if (given === undefined) return null
  const rate = Number(given)
  if (rate >= 1 && rate <= MOVE_RATE_MAX) return rate
  const reason = `You must enter a number that's between 1 and ${MOVE_RATE_MAX}.`
  throw invalidParameterValue(
    `Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: ${reason}`,
  )
}

async function listTasks(deps: ApiDeps, input: AwsInput) {
  const wanted = input.MaxResults === undefined ? 1 : Number(input.MaxResults)
  if (wanted < 1 || wanted > MOVE_TASKS_LISTED_MAX) {
    const reason = `Must be between 1 and ${MOVE_TASKS_LISTED_MAX}.`
    throw invalidParameterValue(`Value ${wanted} for parameter MaxResults is invalid. Reason: ${reason}`)
  }
  const source = await arnGiven(deps, input, 'SourceArn')
  if (source === undefined) throw missingParameter('SourceArn')
  const tasks: RedriveTask[] = []
  for await (const task of allItems((more) => deps.redrives.list({ source, limit: LOOK_AT, ...more }))) {
    if (task.action === 'redrive') tasks.push(task)
    if (tasks.length === wanted) break
  }
  return { Results: tasks.map(taskView) }
}

async function cancelTask(deps: ApiDeps, input: AwsInput, call: AwsCall) {
  if (input.TaskHandle === undefined) throw missingParameter('TaskHandle')
  const named = parseTaskHandle(String(input.TaskHandle))
  if (!named) throw invalidParameterValue('Value for parameter TaskHandle is invalid.')
  if ((await deps.queues.get(named.sourceArn)) === null) throw notThere('SourceArn')
  const task = await deps.redrives.get(named.taskId)
  if (task?.source !== named.sourceArn) throw sqsError('ResourceNotFoundException', 'Task does not exist.')
  if (taskStatus(task) !== 'RUNNING') throw notRunning(task)
  const { moved, status } = await cancel(deps, task)
  deps.log.info({ requestId: call.requestId, redriveId: task.id, status }, 'redrive.changed')
  return { ApproximateNumberOfMessagesMoved: moved }
}

async function cancel({ redrives }: ApiDeps, task: RedriveTask): Promise<RedriveTask> {
  try {
    return await redrives.cancel(task.id)
  } catch (error) {
    // The task has ended since it was read.
    throw error instanceof FantailError && error.code === 'wrong_state'
      ? notRunning((await redrives.get(task.id)) ?? task)
      : error
  }
}

function notRunning(task: RedriveTask): AwsError {
  const text = `Only a running task can be canceled; the status of this one is ${taskStatus(task)}.`
  return sqsError('UnsupportedOperation', text)
}

function notThere(parameter: string): AwsError {
  const text = `The resource that you specified for the ${parameter} parameter doesn't exist.`
  return sqsError('ResourceNotFoundException', text)
}

/** Names and forms of a redrive task in SQS's API. */
const TASK_SHAPE: Record<string, Shape> = {
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

function taskStatus({ status }: RedriveTask): string {
  return STATUS[status]
}

function taskView(task: RedriveTask): Record<string, unknown> {
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

/** A task fails because one of its queues is gone (redrive-moves.ts, choose-redriven-1.lua). */
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
function formatTaskHandle({ id, source }: RedriveTask): string {
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
