import { context } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterEach, describe, expect, it } from 'vitest'
import { createSpans, NO_SPANS, spanContextOf, traceparentOf } from './spans.ts'

const exporter = new InMemorySpanExporter()
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
const spans = createSpans(provider.getTracer('test'))
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

afterEach(() => exporter.reset())

describe('spans', () => {
  it('join a message’s path by its traceparent', () => {
    const publish = spans.start('publish')
    const attempt = spans.start('attempt', { traceparent: traceparentOf(publish) })
    attempt.end()
    publish.end()
    const [child, parent] = exporter.getFinishedSpans()
    expect([child?.name, parent?.name]).toEqual(['fantail.attempt', 'fantail.publish'])
    expect(child?.parentSpanContext?.spanId).toBe(parent?.spanContext().spanId)
    expect(child?.spanContext().traceId).toBe(parent?.spanContext().traceId)
  })

  it('end with the work inside them and keep its error', async () => {
    const failing = spans.within('dispatch', { traceparent: TRACEPARENT }, async () => {
      throw new Error('no Redis')
    })
    await expect(failing).rejects.toThrow('no Redis')
    const [span] = exporter.getFinishedSpans()
    expect(span?.events[0]?.attributes?.['exception.message']).toBe('no Redis')
    expect(span?.parentSpanContext?.traceId).toBe('0af7651916cd43dd8448eb211c80319c')
  })

  it('cost and carry nothing where tracing is off', async () => {
    const span = NO_SPANS.start('attempt', { traceparent: TRACEPARENT })
    expect(span.isRecording()).toBe(false)
    expect(NO_SPANS.start('publish')).toBe(span)
    expect(traceparentOf(span)).toBeUndefined()
    expect(await NO_SPANS.within('dispatch', {}, async () => context.active() !== undefined)).toBe(true)
  })
})

describe('traceparent', () => {
  it('survives being read and written', () => {
    const parsed = spanContextOf(TRACEPARENT)
    expect(parsed && traceparentOf(parsed)).toBe(TRACEPARENT)
  })

  it.each([
    undefined,
    '',
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331',
    '00-00000000000000000000000000000000-b7ad6b7169203331-01',
    '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
    'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01',
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nx: y',
  ])('%j is none', (text) => {
    expect(spanContextOf(text)).toBeUndefined()
  })
})
