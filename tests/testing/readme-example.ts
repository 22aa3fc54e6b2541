/** The complete examples of the README of `@fantail/testing`, with options for the machine that runs them. */
import type { FantailStackOptions } from '@fantail/testing'

const DEFAULTS = 'startFantail()'

/** Each is a file of tests. */
export function readmeExamples(readme: string, options: FantailStackOptions): string[] {
  const examples = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
  return examples.map((example) => {
    if (!example.includes(DEFAULTS)) throw new Error(`an example of the README has no ${DEFAULTS}`)
    return example.replace(DEFAULTS, `startFantail(${JSON.stringify(options)})`)
  })
}
