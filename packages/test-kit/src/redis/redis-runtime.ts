/**
 * How a server is run; `start` begins it anew on the same port with the same data and need not wait until it answers.
 */
export interface RedisRuntime {
  pid(): number
  start(): Promise<void>
  kill(): Promise<void>
  freeze(): Promise<void>
  thaw(): Promise<void>
  /** Removes the data of a server that was killed. */
  remove(): Promise<void>
  /** Why the server that was started last has ended; undefined: it runs. */
  ended(): Promise<string | undefined>
  /** Whether this (`INFO server`) comes from the server that was started last, and not from another one at its port. */
  isOwn(info: string): boolean
}
