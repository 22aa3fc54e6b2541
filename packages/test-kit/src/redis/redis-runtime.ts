/**
 * How a server is run. `start` starts it again on the same port with the same data. It need not wait until the server
 * answers.
 */
export interface RedisRuntime {
  pid(): number
  start(): Promise<void>
  kill(): Promise<void>
  freeze(): Promise<void>
  thaw(): Promise<void>
  /** Removes the data of a server that was killed. */
  remove(): Promise<void>
  /** Why the server that was started last has ended. undefined: it runs. */
  ended(): Promise<string | undefined>
  /** The end of what the server has logged, over all its starts. */
  logText(): Promise<string>
  /**
   * Whether this text (`INFO server`) comes from the server that was started last. Another server may answer at its
   * port.
   */
  isOwn(info: string): boolean
}
