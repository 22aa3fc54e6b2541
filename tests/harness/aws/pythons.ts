/** Python interpreters for tests with clients in Python: those of this machine, and environments below `.fantail`. */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../services/service-process.ts'

export const run = promisify(execFile)

/** Interpreters that can import boto3, by boto3's version, one for each version. */
export async function pythonsWithBoto3(): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const command of ['/usr/bin/python3', 'python3']) {
    try {
      const { stdout } = await run(command, ['-c', 'import boto3; print(boto3.__version__)'])
      found.set(stdout.trim(), command)
    } catch {
      // There is no such interpreter, or it has no boto3.
    }
  }
  return found
}

interface PythonEnvironment {
  /** Its folder below `.fantail`. */
  name: string
  packages: string[]
  /** It can be imported when everything is installed. */
  module: string
  /** Installs what pip would install with too much else. */
  complete?: (python: string, folder: string) => void
}

const INSTALL_MS = 240_000

/**
 * The interpreter of an environment with packages of PyPI. `npm run test:packages` makes the environment, and other
 * runs use it if it is there. undefined: there is none.
 */
export function pythonWith(environment: PythonEnvironment): string | undefined {
  const python = join(ROOT, '.fantail', environment.name, 'bin/python')
  if (existsSync(python) && hasModule(python, environment)) return python
  return process.env.FANTAIL_PACKAGES_LONG ? installed(python, environment) : undefined
}

function hasModule(python: string, { module }: PythonEnvironment): boolean {
  try {
    execFileSync(python, ['-c', `import ${module}`], { stdio: 'ignore' })
    return true
  } catch {
    return false // It was not installed to the end.
  }
}

function installed(python: string, { name, packages, complete }: PythonEnvironment): string | undefined {
  const folder = join(ROOT, '.fantail', name)
  try {
    execFileSync('python3', ['-m', 'venv', folder], { stdio: 'ignore' })
    pip(python, ['install', ...packages])
    complete?.(python, folder)
    return python
  } catch (error) {
    console.warn(`${name} cannot be had here, so nothing is tested with it: ${error}`)
    return undefined
  }
}

export function pip(python: string, [command = '', ...words]: string[]): void {
  const quietly = ['-m', 'pip', command, '--quiet', '--disable-pip-version-check']
  execFileSync(python, [...quietly, ...words], { stdio: 'inherit', timeout: INSTALL_MS })
}
