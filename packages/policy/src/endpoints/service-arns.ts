/** ARNs of functions and delivery streams with their short forms, and patterns of ARNs in settings. */
import type { ArnDefaults } from '@fantail/contracts'
import { isArnLike } from '../access/access-conditions.ts'

/** The ARN of a Lambda function, with or without a version or an alias. */
export interface FunctionArn extends ArnDefaults {
  name: string
  /** Version or alias. */
  qualifier: string | undefined
}

const FUNCTION = '([A-Za-z0-9_-]{1,64})(?::(\\$LATEST|[A-Za-z0-9_-]{1,128}))?'
const FUNCTION_ARN = new RegExp(
  `^arn:([a-z-]{1,32}):lambda:([a-z0-9-]{1,32}):(\\d{12}):function:${FUNCTION}$`,
)
const FUNCTION_SHORT = new RegExp(`^${FUNCTION}$`)

export function parseFunctionArn(text: string): FunctionArn | undefined {
  const [, partition, region, account, name, qualifier] = FUNCTION_ARN.exec(text) ?? []
  if (!partition || !region || !account || !name) return undefined
  return { partition, region, account, name, qualifier }
}

/** Whether the text is a function's name, or a name and a qualifier with a colon between them. */
export function isFunctionName(text: string): boolean {
  return FUNCTION_SHORT.test(text)
}

/** The ARN of a function's name, with its qualifier if the name has one. */
export function functionArn(name: string, { partition, region, account }: ArnDefaults): string {
  return `arn:${partition}:lambda:${region}:${account}:function:${name}`
}

/** The function's ARN without version and alias. */
export function unqualifiedArn(arn: FunctionArn): string {
  return functionArn(arn.name, arn)
}

/** The ARN of a Firehose delivery stream. */
export interface StreamArn extends ArnDefaults {
  name: string
}

const STREAM = '[A-Za-z0-9_.-]{1,64}'
const STREAM_ARN = new RegExp(
  `^arn:([a-z-]{1,32}):firehose:([a-z0-9-]{1,32}):(\\d{12}):deliverystream/(${STREAM})$`,
)
const STREAM_SHORT = new RegExp(`^${STREAM}$`)

export function parseStreamArn(text: string): StreamArn | undefined {
  const [, partition, region, account, name] = STREAM_ARN.exec(text) ?? []
  return partition && region && account && name ? { partition, region, account, name } : undefined
}

export function isStreamName(text: string): boolean {
  return STREAM_SHORT.test(text)
}

export function streamArn(name: string, { partition, region, account }: ArnDefaults): string {
  return `arn:${partition}:firehose:${region}:${account}:deliverystream/${name}`
}

/**
 * Lists of ARN patterns in settings. Each of the six parts of an ARN is matched separately, as in IAM's ArnLike: `*`
 * matches any text of its part, `?` one character. The last part may contain colons.
 */
const PATTERN = /^arn:[^:\s,]+:[^:\s,]+:[^:\s,]*:[^:\s,]*:[^\s,]+$/

export function isArnPattern(text: string): boolean {
  return PATTERN.test(text)
}

export function matchesArn(arn: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => isArnLike(arn, pattern))
}
