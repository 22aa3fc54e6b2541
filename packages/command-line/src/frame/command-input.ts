/** Reads the input of a command: a text given as a word, as `@file` or as `-` for stdin. Also reads JSON and `k=v`. */
import { readFile } from 'node:fs/promises'
import { addAbortSignal } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { CommandError } from '../output/exit-codes.ts'
import type { CommandContext } from './command-context.ts'

/** `@file` is the file's text, `-` is stdin, and anything else is used as it is. */
export async function readText(
  given: string,
  context: Pick<CommandContext, 'stdin' | 'signal'>,
): Promise<string> {
  if (given === '-') return (await readStdin(context)).toString('utf8')
  if (!given.startsWith('@')) return given
  const path = given.slice(1)
  return readFile(path, 'utf8').catch((error: Error) => {
    throw new CommandError('usage', `${path} cannot be read: ${error.message}`)
  })
}

/** The whole of stdin. Ctrl-C and `--timeout` end the wait for more. */
export function readStdin({ stdin, signal }: Pick<CommandContext, 'stdin' | 'signal'>): Promise<Buffer> {
  return buffer(addAbortSignal(signal, stdin))
}

/** A JSON value, given as a word, in a file or on stdin. The error calls it `what`. */
export async function readJson(given: string, what: string, context: CommandContext): Promise<unknown> {
  const source = await readText(given, context)
  try {
    return JSON.parse(source)
  } catch (error) {
    const hint = 'Give JSON, @FILE with JSON, or - for stdin.'
    throw new CommandError('usage', `${what} is not JSON: ${(error as Error).message}`, hint)
  }
}

export async function readObject(
  given: string,
  what: string,
  context: CommandContext,
): Promise<Record<string, unknown>> {
  const value = await readJson(given, what, context)
  if (value !== null && typeof value === 'object' && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new CommandError('usage', `${what} must be a JSON object`)
}

/** Collects the values of an option that may be given several times. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}

/** Reads `name=value` with text as the value, and `name:=value` with JSON, such as a number or a list. */
export function readPairs(pairs: string[], option: string): Record<string, unknown> {
  return Object.fromEntries(pairs.map((pair) => readPair(pair, option)))
}

function readPair(pair: string, option: string): [string, unknown] {
  const [, name = '', kind, value = ''] = /^([^=:]+)(:?=)([\s\S]*)$/.exec(pair) ?? []
  if (name === '') throw new CommandError('usage', `${option} must be name=value or name:=JSON, not ${pair}`)
  if (kind === '=') return [name, value]
  try {
    return [name, JSON.parse(value)]
  } catch {
    throw new CommandError('usage', `${option} ${name}: ${value} is not JSON`, 'name=value takes any text.')
  }
}

export function readWhole(text: string, option: string, min = 0): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= min && Number.isSafeInteger(value)) return value
  throw new CommandError('usage', `${option} must be a whole number from ${min} on, not ${text}`)
}

/** Messages per second: `20`, `20/s`, `0.5/s`, `600/m`. */
export function readRate(text: string, option: string): number {
  const [, number = '', unit] = /^(\d+(?:\.\d+)?)(?:\/(s|m|h))?$/.exec(text) ?? []
  const rate = Number(number) / (unit === 'm' ? 60 : unit === 'h' ? 3_600 : 1)
  if (number !== '' && rate > 0) return rate
  throw new CommandError('usage', `${option} must be a rate above 0 such as 20/s or 600/m, not ${text}`)
}
