/**
 * Policy variables, such as `${aws:username}`: keys of the request inside of patterns. Policies have them from version
 * 2012-10-17 on.
 */
import type { ConditionKeys } from './condition-keys.ts'

export interface Asked {
  keys: ConditionKeys
  hasVariables: boolean
}

const VARIABLE = /\$\{([^}]*)\}/g

/**
 * The pattern with the values of the keys that it names. undefined: one of them has no single value, or has a wildcard,
 * which would count as part of the pattern.
 */
export function insertKeys(pattern: string, { keys, hasVariables }: Asked): string | undefined {
  if (!hasVariables || !pattern.includes('${')) return pattern
  let isReadable = true
  const text = pattern.replace(VARIABLE, (_, key: string) => {
    const value = keys(key.trim().toLowerCase())
    if (typeof value === 'string' && !/[*?]/.test(value)) return value
    isReadable = false
    return ''
  })
  return isReadable ? text : undefined
}
