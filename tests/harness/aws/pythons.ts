/** Python interpreters of this machine, for tests with clients in Python. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

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
