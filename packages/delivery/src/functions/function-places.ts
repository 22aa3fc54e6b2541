/**
 * Where functions are invoked: at the URL that the operator maps (FANTAIL_FUNCTIONS), else at AWS, if the operator's
 * patterns allow the function.
 */
import { type FunctionArn, parseFunctionArn, unqualifiedArn } from '@fantail/policy'
import { awsHost } from '../aws/aws-hosts.ts'
import type { AwsSigner } from '../aws/aws-signer.ts'

/** The key of the map that stands for every function without one of its own. */
const ANY = '*'
const INVOKE_API = '2015-03-31'

export interface FunctionSettings {
  /** URL by name or ARN, each with or without a qualifier. */
  functions?: Readonly<Record<string, string>> | undefined
  aws?: Pick<AwsSigner, 'allows' | 'sign' | 'nameIn'> | undefined
}

export interface FunctionPlace {
  url: string
  /** The region that the request is signed for. Undefined: it is not signed, and the operator named its URL. */
  region: string | undefined
  /** Names the credentials that the place is reached with; without a secret. */
  credential: string
}

/** Undefined if nothing is known of such a function, or it may not be called. */
export function placeOf(arn: string, { functions = {}, aws }: FunctionSettings): FunctionPlace | undefined {
  const parsed = parseFunctionArn(arn)
  if (!parsed) return undefined
  const mapped = keysOf(arn, parsed).find((key) => Object.hasOwn(functions, key))
  if (mapped !== undefined) return mappedPlace(functions[mapped] ?? '', parsed)
  if (!aws?.allows(arn)) return undefined
  return { url: awsUrl(arn, parsed), region: parsed.region, credential: aws.nameIn(parsed.region) }
}

/** The most particular one first. */
function keysOf(arn: string, parsed: FunctionArn): string[] {
  const { name, qualifier } = parsed
  const qualified = qualifier === undefined ? [] : [`${name}:${qualifier}`]
  return [arn, unqualifiedArn(parsed), ...qualified, name, ANY]
}

/** A URL without a path is the base of an invoke API. Any other URL is used as it is. */
function mappedPlace(text: string, { name, qualifier }: FunctionArn): FunctionPlace {
  const url = new URL(text)
  if (url.pathname === '/' && url.search === '') {
    url.pathname = invocationPath(name)
    if (qualifier !== undefined) url.searchParams.set('Qualifier', qualifier)
  }
  // With the path, so that one function behind a gateway does not stand for the others.
  return { url: url.href, region: undefined, credential: `functions:${url.host}${url.pathname}` }
}

/** By the whole ARN, since a name would mean a function of the credentials' own account. */
function awsUrl(arn: string, place: FunctionArn): string {
  return `https://${awsHost('lambda', place)}${invocationPath(arn)}`
}

function invocationPath(nameOrArn: string): string {
  return `/${INVOKE_API}/functions/${encodeURIComponent(nameOrArn)}/invocations`
}
