/** A destination for a logger, which tests can read. */

export interface LogLine {
  level: string
  msg: string
  [field: string]: unknown
}

export function logLines() {
  const written: string[] = []
  return {
    destination: { write: (line: string) => void written.push(line) },
    text: () => written.join(''),
    lines: () => written.map((line) => JSON.parse(line) as LogLine),
  }
}
