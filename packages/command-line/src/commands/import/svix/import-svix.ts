/** Takes over applications, endpoints and event types of Svix, with their signing secrets. */
import { type Client, checkEventSchema, listSubscriptions, type Subscription } from '@fantail/client/api'
import type { CommandContext } from '../../../frame/command-context.ts'
import { readText } from '../../../frame/command-input.ts'
import { pagesOf } from '../../../frame/list-command.ts'
import { CommandError } from '../../../output/exit-codes.ts'
import type { Found, FoundSubscription, State } from '../../service/state-file.ts'
import { Findings } from '../plan/findings.ts'
import type { Here, Imported } from '../plan/run-import.ts'
import type { SecretStep } from '../plan/secret-steps.ts'
import { allowedEndpoints } from './allowed-endpoints.ts'
import { EACH_TIME } from './svix-differences.ts'
import { documentOf } from './svix-document.ts'
import { catalogueOf, type SchemaCheck } from './svix-event-types.ts'
import { type EndpointSecrets, MEMBERS, setSecrets } from './svix-secrets.ts'
import { type SvixSetup, SvixSource, svixUrlOf } from './svix-source.ts'

export interface SvixFlags {
  from?: string
  token?: string
}

export async function readSvix(context: CommandContext, { from, token }: SvixFlags): Promise<SvixSetup> {
  const { env, out, signal } = context
  const given = token === undefined ? env.SVIX_AUTH_TOKEN : await readText(token, context)
  if (!given)
    throw new CommandError('usage', 'Svix needs a token', 'Set SVIX_AUTH_TOKEN, or give --token @FILE.')
  const read = given.trim()
  const url = (from ?? env.SVIX_SERVER_URL ?? svixUrlOf(read)).replace(/\/+$/, '')
  const progress = out.progress('endpoints read')
  try {
    return await new SvixSource({ url, token: read, signal }).read((count) => progress.update(count))
  } finally {
    progress.end()
  }
}

export async function importSvix(
  { applications, eventTypes }: SvixSetup,
  { client, server, found }: Here,
): Promise<Imported> {
  if (!server.hasMasterKey)
    throw new CommandError(
      'conflict',
      'the server has no master key, so it cannot keep signing secrets',
      'Set FANTAIL_MASTER_KEY of its API and workers.',
    )
  const findings = new Findings()
  const check: SchemaCheck = async (body) => (await checkEventSchema({ client, body })).problem
  const catalogue = await catalogueOf(eventTypes, findings, check)
  const allowed = await allowedEndpoints(applications, client, findings)
  const { wanted, secrets } = documentOf(allowed, catalogue, findings)
  for (const finding of EACH_TIME) findings.add(finding)
  const present = presentOnes(found)
  const changed = secrets.filter(
    ({ endpointId, mark }) => metadataOf(present.get(endpointId))[MEMBERS.mark] !== mark,
  )
  return { wanted: asPresent(wanted, present), findings, secrets: secretSteps(client, changed) }
}

/** Subscriptions that an import has made, by the ids of their endpoints at Svix. */
function presentOnes({ topics }: Found): Map<string, FoundSubscription> {
  const all = topics.flatMap(({ subscriptions }) => subscriptions)
  return new Map(
    all.flatMap((one) => {
      const id = metadataOf(one)[MEMBERS.endpoint]
      return id === undefined ? [] : [[id, one] as const]
    }),
  )
}

function metadataOf(one: { settings: Record<string, unknown> } | undefined): Record<string, string> {
  return (one?.settings.metadata ?? {}) as Record<string, string>
}

/**
 * The document with the addresses, names and marks that subscriptions have already. Credentials of an address are
 * masked there, and a person may have given another name. A new address comes with the secrets.
 */
function asPresent(wanted: State, present: Map<string, FoundSubscription>): State {
  const topics = wanted.topics.map((topic) => ({
    ...topic,
    subscriptions: topic.subscriptions.map((one) => {
      const metadata = metadataOf(one)
      const own = present.get(metadata[MEMBERS.endpoint] ?? '')
      if (!own) return one
      const mark = metadataOf(own)[MEMBERS.mark]
      const marked = { ...metadata, ...(mark !== undefined && { [MEMBERS.mark]: mark }) }
      return { endpoint: own.endpoint, name: own.name, settings: { ...one.settings, metadata: marked } }
    }),
  }))
  return { ...wanted, topics }
}

function secretSteps(client: Client, secrets: EndpointSecrets[]): SecretStep[] {
  let read: Promise<Map<string, Subscription>> | undefined
  return secrets.map((one) => ({
    shown: { act: 'change', kind: 'secrets', name: one.shown, topic: one.topic, settings: {} },
    async set() {
      // The document's steps have made them all.
      read ??= subscriptionsOf(client)
      const subscription = (await read).get(one.endpointId)
      if (!subscription)
        throw new CommandError('notFound', `no subscription has ${MEMBERS.endpoint} ${one.endpointId}`)
      await setSecrets(client, one, subscription)
    },
  }))
}

async function subscriptionsOf(client: Client): Promise<Map<string, Subscription>> {
  const found = new Map<string, Subscription>()
  for await (const page of pagesOf(
    (query) => listSubscriptions({ client, query }),
    ({ subscriptions }) => subscriptions,
  ))
    for (const subscription of page) found.set(subscription.metadata[MEMBERS.endpoint] ?? '', subscription)
  return found
}
