/** Stands for a test runner: starts a stack, says which processes it has, and waits to be killed. */
import { startFantail } from '@fantail/testing'
import { childrenOf } from '../../infra/dev/dev-task.fixture.ts'

const [options = '{}'] = process.argv.slice(2)
const stack = await startFantail(JSON.parse(options))
console.log(JSON.stringify({ url: stack.url, children: childrenOf(process.pid) }))
setInterval(() => {}, 60_000)
