/** Endpoints of platform applications over REST. */
import {
  FantailError,
  type PlatformEndpointRecord,
  parsePlatformEndpointArn,
  platformEndpointArn,
} from '@fantail/contracts'
import {
  NewPlatformEndpointInput,
  PlatformEndpointInput,
  PlatformEndpointList,
  PlatformEndpointReference,
  PlatformEndpointView,
  PlatformListQuery,
} from '@fantail/contracts/schemas/mobile-push-schemas'
import { TokenTakenError } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, NO_CONTENT, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { publicUrlFor } from '../../http/origin.ts'
import { iso } from '../../http/record-views.ts'
import { applicationNamed, inMembers } from '../../mobile-push/application-settings.ts'
import { changeEndpoint, createEndpoint, deleteEndpoint } from '../../mobile-push/change-endpoints.ts'
import { EndpointEvents } from '../../mobile-push/endpoint-events.ts'
import { applicationIn, PUSH_PARAMS, PUSH_PATH, PUSH_TAG, PUSH_WRITE_ERRORS } from './platform-routes.ts'

interface Tools {
  deps: ApiDeps
  events: EndpointEvents
}

export function platformEndpointRoutes(deps: ApiDeps): Endpoint[] {
  const tools = { deps, events: new EndpointEvents(deps) }
  const all = { path: `${PUSH_PATH}/endpoints`, params: PUSH_PARAMS, tag: PUSH_TAG } as const
  const one = {
    path: `${PUSH_PATH}/endpoints/{id}`,
    params: { ...PUSH_PARAMS, id: PlatformEndpointReference },
    tag: PUSH_TAG,
  } as const
  return [
    endpoint({
      ...all,
      id: 'listPlatformEndpoints',
      method: 'GET',
      summary: 'List the endpoints of a platform application',
      description: 'Sorted by id.',
      query: PlatformListQuery,
      answers: { 200: { description: 'A page, sorted by id', schema: PlatformEndpointList } },
      errors: ['not_found'],
      handle: async (call) => {
        const { arn } = applicationNamed(call, deps)
        const { items, nextCursor } = await deps.platformEndpoints.list(arn, call.query)
        return ok({ endpoints: items.map(endpointView), nextCursor })
      },
    }),
    endpoint({
      ...all,
      id: 'createPlatformEndpoint',
      method: 'POST',
      summary: 'Register a device or browser',
      description:
        'A token has one endpoint. A request with the same token and members gives the same endpoint, so it can be ' +
        'repeated. A disabled endpoint stays disabled.',
      body: NewPlatformEndpointInput,
      answers: {
        200: { description: 'The token was registered with the same members', schema: PlatformEndpointView },
        201: { description: 'Registered', schema: PlatformEndpointView },
      },
      errors: [...PUSH_WRITE_ERRORS, 'not_found'],
      handle: (call) => create(tools, call),
    }),
    endpoint({
      ...one,
      id: 'getPlatformEndpoint',
      method: 'GET',
      summary: 'Read an endpoint of a platform application',
      description: 'Shows its token, and whether it is enabled.',
      answers: { 200: { description: 'The endpoint', schema: PlatformEndpointView } },
      errors: ['not_found'],
      handle: async (call) => {
        const found = await deps.platformEndpoints.get(endpointNamed(call, deps))
        if (!found) throw notFound('platform endpoint')
        return ok(endpointView(found))
      },
    }),
    endpoint({
      ...one,
      id: 'updatePlatformEndpoint',
      method: 'PATCH',
      summary: 'Set the given members of an endpoint',
      description:
        'A provider that refuses its token disables an endpoint. `enabled: true` enables it again.',
      body: PlatformEndpointInput,
      answers: { 200: { description: 'The endpoint as it is now', schema: PlatformEndpointView } },
      errors: [...PUSH_WRITE_ERRORS, 'not_found'],
      handle: (call) => change(tools, call),
    }),
    endpoint({
      ...one,
      id: 'deletePlatformEndpoint',
      method: 'DELETE',
      summary: 'Delete an endpoint',
      description: 'Its subscriptions stay, and their deliveries fail. Deleting again answers the same.',
      answers: { 204: { description: 'Gone, or there was none' } },
      errors: ['not_found'],
      handle: async (call) => {
        await deleteEndpoint(tools, { arn: endpointNamed(call, deps), ...requestOf(deps, call) })
        return NO_CONTENT
      },
    }),
  ]
}

async function create(
  tools: Tools,
  call: Call<unknown, z.output<typeof NewPlatformEndpointInput>>,
): Promise<Answer> {
  const application = await applicationIn(tools.deps, call)
  const given = { application, given: call.body, ...requestOf(tools.deps, call) }
  const { endpoint, created, isSame } = await inMembers(() => createEndpoint(tools, given))
  if (isSame) return { status: created ? 201 : 200, body: endpointView(endpoint) }
  throw new FantailError('conflict', `endpoint ${endpoint.arn} has this token and other members`)
}

async function change(
  tools: Tools,
  call: Call<unknown, z.output<typeof PlatformEndpointInput>>,
): Promise<Answer> {
  const arn = endpointNamed(call, tools.deps)
  const wanted = { arn, given: call.body, ...requestOf(tools.deps, call) }
  try {
    return ok(endpointView(await inMembers(() => changeEndpoint(tools, wanted))))
  } catch (error) {
    if (!(error instanceof TokenTakenError)) throw error
    throw new FantailError('conflict', `endpoint ${error.holder} has this token`, { cause: error })
  }
}

function requestOf({ settings }: ApiDeps, call: Call) {
  return { requestId: call.requestId, publicUrl: publicUrlFor(settings, call) }
}

/** Throws `validation_failed` or `not_found`. */
function endpointNamed(call: Pick<Call, 'params' | 'caller'>, deps: ApiDeps): string {
  const arn = platformEndpointArn(applicationNamed(call, deps).arn, call.params.id ?? '')
  if (!parsePlatformEndpointArn(arn)) throw notFound('platform endpoint')
  return arn
}

function endpointView({ arn, token, enabled, userData, createdAt }: PlatformEndpointRecord) {
  const { id = '' } = parsePlatformEndpointArn(arn) ?? {}
  return { id, arn, token, enabled, userData: userData ?? null, createdAt: iso(createdAt) }
}
