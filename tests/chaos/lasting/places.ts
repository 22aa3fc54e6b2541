/** Places that a fault needs beside the services: a small disk, a silent name server, a clock that drifts. */
import { spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const DISK_BYTES = 33_554_432
const TICK_MS = 1_000
/** Seconds per tick. */
const DRIFT_SECONDS = 0.1

interface Closable {
  /** Removes what was made. */
  close(): unknown
}

/** A file system in memory. Throws where it cannot be mounted: only root may do that. */
export function mountSmallDisk(): Closable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'fantail-chaos-disk-'))
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', path])
  if (status !== 0) {
    rmdirSync(path)
    throw new Error(`a small disk cannot be mounted: ${stderr}`)
  }
  const close = () => {
    process.off('exit', close)
    spawnSync('umount', ['--lazy', path])
    rmdirSync(path)
  }
  process.once('exit', close)
  return { path, close }
}

export function smallDiskProblem(): string | undefined {
  try {
    mountSmallDisk().close()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

export function fillDisk(path: string): void {
  try {
    writeFileSync(join(path, 'fill'), Buffer.alloc(DISK_BYTES))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

/** It takes queries and answers none. */
export async function startSilentNameServer(): Promise<Closable & { address: string }> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { address: `127.0.0.1:${socket.address().port}`, close: () => socket.close() }
}

/** From now on the clock gains (or with -1 loses) a tenth of the time. */
export function drift(clock: { set(seconds: number): unknown }, direction: 1 | -1): Closable {
  let ticks = 0
  const timer = setInterval(() => {
    ticks += 1
    clock.set(direction * ticks * DRIFT_SECONDS)
  }, TICK_MS)
  return { close: () => clearInterval(timer) }
}
