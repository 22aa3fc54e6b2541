/**
 * Spans, and the W3C trace context that joins a message's path over processes: publish → dispatch → attempt. If nothing
 * is sent, all spans are one empty span, and a traced call is a plain call.
 */
import {
  type Attributes,
  context,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'

export type { Span, SpanContext } from '@opentelemetry/api'

const SPAN_NAMES = ['publish', 'dispatch', 'attempt', 'deadLetter', 'redrive'] as const
type SpanName = (typeof SPAN_NAMES)[number]

interface SpanOptions {
  /** The message's trace context: the span becomes its child. Without it, the active span is the parent. */
  traceparent?: string | undefined
  attributes?: Attributes
}

export interface Spans {
  /** Whether spans are recorded. Check it before building attributes. */
  readonly on: boolean
  /** The caller ends it. */
  start(name: SpanName, options?: SpanOptions): Span
  /** Runs `work` inside a span. The span ends with it and records its error. */
  within<T>(name: SpanName, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>
}

const KINDS: Record<SpanName, SpanKind> = {
  publish: SpanKind.PRODUCER,
  dispatch: SpanKind.CONSUMER,
  attempt: SpanKind.CLIENT,
  deadLetter: SpanKind.INTERNAL,
  redrive: SpanKind.CONSUMER,
}

const EMPTY_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT)

export const NO_SPANS: Spans = {
  on: false,
  start: () => EMPTY_SPAN,
  within: (_name, _options, work) => work(EMPTY_SPAN),
}

export function createSpans(tracer: Tracer): Spans {
  const start = (name: SpanName, { traceparent, attributes }: SpanOptions = {}) => {
    const remote = spanContextOf(traceparent)
    const parent = remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : context.active()
    return tracer.startSpan(`fantail.${name}`, { kind: KINDS[name], attributes }, parent)
  }
  return {
    on: true,
    start,
    async within(name, options, work) {
      const span = start(name, options)
      try {
        return await context.with(trace.setSpan(context.active(), span), () => work(span))
      } catch (error) {
        span.recordException(error instanceof Error ? error : String(error))
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        span.end()
      }
    },
  }
}

/** The `traceparent` that carries a span's context on, or undefined for the empty span. */
export function traceparentOf(span: Span | SpanContext): string | undefined {
  const spanContext = 'spanContext' in span ? span.spanContext() : span
  if (!isSpanContextValid(spanContext)) return undefined
  const flags = (spanContext.traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0')
  return `00-${spanContext.traceId}-${spanContext.spanId}-${flags}`
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/**
 * The context that a `traceparent` names. Undefined if the text is invalid; a new trace then starts.
 * https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function spanContextOf(traceparent: string | undefined): SpanContext | undefined {
  if (traceparent === undefined || traceparent.startsWith('ff')) return undefined
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  const found = { traceId, spanId, traceFlags, isRemote: true }
  return isSpanContextValid(found) ? found : undefined
}
