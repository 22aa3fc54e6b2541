/** Reads topics, subscriptions and queues from a file: its form is known by its members. */
import { nameOfArn } from '@fantail/contracts'
import { CommandError } from '../../../output/exit-codes.ts'
import { type Attributes, type AwsSource, queuesBehind } from '../sns/aws-source.ts'
import type { Place } from './offline-source.ts'
import { isTemplate, parseFile } from './template-file.ts'
import { templateSource } from './template-source.ts'
import { terraformResources } from './terraform-file.ts'
import { terraformSource } from './terraform-source.ts'

interface OfflineOptions {
  /** Names the file in errors. */
  file: string
  place: Place
  /** Values of a template's parameters, which replace its defaults. */
  parameters: Attributes
  /** Only topics whose names begin with it, and the queues behind them. */
  topicPrefix?: string
}

export function readOffline(text: string, options: OfflineOptions): AwsSource {
  const { topicPrefix = '' } = options
  const source = wholeSource(text, options)
  return topicPrefix === '' ? source : beginningWith(topicPrefix, source)
}

function beginningWith(prefix: string, source: AwsSource): AwsSource {
  const isMeant = (arn: string) => nameOfArn(arn).startsWith(prefix)
  const topics = source.topics.filter(({ arn }) => isMeant(arn))
  const subscriptions = source.subscriptions.filter(({ topicArn }) => isMeant(topicArn))
  const selected = { ...source, topics, subscriptions }
  return { ...selected, queues: queuesBehind(selected) }
}

function wholeSource(text: string, { file, place, parameters }: OfflineOptions): AwsSource {
  const document = parsed(text, file)
  const resources = terraformResources(document)
  if (resources) return terraformSource(resources, place)
  if (isTemplate(document)) return templateSource(document, place, parameters)
  const forms =
    'a Terraform state of version 4, the output of `terraform show -json`, or a CloudFormation template'
  throw new CommandError('usage', `${file} is not ${forms}`)
}

function parsed(text: string, file: string): unknown {
  try {
    return parseFile(text)
  } catch (error) {
    throw new CommandError('usage', `${file} cannot be read: ${(error as Error).message}`)
  }
}
