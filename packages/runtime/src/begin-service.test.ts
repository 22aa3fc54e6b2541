import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { redisUrlPath } from '@fantail/config'
import { waitFor } from '@fantail/test-kit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { beginService } from './begin-service.ts'
import { createLogger } from './loops/logger.ts'

const URL = 'redis://127.0.0.1:6400'
let dataDir: string
let lines: string[]
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'fantail-begin-'))
  lines = []
})
afterEach(() => rm(dataDir, { recursive: true }))

function begin(awsMetrics: boolean, signal = new AbortController().signal) {
  const log = createLogger({
    service: 'test',
    destination: { write: (line: string) => void lines.push(line) },
  })
  return beginService({
    name: 'test',
    log,
    settings: { mode: 'local', dataDir, commit: 'c0ffee' },
    scrapesLater: true,
    awsMetrics,
    signal,
  })
}

const isAwaited = () => lines.some((line) => line.includes('redis.awaited'))

test.each([true, false])('waits for the local Redis, then shows AWS’s metrics as asked: %s', async (aws) => {
  const beginning = begin(aws)
  await waitFor(isAwaited)
  await writeFile(redisUrlPath(dataDir), URL)
  const { redisUrl, telemetry, build } = await beginning
  expect(redisUrl).toBe(URL)
  const metrics = await telemetry.renderMetrics()
  expect(metrics.includes('aws_sns_')).toBe(aws)
  expect(build.commit).toBe('c0ffee')
  expect(metrics).toContain(`fantail_build_info{version="${build.version}",commit="c0ffee"} 1`)
  expect(metrics).toMatch(/^fantail_start_time_seconds \d{10}/m)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    msg: 'test.starting',
    version: build.version,
    commit: 'c0ffee',
    startedAt: expect.any(String),
  })
  await telemetry.stop()
})

test('gives up when the process is to stop', async () => {
  const stopping = new AbortController()
  const beginning = begin(true, stopping.signal)
  const rejected = expect(beginning).rejects.toThrow('aborted')
  await waitFor(isAwaited)
  stopping.abort()
  await rejected
})
