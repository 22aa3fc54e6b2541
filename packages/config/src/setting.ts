/**
 * Describes an environment variable, and reads a table of them. All problems are reported at once, each with the
 * variable's name.
 */
import type { z } from 'zod'

export type Env = Record<string, string | undefined>

export interface Setting<T> {
  /** The environment variable. */
  name: string
  schema: z.ZodType<T, string>
  /** The default as written in the environment. Absent if unset means something other than a value. */
  default: string | undefined
  /** The meaning of an unset setting, if there is no default value. */
  unset?: string
  unit?: string
  description: string
}

export type Table = Record<string, Setting<unknown>>
export type Values<T extends Table> = { [K in keyof T]: T[K] extends Setting<infer V> ? V : never }

export interface SettingProblem {
  name: string
  message: string
}

/** Names every variable whose value keeps a service from starting. */
export class SettingsError extends Error {
  readonly problems: SettingProblem[]

  constructor(problems: SettingProblem[]) {
    const lines = problems.map(({ name, message }) => `  ${name} ${message}`)
    super(['cannot start with these settings:', ...lines].join('\n'))
    this.name = 'SettingsError'
    // The error ends in the log of a failed start. A stack trace does not help the person who corrects the settings.
    delete this.stack
    this.problems = problems
  }
}

export function setting<T>(words: Setting<T> & { default: string }): Setting<T> {
  return words
}

/** A setting that may stay unset. */
export function optional<T>(words: Omit<Setting<T>, 'default'> & { unset: string }): Setting<T | undefined> {
  return { ...words, default: undefined } as Setting<T | undefined>
}

export interface ReadSettings<T extends Table> {
  /** Settings with a problem are missing here. */
  values: Partial<Values<T>>
  problems: SettingProblem[]
}

/** An empty variable counts as unset, because compose files pass on a missing variable as empty. */
export function readSettings<T extends Table>(table: T, env: Env): ReadSettings<T> {
  const values: Partial<Values<T>> = {}
  const problems: SettingProblem[] = []
  for (const [key, { name, schema, default: fallback }] of Object.entries(table)) {
    const text = env[name]?.trim() || fallback
    if (text === undefined) continue
    const result = schema.safeParse(text)
    if (result.success) values[key as keyof T] = result.data as Values<T>[keyof T]
    else problems.push(...result.error.issues.map(({ message }) => ({ name, message })))
  }
  return { values, problems }
}

/** Checks that all of these settings are set, or none. */
export function togetherRule(names: readonly string[]) {
  return (_: unknown, env: Env): SettingProblem[] => {
    const unset = names.filter((name) => !env[name]?.trim())
    const given = names.find((name) => !unset.includes(name))
    if (given === undefined) return []
    return unset.map((name) => ({ name, message: `must be set where ${given} is` }))
  }
}
