/**
 * Runs the commands of guides in bash, at the addresses of the test's own services instead of those of `npm start`, and
 * with `fantail` from the bundle of the run.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { waitFor } from '@fantail/test-kit'
import { machineEnv } from '../harness/runs/machine-env.ts'
import { launcher } from '../harness/services/service-bundles.ts'
import { ROOT, textOf } from '../repo/repository.ts'
import { agrees, filledIn, type Known, replacedIn, type Step, stepsOf } from './guide-steps.ts'

const STEP_TIMEOUT_MS = 60_000
/** A step often starts Node, which takes a tenth of a second of a processor. */
const REPEAT_EVERY_MS = 300
/** Defines `fantail` as the guides do for a checkout. */
const LAUNCHER = 'infra/bin/fantail.mjs'
const BEGINNING = ['shopt -s expand_aliases', `fantail() { node ${launcher()} "$@"; }`]
const ASSIGNED = /^[A-Z_]+(?==)|(?<=^export .*?\b)[A-Z_]+(?==)/gm
const DEFINED = /^(alias .*|\w+\(\) \{.*\})$/gm

export interface Shell {
  /**
   * Runs the steps of a guide, or of one of its sections. If a step prints something else than the guide, it fails with
   * that step's line. Later steps have the variables, aliases and functions of earlier ones.
   */
  runGuide(path: string, section?: string): Promise<void>
  /** A command's output, with stderr first. Rejects if the command failed. */
  run(code: string): Promise<string>
}

interface ShellOptions {
  /** Replacements for the addresses of `npm start`. */
  addresses: Record<string, string>
  env?: Record<string, string>
  known?: Known
  /** Runs before each step. */
  beginning?: string[]
}

export function createShell(options: ShellOptions): Shell {
  const { addresses, env = {}, known = new Map(), beginning = [] } = options
  /** Aliases and functions. */
  const definitions: string[] = []
  /** Variables in the form of bash's `declare`. */
  let variables = ''
  const places = { ...addresses, [LAUNCHER]: launcher() }
  const here = (text: string) => replacedIn(text, places)
  const run = (code: string) =>
    runBash([...BEGINNING, ...beginning, variables, here([...definitions, code].join('\n'))].join('\n'), env)
  const runStep = async ({ code, expected, repeated }: Step) => {
    const texts = expected.map(here)
    let output = ''
    const works = async () => {
      const ended = await run(`${filledIn(code, known)}\n${declaring(code)}`).catch(
        (error: Error) => FAILED + error.message,
      )
      const [printed = '', declared = ''] = ended.split(DECLARED)
      output = printed
      variables += declared
      return agrees(output, texts, known) && !isFailure(output, texts)
    }
    const isDone = repeated
      ? await waitFor(works, { intervalMs: REPEAT_EVERY_MS }).catch(() => false)
      : await works()
    if (!isDone) throw new Error(`it printed: ${output}`)
    definitions.push(...(code.match(DEFINED) ?? []))
  }
  return {
    run,
    async runGuide(path, section) {
      const steps = stepsOf(textOf(path)).filter((step) => section === undefined || step.section === section)
      if (steps.length === 0) throw new Error(`${path} has no section ${section}`)
      for (const step of steps) {
        await runStep(step).catch((error: Error) => {
          throw new Error(`${path}:${step.line}: ${step.code}\n${error.message}`)
        })
      }
    },
  }
}

const DECLARED = '\n--- variables ---\n'

/** Code that makes bash print its assignments after everything else. */
function declaring(code: string): string {
  const names = code.match(ASSIGNED) ?? []
  return names.length === 0 ? '' : `printf '${DECLARED}'; declare -p ${names.join(' ')}`
}

const FAILED = 'it failed: '
/** An error of the REST API. curl exits with 0 even then. */
const REFUSED = '"error":{"code"'

function isFailure(output: string, expected: string[]): boolean {
  if (output.startsWith(FAILED)) return true
  return output.includes(REFUSED) && !expected.join('').includes(REFUSED)
}

function runBash(code: string, env: Record<string, string>): Promise<string> {
  const options = { cwd: ROOT, env: { ...machineEnv(), PATH: toolPath(), ...env }, timeout: STEP_TIMEOUT_MS }
  return new Promise((resolve, reject) => {
    execFile('bash', ['--norc', '-eu', '-o', 'pipefail', '-c', code], options, (error, stdout, stderr) => {
      if (error) reject(new Error(`${error.message}\n${stdout}${stderr}`))
      else resolve(stderr + stdout)
    })
  })
}

/** Whether the shell finds the program. */
export function isInstalled(program: string): boolean {
  return toolPath()
    .split(delimiter)
    .some((folder) => existsSync(join(folder, program)))
}

function toolPath(): string {
  const tools = ['node_modules/.bin', '.fantail/redis/bin'].map((folder) => join(ROOT, folder))
  return [...tools, process.env.PATH ?? ''].join(delimiter)
}
