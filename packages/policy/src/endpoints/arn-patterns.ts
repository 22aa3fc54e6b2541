/**
 * Lists of ARN patterns, as operators write them. Each of an ARN's six parts is matched by itself, as IAM's ArnLike
 * does it: `*` stands for any text of its part, `?` for one character. The last part keeps its colons.
 */
import { isArnLike } from '../access/access-conditions.ts'

const PATTERN = /^arn:[^:\s,]+:[^:\s,]+:[^:\s,]*:[^:\s,]*:[^\s,]+$/

export function isArnPattern(text: string): boolean {
  return PATTERN.test(text)
}

export function matchesArn(arn: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => isArnLike(arn, pattern))
}
