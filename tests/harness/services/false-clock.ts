/**
 * A clock for one process that can jump. Debian's libfaketime is preloaded into the process. It reads from a file how
 * far the time of day is off, with a delay of at most a second. The monotonic clock continues, as it does when a host's
 * clock is set. The library is the installed one, or the file that FANTAIL_TEST_FAKETIME names.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const LIBRARIES = '/usr/lib'
const PROBE_MS = 10_000

export interface FalseClock {
  /** For the process. */
  env: Record<string, string>
  /** Sets how far the clock is off from now on. */
  set(seconds: number): void
  remove(): void
}

/**
 * Why a command cannot have a false clock: there is no libfaketime, or the command does not start with it. undefined:
 * it can.
 */
export function falseClockProblem(command: string): string | undefined {
  if (!faketimeLibrary()) return 'there is no libfaketime (Debian: apt-get install faketime)'
  const clock = createFalseClock('probe')
  const env = { ...process.env, ...clock.env }
  const { status } = spawnSync(command, ['--version'], { env, timeout: PROBE_MS, stdio: 'ignore' })
  clock.remove()
  return status === 0 ? undefined : `${command} does not start with libfaketime`
}

function faketimeLibrary(): string | undefined {
  const named = process.env.FANTAIL_TEST_FAKETIME ?? ''
  if (named !== '') return named
  const folders = existsSync(LIBRARIES) ? readdirSync(LIBRARIES) : []
  return folders
    .map((folder) => join(LIBRARIES, folder, 'faketime', 'libfaketimeMT.so.1'))
    .find((path) => existsSync(path))
}

export function createFalseClock(name: string): FalseClock {
  const library = faketimeLibrary()
  const file = join(tmpdir(), `fantail-clock-${process.pid}-${name}`)
  const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}s\n`)
  set(0)
  const env = {
    // The C library's malloc is needed, because Debian's Redis uses jemalloc, which reads the time before libfaketime
    // is loaded.
    LD_PRELOAD: `${library}:libc.so.6`,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  }
  return { env, set, remove: () => rmSync(file, { force: true }) }
}
