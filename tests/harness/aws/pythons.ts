/** Pythons of this machine, for clients that are not JavaScript. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export const run = promisify(execFile)

/** Those interpreters that can import boto3, by its version; each version once. */
export async function pythonsWithBoto3(): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const command of ['/usr/bin/python3', 'python3']) {
    try {
      const { stdout } = await run(command, ['-c', 'import boto3; print(boto3.__version__)'])
      found.set(stdout.trim(), command)
    } catch {
      // No such interpreter, or none with boto3.
    }
  }
  return found
}
