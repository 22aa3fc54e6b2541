/** A schema or an example is refused. The message is read after the path. */
export class SchemaProblem extends Error {
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}
