/** An operation of SNS, SQS or STS as data. Its shapes say how its input is decoded and its output is written. */
import type { Shape } from './shapes.ts'

/** Everything about a call except its input. */
export interface AwsCall {
  requestId: string
  /** Base of URLs in answers and messages, without a slash at its end. */
  origin: string
  /** Account and region of the credential scope, or else the defaults. */
  account: string
  region: string
  /** The request carried a signature. It was verified if secrets are configured. */
  signed: boolean
  accessKeyId?: string
  /** ARN of the key's user. Undefined if keys are not required. */
  principal?: string
  /** X-Amzn-Trace-Id. */
  traceHeader?: string
  protocol: 'query' | 'json'
  /** Path of the request: SQS's Query protocol may name the queue there. */
  path: string
  /** Aborted when the caller goes away before its answer. */
  signal?: AbortSignal
}

/** The given members by name. Blobs are Buffers, integers are numbers, maps are plain objects. */
export type AwsInput = Record<string, unknown>

export interface Operation {
  name: string
  input: Record<string, Shape>
  /** null: the answer has no result element. `{}`: it has an empty one. */
  output: Record<string, Shape> | null
  run(input: AwsInput, call: AwsCall): Promise<Record<string, unknown> | undefined>
}
