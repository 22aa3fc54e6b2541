import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { waitFor } from '@fantail/test-kit'
import { afterEach, describe, expect, it } from 'vitest'
import type { LogLine } from './log-lines.fixture.ts'

const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A separate process that runs a service with these parts, given as source text. */
function spawnService(parts: string) {
  const source = `
    import { createLogger, runService } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
    import { setTimeout as delay } from 'node:timers/promises'
    const log = createLogger({ service: 'test' })
    await runService({ name: 'test', log, ${parts} })`
  const child = spawn(
    process.execPath,
    ['--conditions=@fantail/source', '--input-type=module', '--eval', source],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  children.push(child)
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  const lines = () =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as LogLine)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    child,
    lines,
    events: () => lines().map(({ msg }) => msg),
    logged: (event: string) => waitFor(() => lines().some(({ msg }) => msg === event), { what: event }),
    ended,
  }
}

describe('runService', () => {
  it('stops once on SIGTERM, with what start made, and ends with 0', async () => {
    const service = spawnService(`
      start: async () => ({ port: 4100 }),
      stop: async (started) => { log.info(started, 'released'); await delay(50); process.kill(process.pid, 'SIGINT') }`)
    await service.logged('test.started')
    service.child.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    expect(service.events()).toEqual(['test.started', 'test.stopping', 'released', 'test.stopped'])
    expect(service.lines()[2]).toMatchObject({ port: 4100 })
  })

  it('gives up starting on SIGINT and ends with 0', async () => {
    const service = spawnService(`
      start: async (signal) => { log.info('waiting'); await delay(60_000, undefined, { signal }) },
      stop: async () => log.info('released')`)
    await service.logged('waiting')
    service.child.kill('SIGINT')
    expect(await service.ended).toBe(0)
    expect(service.events()).toEqual(['waiting', 'test.stopping', 'test.stopped'])
  })

  it('ends with 1 and says why where it cannot start', async () => {
    const service = spawnService(`
      start: async () => { throw new Error('FANTAIL_PORT must be a whole number') }, stop: async () => {}`)
    expect(await service.ended).toBe(1)
    expect(service.lines()).toMatchObject([
      { msg: 'test.failed', level: 'fatal', err: { message: 'FANTAIL_PORT must be a whole number' } },
    ])
  })

  it('ends with 1 when stopping takes too long', async () => {
    const service = spawnService(
      `start: async () => {}, stop: () => new Promise(() => setInterval(() => {}, 1000)), stopTimeoutMs: 20`,
    )
    await service.logged('test.started')
    service.child.kill('SIGTERM')
    expect(await service.ended).toBe(1)
    expect(service.events()).toEqual(['test.started', 'test.stopping', 'test.stopTimedOut'])
  })

  it.each([
    ['uncaughtException', `setImmediate(() => { throw new Error('lost') })`],
    ['unhandledRejection', `void Promise.reject(new Error('lost'))`],
  ])('ends with 1 after an %s', async (kind, slip) => {
    const service = spawnService(`start: async () => { ${slip} }, stop: async () => {}`)
    expect(await service.ended).toBe(1)
    expect(service.lines().at(-1)).toMatchObject({
      msg: `process.${kind}`,
      level: 'fatal',
      err: { message: 'lost' },
    })
  })
})
