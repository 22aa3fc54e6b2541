/** Platform applications over REST. Their names are those of the caller's account. */
import { type PlatformApplicationRecord, parsePlatformApplicationArn } from '@fantail/contracts'
import {
  ApplicationReference,
  PlatformApplicationInput,
  PlatformApplicationList,
  PlatformApplicationView,
  PlatformListQuery,
  PlatformReference,
} from '@fantail/contracts/schemas/mobile-push-schemas'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, NO_CONTENT, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { iso } from '../../http/record-views.ts'
import {
  applicationNamed,
  attributesIn,
  EVENT_MEMBERS,
  inMembers,
} from '../../mobile-push/application-settings.ts'
import {
  changeApplication,
  createApplication,
  deleteApplication,
} from '../../mobile-push/change-applications.ts'

export const PUSH_PATH = '/v1/platform-applications/{platform}/{name}'
export const PUSH_PARAMS = { platform: PlatformReference, name: ApplicationReference }
export const PUSH_TAG = 'Mobile push' as const
export const PUSH_WRITE_ERRORS = ['conflict', 'storage_full'] as const

export function platformApplicationRoutes(deps: ApiDeps): Endpoint[] {
  const one = { path: PUSH_PATH, params: PUSH_PARAMS, tag: PUSH_TAG } as const
  return [
    endpoint({
      id: 'listPlatformApplications',
      method: 'GET',
      path: '/v1/platform-applications',
      tag: PUSH_TAG,
      summary: 'List platform applications',
      description: 'Applications of all accounts, sorted by ARN. A key sees only those that it may see.',
      query: PlatformListQuery,
      answers: { 200: { description: 'A page, sorted by ARN', schema: PlatformApplicationList } },
      handle: async ({ query }) => {
        const { items, nextCursor } = await deps.platformApplications.list(query)
        return ok({ applications: items.map(applicationView), nextCursor })
      },
    }),
    endpoint({
      ...one,
      id: 'putPlatformApplication',
      method: 'PUT',
      summary: 'Create a platform application, or set the members given',
      description:
        'A new application needs the whole credential of its platform. If the application exists, the members given are ' +
        'set and the others stay.',
      body: PlatformApplicationInput,
      answers: {
        200: { description: 'It existed: the members given are set', schema: PlatformApplicationView },
        201: { description: 'Created', schema: PlatformApplicationView },
      },
      errors: [...PUSH_WRITE_ERRORS, 'not_supported', 'not_found', 'key_unavailable'],
      handle: (call) => put(deps, call),
    }),
    endpoint({
      ...one,
      id: 'getPlatformApplication',
      method: 'GET',
      summary: 'Read a platform application',
      description: 'Shows its settings. The credential is never shown.',
      answers: { 200: { description: 'The application', schema: PlatformApplicationView } },
      errors: ['not_found'],
      handle: async (call) => ok(applicationView(await applicationIn(deps, call))),
    }),
    endpoint({
      ...one,
      id: 'deletePlatformApplication',
      method: 'DELETE',
      summary: 'Delete a platform application with its endpoints',
      description: 'Deleting again answers the same.',
      answers: { 204: { description: 'Gone, or there was none' } },
      handle: async (call) => {
        const { arn } = applicationNamed(call, deps)
        await deleteApplication(deps, arn, call.requestId)
        return NO_CONTENT
      },
    }),
  ]
}

type PutCall = Call<unknown, z.output<typeof PlatformApplicationInput>>

async function put(deps: ApiDeps, call: PutCall): Promise<Answer> {
  const wanted = {
    ...applicationNamed(call, deps),
    attributes: attributesIn(call.body),
    requestId: call.requestId,
  }
  return inMembers(async () => {
    const isThere = (await deps.platformApplications.get(wanted.arn)) !== null
    const made = isThere ? undefined : await createApplication(deps, wanted)
    if (made?.created) return { status: 201, body: applicationView(made.application) }
    return ok(applicationView(await changeApplication(deps, wanted)))
  })
}

/** Throws `not_found` or `validation_failed`. */
export async function applicationIn(deps: ApiDeps, call: Call): Promise<PlatformApplicationRecord> {
  const application = await deps.platformApplications.get(applicationNamed(call, deps).arn)
  if (!application) throw notFound('platform application')
  return application
}

function applicationView({ arn, platform, attributes, createdAt }: PlatformApplicationRecord) {
  const events = Object.entries(EVENT_MEMBERS).map(([name, member]) => [member, attributes[name] ?? null])
  return {
    arn,
    platform,
    name: parsePlatformApplicationArn(arn)?.name ?? '',
    enabled: attributes.Enabled === 'true',
    events: Object.fromEntries(events),
    createdAt: iso(createdAt),
  }
}
