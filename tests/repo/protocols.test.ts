/** Traits and attempters hold all differences between endpoint kinds. Other code must not compare protocols. */
import { PROTOCOLS } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { filesMatching, textOf } from './repository.ts'

const KINDS = ['packages/policy/src/protocols/', 'packages/delivery/src/attempters/']

/** For each line, the reason why its comparison is allowed. */
const EXCEPTIONS: Record<string, string> = {
  "services/publish-api/src/aws/wire/thrown-errors.ts: const signedForOther = scope !== '' && scope !== 'sns' && scope !== 'sqs'":
    'the service of a signature',
  "services/publish-api/src/aws/wire/wire-request.ts: return signedFor === 'sqs' || signedFor === 'sts' ? signedFor : 'sns'":
    'the service of a signature',
  "services/publish-api/src/http/api-request.ts: return this.#request.url.startsWith('https:')":
    'the scheme of a request to the API',
}

const LITERAL = `(['"])(?:${PROTOCOLS.join('|')})\\1`
const COMPARISONS = [
  new RegExp(`[!=~]==?\\s*${LITERAL}`),
  new RegExp(`${LITERAL}\\s*[!=~]==?`),
  new RegExp(`\\bcase ${LITERAL}`),
  new RegExp(`\\[[^\\]]*${LITERAL}[^\\]]*\\]\\)?\\.(?:includes|has|indexOf)\\(`),
  new RegExp(`new Set\\(\\[[^\\]]*${LITERAL}`),
  /(?:startsWith|string\.(?:find|sub|match))\([^)]*['"]\^?(?:arn:|https?)/,
]
/** An ARN names a service, not a protocol. */
const OF_SERVICES = /\bservice(?:Of\([^()]*\))?\s*[!=]==\s*'\w+'/g

function comparisonsIn(text: string): string[] {
  return text.split('\n').filter((line) => {
    const rest = line.replaceAll(OF_SERVICES, '')
    return COMPARISONS.some((comparison) => comparison.test(rest))
  })
}

const sources = filesMatching('{packages,services}/*/src/**/*.{ts,lua}').filter(
  (path) => !/\.(test|fixture)\.ts$|^packages\/test-kit\//.test(path),
)

const found = sources
  .filter((path) => !KINDS.some((folder) => path.startsWith(folder)))
  .flatMap((path) => comparisonsIn(textOf(path)).map((line) => `${path}: ${line.trim()}`))

test('only traits and attempters ask which protocol an endpoint has', () => {
  expect(sources.length).toBeGreaterThan(500)
  expect(found.filter((line) => !(line in EXCEPTIONS))).toEqual([])
})

test('no exception is left over', () => {
  expect(Object.keys(EXCEPTIONS).filter((line) => !found.includes(line))).toEqual([])
})

test.each([
  "if (record.protocol === 'sqs') return",
  "if ('https' !== protocol) return",
  "case 'http':",
  "const known = ['http', 'https'].includes(protocol)",
  "const RAW = new Set(['http', 'sqs'])",
  "if (endpoint.startsWith('arn:')) return",
  "return string.sub(record.e, 1, 4) ~= 'http'",
])('%s is a comparison', (line) => {
  expect(comparisonsIn(line)).toEqual([line])
})

test.each([
  "parseArn(arn)?.service === 'sqs'",
  "serviceOf(source) !== 'sqs'",
  "return { service: 'sqs', protocol: 'json' }",
])('%s is none', (line) => {
  expect(comparisonsIn(line)).toEqual([])
})
