/** Makes the document of `fantail apply` from what SNS and SQS have, and lists what changes and what is lost. */
import { checkEndpoints } from '@fantail/client/api'
import { isProtocol, type Protocol, parseArn, resolveQueue, resolveTopic } from '@fantail/contracts'
import { CommandError } from '../../../output/exit-codes.ts'
import { nameAt, type State } from '../../service/state-file.ts'
import { Findings } from '../plan/findings.ts'
import type { Here, Imported } from '../plan/run-import.ts'
import type { AwsSource, SourceSubscription } from './aws-source.ts'
import { showCurves } from './retry-curves.ts'
import { findGeneral } from './sns-differences.ts'
import { toQueue } from './to-queue.ts'
import { toSubscription } from './to-subscription.ts'
import { toTopic } from './to-topic.ts'
import { keyOf, type Translation } from './translation.ts'

export async function importSns(account: AwsSource, here: Here): Promise<Imported> {
  const findings = new Findings()
  const source = withoutBridges(account)
  checkAccount(source, here, findings)
  const { found, server } = here
  const foundQueues = found.queues.map(({ name }) => resolveQueue(name, server))
  const translation: Translation = {
    here,
    findings,
    queues: new Set([...foundQueues, ...source.queues.map(({ arn }) => arn)]),
    policies: policiesOf(source, here),
    refused: await refusedEndpoints(source.subscriptions, here),
    present: presentSubscriptions(here),
  }
  const queues = source.queues.map((queue) => ({
    name: nameAt(server, queue.arn),
    settings: toQueue(queue, translation),
  }))
  const ofTopics = Map.groupBy(source.subscriptions, ({ topicArn }) => topicArn)
  const topics = source.topics.map((topic) => ({
    name: nameAt(server, topic.arn),
    settings: toTopic(topic, translation),
    subscriptions: (ofTopics.get(topic.arn) ?? []).flatMap((one) => toSubscription(one, translation) ?? []),
  }))
  findGeneral(source, topics, translation)
  // Texts were parsed into objects without prototypes, which would differ from answers of the API.
  const wanted = JSON.parse(JSON.stringify({ version: 1, queues, topics })) as State
  return {
    wanted,
    findings,
    show: (context) => showCurves(context, source),
  }
}

/** Queues that `fantail bridge` and `fantail compare` make at AWS. */
const BRIDGE = /:fantail-(bridge|compare)-[^:]*$/

function withoutBridges({ subscriptions, queues, ...rest }: AwsSource): AwsSource {
  return {
    ...rest,
    subscriptions: subscriptions.filter(({ endpoint }) => !BRIDGE.test(endpoint)),
    queues: queues.filter(({ arn }) => !BRIDGE.test(arn)),
  }
}

/** A key acts for one account, so it could make nothing of another one. */
function checkAccount({ topics, queues }: AwsSource, { key, server }: Here, findings: Findings): void {
  const accounts = new Set([...topics, ...queues].map(({ arn }) => parseArn(arn)?.account))
  const others = [...accounts].filter((account) => account !== (key?.account ?? server.account))
  const [other] = others
  if (other === undefined) return
  if (key)
    throw new CommandError(
      'refused',
      `the key is of account ${key.account}, and the source is account ${other}`,
      `Use a key of that account: \`fantail keys create --account ${other}\`. Or set FANTAIL_ACCOUNT=${other}.`,
    )
  findings.add({
    matter: 'requests',
    what: 'changed',
    text: `the account of this server is ${server.account}, and ARNs keep ${other}, so that names alone do not find them`,
    remedy: `set FANTAIL_ACCOUNT=${other}`,
  })
}

function policiesOf({ queues }: AwsSource, { found, server }: Here): Map<string, string> {
  const here = found.queues.map(({ name, settings }) => {
    const { Policy } = (settings.attributes ?? {}) as Record<string, string>
    return [resolveQueue(name, server), Policy] as const
  })
  const there = queues.map(({ arn, attributes }) => [arn, attributes?.Policy] as const)
  return new Map([...here, ...there].flatMap(([arn, policy]) => (policy ? [[arn, policy]] : [])))
}

function presentSubscriptions({ found, server }: Here): Translation['present'] {
  const all = found.topics.flatMap(({ name, subscriptions }) =>
    subscriptions.map((one) => {
      const protocol = String(one.settings.protocol)
      return [`${resolveTopic(name, server)} ${keyOf({ protocol, endpoint: one.endpoint })}`, one] as const
    }),
  )
  return new Map(all)
}

/** Endpoints that the server checks at a time. */
const CHECKED_AT_ONCE = 100

/** Only the server knows which endpoints its settings allow. It is asked before anything is made. */
async function refusedEndpoints(
  subscriptions: readonly SourceSubscription[],
  { client }: Here,
): Promise<Map<string, string>> {
  const asked = new Map<string, { endpoint: string; protocol: Protocol }>()
  for (const subscription of subscriptions) {
    const { endpoint, protocol } = subscription
    if (isProtocol(protocol) && endpoint !== '') asked.set(keyOf(subscription), { endpoint, protocol })
  }
  const refused = new Map<string, string>()
  const entries = [...asked]
  for (let from = 0; from < entries.length; from += CHECKED_AT_ONCE) {
    const some = entries.slice(from, from + CHECKED_AT_ONCE)
    const { problems } = await checkEndpoints({ client, body: { endpoints: some.map(([, one]) => one) } })
    for (const [at, [key]] of some.entries()) {
      const problem = problems[at]
      if (problem) refused.set(key, problem)
    }
  }
  return refused
}
