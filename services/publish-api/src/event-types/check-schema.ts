/**
 * Makes a check from the code of a compiled schema (schema-code.ts). The check counts its steps, and ends past a bound
 * that grows with the message. So neither nested alternatives, recursion, patterns nor long lists block the process.
 *
 * A step takes 10 to 70 ns. With a message of 256 KB, the worst schemas that were tried took 35 ms of a processor.
 *
 * A thread uses this file too, so it uses no package of Fantail.
 */
import { compileFunction } from 'node:vm'
import equal from 'ajv/dist/runtime/equal.js'
import ucs2length from 'ajv/dist/runtime/ucs2length.js'
import { RE2JS } from 're2js'

/** Why a message does not fit. undefined: it fits. */
export type SchemaCheck = (text: string) => string | undefined

/** Steps of each check, and more for each character of the message. Past it: the message counts as not fitting. */
const STEPS_MIN = 20_000
const STEPS_PER_CHAR = 2
/** A step stands for so many characters of a text whose length is counted. */
const CHARS_PER_STEP = 16
/** The same for characters that a pattern reads, times the instructions of the pattern. */
const PATTERN_CHARS_PER_STEP = 16
/** Steps for each member of an object whose members are listed. */
const STEPS_PER_MEMBER = 6
/** Steps for each value in items that must differ. */
const STEPS_PER_HASHED = 3
/** Instructions of a pattern. Past it: the schema is refused. */
const PATTERN_SIZE_MAX = 1_000

export const TOO_DEEP = 'is nested too deeply to be checked'

interface SchemaError {
  keyword: string
  instancePath: string
  message?: string
  params: Record<string, unknown>
}

type Validate = ((value: unknown) => boolean) & { errors?: SchemaError[] | null }

class TooMuchWork extends Error {}

/** Throws if the code is none, or a pattern cannot be compiled. */
export function schemaCheck(code: string): SchemaCheck {
  const host = new CheckHost()
  const module: { exports: unknown } = { exports: undefined }
  compileFunction(code, ['host', 'require', 'module'])(host, runtimeOf, module)
  const validate = module.exports as Validate
  return (text) => {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return 'must be JSON'
    }
    host.left = STEPS_MIN + STEPS_PER_CHAR * text.length
    try {
      return validate(value) ? undefined : textOf(validate.errors ?? [])
    } catch (error) {
      if (error instanceof TooMuchWork) return 'takes too much work to be checked'
      if (error instanceof RangeError) return TOO_DEEP
      throw error
    }
  }
}

/** The code of a compiled schema calls it. */
export class CheckHost {
  left = Number.POSITIVE_INFINITY

  spend(steps: number): void {
    this.left -= steps
    if (this.left < 0) throw new TooMuchWork()
  }

  spendSized(steps: number, value: unknown): void {
    if (typeof value === 'string') this.spend(steps + Math.ceil(value.length / CHARS_PER_STEP))
    else if (typeof value !== 'object' || value === null) this.spend(steps)
    else this.spend(steps + STEPS_PER_MEMBER * Object.keys(value).length)
  }

  /** Ajv would copy the list at each failed reference, which is quadratic for many alternatives. */
  join(before: SchemaError[] | null, errors: SchemaError[]): SchemaError[] {
    if (before === null) return errors
    before.push(...errors.slice(-1))
    return before
  }

  /** Whether all items differ. Ajv would compare each with each. Here only items with the same hash are compared. */
  areDistinct(items: unknown[]): boolean {
    const byHash = new Map<number, unknown[]>()
    for (const item of items) {
      const before = this.left
      const hash = hashOf(item, this)
      const same = byHash.get(hash)
      this.spend((before - this.left) * (same?.length ?? 0))
      if (same?.some((other) => isEqual(other, item))) return false
      if (same) same.push(item)
      else byHash.set(hash, [item])
    }
    return true
  }

  /** Throws if RE2 does not take the pattern. The code of a check calls it without its object. */
  readonly regExp = (pattern: string): { test(text: string): boolean; toString(): string } => {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    const size = compiled.programSize()
    if (size > PATTERN_SIZE_MAX) throw new RangeError(`the pattern ${pattern} is too large`)
    return {
      test: (text) => {
        this.spend(1 + Math.ceil((text.length * size) / PATTERN_CHARS_PER_STEP))
        return compiled.test(text)
      },
      toString: () => pattern,
    }
  }
}

/** The same for equal values, whatever the order of members. */
function hashOf(value: unknown, host: CheckHost): number {
  host.spend(STEPS_PER_HASHED)
  if (typeof value === 'string') return hashOfText(value, host)
  if (typeof value === 'number') return Math.imul(value | 0, PRIME) ^ ((value * 1e6) | 0)
  if (typeof value !== 'object' || value === null) return value === null ? 1 : value ? 2 : 3
  if (Array.isArray(value))
    return value.reduce((sum, item) => (Math.imul(sum, PRIME) + hashOf(item, host)) | 0, 4)
  const members = value as Record<string, unknown>
  let sum = 5
  for (const name of Object.keys(members))
    sum = (sum + Math.imul(hashOfText(name, host) ^ PRIME, hashOf(members[name], host) | 1)) | 0
  return sum
}

function hashOfText(text: string, host: CheckHost): number {
  host.spend(text.length >> 4)
  let sum = text.length
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), PRIME)
  return sum
}

/** The prime of the hash function FNV-1a. */
const PRIME = 16_777_619

/** The outermost error with its path. An `if` only repeats the error of its `then` or `else`. */
function textOf(errors: readonly SchemaError[]): string {
  const error = errors.findLast(({ keyword }) => keyword !== 'if') ?? errors.at(-1)
  if (!error) return 'does not fit'
  const { instancePath, message = 'does not fit', params } = error
  const named = params.additionalProperty ?? params.unevaluatedProperty
  const detail = typeof named === 'string' ? `, such as ${JSON.stringify(named)}` : ''
  return `${instancePath} ${message}${detail}`.trim()
}

/**
 * The two modules that the code of a compiled schema may require. Bundlers and loaders import them in different forms.
 */
function runtimeOf(name: string): { default: unknown } {
  const found = RUNTIME.get(name)
  if (!found) throw new Error(`a check must not require ${name}`)
  return { default: defaultOf(found) }
}

function defaultOf(module: { default?: unknown }): unknown {
  return module.default ?? module
}

const SURROGATE = /[\ud800-\udfff]/

/** The length of a text in code points. Ajv reads every character, also if none takes two units. */
function lengthOf(text: string): number {
  return SURROGATE.test(text) ? codePointsOf(text) : text.length
}

const RUNTIME = new Map<string, { default?: unknown }>([
  ['ajv/dist/runtime/equal', equal],
  ['ajv/dist/runtime/ucs2length', { default: lengthOf }],
])

const isEqual = defaultOf(equal) as (a: unknown, b: unknown) => boolean
const codePointsOf = defaultOf(ucs2length) as (text: string) => number
