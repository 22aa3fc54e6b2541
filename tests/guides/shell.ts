/** Runs the commands of guides in bash, at the addresses of the test's own services instead of those of `npm start`. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { waitFor } from '@fantail/test-kit'
import { ROOT, textOf } from '../repo/repository.ts'
import { agrees, filledIn, type Known, type Step, stepsOf } from './guide-steps.ts'

const STEP_TIMEOUT_MS = 60_000
const REPEAT_EVERY_MS = 100
/** `fantail` is a checkout's own, as guides say how to call it. */
const BEGINNING = ['shopt -s expand_aliases', 'fantail() { node infra/bin/fantail.mjs "$@"; }']
/** What the shell of a reader keeps from step to step. */
const KEPT = /^(?:export |alias )?[A-Z_a-z]+=.*$/gm

export interface Shell {
  /** Runs the steps of a guide, and fails with the line of one that does not print what it should. */
  runGuide(path: string): Promise<void>
  /** What a command printed. Rejects where it failed. */
  run(code: string): Promise<string>
}

export interface ShellOptions {
  /** What is asked for in place of an address of `npm start`. */
  addresses: Record<string, string>
  env?: Record<string, string>
  known?: Known
}

export function createShell({ addresses, env = {}, known = new Map() }: ShellOptions): Shell {
  const kept: string[] = []
  const here = (text: string) =>
    Object.entries(addresses).reduce((all, [usual, own]) => all.replaceAll(usual, own), text)
  const run = (code: string) => runBash(here([...BEGINNING, ...kept, code].join('\n')), env)
  const runStep = async ({ code, expected, repeated }: Step) => {
    const texts = expected.map(here)
    let output = ''
    const works = async () => {
      output = await run(filledIn(code, known)).catch((error: Error) => FAILED + error.message)
      return agrees(output, texts, known) && !isFailure(output, texts)
    }
    const isDone = repeated
      ? await waitFor(works, { intervalMs: REPEAT_EVERY_MS }).catch(() => false)
      : await works()
    if (!isDone) throw new Error(`it printed: ${output}`)
    kept.push(...(code.match(KEPT) ?? []))
  }
  return {
    run,
    async runGuide(path) {
      for (const step of stepsOf(textOf(path))) {
        await runStep(step).catch((error: Error) => {
          throw new Error(`${path}:${step.line}: ${step.code}\n${error.message}`)
        })
      }
    },
  }
}

const FAILED = 'it failed: '
/** Of the REST API. curl ends with 0 all the same. */
const REFUSED = '"error":{"code"'

function isFailure(output: string, expected: string[]): boolean {
  if (output.startsWith(FAILED)) return true
  return output.includes(REFUSED) && !expected.join('').includes(REFUSED)
}

function runBash(code: string, env: Record<string, string>): Promise<string> {
  const { HOME = '' } = process.env
  const options = { cwd: ROOT, env: { HOME, PATH: toolPath(), ...env }, timeout: STEP_TIMEOUT_MS }
  return new Promise((resolve, reject) => {
    execFile('bash', ['--norc', '-eu', '-o', 'pipefail', '-c', code], options, (error, stdout, stderr) => {
      if (error) reject(new Error(`${error.message}\n${stdout}${stderr}`))
      else resolve(stdout + stderr)
    })
  })
}

/** Whether the shell would find it. */
export function isInstalled(program: string): boolean {
  return toolPath()
    .split(delimiter)
    .some((folder) => existsSync(join(folder, program)))
}

function toolPath(): string {
  const tools = ['node_modules/.bin', '.fantail/redis/bin'].map((folder) => join(ROOT, folder))
  return [...tools, process.env.PATH ?? ''].join(delimiter)
}
