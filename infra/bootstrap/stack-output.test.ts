import { expect, it } from 'vitest'
import { createStackOutput } from './stack-output.mjs'

const START = [
  '   • turbo 2.11.11',
  '@fantail/infra:dev: cache bypass, force executing ad1479cf97c06129',
  '@fantail/infra:dev: $ node dev/dev-stack.mjs',
  '@fantail/infra:dev: 3549:M 21 Nov 2026 08:24:00.726 # Server initialized',
  '@fantail/infra:dev: redis://127.0.0.1:35789 answers, data in /data',
  '@fantail/infra:dev: {"level":"info","service":"publish-api","msg":"redis.awaited"}',
]
const WARNED = '{"level":"warn","service":"publish-api","msg":"redis.down"}'
const DELIVERED = '{"level":"info","service":"delivery-worker","msg":"delivery.attempted"}'

function createOutput() {
  const printed: string[] = []
  return { output: createStackOutput((line) => printed.push(line)), printed }
}

it('shows of a start that goes well nothing but what is wrong', () => {
  const { output, printed } = createOutput()
  for (const line of START) output.line(line)
  output.line(`@fantail/infra:dev: ${WARNED}`)
  output.line('@fantail/infra:dev: redrive ended (SIGKILL), starting it again')

  expect(printed).toEqual([WARNED, 'redrive ended (SIGKILL), starting it again'])
})

it('passes logs on as they are once the stack is ready, and says who prints other lines', () => {
  const { output, printed } = createOutput()
  for (const line of START) output.line(line)
  output.ready()
  output.line(`@fantail/infra:dev: ${DELIVERED}`)
  output.line('@fantail/infra:dev: receiver         received POST /ok messageId=1 attempt=1 → 200')
  output.line('@fantail/infra:dev: 3549:M 21 Nov 2026 08:24:00.726 # Out of disk')
  output.line('')

  expect(printed).toEqual([
    DELIVERED,
    'receiver         received POST /ok messageId=1 attempt=1 → 200',
    'redis            3549:M 21 Nov 2026 08:24:00.726 # Out of disk',
  ])
})

it('shows everything where a start takes long or fails', () => {
  const { output, printed } = createOutput()
  for (const line of START) output.line(line)
  expect(printed).toEqual([])
  output.showAll()
  output.line(' ERROR  run failed')

  expect(printed).toHaveLength(START.length + 1)
  expect(printed.at(-1)).toBe('ERROR  run failed')
})

it('shows of a stop what services log, and not what turbo has done', () => {
  const { output, printed } = createOutput()
  output.ready()
  output.stopping()
  output.line(' Tasks:    0 successful, 5 total')
  output.line('@fantail/infra:dev: 3549:signal-handler (1795249444) Received SIGTERM scheduling shutdown...')
  output.line(`@fantail/infra:dev: ${DELIVERED}`)

  expect(printed).toEqual([DELIVERED])
})
