/**
 * Lists of ARN patterns in settings. Each of the six parts of an ARN is matched separately, as in IAM's ArnLike: `*`
 * matches any text of its part, `?` one character. The last part may contain colons.
 */
import { isArnLike } from '../access/access-conditions.ts'

const PATTERN = /^arn:[^:\s,]+:[^:\s,]+:[^:\s,]*:[^:\s,]*:[^\s,]+$/

export function isArnPattern(text: string): boolean {
  return PATTERN.test(text)
}

export function matchesArn(arn: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => isArnLike(arn, pattern))
}
