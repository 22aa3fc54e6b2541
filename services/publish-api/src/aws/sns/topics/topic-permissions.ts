/** AddPermission and RemovePermission. They add and remove statements of the topic's policy by label. */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import type { TopicRecord } from '@fantail/contracts'
import { isTopicAction } from '@fantail/policy'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { grantStatement } from '../../wire/grant.ts'
import { ofTopic } from '../publish/read-message.ts'
import { checkTopicArn, invalidParameter, missingParameter } from '../wire/sns-parameters.ts'
import { type AccessPolicy, accessPolicyOf, type Statement, statementsOf } from './topic-access-policy.ts'

const ACCOUNT = /^\d{12}$/

export function topicPermissionOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'AddPermission',
      input: {
        TopicArn: 'string',
        Label: 'string',
        AWSAccountId: { list: 'string' },
        ActionName: { list: 'string' },
      },
      output: null,
      run: (input, call) => changePolicy(deps, { input, call, change: addition(input) }),
    },
    {
      name: 'RemovePermission',
      input: { TopicArn: 'string', Label: 'string' },
      output: null,
      run: (input, call) => changePolicy(deps, { input, call, change: removal(input) }),
    },
  ]
}

/** Returns the topic's statements after the change. */
type Change = (statements: Statement[], topic: TopicRecord) => Statement[]

interface PolicyChange {
  input: AwsInput
  call: AwsCall
  change: Change
}

async function changePolicy(deps: ApiDeps, { input, call, change }: PolicyChange): Promise<undefined> {
  const arn = checkTopicArn(input.TopicArn, call)
  const changed = deps.topics.update(arn, (topic) => {
    const policy = JSON.parse(accessPolicyOf(topic)) as AccessPolicy
    const statements = change(statementsOf(policy), topic)
    const Policy = JSON.stringify({ ...policy, Statement: statements })
    return { attributes: { ...topic.attributes, Policy } }
  })
  await ofTopic(() => changed)
  deps.topicCache.forget(arn)
  deps.log.info({ requestId: call.requestId, topicArn: arn, members: ['Policy'] }, 'topic.changed')
}

function addition(input: AwsInput): Change {
  const label = labelOf(input)
  const accounts = listOf(input, 'AWSAccountId')
  const actions = listOf(input, 'ActionName')
  return (statements, { arn }) => {
    if (statements.some(({ Sid }) => Sid === label)) throw invalidParameter('Statement already exists')
    if (!actions.every(isTopicAction)) {
      throw invalidParameter('Policy statement action out of service scope!')
    }
    if (!accounts.every((account) => ACCOUNT.test(account))) {
      throw invalidParameter('A provided account ID is not valid')
    }
    return [...statements, grantStatement({ service: 'SNS', label, arn, accounts, actions })]
  }
}

function removal(input: AwsInput): Change {
  const label = labelOf(input)
  return (statements) => statements.filter(({ Sid }) => Sid !== label)
}

function labelOf({ Label }: AwsInput): string {
  if (Label === undefined || Label === '') throw missingParameter('Label')
  return String(Label)
}

/** Repeated names count once. */
function listOf(input: AwsInput, name: string): string[] {
  const values = (input[name] as string[] | undefined) ?? []
  if (values.length === 0) throw missingParameter(name)
  return [...new Set(values)]
}
