import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { waitFor } from '@fantail/test-kit'
import { metrics as globalMetrics, trace } from '@opentelemetry/api'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMetrics } from './metrics.ts'
import { startTelemetry, type Telemetry } from './telemetry.ts'

let telemetry: Telemetry | undefined
let collector: Server | undefined

afterEach(async () => {
  await telemetry?.stop()
  telemetry = undefined
  vi.unstubAllEnvs()
  await new Promise<void>((resolve) => (collector ? collector.close(() => resolve()) : resolve()))
  collector = undefined
})

/** A collector that records which signals reach it. */
async function startCollector() {
  const paths: string[] = []
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      paths.push(request.url ?? '')
      bodies.push(body)
      response.end()
    })
  })
  collector = server
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, paths, bodies }
}

/** Starts telemetry. The exporters read the process's environment, so the test sets it. */
async function startWith(env: Record<string, string>, onProblem?: (detail: string) => void) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  telemetry = await startTelemetry({ service: 'test', env, onProblem })
  return telemetry
}

describe('a scrape', () => {
  it('shows every metric by name with its help and type, counted or not', async () => {
    const { metrics, renderMetrics } = await startWith({})
    const text = await renderMetrics()
    const shown = [...Object.values(metrics.instruments()), ...metrics.views()]
    for (const { words } of shown) {
      const type = text.match(new RegExp(`# TYPE (${words.name}(?:_total)?) (\\w+)\\n`))
      expect([words.name, type?.[2]]).toEqual([
        words.name,
        expect.stringMatching(/^(counter|gauge|histogram)$/),
      ])
      expect(text).toContain(`# HELP ${type?.[1]} ${words.help}\n`)
    }
  })

  it('shows what was counted before its code was loaded', async () => {
    telemetry = await startTelemetry({ service: 'test', env: {}, scrapesLater: true })
    telemetry.metrics.messagesPublished.of({ topic: 'orders' }).add(3)
    const texts = await Promise.all([telemetry.renderMetrics(), telemetry.renderMetrics()])
    for (const text of texts) expect(text).toContain('fantail_messages_published_total{topic="orders"} 3')
  })

  it('shows counters, buckets and gauges by label', async () => {
    const { metrics, renderMetrics } = await startWith({})
    metrics.messagesPublished.of({ topic: 'orders' }).add(3)
    metrics.deliveriesDiscarded.of({ topic: 'a"b', cause: 'permanent' }).add()
    metrics.attemptSeconds.of({ result: 'delivered' }).record(0.02)
    metrics.observeLanes(async () => [
      {
        topic: 'orders',
        subscription: 's1',
        waiting: 9,
        inFlight: 2,
        oldestSeconds: 4.5,
        drainSeconds: null,
      },
    ])
    const lines = (await renderMetrics()).split('\n')
    expect(lines).toContain('fantail_messages_published_total{topic="orders"} 3')
    expect(lines).toContain('fantail_deliveries_discarded_total{topic="a\\"b",cause="permanent"} 1')
    expect(lines).toContain('fantail_attempt_duration_seconds_bucket{result="delivered",le="0.01"} 0')
    expect(lines).toContain('fantail_attempt_duration_seconds_bucket{result="delivered",le="0.025"} 1')
    expect(lines).toContain('fantail_attempt_duration_seconds_bucket{result="delivered",le="+Inf"} 1')
    expect(lines).toContain('fantail_attempt_duration_seconds_count{result="delivered"} 1')
    expect(lines).toContain('fantail_lane_waiting_deliveries{topic="orders",subscription="s1"} 9')
    expect(lines).toContain('fantail_lane_oldest_age_seconds{topic="orders",subscription="s1"} 4.5')
    expect(lines.filter((line) => line.startsWith('fantail_lane_drain_seconds{'))).toEqual([])
  })

  it('takes along what others count through OpenTelemetry', async () => {
    const { renderMetrics } = await startWith({})
    globalMetrics.getMeter('bullmq').createCounter('bullmq.jobs.completed').add(2)
    expect(await renderMetrics()).toContain('bullmq_jobs_completed_total 2')
  })

  it('is answered without the gauges of a failing source, which is logged once', async () => {
    const problems: string[] = []
    const { metrics, renderMetrics } = await startWith({}, (detail) => problems.push(detail))
    metrics.messagesPublished.of({ topic: 'orders' }).add()
    metrics.observeLanes(() => Promise.reject(new Error('no Redis')))
    expect(await renderMetrics()).toContain('fantail_messages_published_total{topic="orders"} 1')
    await renderMetrics()
    expect(problems).toEqual(['Error: no Redis'])
  })
})

it('docs/metrics.md names every metric, and none that there is not', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/metrics.md'), 'utf8')
  const documented = [...text.matchAll(/`((?:fantail|aws_s[nq]s)_[a-z_]+)`/g)].map(([, name]) => name)
  const metrics = createMetrics()
  const shown = [...Object.values(metrics.instruments()), ...metrics.views()]
  const names = shown.map(({ words }) => words.name)
  expect(new Set(documented.map((name) => name?.replace(/_total$/, '')))).toEqual(new Set(names))
})

describe('telemetry', () => {
  it('sends nothing and traces nothing unless asked to', async () => {
    const { spans, logs } = await startWith({})
    expect([spans.on, logs.on]).toEqual([false, false])
    expect(trace.getTracer('x').startSpan('x').isRecording()).toBe(false)
  })

  it('sends traces and metrics to the endpoint that OTEL_* names, and still serves scrapes', async () => {
    const { url, paths } = await startCollector()
    const { metrics, spans, renderMetrics, stop } = await startWith({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_METRIC_EXPORT_INTERVAL: '50',
    })
    metrics.messagesPublished.of({ topic: 'orders' }).add()
    spans.start('publish').end()
    await waitFor(() => paths.includes('/v1/metrics'), { what: 'metrics to be sent' })
    expect(await renderMetrics()).toContain('fantail_messages_published_total{topic="orders"} 1')
    telemetry = undefined
    await stop()
    expect(paths).toContain('/v1/traces')
  })

  it('sends log records to the endpoint that OTEL_* names, as they are', async () => {
    const { url, paths, bodies } = await startCollector()
    const { logs, spans, stop } = await startWith({
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${url}/v1/logs`,
      OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'http/json',
    })
    expect([logs.on, spans.on]).toEqual([true, false])
    logs.emit({
      event: 'delivery.status',
      severity: 'warn',
      body: { delivery: { attempts: 3 }, status: 'FAILURE' },
      attributes: { 'aws.log.group.names': ['sns/us-east-1/000000000000/orders'] },
    })
    telemetry = undefined
    await stop()
    expect(paths).toEqual(['/v1/logs'])
    const [resource] = JSON.parse(bodies[0] ?? '').resourceLogs
    expect(resource.scopeLogs[0].logRecords[0]).toMatchObject({
      eventName: 'delivery.status',
      severityNumber: 13,
      severityText: 'WARN',
      body: {
        kvlistValue: {
          values: [
            {
              key: 'delivery',
              value: { kvlistValue: { values: [{ key: 'attempts', value: { intValue: 3 } }] } },
            },
            { key: 'status', value: { stringValue: 'FAILURE' } },
          ],
        },
      },
    })
  })

  it('parents a span inside another by itself', async () => {
    const { url } = await startCollector()
    const { spans } = await startWith({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces` })
    const [outer, inner] = await spans.within('dispatch', {}, async (span) => {
      await new Promise((resolve) => setImmediate(resolve))
      const child = spans.start('attempt')
      child.end()
      return [span.spanContext(), child.spanContext()]
    })
    expect(inner?.traceId).toBe(outer?.traceId)
  })

  it('stops even if the collector is away, and logs it', async () => {
    const problems: string[] = []
    const { spans, stop } = await startWith(
      {
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:1/v1/traces',
        OTEL_EXPORTER_OTLP_TIMEOUT: '20',
      },
      (detail) => problems.push(detail),
    )
    spans.start('publish').end()
    telemetry = undefined
    await stop()
    expect(problems.join()).toContain('ECONNREFUSED')
  })
})
