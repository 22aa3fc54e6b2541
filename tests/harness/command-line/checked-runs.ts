/**
 * Checks every run of `fantail` by tests against the table of outputs: its exit code, and each line of
 * `--json`. It also notes them, so that a test file proves that it ran the commands which the table gives to it.
 */
import { beforeAll, expect, test } from 'vitest'
import { COMMAND_OUTPUTS, commandOf } from './command-outputs.ts'
import type { Shape } from './output-shapes.ts'

interface Run {
  command: string
  code: number
  shapes: Shape[]
}

const runs: Run[] = []

interface EndedRun {
  /** null: a signal has ended it. */
  code: number | null
  stdout: string
}

/** Throws if the command may not end so, or not print this. */
export function checkRun(words: readonly string[], { code, stdout }: EndedRun): void {
  const command = words.some((word) => ASKS.includes(word)) ? undefined : commandOf(words)
  if (command === undefined) return
  const shapes = words.includes('--json') ? shapesOf(command, stdout) : []
  if (code !== null && !COMMAND_OUTPUTS[command]?.codes.includes(code))
    throw new Error(`\`fantail ${words.join(' ')}\` ended with ${code}, which its row does not have`)
  runs.push({ command, code: code ?? KILLED, shapes })
}

const ASKS = ['--help', '-h']
const KILLED = -1

/** A line without its end is of a process that was killed. */
function shapesOf(command: string, stdout: string): Shape[] {
  const lines = stdout.split('\n').slice(0, -1)
  return lines.map((line) => {
    const value: unknown = JSON.parse(line)
    const shape = COMMAND_OUTPUTS[command]?.json.find(({ schema }) => hasShape(value, schema))
    if (!shape) throw new Error(`\`fantail ${command} --json\` printed what is not in its row: ${line}`)
    return shape
  })
}

/** Schemas of the API leave out members that they do not know, so the result must be the value itself. */
function hasShape(value: unknown, schema: Shape['schema']): boolean {
  const { success, data } = schema.safeParse(value)
  return success && JSON.stringify(sorted(data)) === JSON.stringify(sorted(value))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  )
}

/** The last test of a file: it ran every command that the table gives to `file`, with every shape and every meaning. */
export function provesCommands(file: string): void {
  let from = 0
  beforeAll(() => {
    from = runs.length
  })
  test('every command of the table that this file proves was run', () => {
    const own = Object.entries(COMMAND_OUTPUTS).filter(([, { test }]) => test === file)
    const missing = own.flatMap(([command, { json, meanings }]) => {
      const ran = runs.slice(from).filter((run) => run.command === command)
      const seen = new Set(ran.flatMap(({ shapes }) => shapes))
      const codes = ran.map(({ code }) => code)
      return [
        ...(ran.length === 0 ? [command] : []),
        ...json.filter((shape) => !seen.has(shape)).map(({ text }) => `${command} --json: ${text}`),
        ...Object.keys(meanings)
          .filter((code) => !codes.includes(Number(code)))
          .map((code) => `${command}: exit code ${code}`),
      ]
    })
    expect(own).not.toEqual([])
    expect(missing).toEqual([])
  })
}
