/** The complete example of the README of `@fantail/testing`, with options for the machine that runs it. */
import type { FantailStackOptions } from '@fantail/testing'

const DEFAULTS = 'startFantail()'

export function readmeExample(readme: string, options: FantailStackOptions): string {
  const example = /^```ts\n([\s\S]*?)^```$/m.exec(readme)?.[1] ?? ''
  if (!example.includes(DEFAULTS)) throw new Error(`the example of the README has no ${DEFAULTS}`)
  return example.replace(DEFAULTS, `startFantail(${JSON.stringify(options)})`)
}
