/** The files that a run leaves for an investigation: schedule, event log, the services' logs, Redis's data, ledger. */
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServiceProcess } from '../../harness/services/service-process.ts'

interface ChaosEvent {
  event: string
  [field: string]: unknown
}

export interface EventLog {
  note(event: ChaosEvent): void
}

export class RunFolder implements EventLog {
  readonly path: string
  readonly #startedAt = performance.now()

  /** `name`: a seed, or a lasting fault. */
  constructor(name: number | string) {
    this.path = mkdtempSync(join(tmpdir(), `fantail-chaos-${name}-`))
    mkdirSync(this.sends)
  }

  /** The folder in which each worker records the times of the requests that it sends. */
  get sends(): string {
    return join(this.path, 'sends')
  }

  /** One line of events.jsonl; `at` is in seconds since the folder was made. */
  note(event: ChaosEvent): void {
    const at = Math.round(performance.now() - this.#startedAt) / 1_000
    appendFileSync(join(this.path, 'events.jsonl'), `${JSON.stringify({ ...event, at })}\n`)
  }

  keepLog(service: ServiceProcess): void {
    const file = join(this.path, `${service.label}.log`)
    service.onLines = (lines) => appendFileSync(file, lines.map((line) => `${line}\n`).join(''))
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text)
  }

  keepRedis(folder: string): void {
    cpSync(folder, join(this.path, 'redis'), { recursive: true })
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
