/** Calls of the API: an operation of the generated client with its input. */
export * as operations from '@fantail/client/api'

/** Any function of the client. */
export type Operation = (options: never) => Promise<unknown>

type Given<Run extends Operation> = Parameters<Run>[0]

/** The input of an operation: those of path, query and body that the operation has. */
export type InputOf<Run extends Operation> = Pick<
  Given<Run>,
  Extract<'path' | 'query' | 'body' | 'headers', keyof Given<Run>>
>

export type OutputOf<Run extends Operation> = NonNullable<Awaited<ReturnType<Run>>>

/** An operation with its input. Components use it to show or repeat a request. */
export interface Call {
  operation: Operation
  input: object
}

export function callOf<Run extends Operation>(operation: Run, input: InputOf<Run>): Call {
  return { operation, input }
}
