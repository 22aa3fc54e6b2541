/** Endpoints of platform applications (checklist 390, 393 to 397): create, read, set, list, delete. */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import type { PlatformEndpointRecord } from '@fantail/contracts'
import { TokenTakenError } from '@fantail/store'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { checkedFlag } from '../../../mobile-push/application-settings.ts'
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  type EndpointSettings,
} from '../../../mobile-push/change-endpoints.ts'
import { EndpointEvents } from '../../../mobile-push/endpoint-events.ts'
import { AttributeError } from '../../../mobile-push/platform-credentials.ts'
import { invalidParameter, listPage } from '../wire/sns-parameters.ts'
import {
  checkApplicationArn,
  checkEndpointArn,
  checkEndpointForm,
  givenAttributes,
  inSnsWords,
  noSuchApplication,
  noSuchEndpoint,
} from './mobile-push-refusals.ts'

const ATTRIBUTES = { map: 'string' } as const

interface Tools {
  deps: ApiDeps
  events: EndpointEvents
}

export function endpointOperations(deps: ApiDeps): Operation[] {
  const tools = { deps, events: new EndpointEvents(deps) }
  return [
    {
      name: 'CreatePlatformEndpoint',
      input: {
        PlatformApplicationArn: 'string',
        Token: 'string',
        CustomUserData: 'string',
        Attributes: ATTRIBUTES,
      },
      output: { EndpointArn: 'string' },
      run: async (input, call) => ({ EndpointArn: await create(tools, input, call) }),
    },
    {
      name: 'GetEndpointAttributes',
      input: { EndpointArn: 'string' },
      output: { Attributes: ATTRIBUTES },
      run: async ({ EndpointArn }) => {
        const endpoint = await deps.platformEndpoints.get(checkEndpointArn(EndpointArn))
        if (!endpoint) throw noSuchEndpoint()
        return { Attributes: attributesOf(endpoint) }
      },
    },
    {
      name: 'SetEndpointAttributes',
      input: { EndpointArn: 'string', Attributes: ATTRIBUTES },
      output: null,
      run: (input, call) => set(tools, input, call),
    },
    {
      name: 'ListEndpointsByPlatformApplication',
      input: { PlatformApplicationArn: 'string', NextToken: 'string' },
      output: {
        Endpoints: { list: { struct: { EndpointArn: 'string', Attributes: ATTRIBUTES } } },
        NextToken: 'string',
      },
      run: (input) => list(deps, input),
    },
    {
      name: 'DeleteEndpoint',
      input: { EndpointArn: 'string' },
      output: null,
      run: async ({ EndpointArn }, { requestId, origin: publicUrl }) => {
        await deleteEndpoint(tools, { arn: checkEndpointArn(EndpointArn), requestId, publicUrl })
        return undefined
      },
    },
  ]
}

async function create(tools: Tools, input: AwsInput, call: AwsCall): Promise<string> {
  const { arn } = checkApplicationArn(input.PlatformApplicationArn)
  const { requestId, origin: publicUrl } = call
  return inSnsWords(noSuchApplication, async () => {
    const application = await tools.deps.platformApplications.get(arn)
    if (!application) throw noSuchApplication()
    const given = { ...readNew(input), token: String(input.Token ?? '') }
    const made = await createEndpoint(tools, { application, given, requestId, publicUrl })
    if (made.isSame) return made.endpoint.arn
    throw invalidParameter(
      `Token Reason: Endpoint ${made.endpoint.arn} already exists with the same Token, but different attributes.`,
    )
  })
}

/** User data in the attributes has priority over the parameter. */
function readNew({ Attributes, CustomUserData }: AwsInput): EndpointSettings {
  const { Token: _, ...given } = { ...(Attributes as Record<string, string> | undefined) }
  if (CustomUserData !== undefined) given.CustomUserData ??= String(CustomUserData)
  return readSettings(given)
}

function readSettings(given: Record<string, string>): EndpointSettings {
  const settings: EndpointSettings = {}
  for (const [name, text] of Object.entries(given)) {
    if (name === 'Token') settings.token = text
    else if (name === 'CustomUserData') settings.userData = text
    else if (name === 'Enabled') settings.enabled = checkedFlag(name, text) === 'true'
    else throw new AttributeError('name', name, 'is not an attribute')
  }
  return settings
}

async function set(tools: Tools, input: AwsInput, call: AwsCall): Promise<undefined> {
  checkEndpointForm(input.EndpointArn)
  const attributes = givenAttributes(input.Attributes)
  const arn = checkEndpointArn(input.EndpointArn)
  const { requestId, origin: publicUrl } = call
  try {
    await inSnsWords(noSuchEndpoint, async () =>
      changeEndpoint(tools, { arn, given: readSettings(attributes), requestId, publicUrl }),
    )
  } catch (error) {
    if (!(error instanceof TokenTakenError)) throw error
    throw invalidParameter('Token Reason: This endpoint is already registered with a different token')
  }
}

async function list(deps: ApiDeps, { PlatformApplicationArn, NextToken }: AwsInput) {
  const { arn } = checkApplicationArn(PlatformApplicationArn)
  const found = await inSnsWords(noSuchApplication, () =>
    listPage(NextToken, (page) => deps.platformEndpoints.list(arn, page)),
  )
  const Endpoints = found.items.map((endpoint) => ({
    EndpointArn: endpoint.arn,
    Attributes: attributesOf(endpoint),
  }))
  return { Endpoints, NextToken: found.NextToken }
}

function attributesOf({ enabled, token, userData }: PlatformEndpointRecord): Record<string, string> {
  return {
    Enabled: String(enabled),
    Token: token,
    ...(userData !== undefined && { CustomUserData: userData }),
  }
}
