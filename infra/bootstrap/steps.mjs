// @ts-check
/** Progress lines, child processes, and errors that name the failed attempt and the remedy. */
import { spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** An expected failure. Users see only its message, without a stack. */
export class StepError extends Error {}

/** @param {string} text */
export const say = (text) => console.log(`fantail: ${text}`)

/**
 * @typedef {{ env?: NodeJS.ProcessEnv, cwd?: string, timeoutMs?: number }} RunOptions
 * @typedef {{ code: number, stdout: string, stderr: string }} Finished
 */

/**
 * Runs a command to its end and keeps what it prints. A command that cannot be started, or is killed, has code 127.
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<Finished>}
 */
export function capture(command, args, { env = process.env, cwd, timeoutMs } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, cwd, timeout: timeoutMs, stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text
    })
    child.once('error', (error) => resolve({ code: 127, stdout, stderr: `${stderr}${error.message}` }))
    child.once('close', (code) => resolve({ code: code ?? 127, stdout, stderr }))
  })
}

/**
 * Runs a command that must succeed. Rejects with a StepError that has the last lines of a failure.
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<string>} what it printed, trimmed
 */
export async function run(command, args, options = {}) {
  const finished = await capture(command, args, options)
  if (finished.code === 0) return finished.stdout.trim()
  const place = options.cwd === undefined ? '' : ` in ${options.cwd}`
  throw new StepError(`${command} ${args.join(' ')} failed${place}:\n${lastWords(finished)}`)
}

/**
 * Runs a command on this terminal; resolves with its exit code.
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<number>}
 */
export function show(command, args, { env = process.env, cwd } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, cwd, stdio: 'inherit' })
    child.once('error', (error) => {
      console.error(`fantail: ${command} could not be started: ${error.message}`)
      resolve(127)
    })
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

const PROGRESS_MS = 10_000

/**
 * Says every ten seconds that a long step still runs, because some tools print nothing for a minute.
 * @template T
 * @param {string} what
 * @param {Promise<T>} work
 * @param {{ everyMs?: number, print?: (text: string) => void }} [options]
 * @returns {Promise<T>}
 */
export async function withProgress(what, work, { everyMs = PROGRESS_MS, print = say } = {}) {
  const startedAt = performance.now()
  const seconds = () => Math.round((performance.now() - startedAt) / 1_000)
  const timer = setInterval(() => print(`still ${what} (${seconds()} s so far)`), everyMs)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}

/**
 * The last lines that a failed command printed, for an error message.
 * @param {Finished} finished
 */
export function lastWords({ stdout, stderr }) {
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '')
  return lines.slice(-12).join('\n')
}

/**
 * The first executable of this name on a PATH.
 * @param {string} name
 * @param {string | undefined} path
 * @returns {string | undefined}
 */
export function onPath(name, path) {
  return (path ?? '')
    .split(delimiter)
    .filter((dir) => dir !== '')
    .map((dir) => join(dir, name))
    .find(isExecutable)
}

/** @param {string} file */
export function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false // Absent or not ours to run: both mean "look further".
  }
}
