/** An operation of SNS, SQS or STS as data: the wire decodes its input and writes its output by these shapes. */
import type { Shape } from './shapes.ts'

/** The facts of a call beside its input. */
export interface AwsCall {
  requestId: string
  /** Base of URLs in answers and messages, without a slash at its end. */
  origin: string
  /** Account and region by the credential scope, else the defaults. */
  account: string
  region: string
  /** The request carried a signature (verified where secrets are configured). */
  signed: boolean
  accessKeyId?: string
  /** ARN of the key's user; undefined where keys are not asked for. */
  principal?: string
  /** X-Amzn-Trace-Id. */
  traceHeader?: string
  protocol: 'query' | 'json'
  /** Path of the request: SQS's Query protocol may name the queue there. */
  path: string
  /** Aborted when the caller goes away before its answer. */
  signal?: AbortSignal
}

/** By name; only what was given. Blobs are Buffers, integers numbers, maps plain objects. */
export type AwsInput = Record<string, unknown>

export interface Operation {
  name: string
  input: Record<string, Shape>
  /** null: no result at all; `{}`: an empty result element. */
  output: Record<string, Shape> | null
  run(input: AwsInput, call: AwsCall): Promise<Record<string, unknown> | undefined>
}
