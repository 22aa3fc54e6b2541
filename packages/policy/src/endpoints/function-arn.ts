/** Names of functions: ARNs of Lambda, with or without a version or an alias, and their short forms. */
import type { ArnDefaults } from '@fantail/contracts'

export interface FunctionArn extends ArnDefaults {
  name: string
  /** Version or alias. */
  qualifier: string | undefined
}

const NAME = '([A-Za-z0-9_-]{1,64})(?::(\\$LATEST|[A-Za-z0-9_-]{1,128}))?'
const ARN = new RegExp(`^arn:([a-z-]{1,32}):lambda:([a-z0-9-]{1,32}):(\\d{12}):function:${NAME}$`)
const SHORT = new RegExp(`^${NAME}$`)

/** Undefined if the text is not the ARN of a function. */
export function parseFunctionArn(text: string): FunctionArn | undefined {
  const [, partition, region, account, name, qualifier] = ARN.exec(text) ?? []
  if (!partition || !region || !account || !name) return undefined
  return { partition, region, account, name, qualifier }
}

/** Whether the text is a function's name, or a name and a qualifier with a colon between them. */
export function isFunctionName(text: string): boolean {
  return SHORT.test(text)
}

/** The ARN of a function's name, with its qualifier if the name has one. */
export function functionArn(name: string, { partition, region, account }: ArnDefaults): string {
  return `arn:${partition}:lambda:${region}:${account}:function:${name}`
}

/** The function's ARN without version and alias. */
export function unqualifiedArn(arn: FunctionArn): string {
  return functionArn(arn.name, arn)
}
