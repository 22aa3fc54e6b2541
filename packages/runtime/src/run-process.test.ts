import { describe, expect, it } from 'vitest'
import { useSpawned } from './spawned-process.fixture.ts'

const spawned = useSpawned()
const urlOf = (file: string) => JSON.stringify(new URL(file, import.meta.url).href)

/** Starts a Node process that calls `runProcess`. `parts` is the source text of the members that it is given. */
function spawnProcess(parts: string) {
  const source = `
    import { createLogger } from ${urlOf('./loops/logger.ts')}
    import { runProcess } from ${urlOf('./run-process.ts')}
    import { setTimeout as delay } from 'node:timers/promises'
    const log = createLogger({ service: 'test' })
    await runProcess({ name: 'test', log, ${parts} })`
  return spawned(['--input-type=module', '--eval', source])
}

describe('runProcess', () => {
  it('stops once on SIGTERM, with what start made, and ends with 0', async () => {
    const service = spawnProcess(`
      start: async () => ({ port: 4100 }),
      stop: async (started) => { log.info(started, 'released'); await delay(50); process.kill(process.pid, 'SIGINT') }`)
    await service.logged('test.started')
    service.child.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    expect(service.events()).toEqual(['test.started', 'test.stopping', 'released', 'test.stopped'])
    expect(service.lines()[2]).toMatchObject({ port: 4100 })
  })

  it('gives up starting on SIGINT and ends with 0', async () => {
    const service = spawnProcess(`
      start: async (signal) => { log.info('waiting'); await delay(60_000, undefined, { signal }) },
      stop: async () => log.info('released')`)
    await service.logged('waiting')
    service.child.kill('SIGINT')
    expect(await service.ended).toBe(0)
    expect(service.events()).toEqual(['waiting', 'test.stopping', 'test.stopped'])
  })

  it('ends with 1 and says why where it cannot start', async () => {
    const service = spawnProcess(`
      start: async () => { throw new Error('FANTAIL_PORT must be a whole number') }, stop: async () => {}`)
    expect(await service.ended).toBe(1)
    expect(service.lines()).toMatchObject([
      { msg: 'test.failed', level: 'fatal', err: { message: 'FANTAIL_PORT must be a whole number' } },
    ])
  })

  it('ends with 1 when stopping takes too long', async () => {
    const service = spawnProcess(
      `start: async () => {}, stop: () => new Promise(() => setInterval(() => {}, 1000)), stopTimeoutMs: 20`,
    )
    await service.logged('test.started')
    service.child.kill('SIGTERM')
    expect(await service.ended).toBe(1)
    expect(service.events()).toEqual(['test.started', 'test.stopping', 'test.stop_timed_out'])
  })

  it.each([
    ['uncaught_exception', `setImmediate(() => { throw new Error('lost') })`],
    ['unhandled_rejection', `void Promise.reject(new Error('lost'))`],
  ])('ends with 1 after an %s', async (event, slip) => {
    const service = spawnProcess(`start: async () => { ${slip} }, stop: async () => {}`)
    expect(await service.ended).toBe(1)
    expect(service.lines().at(-1)).toMatchObject({
      msg: `process.${event}`,
      level: 'fatal',
      err: { message: 'lost' },
    })
  })
})
