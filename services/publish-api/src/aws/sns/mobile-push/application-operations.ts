/** Platform applications (checklist 390 to 392): create, read, set, list, delete. */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import {
  isPlatform,
  isPlatformApplicationName,
  PLATFORMS,
  type Platform,
  platformApplicationArn,
  UNDELIVERED_PLATFORMS,
} from '@fantail/contracts'
import { inWords } from '@fantail/policy'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import {
  changeApplication,
  createApplication,
  deleteApplication,
} from '../../../mobile-push/change-applications.ts'
import { invalidParameter, listPage } from '../wire/sns-parameters.ts'
import {
  checkApplicationArn,
  checkApplicationForm,
  givenAttributes,
  inSnsWords,
  noSuchApplication,
} from './mobile-push-refusals.ts'

const ATTRIBUTES = { map: 'string' } as const
/** @limit Name of a platform application. Past it: the request is refused. */
const PLATFORM_APPLICATION_NAME_CHARS_MAX = 256

export function applicationOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'CreatePlatformApplication',
      input: { Name: 'string', Platform: 'string', Attributes: ATTRIBUTES },
      output: { PlatformApplicationArn: 'string' },
      run: async (input, call) => ({ PlatformApplicationArn: await create(deps, input, call) }),
    },
    {
      name: 'GetPlatformApplicationAttributes',
      input: { PlatformApplicationArn: 'string' },
      output: { Attributes: ATTRIBUTES },
      run: async ({ PlatformApplicationArn }) => {
        const { arn } = checkApplicationArn(PlatformApplicationArn)
        const application = await deps.platformApplications.get(arn)
        if (!application) throw noSuchApplication()
        return { Attributes: application.attributes }
      },
    },
    {
      name: 'SetPlatformApplicationAttributes',
      input: { PlatformApplicationArn: 'string', Attributes: ATTRIBUTES },
      output: null,
      run: async ({ PlatformApplicationArn, Attributes }, { requestId }) => {
        checkApplicationForm(PlatformApplicationArn)
        const attributes = givenAttributes(Attributes)
        const wanted = { ...checkApplicationArn(PlatformApplicationArn), attributes, requestId }
        await inSnsWords(noSuchApplication, () => changeApplication(deps, wanted))
        return undefined
      },
    },
    {
      name: 'ListPlatformApplications',
      input: { NextToken: 'string' },
      output: {
        PlatformApplications: {
          list: { struct: { PlatformApplicationArn: 'string', Attributes: ATTRIBUTES } },
        },
        NextToken: 'string',
      },
      run: ({ NextToken }, call) => list(deps, call, NextToken),
    },
    {
      name: 'DeletePlatformApplication',
      input: { PlatformApplicationArn: 'string' },
      output: null,
      run: async ({ PlatformApplicationArn }, { requestId }) => {
        const { arn } = checkApplicationArn(PlatformApplicationArn)
        await deleteApplication(deps, arn, requestId)
        return undefined
      },
    },
  ]
}

async function create(deps: ApiDeps, input: AwsInput, call: AwsCall): Promise<string> {
  const attributes = givenAttributes(input.Attributes)
  const name = checkName(input.Name)
  const platform = checkPlatform(String(input.Platform ?? ''), attributes)
  const { account, region, requestId } = call
  const arn = platformApplicationArn(platform, name, { ...deps.settings.arn, account, region })
  const wanted = { arn, platform, attributes, requestId }
  const { isSame } = await inSnsWords(noSuchApplication, () => createApplication(deps, wanted))
  if (isSame) return arn
  throw invalidParameter(
    'Name Reason: An application with the same name but different properties already exists',
  )
}

function checkName(given: unknown): string {
  const name = String(given ?? '')
  if (name === '') throw invalidParameter(' Reason: cannot be empty')
  if (name.length > PLATFORM_APPLICATION_NAME_CHARS_MAX) {
    throw invalidParameter(
      `${name} Reason: must be at most ${PLATFORM_APPLICATION_NAME_CHARS_MAX} characters long`,
    )
  }
  if (isPlatformApplicationName(name)) return name
  throw invalidParameter(
    `${name} Reason: must contain only characters 'a'-'z', 'A'-'Z', '0'-'9', '_', '-', and '.'`,
  )
}

/** The pair of attributes is checked before the platform is refused, as recorded. */
function checkPlatform(platform: string, attributes: Record<string, string>): Platform {
  const isKnown = (UNDELIVERED_PLATFORMS as readonly string[]).includes(platform)
  if (platform !== 'GCM' && (isKnown || isPlatform(platform))) checkPair(attributes)
  if (isPlatform(platform)) return platform
  const named = isKnown ? `: this service delivers to ${inWords(PLATFORMS, 'and')}` : ''
  throw invalidParameter(`Platform Reason: ${platform} is not supported${named}`)
}

function checkPair({ PlatformPrincipal: principal, PlatformCredential: credential }: Record<string, string>) {
  if (principal !== undefined && credential === undefined) {
    throw invalidParameter(
      'Attributes Reason: PlatformPrincipal attribute provided without PlatformCredential',
    )
  }
  if (credential !== undefined && principal === undefined) {
    throw invalidParameter(
      'Attributes Reason: PlatformCredential attribute provided without PlatformPrincipal',
    )
  }
}

async function list(deps: ApiDeps, { account, region }: AwsCall, token: unknown) {
  const { partition } = deps.settings.arn
  const arnPrefix = `arn:${partition}:sns:${region}:${account}:app/`
  const read = (page: { limit: number }) => deps.platformApplications.list({ arnPrefix, ...page })
  const { items, NextToken } = await listPage(token, read)
  const shown = items.map(({ arn, attributes }) => ({ PlatformApplicationArn: arn, Attributes: attributes }))
  return { PlatformApplications: shown, NextToken }
}
