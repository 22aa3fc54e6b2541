/**
 * AddPermission and RemovePermission. They add and remove statements of the queue's Policy by label.
 * packages/access/src/access.ts enforces the policy.
 */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import { objectOf, type QueueRecord } from '@fantail/contracts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { grantStatement } from '../../wire/grant.ts'
import { queueArnOf, whereQueueExists } from '../wire/queue-url.ts'
import { invalidValue, missingParameter, sqsError } from '../wire/sqs-error.ts'

/** @limit Actions of one permission. Past it: the request is refused. */
const ACTIONS_MAX = 7
/** @limit Statements of a queue's policy. Past it: the request is refused. */
const STATEMENTS_MAX = 20
const LABEL = /^[A-Za-z0-9_-]{1,80}$/
const ACCOUNT = /^\d{12}$/
/** Actions that an owner may allow to others. */
const SHAREABLE = new Set([
  '*',
  'ChangeMessageVisibility',
  'DeleteMessage',
  'GetQueueAttributes',
  'GetQueueUrl',
  'ListDeadLetterSourceQueues',
  'PurgeQueue',
  'ReceiveMessage',
  'SendMessage',
])

type Statement = Record<string, unknown>

interface Policy {
  Version?: unknown
  Id?: unknown
  Statement?: unknown
}

export function queuePermissionOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'AddPermission',
      input: {
        QueueUrl: 'string',
        Label: 'string',
        AWSAccountIds: { list: 'string', flat: 'AWSAccountId' },
        Actions: { list: 'string', flat: 'ActionName' },
      },
      output: null,
      run: async (input, call) => changePolicy(deps, { input, call, change: addition(input) }),
    },
    {
      name: 'RemovePermission',
      input: { QueueUrl: 'string', Label: 'string' },
      output: null,
      run: async (input, call) => changePolicy(deps, { input, call, change: removal(input) }),
    },
  ]
}

/** Returns the queue's statements after the change. */
type Change = (statements: Statement[], queue: QueueRecord) => Statement[]

interface PolicyChange {
  input: AwsInput
  call: AwsCall
  change: Change
}

async function changePolicy(deps: ApiDeps, { input, call, change }: PolicyChange): Promise<undefined> {
  const arn = queueArnOf(deps.settings, input, call)
  const changed = deps.queues.update(arn, (queue) => {
    const { Policy: text, ...attributes } = queue.attributes
    const policy: Policy = (text && objectOf(text)) || {
      Version: '2008-10-17',
      Id: `${arn}/SQSDefaultPolicy`,
    }
    const statements = change(statementsOf(policy), queue)
    if (statements.length === 0) return { attributes }
    return { attributes: { ...attributes, Policy: JSON.stringify({ ...policy, Statement: statements }) } }
  })
  await whereQueueExists(call, changed)
}

function statementsOf({ Statement }: Policy): Statement[] {
  const all: unknown[] = Array.isArray(Statement) ? Statement : Statement === undefined ? [] : [Statement]
  return all.filter((one): one is Statement => typeof one === 'object' && one !== null)
}

function addition(input: AwsInput): Change {
  const label = labelOf(input)
  const accounts = (input.AWSAccountIds as string[] | undefined) ?? []
  const actions = (input.Actions as string[] | undefined) ?? []
  return (statements, { arn }) => {
    if (statements.some(({ Sid }) => Sid === label)) throw invalidValue('Label', label, 'Already exists.')
    checkActions(actions)
    if (accounts.length === 0 || !accounts.every((account) => ACCOUNT.test(account))) {
      throw invalidValue('PrincipalId', `[${accounts.join(', ')}]`, 'Unable to verify.')
    }
    const all = [...statements, grantStatement({ service: 'SQS', label, arn, accounts, actions })]
    if (all.length > STATEMENTS_MAX) throw tooManyStatements(all.length)
    return all
  }
}

function removal(input: AwsInput): Change {
  const label = labelOf(input)
  return (statements) => {
    const left = statements.filter(({ Sid }) => Sid !== label)
    if (left.length === statements.length) throw invalidValue('Label', label, "can't find label.")
    return left
  }
}

function labelOf({ Label }: AwsInput): string {
  if (Label === undefined) throw missingParameter('Label')
  const label = String(Label)
  if (LABEL.test(label)) return label
  const rule = 'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length'
  throw invalidValue('Label', label, rule)
}

function checkActions(actions: string[]): void {
  if (actions.length === 0) throw missingParameter('Actions')
  if (actions.length > ACTIONS_MAX) {
    const text = `${actions.length} Actions were found, maximum allowed is ${ACTIONS_MAX}.`
    throw sqsError('OverLimit', text)
  }
  const forbidden = actions.find((action) => !SHAREABLE.has(action))
  if (forbidden === undefined) return
  throw invalidValue(
    'ActionName',
    `SQS:${forbidden}`,
    'Only the queue owner is allowed to invoke this action.',
  )
}

function tooManyStatements(count: number) {
  const text = `${count} statements were found in the submitted policy, max allowed is ${STATEMENTS_MAX}`
  return sqsError('OverLimit', text)
}
