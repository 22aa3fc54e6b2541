/** Reads SNS and SQS of a live account by the AWS SDK. It only lists and gets, so read-only credentials are enough. */
import { SNSClient } from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { CommandContext } from '../../../frame/command-context.ts'
import { CommandError } from '../../../output/exit-codes.ts'
import { AwsCalls } from './aws-calls.ts'
import { type AwsSource, queuesBehind } from './aws-source.ts'
import { readQueues } from './read-queues.ts'
import { readTopics } from './read-topics.ts'

interface AwsPlace {
  /** Empty: the region of the AWS settings. */
  regions: string[]
  endpoint: string | undefined
  topicPrefix: string | undefined
}

export async function readAws(context: CommandContext, place: AwsPlace): Promise<AwsSource> {
  const { env, out, signal } = context
  let count = 0
  const progress = out.progress('calls to AWS')
  const calls = new AwsCalls({ signal, onCall: () => progress.update(++count) })
  const source: AwsSource = { topics: [], subscriptions: [], queues: [], unread: calls.unread, notes: [] }
  const named = place.regions.length > 0 ? place.regions : [env.AWS_REGION ?? env.AWS_DEFAULT_REGION]
  try {
    for (const region of named) {
      const config = configOf(env, region, place.endpoint)
      const [sns, sqs] = [new SNSClient(config), new SQSClient(config)]
      const used = await regionOf(sqs)
      const read = await readTopics({ sns, calls, prefix: place.topicPrefix ?? '', signal })
      source.topics.push(...read.topics)
      source.subscriptions.push(...read.subscriptions)
      source.notes.push(...read.notes)
      source.queues.push(...(await readQueues({ sqs, calls, region: used, signal })))
      sns.destroy()
      sqs.destroy()
    }
  } finally {
    progress.end()
  }
  return place.topicPrefix ? { ...source, queues: queuesBehind(source) } : source
}

function configOf(env: NodeJS.ProcessEnv, region: string | undefined, endpoint: string | undefined) {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_PROFILE: profile } = env
  const sessionToken = env.AWS_SESSION_TOKEN
  const isGiven = accessKeyId && secretAccessKey && !profile
  return {
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    ...(isGiven && { credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) } }),
  }
}

async function regionOf({ config }: SQSClient): Promise<string> {
  try {
    return await config.region()
  } catch {
    throw new CommandError('usage', 'no region of AWS is set', 'Add --region, or set AWS_REGION.')
  }
}
