/**
 * Decides where a function is invoked. That is the URL that the operator has set for it (FANTAIL_FUNCTIONS). Without
 * such a URL it is AWS, if the operator's patterns allow the function.
 */
import { type FunctionArn, parseFunctionArn, unqualifiedArn } from '@fantail/policy'
import { awsHost } from '../aws/aws-credentials.ts'
import type { AwsSigner } from '../aws/aws-signer.ts'

/** Key of the map's entry for every function without its own entry. */
const ANY = '*'
const INVOKE_API = '2015-03-31'
/** Lambda's Runtime Interface Emulator serves only this path. */
const EMULATOR_PATH = `/${INVOKE_API}/functions/function/invocations`

export interface FunctionSettings {
  /** URL by name or ARN, each with or without a qualifier. */
  functions?: Readonly<Record<string, string>> | undefined
  aws?: Pick<AwsSigner, 'allows' | 'sign' | 'nameIn'> | undefined
}

export interface FunctionPlace {
  url: string
  /** The region in the signature. Undefined: the request is not signed, because the operator has set its URL. */
  region: string | undefined
  /** Functions with the same host are invoked by one service. If the service hangs, all of them hang. */
  host: string
  /** The service runs one invocation at a time. */
  isEmulator: boolean
  /** Name of the credentials for this place, without a secret. */
  credential: string
}

/** Undefined if no setting names such a function, or if it may not be called. */
export function placeOf(arn: string, { functions = {}, aws }: FunctionSettings): FunctionPlace | undefined {
  const parsed = parseFunctionArn(arn)
  if (!parsed) return undefined
  const mapped = keysOf(arn, parsed).find((key) => Object.hasOwn(functions, key))
  if (mapped !== undefined) return mappedPlace(functions[mapped] ?? '', parsed)
  if (!aws?.allows(arn)) return undefined
  // The URL has the whole ARN. A name alone would mean a function in the account of the credentials.
  const host = awsHost('lambda', parsed)
  const credential = aws.nameIn(parsed.region)
  return {
    url: `https://${host}${invocationPath(arn)}`,
    host,
    region: parsed.region,
    isEmulator: false,
    credential,
  }
}

/** The keys that may name the function, the most specific key first. */
function keysOf(arn: string, parsed: FunctionArn): string[] {
  const { name, qualifier } = parsed
  const qualified = qualifier === undefined ? [] : [`${name}:${qualifier}`]
  return [arn, unqualifiedArn(parsed), ...qualified, name, ANY]
}

/** A URL without a path is the base of an invoke API. Any other URL is used unchanged. */
function mappedPlace(text: string, { name, qualifier }: FunctionArn): FunctionPlace {
  const url = new URL(text)
  const isEmulator = url.pathname === EMULATOR_PATH
  if (url.pathname === '/' && url.search === '') {
    url.pathname = invocationPath(name)
    if (qualifier !== undefined) url.searchParams.set('Qualifier', qualifier)
  }
  // The name includes the path, so that functions behind the same gateway have separate credentials.
  const { href, host, pathname } = url
  return { url: href, host, region: undefined, isEmulator, credential: `functions:${host}${pathname}` }
}

function invocationPath(nameOrArn: string): string {
  return `/${INVOKE_API}/functions/${encodeURIComponent(nameOrArn)}/invocations`
}
